import type { Caller } from '../../domain/caller.ts';
import { Forbidden, Unauthenticated } from '../../domain/errors.ts';
import type { KeyRing } from './key-ring.ts';

/** A feed, such as a stream of events, that a caller may read while the caller's key is valid. */
interface WatchedFeed {
  /** Receives the caller's current rights. Throws when they no longer allow the feed. */
  check(caller: Caller): void;
  /** Called with the reason when the caller loses access. */
  lost(reason: Error): void;
}

/** Ends feeds of callers whose key was revoked, has expired or no longer allows the feed, even without an event. */
export interface CallerWatch {
  /** Adds a feed. The returned function removes it. */
  watch(caller: Caller, feed: WatchedFeed): () => void;
  /** Checks every caller once, for all its feeds. */
  runChecks(): void;
  /** Checks the caller with this key hash now, if it has feeds. */
  check(keyHash: string): void;
}

/** A caller with open feeds. */
interface WatchedCaller {
  readonly caller: Caller;
  readonly feeds: Set<WatchedFeed>;
  /** Whether a check is running. */
  checking: boolean;
  /** Whether the key changed during the check, whose result may then be stale. */
  checkAgain: boolean;
}

/** Creates a watch over a key ring. `runChecks` must be called periodically. */
export function createCallerWatch(keyRing: Pick<KeyRing, 'current'>): CallerWatch {
  /** Callers by key hash, then by secret hash: tokens of one bearer expire at different times. */
  const byKey = new Map<string, Map<string, WatchedCaller>>();

  function checkNow(watched: WatchedCaller): void {
    try {
      const caller = keyRing.current(watched.caller);
      if (caller instanceof Promise) void wait(watched, caller);
      else checkFeeds(watched, caller);
    } catch (error) {
      endFeeds(watched, error);
    }
  }

  async function wait(watched: WatchedCaller, pending: Promise<Caller>): Promise<void> {
    watched.checking = true;
    try {
      checkFeeds(watched, await pending);
    } catch (error) {
      endFeeds(watched, error);
    } finally {
      watched.checking = false;
    }
    if (!watched.checkAgain || watched.feeds.size === 0) return;
    watched.checkAgain = false;
    checkNow(watched);
  }

  return {
    watch(caller, feed) {
      const { keyHash } = caller;
      const secretHash = caller.key?.secretHash ?? keyHash;
      const ofKey = byKey.get(keyHash) ?? new Map<string, WatchedCaller>();
      byKey.set(keyHash, ofKey);
      const watched = ofKey.get(secretHash) ?? { caller, feeds: new Set(), checking: false, checkAgain: false };
      ofKey.set(secretHash, watched);
      watched.feeds.add(feed);
      return () => {
        watched.feeds.delete(feed);
        // A later feed may have created a new entry for the same secret.
        if (watched.feeds.size === 0 && ofKey.get(secretHash) === watched) ofKey.delete(secretHash);
        if (ofKey.size === 0 && byKey.get(keyHash) === ofKey) byKey.delete(keyHash);
      };
    },
    runChecks() {
      for (const ofKey of byKey.values())
        for (const watched of ofKey.values()) if (!watched.checking) checkNow(watched);
    },
    check(keyHash) {
      for (const watched of byKey.get(keyHash)?.values() ?? []) {
        if (watched.checking) watched.checkAgain = true;
        else checkNow(watched);
      }
    },
  };
}

function checkFeeds({ feeds }: WatchedCaller, caller: Caller): void {
  for (const feed of feeds) {
    try {
      feed.check(caller);
    } catch (error) {
      feed.lost(asError(error));
    }
  }
}

/**
 * Unauthenticated and Forbidden end the feeds. After other errors, such as a store timeout, the next check tries again.
 */
function endFeeds({ feeds }: WatchedCaller, error: unknown): void {
  if (error instanceof Unauthenticated || error instanceof Forbidden) for (const feed of feeds) feed.lost(error);
}

const asError = (error: unknown): Error =>
  error instanceof Error ? error : new Error('A feed could not be checked.', { cause: error });
