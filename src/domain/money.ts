/**
 * Exact money: an amount is an integer of picodollars (1e-12 USD) and a price per unit an integer of attodollars (1e-18
 * USD), both as bigint. Floats appear only where a wire format requires them.
 */

declare const usd: unique symbol;
declare const rate: unique symbol;

/** An amount in picodollars (1 USD = 10^12). */
export type Usd = bigint & { readonly [usd]: true };
/** A price of one token (or other unit) in attodollars (1 USD = 10^18). */
export type Rate = bigint & { readonly [rate]: true };

const PICO_DIGITS = 12;
const ATTO_DIGITS = 18;
const ATTO_PER_PICO = 1_000_000n;

export const ZERO_USD = 0n as Usd;

/** A decimal: minus sign, whole digits, fraction, and an exponent of at most three digits. All parts are optional. */
const DECIMAL = /^(-?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,3}))?$/;

/**
 * The decimal text times 10^digits, rounded half to even. Null for a text that `DECIMAL` does not match, or without a
 * digit.
 */
function scaled(text: string, digits: number): bigint | null {
  const match = DECIMAL.exec(text);
  if (!match) return null;
  const [, sign, whole = '', fraction = '', exponent = '0'] = match;
  if (whole === '' && fraction === '') return null;
  const shift = digits + Number(exponent) - fraction.length;
  const mantissa = BigInt(whole + fraction);
  const magnitude = shift >= 0 ? mantissa * 10n ** BigInt(shift) : divideToEven(mantissa, 10n ** BigInt(-shift));
  return sign === '-' ? -magnitude : magnitude;
}

/** Quotient of two integers that are not negative, rounded half to even. */
function divideToEven(dividend: bigint, divisor: bigint): bigint {
  const quotient = dividend / divisor;
  const doubleRemainder = (dividend % divisor) * 2n;
  if (doubleRemainder < divisor) return quotient;
  if (doubleRemainder > divisor) return quotient + 1n;
  return quotient % 2n === 0n ? quotient : quotient + 1n;
}

/** Reads a price of the price map, which is a number or a decimal text. Null for other values. */
export function rateFrom(price: unknown): Rate | null {
  if (typeof price !== 'number' && typeof price !== 'string') return null;
  return scaled(String(price).trim(), ATTO_DIGITS) as Rate | null;
}

/** Reads USD from a number or decimal text, rounded to picodollars. Null for other text. */
export function usdFrom(amount: number | string): Usd | null {
  return scaled(String(amount).trim(), PICO_DIGITS) as Usd | null;
}

/** Cost of `units` at `price`, not rounded, in attodollars. */
export function attoCost(price: Rate, units: number): bigint {
  return price * BigInt(units);
}

/** Converts attodollars to picodollars, rounded half to even. */
export function usdFromAtto(atto: bigint): Usd {
  return usdFromPartsOfAtto(atto, 1n);
}

/** Converts a sum in units of 1/`parts` attodollar to picodollars, rounded half to even. */
export function usdFromPartsOfAtto(sum: bigint, parts: bigint): Usd {
  const divisor = ATTO_PER_PICO * parts;
  return (sum < 0n ? -divideToEven(-sum, divisor) : divideToEven(sum, divisor)) as Usd;
}

/** Largest amount of a 64-bit column. */
const MAX_USD = 2n ** 63n - 1n;

/** An amount clamped to 64 bits, which every store accepts. */
export function clampUsd(amount: bigint): Usd {
  if (amount > MAX_USD) return MAX_USD as Usd;
  if (amount < -MAX_USD) return -MAX_USD as Usd;
  return amount as Usd;
}

/** A sum clamped to 64 bits. */
export function addUsd(left: Usd, right: Usd): Usd {
  return clampUsd(left + right);
}

/** `value` times 10^-digits as plain decimal text, without exponent or trailing zeros: `0.000125`. */
export function fixedText(value: bigint, digits: number): string {
  if (value === 0n) return '0';
  const negative = value < 0n;
  const text = (negative ? -value : value).toString().padStart(digits + 1, '0');
  const fraction = text.slice(-digits).replace(/0+$/, '');
  return `${negative ? '-' : ''}${text.slice(0, -digits)}${fraction === '' ? '' : `.${fraction}`}`;
}

/** An amount as decimal text, in USD. */
export function usdText(amount: Usd): string {
  return fixedText(amount, PICO_DIGITS);
}

/** A price of one token as decimal text, in USD. */
export function rateText(price: Rate): string {
  return fixedText(price, ATTO_DIGITS);
}

/** The nearest double, for wires that carry money as a JSON number. */
export function usdNumber(amount: Usd): number {
  return Number(usdText(amount));
}
