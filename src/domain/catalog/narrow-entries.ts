import { InvalidInput } from '../errors.ts';
import { type Rate, rateFrom } from '../money.ts';
import { type Capability, hasCapability } from './capabilities.ts';
import type { CatalogEntry } from './catalog.ts';
import { tokenLimitOf } from './declared-fields.ts';
import { startingPricesOf } from './tariffs.ts';

/** Conditions of a catalog search in addition to `EntryFilters`. All that are not null must match. */
export interface EntryConditions {
  /**
   * Highest price of an input token, at the lowest tier. An entry without a price does not match; a limit of zero
   * matches entries whose input tokens are free.
   */
  readonly maxInputPrice: Rate | null;
  /** Highest price of an output token, as `maxInputPrice`. */
  readonly maxOutputPrice: Rate | null;
  /** Smallest context window, in tokens. An entry without one does not match. */
  readonly minContextWindow: number | null;
  /** Capabilities that an entry must have, all of them. */
  readonly capabilities: readonly Capability[];
  /** Has a deprecation date that began before this instant. */
  readonly deprecatedBefore: Date | null;
  /** Has no deprecation date that began before this instant. */
  readonly notDeprecatedBefore: Date | null;
}

export const NO_ENTRY_CONDITIONS: EntryConditions = {
  maxInputPrice: null,
  maxOutputPrice: null,
  minContextWindow: null,
  capabilities: [],
  deprecatedBefore: null,
  notDeprecatedBefore: null,
};

/**
 * Maximum input tokens of one call. Without it: `max_tokens`, an older limit that does not separate input and output.
 * Null when the map has neither.
 */
export function contextWindowOf({ row }: Pick<CatalogEntry, 'row'>): number | null {
  return tokenLimitOf(row['max_input_tokens']) ?? tokenLimitOf(row['max_tokens']) ?? null;
}

/** Whether an entry has a deprecation date whose start (UTC) is before this instant. */
function isDeprecatedBefore(instant: Date, { row }: CatalogEntry): boolean {
  const date = row['deprecation_date'];
  return typeof date === 'string' && Date.parse(date) < instant.getTime();
}

/** USD per million tokens as a price per token, truncated to attodollars. */
export function pricePerTokenFrom(usdPerMillion: string | null): Rate | null {
  const perMillion = rateFrom(usdPerMillion);
  return perMillion === null ? null : ((perMillion / 1_000_000n) as Rate);
}

/** Throws InvalidInput for a negative limit. */
export function assertConditions({ maxInputPrice, maxOutputPrice, minContextWindow }: EntryConditions): void {
  const negative = [maxInputPrice, maxOutputPrice].some((price) => price !== null && price < 0n);
  if (negative) throw new InvalidInput('A price ceiling must not be below zero.');
  if (minContextWindow !== null && minContextWindow < 0)
    throw new InvalidInput('A context window must not be below zero.');
}

const isAtMost = (most: Rate | null, price: Rate | null): boolean => most === null || (price !== null && price <= most);

/** The matching entries, in their order. */
export function narrowEntries(entries: readonly CatalogEntry[], conditions: EntryConditions): readonly CatalogEntry[] {
  const { maxInputPrice, maxOutputPrice, minContextWindow, capabilities } = conditions;
  const { deprecatedBefore, notDeprecatedBefore } = conditions;
  const hasPriceLimit = maxInputPrice !== null || maxOutputPrice !== null;
  return entries.filter((entry) => {
    if (!capabilities.every((capability) => hasCapability(entry, capability))) return false;
    if (minContextWindow !== null && (contextWindowOf(entry) ?? -1) < minContextWindow) return false;
    if (deprecatedBefore !== null && !isDeprecatedBefore(deprecatedBefore, entry)) return false;
    if (notDeprecatedBefore !== null && isDeprecatedBefore(notDeprecatedBefore, entry)) return false;
    if (!hasPriceLimit) return true;
    const { input, output } = startingPricesOf(entry);
    return isAtMost(maxInputPrice, input) && isAtMost(maxOutputPrice, output);
  });
}
