import { isJsonObject } from '../json-object.ts';
import { InvalidInput } from '../errors.ts';
import { addUsd, type Usd, usdFrom, ZERO_USD } from '../money.ts';
import type { SectionContent } from './stored-section.ts';

/** Largest margin: ten times the price. */
const MAX_MARGIN = 10;
/** Fractions are exact to a millionth. */
const MILLIONTHS = 1_000_000;

interface Margin {
  /** Millionths of the price. */
  readonly fraction: bigint;
  /** Amount for each call. */
  readonly fixed: Usd;
}

/** Discounts and margins of providers. */
export interface CostAdjustments {
  /** Millionths of the price that are taken off, by provider. */
  readonly discounts: ReadonlyMap<string, bigint>;
  /** Margins by provider; `global` is for providers without one. */
  readonly margins: ReadonlyMap<string, Margin>;
}

export const NO_ADJUSTMENTS: CostAdjustments = { discounts: new Map(), margins: new Map() };

const isFraction = (value: unknown, most: number): value is number =>
  typeof value === 'number' && value >= 0 && value <= most;

/** Throws InvalidInput for a discount that is not a fraction of the price. */
export function assertCostDiscounts(values: SectionContent): void {
  for (const [provider, value] of Object.entries(values))
    if (!isFraction(value, 1)) throw new InvalidInput(`Discount for ${provider} must be between 0 and 1 (0% to 100%)`);
}

/**
 * Throws InvalidInput for a margin that is neither a fraction nor an object with valid `percentage` and `fixed_amount`.
 */
export function assertCostMargins(values: SectionContent): void {
  for (const [provider, value] of Object.entries(values))
    if (marginOf(value) === null)
      throw new InvalidInput(
        `Margin for ${provider} must be a number between 0 and ${MAX_MARGIN} (0% to 1000%), or an object with percentage or fixed_amount`,
      );
}

const millionthsOf = (fraction: number): bigint => BigInt(Math.round(fraction * MILLIONTHS));

function marginOf(value: unknown): Margin | null {
  if (isFraction(value, MAX_MARGIN)) return { fraction: millionthsOf(value), fixed: ZERO_USD };
  if (!isJsonObject(value)) return null;
  const { percentage = 0, fixed_amount: fixed = 0 } = value;
  const amount = typeof fixed === 'number' && fixed >= 0 ? usdFrom(fixed) : null;
  return isFraction(percentage, MAX_MARGIN) && amount !== null
    ? { fraction: millionthsOf(percentage), fixed: amount }
    : null;
}

const entriesOf = (value: unknown): readonly [string, unknown][] => (isJsonObject(value) ? Object.entries(value) : []);

/** Reads both settings. Malformed values are ignored. */
export function costAdjustmentsOf(discounts: unknown, margins: unknown): CostAdjustments {
  return {
    discounts: new Map(
      entriesOf(discounts).flatMap(([name, value]) =>
        isFraction(value, 1) ? [[name, millionthsOf(value)] as const] : [],
      ),
    ),
    margins: new Map(
      entriesOf(margins).flatMap(([name, value]) => {
        const margin = marginOf(value);
        return margin === null ? [] : [[name, margin] as const];
      }),
    ),
  };
}

/** The price of a call after the discount of its provider, and then with its margin. */
export function adjustedCost(cost: Usd, provider: string, adjustments: CostAdjustments): Usd {
  const { reduced, margin } = adjustedParts(cost, provider, adjustments);
  return addUsd(reduced, margin);
}

/** The price of a call after the discount of its provider, and the margin to add. */
export function adjustedParts(
  cost: Usd,
  provider: string,
  { discounts, margins }: CostAdjustments,
): { readonly reduced: Usd; readonly margin: Usd } {
  const discount = discounts.get(provider) ?? 0n;
  const margin = margins.get(provider) ?? margins.get('global');
  const reduced = (cost - (cost * discount) / BigInt(MILLIONTHS)) as Usd;
  if (margin === undefined) return { reduced, margin: ZERO_USD };
  return { reduced, margin: addUsd(((reduced * margin.fraction) / BigInt(MILLIONTHS)) as Usd, margin.fixed) };
}
