import { InvalidInput } from '../../domain/errors.ts';

const NS_DIGITS = 20;
const NS_LIMIT = 2n ** 64n;

/**
 * Text as both engines can hold it: PostgreSQL has no NUL, and neither has half a surrogate pair. Both
 * become the replacement character. JSON columns escape them by themselves and lose nothing.
 */
export function storable(text: string): string {
  const whole = text.isWellFormed() ? text : text.toWellFormed();
  return whole.includes('\0') ? whole.replaceAll('\0', '\u{FFFD}') : whole;
}

export function storableOrNull(text: string | null): string | null {
  return text === null ? null : storable(text);
}

/** Unix nanoseconds as text that sorts like the number. Throws InvalidInput outside unsigned 64 bits. */
export function nsText(ns: bigint): string {
  if (ns < 0n || ns >= NS_LIMIT) throw new InvalidInput('A time lies outside unsigned 64-bit nanoseconds.');
  return ns.toString().padStart(NS_DIGITS, '0');
}

/** An amount for a 64-bit column. Throws InvalidInput for an amount that does not fit. */
export function amountText(amount: bigint): string {
  if (BigInt.asIntN(64, amount) !== amount) throw new InvalidInput('An amount lies outside what can be stored.');
  return amount.toString();
}
