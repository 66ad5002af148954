import { type Rate, type Usd, usdFromPartsOfAtto } from '../money.ts';
import type { CatalogEntry, TokenPrices } from './catalog.ts';
import { tokenLimitOf } from './declared-fields.ts';
import { hasBatchPrice, tierFor } from './prices.ts';
import { tariffsOf } from './tariffs.ts';
import { NO_SHARE, type Share, WHOLE, type Workload } from './workload.ts';

/** Item of a line of an estimate. */
type LineKind = 'input' | 'cache_read' | 'cache_write' | 'output' | 'reasoning' | 'request';

/** Where an estimate deviates from the workload, or is based on unknown facts. */
export type EstimateNote =
  | 'PRICED_ZERO'
  | 'CACHING_NOT_STATED'
  | 'CACHE_READ_PRICE_MISSING'
  | 'CACHE_WRITE_PRICE_MISSING'
  | 'BATCH_PRICE_MISSING'
  | 'BEYOND_PRICED_RANGE'
  | 'CONTEXT_WINDOW_UNKNOWN'
  | 'OFF_PEAK_PRICES_IGNORED';

/** One line of an estimate: a quantity at a price. */
export interface EstimateLine {
  readonly kind: LineKind;
  readonly batch: boolean;
  /** Tokens or requests, in units of 10^-18, because shares give fractions. */
  readonly quantity: bigint;
  readonly rate: Rate;
  readonly cost: Usd;
}

/** Cost of a workload with one entry. */
export interface Estimate {
  readonly entry: CatalogEntry;
  /** The sum of the lines. */
  readonly total: Usd;
  readonly perRequest: Usd;
  readonly lines: readonly EstimateLine[];
  readonly notes: readonly EstimateNote[];
  /** Lower bound of the tier of one request; null at the base prices. */
  readonly tierAbove: number | null;
}

/** Entries by the cost of a workload, the cheapest first. Entries of equal cost are in the order of the catalog. */
export interface Ranking {
  readonly entries: readonly CatalogEntry[];
  /** Number of entries of the workload's modes that lack a needed price. */
  readonly unpriced: number;
  /** Number of entries of the workload's modes whose limits are below the size of a request. */
  readonly tooSmall: number;
}

/** Decimal places of a quantity: two shares in billionths are multiplied. */
export const QUANTITY_DIGITS = 18;
/** Units in a quantity of 1. */
const PARTS = WHOLE * WHOLE;

/** Price fields of each kind of token. A second field is the fallback of the first. */
const PRICES: Readonly<Record<Exclude<LineKind, 'request'>, readonly (keyof TokenPrices)[]>> = {
  input: ['input'],
  cache_read: ['cacheRead', 'input'],
  cache_write: ['cacheWrite', 'input'],
  output: ['output'],
  reasoning: ['reasoning', 'output'],
};

/** A quantity of a workload that needs a price, in units of 10^-18. */
interface Need {
  readonly kind: LineKind;
  readonly batch: boolean;
  readonly quantity: bigint;
}

/** Quantities of a workload, independent of the entry; zero quantities are left out. */
function needsOf(workload: Workload): readonly Need[] {
  const { requests, inputTokens, outputTokens, cacheHitRate, cacheWriteRate, batchShare, reasoningShare } = workload;
  const input = BigInt(requests) * BigInt(inputTokens);
  const output = BigInt(requests) * BigInt(outputTokens);
  const amounts: readonly (readonly [LineKind, bigint])[] = [
    ['input', input * (WHOLE - cacheHitRate - cacheWriteRate)],
    ['cache_read', input * cacheHitRate],
    ['cache_write', input * cacheWriteRate],
    ['output', output * (WHOLE - reasoningShare)],
    ['reasoning', output * reasoningShare],
    ['request', BigInt(requests) * WHOLE],
  ];
  const batchSplit = [
    [false, (WHOLE - batchShare) as Share],
    [true, batchShare],
  ] as const;
  return batchSplit.flatMap(([batch, share]) =>
    share === NO_SHARE
      ? []
      : amounts.flatMap(([kind, amount]) => (amount === 0n ? [] : [{ kind, batch, quantity: amount * share }])),
  );
}

/** Whether an entry caches prompts: by its flag, or without a flag by its cache price. */
function cachesPrompts({ row }: CatalogEntry, prices: TokenPrices): boolean {
  const flag = row['supports_prompt_caching'];
  return typeof flag === 'boolean' ? flag : prices.cacheRead !== null;
}

/** Prices of an entry for requests of one size. */
interface SizePrices {
  readonly prices: TokenPrices;
  /** Lower bound of the tier, in input tokens; null at the base prices. */
  readonly above: number | null;
  /** Fee per request; null where there is none. */
  readonly fee: Rate | null;
}

/**
 * The prices for requests of this size, without cache prices where the entry does not cache; null without a token
 * price.
 */
function pricesFor(entry: CatalogEntry, mode: 'standard' | 'batch', inputTokens: number): SizePrices | null {
  const tariff = tariffsOf(entry)[mode];
  if (tariff === null) return null;
  const tier = tierFor(tariff, inputTokens);
  const prices = tier?.prices ?? tariff.base;
  const above = tier?.above ?? null;
  const fee = tariff.perRequest;
  return cachesPrompts(entry, prices)
    ? { prices, above, fee }
    : { prices: { ...prices, cacheRead: null, cacheWrite: null }, above, fee };
}

interface Charge extends Need {
  readonly rate: Rate;
  /** Field with the rate; null for a fee per request. */
  readonly priceField: keyof TokenPrices | null;
}

/** The charges of an entry, without a charge per request where it has no fee; null when a token price is missing. */
function chargesOf(entry: CatalogEntry, needs: readonly Need[], inputTokens: number): readonly Charge[] | null {
  const standard = pricesFor(entry, 'standard', inputTokens);
  const batch = pricesFor(entry, 'batch', inputTokens);
  if (standard === null || batch === null) return null;
  const charges: Charge[] = [];
  for (const need of needs) {
    if (need.kind === 'request') {
      const { fee } = standard;
      if (fee !== null) charges.push({ ...need, rate: fee, priceField: null });
      continue;
    }
    const { prices } = need.batch ? batch : standard;
    const priceField = PRICES[need.kind].find((field) => prices[field] !== null);
    const rate = priceField === undefined ? null : prices[priceField];
    if (priceField === undefined || rate === null) return null;
    charges.push({ ...need, rate, priceField });
  }
  return charges;
}

const costOf = (charges: readonly Charge[]): bigint =>
  charges.reduce((sum, { rate, quantity }) => sum + rate * quantity, 0n);

const isBelow = (limit: number | undefined, tokens: number): boolean => limit !== undefined && limit < tokens;

interface PricedEntry {
  readonly entry: CatalogEntry;
  readonly cost: bigint;
}

function compareCosts(left: PricedEntry, right: PricedEntry): number {
  if (left.cost === right.cost) return 0;
  return left.cost < right.cost ? -1 : 1;
}

/**
 * Ranks the entries of the workload's modes by the cost of the workload. Entries without a needed price, or with too
 * small limits, are only counted.
 */
export function rankEntries(entries: readonly CatalogEntry[], workload: Workload): Ranking {
  const { inputTokens, outputTokens } = workload;
  const needs = needsOf(workload);
  const modes = new Set(workload.modes.map((mode) => mode.toLowerCase()));
  const priced: PricedEntry[] = [];
  let unpriced = 0;
  let tooSmall = 0;
  for (const entry of entries) {
    if (!modes.has((entry.mode ?? '').toLowerCase())) continue;
    const { max_input_tokens: maxInput, max_output_tokens: maxOutput } = entry.row;
    if (isBelow(tokenLimitOf(maxInput), inputTokens) || isBelow(tokenLimitOf(maxOutput), outputTokens)) {
      tooSmall += 1;
      continue;
    }
    const charges = chargesOf(entry, needs, inputTokens);
    if (charges === null) unpriced += 1;
    else priced.push({ entry, cost: costOf(charges) });
  }
  return { entries: priced.toSorted(compareCosts).map(({ entry }) => entry), unpriced, tooSmall };
}

function notesOf(entry: CatalogEntry, workload: Workload, charges: readonly Charge[]): readonly EstimateNote[] {
  const { standard } = tariffsOf(entry);
  const standardPrices = pricesFor(entry, 'standard', workload.inputTokens);
  const batchPrices = pricesFor(entry, 'batch', workload.inputTokens);
  if (standard === null || standardPrices === null || batchPrices === null) return [];
  const usesPrice = (kind: LineKind, field: keyof TokenPrices): boolean =>
    charges.some((charge) => charge.kind === kind && charge.priceField === field);
  const tier = tierFor(standard, workload.inputTokens);
  const caching = cachesPrompts(entry, tier?.prices ?? standard.base);
  const usesCache = workload.cacheHitRate + workload.cacheWriteRate > 0n && workload.inputTokens > 0;
  const lacksBatchPrice = charges.some(
    ({ batch, priceField }) => batch && priceField !== null && !hasBatchPrice(entry.row, priceField, batchPrices.above),
  );
  const facts: readonly (readonly [EstimateNote, boolean])[] = [
    ['PRICED_ZERO', standardPrices.prices.input === 0n && (standardPrices.prices.output ?? 0n) === 0n],
    ['CACHING_NOT_STATED', usesCache && !caching],
    ['CACHE_READ_PRICE_MISSING', caching && usesPrice('cache_read', 'input')],
    ['CACHE_WRITE_PRICE_MISSING', caching && usesPrice('cache_write', 'input')],
    ['BATCH_PRICE_MISSING', lacksBatchPrice],
    ['BEYOND_PRICED_RANGE', standard.pricedUpTo !== null && workload.inputTokens > standard.pricedUpTo],
    ['CONTEXT_WINDOW_UNKNOWN', tokenLimitOf(entry.row['max_input_tokens']) === undefined],
    ['OFF_PEAK_PRICES_IGNORED', entry.row['off_peak_pricing'] !== undefined],
  ];
  return facts.flatMap(([note, applies]) => (applies ? [note] : []));
}

/** Estimated cost of a workload with an entry; null when a price is missing. */
export function estimate(entry: CatalogEntry, workload: Workload): Estimate | null {
  const { inputTokens, requests } = workload;
  const charges = chargesOf(entry, needsOf(workload), inputTokens);
  if (charges === null) return null;
  let sum = 0n;
  // Each line is the difference of rounded running sums, so that the lines add up to the rounded total.
  const lines = charges.map(({ kind, batch, quantity, rate }): EstimateLine => {
    const before = usdFromPartsOfAtto(sum, PARTS);
    sum += rate * quantity;
    return { kind, batch, quantity, rate, cost: (usdFromPartsOfAtto(sum, PARTS) - before) as Usd };
  });
  return {
    entry,
    total: usdFromPartsOfAtto(sum, PARTS),
    perRequest: usdFromPartsOfAtto(sum, PARTS * BigInt(requests)),
    lines,
    notes: notesOf(entry, workload, charges),
    tierAbove: pricesFor(entry, 'standard', inputTokens)?.above ?? null,
  };
}
