import { countOrNull } from './batch-use.ts';
import type { ShownObject } from './upstream-object.ts';

/**
 * Time for which an object that is charged at its end is read again after its upstream first answered 404, in ms. The
 * upstream may answer 404 for a short time only.
 */
export const MISSING_WAIT_MS = 86_400_000;

/**
 * Maximum age of an object whose cost is still awaited, in ms. Upstreams keep batches and responses for 30 days. While
 * an upstream fails, its objects are read again until this age.
 */
export const MAX_AWAITED_MS = 30 * 86_400_000;

/** Members of the stored state of a missing object: Unix times of the first and the last 404, in seconds. */
const FIRST_AT = 'lensgate_missing_at';
const LAST_AT = 'lensgate_missing_read_at';

/** The members that `withMissing` adds. Callers do not see them. */
export const MISSING_MEMBERS = [FIRST_AT, LAST_AT] as const;

/** Unix time in ms of the first 404; null for an object that is not missing. */
export function missingSinceMs(shown: ShownObject | null): number | null {
  const seconds = countOrNull(shown?.[FIRST_AT]);
  return seconds === null ? null : seconds * 1_000;
}

/** A state to store after a 404 at a Unix time in ms. */
export const withMissing = (shown: ShownObject, nowMs: number): ShownObject => {
  const atSeconds = Math.floor(nowMs / 1_000);
  return { ...shown, [FIRST_AT]: countOrNull(shown[FIRST_AT]) ?? atSeconds, [LAST_AT]: atSeconds };
};

/** Whether a missing object is to be read again: the time since the first 404 doubles from read to read. */
export function isReadDue(shown: ShownObject | null, nowMs: number): boolean {
  const sinceMs = missingSinceMs(shown);
  const lastSeconds = countOrNull(shown?.[LAST_AT]);
  if (sinceMs === null || lastSeconds === null) return true;
  const lastMs = lastSeconds * 1_000;
  return nowMs - lastMs >= lastMs - sinceMs;
}
