import type { CatalogSnapshot } from '../domain/catalog/catalog.ts';
import { readTariff, tierFor, type Tariff } from '../domain/catalog/prices.ts';
import type { Usage } from '../domain/chat/chat.ts';
import type { Deployment } from '../domain/chat/provider.ts';
import { type Rate, times, type Usd, usdFromAtto } from '../domain/money.ts';

/**
 * The tariff of a deployment: its own prices where the configuration sets them, else the catalog's row for
 * its base model, upstream model, `provider/model` or public name, the first that is there. Null when
 * neither names a price.
 */
export function tariffOf(deployment: Deployment, catalog: CatalogSnapshot): Tariff | null {
  const { baseModel, upstreamModel, provider, modelGroup, priceOverrides } = deployment;
  const names = [baseModel, upstreamModel, `${provider}/${upstreamModel}`, modelGroup];
  const entry = names
    .filter((name) => name !== null)
    .map((name) => catalog.find(name))
    .find((found) => found !== null);
  return readTariff({ ...entry?.row, ...priceOverrides });
}

/**
 * What a call costs, exact to the picodollar. Cached input and cache writes are part of the input tokens and
 * billed once, at their own rates or else as plain input; reasoning likewise within the output. Above a
 * tier's bound the whole call is billed at the tier. Null when tokens were used that no rate covers.
 */
export function costOf(tariff: Tariff, usage: Usage): Usd | null {
  const prices = tierFor(tariff, usage.inputTokens)?.prices ?? tariff.base;
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens } = usage;
  const reasoning = Math.min(reasoningTokens, outputTokens);
  const parts: readonly (readonly [Rate | null, number])[] = [
    [prices.input, Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens)],
    [prices.cacheRead ?? prices.input, cacheReadTokens],
    [prices.cacheWrite ?? prices.input, cacheWriteTokens],
    [prices.output, outputTokens - reasoning],
    [prices.reasoning ?? prices.output, reasoning],
  ];
  let atto = 0n;
  for (const [price, tokens] of parts) {
    if (tokens === 0) continue;
    if (price === null) return null;
    atto += times(price, tokens);
  }
  return usdFromAtto(atto);
}

/** Prices calls; a tariff is worked out once per deployment and state of the catalog. */
export function createPricer(current: () => CatalogSnapshot): (deployment: Deployment, usage: Usage) => Usd | null {
  let snapshot: CatalogSnapshot | null = null;
  let tariffs = new Map<string, Tariff | null>();
  return (deployment, usage) => {
    const now = current();
    if (now !== snapshot || tariffs.size > TARIFFS_LIMIT) {
      snapshot = now;
      tariffs = new Map();
    }
    // A wildcard deployment has as many upstream models as callers can name.
    const name = `${deployment.id}\n${deployment.upstreamModel}`;
    let tariff = tariffs.get(name);
    if (tariff === undefined) {
      tariff = tariffOf(deployment, now);
      tariffs.set(name, tariff);
    }
    return tariff === null ? null : costOf(tariff, usage);
  };
}

const TARIFFS_LIMIT = 10_000;
