import { type Usd, usdFrom, usdText } from '../../src/domain/money.ts';

/**
 * A double as plain decimal text without exponent: the shortest digits that parse to the same double. A number of at
 * most 15 significant digits in JSON therefore has the same digits in this text.
 */
export function decimalText(value: number): string {
  const text = String(value);
  const exponentAt = text.indexOf('e');
  if (exponentAt === -1) return text;
  const start = value < 0 ? 1 : 0;
  const point = text.indexOf('.');
  const whole = text.slice(start, point === -1 ? exponentAt : point);
  const fraction = point === -1 ? '' : text.slice(point + 1, exponentAt);
  const sign = value < 0 ? '-' : '';
  const shift = Number(text.slice(exponentAt + 1));
  // `1.5e-7` becomes `0.00000015`.
  if (shift < 0) return `${sign}0.${(whole + fraction).padStart(fraction.length - shift, '0')}`;
  // `1.5e+21` becomes `1500000000000000000000`.
  const digits = (whole + fraction).padEnd(whole.length + shift, '0');
  const rest = digits.slice(whole.length + shift);
  return `${sign}${digits.slice(0, whole.length + shift)}${rest === '' ? '' : `.${rest}`}`;
}

/** An amount as exact decimal text; null without an amount. */
export const usdOrNull = (amount: Usd | null | undefined): string | null =>
  amount === null || amount === undefined ? null : usdText(amount);

/** A stored amount without trailing zeros and exponent. Text that is not an amount is returned unchanged. */
export function plainUsd(text: string): string {
  const amount = usdFrom(text);
  return amount === null ? text : usdText(amount);
}
