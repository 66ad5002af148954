/** Number of significant decimals of an amount below one cent. */
const SMALL_AMOUNT_DIGITS = 3;

/**
 * An exact decimal text as dollars: two decimals from one cent up, else three significant digits. A dash for null. Cuts
 * digits and never rounds up, so that a small cost is not shown larger than it is.
 */
export function dollars(amount: string | null): string {
  if (amount === null) return '–';
  const negative = amount.startsWith('-');
  const [whole = '0', decimals = ''] = (negative ? amount.slice(1) : amount).split('.');
  const sign = negative ? '-' : '';
  const cents = decimals.slice(0, 2).padEnd(2, '0');
  const firstDigit = decimals.search(/[1-9]/);
  if (whole !== '0' || firstDigit === -1 || firstDigit < 2) return `${sign}$${withGroups(whole)}.${cents}`;
  return `${sign}$0.${decimals.slice(0, firstDigit + SMALL_AMOUNT_DIGITS)}`;
}

const withGroups = (digits: string): string => digits.replace(/\B(?=(\d{3})+$)/g, ',');

/** Price of one token as dollars of a million tokens, exact. A dash for null. */
export function dollarsPerMillion(price: string | null): string {
  if (price === null) return '–';
  const [whole = '0', decimals = ''] = price.split('.');
  const shifted = `${whole}${decimals.padEnd(6, '0').slice(0, 6)}`.replace(/^0+(?=\d)/, '');
  const rest = decimals.slice(6).replace(/0+$/, '');
  return `$${withGroups(shifted)}.${rest.padEnd(2, '0')}`;
}

/** An integer of the graph with thousands separators. */
export const count = (value: number | string): string => withGroups(String(value));

/** A duration in ms, in the unit that fits. */
export function duration(milliseconds: number): string {
  if (milliseconds < 1) return `${milliseconds.toFixed(2)} ms`;
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 60_000) return `${(milliseconds / 1000).toFixed(1)} s`;
  return `${Math.floor(milliseconds / 60_000)} min ${Math.floor((milliseconds % 60_000) / 1000)} s`;
}

/** A time of the graph (ISO 8601, UTC) as local date and time without fractions. */
export function localTime(time: string | null): string {
  return time === null ? '–' : new Date(time).toLocaleString(undefined, { dateStyle: 'short', timeStyle: 'medium' });
}

/** Share of `part` in `whole`, in percent, from 0 to 100. */
export const percent = (part: number, whole: number): number =>
  whole <= 0 ? 0 : Math.min(100, Math.max(0, (part / whole) * 100));
