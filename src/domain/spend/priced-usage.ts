import type { TokenPrices } from '../catalog/catalog.ts';
import { type PriceRow, readTariff, tierFor } from '../catalog/prices.ts';
import type { Usage } from '../chat/chat.ts';
import { type Rate, attoCost, type Usd, usdFromAtto } from '../money.ts';

const COST_PARTS = ['input', 'output', 'cacheRead', 'cacheWrite', 'reasoning'] as const;
type CostPart = (typeof COST_PARTS)[number];

/** The cost of a usage, and its parts: each token is in one part. */
export interface PricedUsage {
  /** The rounded sum, with the fee per request. */
  readonly total: Usd;
  readonly parts: Readonly<Record<CostPart, Usd>>;
  /** Price of a token of each part, after the fallback to the price of input or output. */
  readonly rates: Readonly<Record<CostPart, Rate | null>>;
}

const ratesOf = ({ input, output, cacheRead, cacheWrite, reasoning }: TokenPrices): PricedUsage['rates'] => ({
  input,
  output,
  cacheRead: cacheRead ?? input,
  cacheWrite: cacheWrite ?? input,
  reasoning: reasoning ?? output,
});

/**
 * Prices a usage by a row of the price map. Null when the row has no token price, or no price for a kind of token that
 * was used.
 */
export function priceUsage(row: PriceRow, usage: Usage): PricedUsage | null {
  const tariff = readTariff(row);
  if (tariff === null) return null;
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens } = usage;
  const rates = ratesOf(tierFor(tariff, inputTokens)?.prices ?? tariff.base);
  const reasoning = Math.min(reasoningTokens, outputTokens);
  const tokens: Readonly<Record<CostPart, number>> = {
    input: Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens),
    output: outputTokens - reasoning,
    cacheRead: cacheReadTokens,
    cacheWrite: cacheWriteTokens,
    reasoning,
  };
  if (COST_PARTS.some((part) => tokens[part] > 0 && rates[part] === null)) return null;
  const attoOf = (part: CostPart): bigint => attoCost(rates[part] ?? (0n as Rate), tokens[part]);
  const parts = COST_PARTS.map((part) => [part, usdFromAtto(attoOf(part))] as const);
  const sum = COST_PARTS.reduce((total, part) => total + attoOf(part), tariff.perRequest ?? 0n);
  return { total: usdFromAtto(sum), parts: Object.fromEntries(parts) as PricedUsage['parts'], rates };
}
