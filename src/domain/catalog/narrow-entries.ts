import { InvalidInput } from '../errors.ts';
import { type Rate, rateFrom } from '../money.ts';
import { type Capability, has } from './capabilities.ts';
import type { CatalogEntry } from './catalog.ts';
import { tokenLimitOf } from './declared-fields.ts';
import { startingPricesOf } from './tariffs.ts';

/** What can be demanded of entries beyond the filters of the list; all that is given must hold. Null is not given. */
export interface EntryDemands {
  /** Most for an input token, at the lowest tier. An entry without a price does not pass; zero passes the free only. */
  readonly maxInputPrice: Rate | null;
  /** As `maxInputPrice`, for an output token. */
  readonly maxOutputPrice: Rate | null;
  /** Least context window, in tokens. An entry that names none does not pass. */
  readonly minContextWindow: number | null;
  /** All of them. */
  readonly capabilities: readonly Capability[];
  /** Has a deprecation date that began before this instant. */
  readonly deprecatedBefore: Date | null;
  /** Has no deprecation date that began before this instant. */
  readonly notDeprecatedBefore: Date | null;
}

export const NO_DEMANDS: EntryDemands = {
  maxInputPrice: null,
  maxOutputPrice: null,
  minContextWindow: null,
  capabilities: [],
  deprecatedBefore: null,
  notDeprecatedBefore: null,
};

/** Most input tokens of one call; where the map does not say, the older combined limit. Null when it has neither. */
export function contextWindowOf({ row }: Pick<CatalogEntry, 'row'>): number | null {
  return tokenLimitOf(row['max_input_tokens']) ?? tokenLimitOf(row['max_tokens']) ?? null;
}

/** Whether an entry's deprecation date, at 00:00 UTC, is before this instant; without a date it is not. */
function deprecatedBefore({ row }: CatalogEntry, instant: Date): boolean {
  const date = row['deprecation_date'];
  return typeof date === 'string' && Date.parse(date) < instant.getTime();
}

/** USD per million tokens as a price per token. An attodollar is the finest: what is finer is left off. */
export function pricePerTokenFrom(usdPerMillion: string | null): Rate | null {
  const perMillion = rateFrom(usdPerMillion);
  return perMillion === null ? null : ((perMillion / 1_000_000n) as Rate);
}

/** Throws InvalidInput for a demand that means nothing. */
export function assertDemands({ maxInputPrice, maxOutputPrice, minContextWindow }: EntryDemands): void {
  const negative = [maxInputPrice, maxOutputPrice].some((price) => price !== null && price < 0n);
  if (negative) throw new InvalidInput('A price ceiling must not be below zero.');
  if (minContextWindow !== null && minContextWindow < 0)
    throw new InvalidInput('A context window must not be below zero.');
}

const within = (price: Rate | null, most: Rate | null): boolean => most === null || (price !== null && price <= most);

/** The entries that meet every demand, in the order they came. */
export function narrowEntries(entries: readonly CatalogEntry[], demands: EntryDemands): readonly CatalogEntry[] {
  const { maxInputPrice, maxOutputPrice, minContextWindow, capabilities } = demands;
  const priced = maxInputPrice !== null || maxOutputPrice !== null;
  return entries.filter((entry) => {
    if (!capabilities.every((capability) => has(entry, capability))) return false;
    if (minContextWindow !== null && (contextWindowOf(entry) ?? -1) < minContextWindow) return false;
    if (demands.deprecatedBefore && !deprecatedBefore(entry, demands.deprecatedBefore)) return false;
    if (demands.notDeprecatedBefore && deprecatedBefore(entry, demands.notDeprecatedBefore)) return false;
    if (!priced) return true;
    const { input, output } = startingPricesOf(entry);
    return within(input, maxInputPrice) && within(output, maxOutputPrice);
  });
}
