import type { JsonObject } from '../json-object.ts';
import { type Rate, rateFrom } from '../money.ts';
import type { PricedTier } from '../chat/usage.ts';
import type { TokenPrices } from './catalog.ts';

/** A row of the price map, or any row that uses its keys. */
export type PriceRow = JsonObject;

/** Token prices, with tiers that apply when one request has more input tokens than a bound. */
export interface Tariff {
  readonly base: TokenPrices;
  /** Highest bound first. */
  readonly tiers: readonly Tier[];
  /** Whether a request with exactly `above` input tokens is in the tier: only for xAI. */
  readonly boundIncluded: boolean;
  /** Fee per request, in addition to its tokens; null where there is none. */
  readonly perRequest: Rate | null;
  /** Number of input tokens up to which the price map has prices; null when unlimited. */
  readonly pricedUpTo: number | null;
  /** Price of a cache write with a lifetime of an hour or more; absent where the general price of writes applies. */
  readonly longCacheWrite?: Rate;
}

/** Prices of a whole request with more than `above` input tokens, cached ones included. */
export interface Tier {
  readonly above: number;
  readonly prices: TokenPrices;
  readonly longCacheWrite?: Rate;
}

/** Token prices of a row. */
export function tokenPricesOf(row: PriceRow): TokenPrices {
  const input = rateFrom(row['input_cost_per_token']);
  return {
    input,
    output: rateFrom(row['output_cost_per_token']),
    cacheRead: rateFrom(row['cache_read_input_token_cost'] ?? row['input_cost_per_token_cache_hit']),
    cacheWrite: writePrice(rateFrom(row['cache_creation_input_token_cost']), input),
    reasoning: rateFrom(row['output_cost_per_reasoning_token']),
  };
}

/**
 * Price of cache writes; null where the input price applies. A write price of zero in the map means that writes have no
 * surcharge: the tokens still cost the input price.
 */
function writePrice(write: Rate | null, input: Rate | null): Rate | null {
  return write === 0n && input !== null && input > 0n ? null : write;
}

/**
 * Price keys of cache writes with a long lifetime. The first is for vendors with a lifetime of an hour, the second for
 * vendors with a lifetime of a day.
 */
const LONG_WRITES = [
  'cache_creation_input_token_cost_above_1hr',
  'cache_creation_input_token_cost_above_12hr',
] as const;

function longWriteOf(row: PriceRow): Pick<Tier, 'longCacheWrite'> {
  const longCacheWrite = rateFrom(row[LONG_WRITES[0]] ?? row[LONG_WRITES[1]]);
  return longCacheWrite === null ? {} : { longCacheWrite };
}

/** Reads the tariff of a row; null when it has no token price (ADR 0015). */
export function readTariff(row: PriceRow): Tariff | null {
  const steps = stepsOf(row);
  const [first] = steps;
  // A row with `tiered_pricing` may also have flat prices. They equal those of the first step, except where the
  // configuration has set them. So flat prices take precedence over the first step.
  const base = tokenPricesOf(first ? { ...first.row, ...row } : row);
  if (base.input === null && base.output === null) return null;
  const unsortedTiers = first
    ? steps.slice(1).map(({ above, row: step }) => ({ above, prices: tokenPricesOf({ ...row, ...step }) }))
    : tiersOf(row);
  const tiers = unsortedTiers.toSorted((left, right) => right.above - left.above);
  const boundIncluded = row['litellm_provider'] === 'xai';
  const perRequest = rateFrom(row['input_cost_per_request']);
  return { base, tiers, boundIncluded, perRequest, pricedUpTo: steps.at(-1)?.upTo ?? null, ...longWriteOf(row) };
}

/** The tier of a request with so many input tokens; null at the base prices. */
export function tierFor({ tiers, boundIncluded }: Tariff, inputTokens: number): Tier | null {
  return tiers.find(({ above }) => inputTokens > above || (boundIncluded && inputTokens === above)) ?? null;
}

const TOKEN_PRICES = `input_cost_per_token|output_cost_per_token|cache_read_input_token_cost|cache_creation_input_token_cost|${LONG_WRITES.join('|')}|output_cost_per_reasoning_token`;
const TIER_PRICE = new RegExp(`^(${TOKEN_PRICES})_above_(\\d+)k_tokens$`);

/** Tiers written as `<price>_above_<n>k_tokens`. For other prices of such a tier, the base prices apply. */
function tiersOf(row: PriceRow): readonly Tier[] {
  const byBound = new Map<string, Record<string, unknown>>();
  for (const key of Object.keys(row)) {
    // A cheap check that skips most keys: a sort of the catalog reads thousands of rows.
    if (!key.includes('_above_')) continue;
    const [, price, bound] = TIER_PRICE.exec(key) ?? [];
    if (price === undefined || bound === undefined || rateFrom(row[key]) === null) continue;
    byBound.set(bound, { ...byBound.get(bound), [price]: row[key] });
  }
  return [...byBound].map(([bound, tierPrices]) => ({
    above: Number(bound) * 1000,
    prices: tokenPricesOf({ ...row, ...tierPrices }),
    ...longWriteOf({ ...row, ...tierPrices }),
  }));
}

/** One element of `tiered_pricing`: prices of requests with more than `above` input tokens. */
interface Step {
  readonly above: number;
  readonly upTo: number;
  readonly row: PriceRow;
}

/**
 * Tiers written as `tiered_pricing`, lowest first. The last step also applies to more tokens than its range has.
 * Malformed steps are ignored.
 */
function stepsOf(row: PriceRow): readonly Step[] {
  const list = row['tiered_pricing'];
  if (!Array.isArray(list)) return [];
  return list
    .flatMap((step: unknown): Step[] => {
      if (typeof step !== 'object' || step === null) return [];
      const { range, ...prices } = step as PriceRow;
      if (!Array.isArray(range)) return [];
      const [above, upTo] = range as readonly unknown[];
      return typeof above === 'number' && typeof upTo === 'number' ? [{ above, upTo, row: prices }] : [];
    })
    .toSorted((left, right) => left.above - right.above);
}

const BATCH = '_batches';

/** The row with its batch prices in place of the standard ones; the row itself when it has none. */
export function batchRowOf(row: PriceRow): PriceRow {
  const batch = Object.keys(row).filter((key) => key.endsWith(BATCH) && rateFrom(row[key]) !== null);
  if (batch.length === 0) return row;
  return { ...row, ...Object.fromEntries(batch.map((key) => [key.slice(0, -BATCH.length), row[key]])) };
}

/** The row with the prices of a service tier in place of the standard ones; null when it has none. */
export function serviceRowOf(row: PriceRow, tier: PricedTier): PriceRow | null {
  const ending = `_${tier}`;
  const tierKeys = Object.keys(row).filter((key) => key.endsWith(ending) && rateFrom(row[key]) !== null);
  if (tierKeys.length === 0) return null;
  return { ...row, ...Object.fromEntries(tierKeys.map((key) => [key.slice(0, -ending.length), row[key]])) };
}

/** Keys of the prices in the map. */
const KEYS: Readonly<Record<keyof TokenPrices, string>> = {
  input: 'input_cost_per_token',
  output: 'output_cost_per_token',
  cacheRead: 'cache_read_input_token_cost',
  cacheWrite: 'cache_creation_input_token_cost',
  reasoning: 'output_cost_per_reasoning_token',
};

/**
 * Whether a row has a batch price of a kind, in the tier with the lower bound `above` (null for the base prices). In a
 * tier without a price of the kind, the base price applies.
 */
export function hasBatchPrice(row: PriceRow, kind: keyof TokenPrices, above: number | null): boolean {
  const hasPrice = (key: string): boolean => rateFrom(row[key]) !== null;
  const baseKey = KEYS[kind];
  const tierKey = `${baseKey}_above_${(above ?? 0) / 1000}k_tokens`;
  const isTierPrice = above !== null && (hasPrice(tierKey) || hasPrice(`${tierKey}${BATCH}`));
  return hasPrice(`${isTierPrice ? tierKey : baseKey}${BATCH}`);
}
