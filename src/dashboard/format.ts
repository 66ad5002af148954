/** Significant digits of an amount below one cent. */
const SMALL_AMOUNT_DIGITS = 3;

/**
 * An exact decimal text as dollars: two decimals for one cent or more, else three significant digits. A dash for null.
 * Cuts digits instead of rounding, so that no amount is shown larger than it is.
 */
export function dollars(amount: string | null): string {
  if (amount === null) return '–';
  const isNegative = amount.startsWith('-');
  const [whole = '0', decimals = ''] = (isNegative ? amount.slice(1) : amount).split('.');
  const sign = isNegative ? '-' : '';
  const cents = decimals.slice(0, 2).padEnd(2, '0');
  const firstDigit = decimals.search(/[1-9]/);
  if (whole !== '0' || firstDigit === -1 || firstDigit < 2) return `${sign}$${withThousandsSeparators(whole)}.${cents}`;
  return `${sign}$0.${decimals.slice(0, firstDigit + SMALL_AMOUNT_DIGITS)}`;
}

const withThousandsSeparators = (digits: string): string => digits.replace(/\B(?=(\d{3})+$)/g, ',');

/** The exact price of a million tokens in dollars, from the price of one token. A dash for null. */
export function dollarsPerMillion(price: string | null): string {
  if (price === null) return '–';
  const [whole = '0', decimals = ''] = price.split('.');
  const shifted = `${whole}${decimals.padEnd(6, '0').slice(0, 6)}`.replace(/^0+(?=\d)/, '');
  const rest = decimals.slice(6).replace(/0+$/, '');
  return `$${withThousandsSeparators(shifted)}.${rest.padEnd(2, '0')}`;
}

/** An integer of the graph with thousands separators. */
export const countText = (value: number | string): string => withThousandsSeparators(String(value));

/** A duration in ms as text in ms, s or min. From 1 ms on, digits are cut: 999.6 ms are shown as 999 ms. */
export function durationText(milliseconds: number): string {
  if (milliseconds < 1) return `${milliseconds.toFixed(2)} ms`;
  if (milliseconds < 1000) return `${Math.floor(milliseconds)} ms`;
  if (milliseconds < 60_000) return `${(Math.floor(milliseconds / 100) / 10).toFixed(1)} s`;
  return `${Math.floor(milliseconds / 60_000)} min ${Math.floor((milliseconds % 60_000) / 1000)} s`;
}

/** A time of the graph (ISO 8601, UTC) as local date and time, to the second. A dash for null. */
export function localTime(time: string | null): string {
  return time === null ? '–' : new Date(time).toLocaleString(undefined, { dateStyle: 'short', timeStyle: 'medium' });
}

/** Share of `part` in `whole`, in percent, from 0 to 100. */
export const percent = (part: number, whole: number): number =>
  whole <= 0 ? 0 : Math.min(100, Math.max(0, (part / whole) * 100));
