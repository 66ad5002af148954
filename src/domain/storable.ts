import { InvalidInput } from './errors.ts';

const INT64_LIMIT = 2n ** 63n;

/**
 * Text that every store accepts: PostgreSQL has no NUL, and UTF-8 no lone surrogates. Both become the replacement
 * character. JSON escapes both and needs no replacement.
 */
export function storable(text: string): string {
  const whole = text.isWellFormed() ? text : text.toWellFormed();
  return whole.includes('\0') ? whole.replaceAll('\0', '\u{FFFD}') : whole;
}

export function storableOrNull(text: string | null): string | null {
  return text === null ? null : storable(text);
}

/** First and last instant that every store reads as ISO 8601 text, in Unix ms. PostgreSQL has no year 0. */
const EARLIEST_MS = Date.parse('0001-01-01T00:00:00Z');
const LATEST_MS = Date.parse('9999-12-31T23:59:59.999Z');

/** An instant of a filter, clamped to the range that every store accepts. No row is outside this range. */
export const storableTime = (time: Date): Date => new Date(Math.min(Math.max(time.getTime(), EARLIEST_MS), LATEST_MS));

/** Unix nanoseconds as decimal text for a 64-bit column. Throws InvalidInput below 0, or at 2^63 and more. */
export function nsText(ns: bigint): string {
  if (ns < 0n || ns >= INT64_LIMIT)
    throw new InvalidInput('Invalid time: expected Unix nanoseconds from 0 to 2^63 - 1.');
  return ns.toString();
}

/**
 * An amount in picodollars as decimal text for a 64-bit column. Throws InvalidInput for an amount that does not fit.
 */
export function amountText(amount: bigint): string {
  if (BigInt.asIntN(64, amount) !== amount)
    throw new InvalidInput('Invalid amount: it does not fit into 64 bits of picodollars.');
  return amount.toString();
}
