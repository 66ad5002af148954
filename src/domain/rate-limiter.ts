import type { Clock } from './clock.ts';
import { LimitExceeded } from './errors.ts';
import { evictOldest } from './evict-oldest.ts';

/** Fixed-window rate limiter, for this process only. */
export interface RateLimiter {
  /** Counts one request of a client network. Throws LimitExceeded with the seconds until the end of the window. */
  count(network: string): void;
}

/** Capacity in client networks; the oldest window is evicted. */
const MAX_COUNTED_NETWORKS = 10_000;

/**
 * At most `most` requests in `windowMs`; each client network's window starts with its first request. `what` names the
 * requests in the error message.
 */
export function createRateLimiter(options: {
  readonly most: number;
  readonly windowMs: number;
  readonly what: string;
  readonly clock: Clock;
}): RateLimiter {
  const { most, windowMs, what, clock } = options;
  const windows = new Map<string, { readonly sinceMs: number; times: number }>();
  return {
    count(network) {
      const nowMs = clock.monotonicMs();
      const window = windows.get(network);
      if (window === undefined || nowMs - window.sinceMs >= windowMs) {
        // Deleted first, so that the new window becomes the last entry of the map: `evictOldest` begins with the first.
        windows.delete(network);
        windows.set(network, { sinceMs: nowMs, times: 1 });
        evictOldest(windows, MAX_COUNTED_NETWORKS);
        return;
      }
      if (window.times >= most) {
        const seconds = Math.ceil((windowMs - (nowMs - window.sinceMs)) / 1000);
        throw new LimitExceeded(`Too many ${what} from your address. Try again later.`, 'requests', seconds);
      }
      window.times += 1;
    },
  };
}
