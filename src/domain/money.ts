/**
 * Money is exact: an amount is a whole number of picodollars (1e-12 USD) and a price per unit a whole
 * number of attodollars (1e-18 USD), both as bigint. Floats appear only where a wire asks for them.
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

/** Digits and exponent of a decimal as JSON writes it; null when the text is no finite decimal. */
const DECIMAL = /^(-?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,3}))?$/;

/** The decimal text times 10^digits, rounded half to even. */
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

function divideToEven(dividend: bigint, divisor: bigint): bigint {
  const quotient = dividend / divisor;
  const twice = (dividend % divisor) * 2n;
  if (twice < divisor) return quotient;
  if (twice > divisor) return quotient + 1n;
  return quotient % 2n === 0n ? quotient : quotient + 1n;
}

/** A price as the price map writes it: a JSON number, or the same as text. Null when it is neither. */
export function rateFrom(price: unknown): Rate | null {
  if (typeof price !== 'number' && typeof price !== 'string') return null;
  return scaled(String(price).trim(), ATTO_DIGITS) as Rate | null;
}

/** USD as a decimal number or text, to the picodollar. Null when it is no decimal. */
export function usdFrom(amount: number | string): Usd | null {
  return scaled(String(amount).trim(), PICO_DIGITS) as Usd | null;
}

/** What `units` cost at `price`, before rounding, in attodollars. */
export function times(price: Rate, units: number): bigint {
  return price * BigInt(units);
}

/** A sum of attodollars as an amount, rounded half to even once, at the end. */
export function usdFromAtto(atto: bigint): Usd {
  return usdFromPartsOfAtto(atto, 1n);
}

/** A sum of parts of an attodollar, of which so many make one, as an amount, rounded likewise. */
export function usdFromPartsOfAtto(sum: bigint, parts: bigint): Usd {
  const divisor = ATTO_PER_PICO * parts;
  return (sum < 0n ? -divideToEven(-sum, divisor) : divideToEven(sum, divisor)) as Usd;
}

/** What 64 bits hold. */
const MOST_USD = 2n ** 63n - 1n;

/** An amount as every store can keep it: one beyond is the nearest that they can. No sum is worth what it was made of. */
export const keepableUsd = (amount: bigint): Usd =>
  (amount > MOST_USD ? MOST_USD : amount < -MOST_USD ? -MOST_USD : amount) as Usd;

/** A sum that every store can keep. */
export function addUsd(left: Usd, right: Usd): Usd {
  return keepableUsd(left + right);
}

/** Plain decimal text of a whole number of 10^-digits, without exponent or trailing zeros: `0.000125`. */
export function fixedText(value: bigint, digits: number): string {
  const negative = value < 0n;
  const text = (negative ? -value : value).toString().padStart(digits + 1, '0');
  const fraction = text.slice(-digits).replace(/0+$/, '');
  return `${negative ? '-' : ''}${text.slice(0, -digits)}${fraction === '' ? '' : `.${fraction}`}`;
}

/** An amount in USD. */
export function usdText(amount: Usd): string {
  return fixedText(amount, PICO_DIGITS);
}

/** A price of one token in USD. */
export function rateText(price: Rate): string {
  return fixedText(price, ATTO_DIGITS);
}

/** The nearest double, for wires that carry money as a JSON number. */
export function usdNumber(amount: Usd): number {
  return Number(usdText(amount));
}
