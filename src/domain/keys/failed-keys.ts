import type { Clock } from '../clock.ts';
import { LimitExceeded } from '../errors.ts';
import { evictOldest } from '../evict-oldest.ts';

/** Headers and socket of a request, which identify the client network. */
export interface Peer {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly socket: { readonly remoteAddress?: string | undefined };
}

/** Limits how many wrong keys a client network may send. Cached keys are not limited. */
export interface FailedKeys {
  /**
   * To be called for every key that is not cached. `looksUp`: the key needs a store query. Over the limit, one such key
   * per second is still admitted. Throws LimitExceeded for all others.
   */
  admit(peer: Peer, about: { readonly looksUp: boolean }): void;
  /** Counts a key that no store has. */
  count(peer: Peer): void;
}

/** Default and maximum of the limit of wrong keys per network and minute. */
export const DEFAULT_WRONG_KEYS = 60;
export const MAX_WRONG_KEYS = 1_000_000;

const WINDOW_MS = 60_000;
/**
 * Above the limit, one look-up per network in this time is still admitted, so that a valid key of that network can be
 * used.
 */
const PROBE_MS = 1_000;
/** Capacity in networks; the least recently counted is evicted. */
const MAX_NETWORKS = 10_000;

/** Failures of one client network in one window of a minute. */
interface FailureWindow {
  readonly sinceMs: number;
  failures: number;
  probedMs: number;
}

/** Counts per client network in fixed windows of a minute. With a limit of 0, nothing is counted. Memory is bounded. */
export function createFailedKeys(options: {
  /** Wrong keys a network may send in a minute. */
  readonly perMinute: number;
  readonly networkOf: (peer: Peer) => string;
  readonly clock: Clock;
}): FailedKeys {
  const { perMinute, networkOf, clock } = options;
  const windows = new Map<string, FailureWindow>();

  function currentWindow(network: string, nowMs: number): FailureWindow | null {
    const window = windows.get(network);
    return window !== undefined && nowMs - window.sinceMs < WINDOW_MS ? window : null;
  }

  return {
    admit(peer, { looksUp }) {
      if (perMinute === 0) return;
      const nowMs = clock.monotonicMs();
      const window = currentWindow(networkOf(peer), nowMs);
      if (window === null || window.failures < perMinute) return;
      if (looksUp && nowMs - window.probedMs >= PROBE_MS) {
        window.probedMs = nowMs;
        return;
      }
      const seconds = Math.ceil((WINDOW_MS - (nowMs - window.sinceMs)) / 1000);
      throw new LimitExceeded('Too many wrong API keys from your address. Try again later.', 'requests', seconds);
    },
    count(peer) {
      if (perMinute === 0) return;
      const nowMs = clock.monotonicMs();
      const network = networkOf(peer);
      const window = currentWindow(network, nowMs) ?? { sinceMs: nowMs, failures: 0, probedMs: nowMs };
      window.failures += 1;
      windows.delete(network);
      windows.set(network, window);
      evictOldest(windows, MAX_NETWORKS);
    },
  };
}
