import { deploymentsFor } from '../src/domain/deployments/team-models.ts';
import type { PriceRow } from '../src/domain/catalog/prices.ts';
import type { Usage } from '../src/domain/chat/chat.ts';
import { pricedRow } from '../src/domain/deployments/priced-row.ts';
import { InvalidInput, NotFound } from '../src/domain/errors.ts';
import { estimateTokens } from '../src/domain/inference/token-estimate.ts';
import { mayCall } from '../src/domain/keys/virtual-key.ts';
import { addUsd, type Usd } from '../src/domain/money.ts';
import { adjustedParts } from '../src/domain/settings/cost-adjustments.ts';
import { type PricedUsage, priceUsage } from '../src/domain/spend/priced-usage.ts';
import { anyKey } from './operation/access.ts';
import { callerOf, operation } from './operation/operation.ts';
import type { SpendPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';

/** Prices of a model, and the provider that has them. */
interface ModelPrices {
  readonly row: PriceRow;
  readonly provider: string | null;
}

/** Prices of a configured model that the caller may call, or of an entry of the catalog; null for other models. */
function pricesOf(scope: Scope<SpendPlatform>, model: string): ModelPrices | null {
  const { platform } = scope;
  const catalog = platform.catalog.current();
  const { key } = callerOf(scope);
  const deployment = mayCall(key, model)
    ? deploymentsFor(key, platform.gateway.deployments()).find(({ modelGroup }) => modelGroup === model)
    : undefined;
  if (deployment === undefined) {
    const entry = catalog.find(model);
    return entry === null ? null : { row: entry.row, provider: entry.provider };
  }
  const row = pricedRow(deployment, catalog);
  return { row, provider: deployment.provider };
}

/** A priced usage with discount and margin, and the provider of the prices. */
export interface UsageEstimate extends PricedUsage {
  readonly provider: string | null;
  /** The margin, which the total includes. */
  readonly margin: Usd;
}

/** Applies the discount and the margin of a provider to the total of a priced usage. Its parts keep the list price. */
function adjusted(
  { platform }: Scope<SpendPlatform>,
  priced: PricedUsage,
  provider: string | null,
): PricedUsage & { readonly margin: Usd } {
  const { reduced, margin } = adjustedParts(priced.total, provider ?? '', platform.costAdjustments());
  return { ...priced, total: addUsd(reduced, margin), margin };
}

/** Estimates the cost of a usage of a model. Throws NotFound for a model without a price. */
export const estimateUsage = operation({
  name: 'estimateUsage',
  access: anyKey,
  run(scope: Scope<SpendPlatform>, { model, usage }: { readonly model: string; readonly usage: Usage }): UsageEstimate {
    const prices = pricesOf(scope, model);
    const priced = prices === null ? null : priceUsage(prices.row, usage);
    if (prices === null || priced === null) throw new NotFound('priced model', model, noPriceMessage(model));
    return { ...adjusted(scope, priced, prices.provider), provider: prices.provider };
  },
});

/** A call to price: its usage, or the messages that would be sent. */
export type CallToPrice = { readonly model: string } & (
  | { readonly usage: Usage }
  | { readonly messages: readonly unknown[] }
);

/**
 * Estimates the cost of a call from its usage, or from its messages, whose tokens are estimated by size. Throws
 * InvalidInput for a model without a price.
 */
export const estimateCall = operation({
  name: 'estimateCall',
  access: anyKey,
  run(scope: Scope<SpendPlatform>, call: CallToPrice): PricedUsage {
    const usage = 'usage' in call ? call.usage : inputOnly(estimateTokens({ messages: call.messages }));
    const prices = pricesOf(scope, call.model);
    const priced = prices === null ? null : priceUsage(prices.row, usage);
    if (prices !== null && priced !== null) return adjusted(scope, priced, prices.provider);
    throw new InvalidInput(noPriceMessage(call.model), [], { field: 'priced_model' });
  },
});

/** Maximum number of characters of a model name in a message. */
const MAX_SHOWN_NAME = 200;

const noPriceMessage = (model: string): string =>
  `No price is known for the model '${model.slice(0, MAX_SHOWN_NAME)}'.`;

const inputOnly = (inputTokens: number): Usage => ({
  inputTokens,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
});
