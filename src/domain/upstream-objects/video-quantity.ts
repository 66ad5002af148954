import type { BilledQuantity } from '../inference/billed-quantity.ts';
import type { JsonObject } from '../json-object.ts';

/** A length of this many seconds or more, one year, is implausible. */
const IMPLAUSIBLE_SECONDS = 31_536_000;

/** Names of resolutions by the shorter side in pixels. All others are named such as `720p`. */
const RESOLUTIONS: Readonly<Record<number, string>> = { 1440: '2k', 2160: '4k' };

/**
 * Billed seconds of a video, from the members `seconds` and `size` of a video job or of a request for a video.
 * Undefined for a missing or implausible length. The resolution is null for a missing or invalid size.
 */
export function videoSecondsOf({ seconds, size }: JsonObject): BilledQuantity | undefined {
  const length = typeof seconds === 'string' && seconds.trim() !== '' ? Number(seconds) : seconds;
  if (typeof length !== 'number' || !(length > 0 && length < IMPLAUSIBLE_SECONDS)) return undefined;
  const sides = typeof size === 'string' ? size.split('x').map(Number) : [];
  const shorterSide = sides.length === 2 ? Math.min(...sides) : Number.NaN;
  const resolution = Number.isInteger(shorterSide) ? (RESOLUTIONS[shorterSide] ?? `${shorterSide}p`) : null;
  return { unit: 'video_second', count: length, resolution };
}
