import type { Clock } from './clock.ts';
import { LimitExceeded } from './errors.ts';
import { evictOldest } from './evict-oldest.ts';

/** Fixed-window rate limiter, for this process only. */
export interface RateLimiter {
  /**
   * Counts one request of a source: a client network, a user or a session. Throws LimitExceeded with the seconds until
   * the end of the window.
   */
  count(source: string): void;
}

/** Capacity in sources; the oldest window is evicted. */
const MAX_COUNTED_SOURCES = 10_000;

/**
 * At most `most` requests in `windowMs`; the window of each source starts with its first request. The error message has
 * `what` for the requests, and `from` for the source: an address by default.
 */
export function createRateLimiter(options: {
  readonly most: number;
  readonly windowMs: number;
  readonly what: string;
  readonly from?: string;
  readonly clock: Clock;
}): RateLimiter {
  const { most, windowMs, what, from = 'your address', clock } = options;
  const windows = new Map<string, { readonly sinceMs: number; times: number }>();
  return {
    count(source) {
      const nowMs = clock.monotonicMs();
      const window = windows.get(source);
      if (window === undefined || nowMs - window.sinceMs >= windowMs) {
        // Deleted first, so that the new window becomes the last entry of the map: `evictOldest` begins with the first.
        windows.delete(source);
        windows.set(source, { sinceMs: nowMs, times: 1 });
        evictOldest(windows, MAX_COUNTED_SOURCES);
        return;
      }
      if (window.times >= most) {
        const seconds = Math.ceil((windowMs - (nowMs - window.sinceMs)) / 1000);
        throw new LimitExceeded(`Too many ${what} from ${from}. Try again later.`, 'requests', seconds);
      }
      window.times += 1;
    },
  };
}
