import type { JsonObject } from '../json-object.ts';
import type { CatalogEntry } from '../catalog/catalog.ts';
import type { Deployment } from '../chat/provider.ts';

/** Names and modes of models without output tokens. */
const NO_OUTPUT = /embed|rerank|moderation|search/i;

/**
 * Whether prices, by price-map key, include one for input tokens and none for output. False for a model without output
 * tokens. `model` contains the model's name and mode.
 */
export function pricesInputOnly(prices: JsonObject, model: string): boolean {
  const hasInputPrice = Number(prices['input_cost_per_token']) > 0;
  if (!hasInputPrice) return false;
  const hasOutputPrice = Object.keys(prices).some(
    (name) => name.startsWith('output_cost_per') || name.startsWith('tiered_pricing'),
  );
  return !hasOutputPrice && !NO_OUTPUT.test(model);
}

/** Warning about prices of a deployment that are probably wrong; null for none. Its calls are accepted. */
export function priceWarning(
  { priceOverrides, upstreamModel, probe }: Pick<Deployment, 'priceOverrides' | 'upstreamModel' | 'probe'>,
  entry: Pick<CatalogEntry, 'row'> | null,
): string | null {
  const prices = { ...entry?.row, ...priceOverrides };
  if (!pricesInputOnly(prices, `${upstreamModel} ${probe?.mode ?? String(prices['mode'])}`)) return null;
  return 'Input has a price and output has none: output is free. Set output_cost_per_token, 0 for free output.';
}
