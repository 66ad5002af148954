import type { Caller } from '../../domain/caller.ts';
import { Forbidden, Unauthenticated } from '../../domain/errors.ts';
import type { KeyRing } from './key-ring.ts';

/** A feed that a caller may read while its key is valid. */
interface WatchedFeed {
  /** Receives the caller's current rights. Throws when they no longer allow the feed. */
  check(caller: Caller): void;
  /** Called with the reason when the caller loses access. */
  lost(reason: Error): void;
}

/** Ends feeds of callers whose key was revoked, expired or changed, also when a feed has no events. */
export interface CallerWatch {
  /** Adds a feed. The returned function removes it. */
  watch(caller: Caller, feed: WatchedFeed): () => void;
  /** Checks every caller once, for all its feeds. */
  runChecks(): void;
  /** Checks the caller with this key hash now, if it has feeds. */
  check(keyHash: string): void;
}

interface Watched {
  readonly caller: Caller;
  readonly feeds: Set<WatchedFeed>;
  /** Whether a check is running. */
  checking: boolean;
  /** Whether the key changed during the check, so that its result may be stale. */
  checkAgain: boolean;
}

/** Creates a watch over a key ring. The caller of this function runs `runChecks` periodically. */
export function createCallerWatch(keyRing: Pick<KeyRing, 'current'>): CallerWatch {
  /** By identity, then by secret: several tokens of one bearer end at different times. */
  const byKey = new Map<string, Map<string, Watched>>();

  function checkNow(watched: Watched): void {
    try {
      const caller = keyRing.current(watched.caller);
      if (caller instanceof Promise) void wait(watched, caller);
      else show(watched, caller);
    } catch (error) {
      lose(watched, error);
    }
  }

  async function wait(watched: Watched, pending: Promise<Caller>): Promise<void> {
    watched.checking = true;
    try {
      show(watched, await pending);
    } catch (error) {
      lose(watched, error);
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
      const ofKey = byKey.get(keyHash) ?? new Map<string, Watched>();
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
      for (const watched of byKey.get(keyHash)?.values() ?? [])
        if (watched.checking) watched.checkAgain = true;
        else checkNow(watched);
    },
  };
}

function show({ feeds }: Watched, caller: Caller): void {
  for (const feed of feeds) {
    try {
      feed.check(caller);
    } catch (error) {
      feed.lost(asError(error));
    }
  }
}

/** Only an invalid key, and one without its team, ends feeds. Other errors, such as a store timeout, are retried at the next check. */
function lose({ feeds }: Watched, error: unknown): void {
  if (error instanceof Unauthenticated || error instanceof Forbidden) for (const feed of feeds) feed.lost(error);
}

const asError = (error: unknown): Error =>
  error instanceof Error ? error : new Error('A feed could not be checked.', { cause: error });
