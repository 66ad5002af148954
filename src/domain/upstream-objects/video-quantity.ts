import type { BilledQuantity } from '../inference/billed-quantity.ts';
import type { JsonObject } from '../json-object.ts';

/** Exclusive upper bound of a plausible length, in seconds. */
const MAX_SECONDS = 31_536_000;

/** Resolution names by the shorter side in pixels. Other resolutions have names such as `720p`. */
const RESOLUTIONS: Readonly<Record<number, string>> = { 1440: '2k', 2160: '4k' };

/**
 * Billed seconds from the members `seconds` and `size` of a video job, or of the request for one. Undefined without a
 * plausible length.
 */
export function videoSecondsOf({ seconds, size }: JsonObject): BilledQuantity | undefined {
  const length = typeof seconds === 'string' && seconds.trim() !== '' ? Number(seconds) : seconds;
  if (typeof length !== 'number' || !(length > 0 && length < MAX_SECONDS)) return undefined;
  const sides = typeof size === 'string' ? size.split('x').map(Number) : [];
  const shorterSide = sides.length === 2 ? Math.min(...sides) : Number.NaN;
  const resolution = Number.isInteger(shorterSide) ? (RESOLUTIONS[shorterSide] ?? `${shorterSide}p`) : null;
  return { unit: 'video_second', count: length, resolution };
}
