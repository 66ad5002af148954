import type { Caller } from '../domain/caller.ts';
import { Unauthenticated } from '../domain/errors.ts';
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
  tend(): void;
  /** Checks the caller with this key hash now, if it has feeds. */
  check(keyHash: string): void;
}

interface Watched {
  readonly caller: Caller;
  readonly feeds: Set<WatchedFeed>;
  /** Whether a check is running. */
  asking: boolean;
  /** Whether the key changed during the check, so that its result may be stale. */
  askAgain: boolean;
}

/** Creates a watch over a key ring. The caller of this function runs `tend` periodically. */
export function createCallerWatch(keyRing: Pick<KeyRing, 'current'>): CallerWatch {
  const byKey = new Map<string, Watched>();

  function ask(watched: Watched): void {
    try {
      const caller = keyRing.current(watched.caller);
      if (caller instanceof Promise) void wait(watched, caller);
      else show(watched, caller);
    } catch (error) {
      lose(watched, error);
    }
  }

  async function wait(watched: Watched, asked: Promise<Caller>): Promise<void> {
    watched.asking = true;
    try {
      show(watched, await asked);
    } catch (error) {
      lose(watched, error);
    } finally {
      watched.asking = false;
    }
    if (!watched.askAgain || watched.feeds.size === 0) return;
    watched.askAgain = false;
    ask(watched);
  }

  return {
    watch(caller, feed) {
      const watched = byKey.get(caller.keyHash) ?? { caller, feeds: new Set(), asking: false, askAgain: false };
      byKey.set(caller.keyHash, watched);
      watched.feeds.add(feed);
      return () => {
        watched.feeds.delete(feed);
        // A later feed may have created a new entry for the same key.
        if (watched.feeds.size === 0 && byKey.get(caller.keyHash) === watched) byKey.delete(caller.keyHash);
      };
    },
    tend() {
      for (const watched of byKey.values()) if (!watched.asking) ask(watched);
    },
    check(keyHash) {
      const watched = byKey.get(keyHash);
      if (watched === undefined) return;
      if (watched.asking) watched.askAgain = true;
      else ask(watched);
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

/** Only an invalid key ends feeds. Other errors, such as a store timeout, are retried at the next check. */
function lose({ feeds }: Watched, error: unknown): void {
  if (error instanceof Unauthenticated) for (const feed of feeds) feed.lost(error);
}

const asError = (error: unknown): Error =>
  error instanceof Error ? error : new Error('A feed could not be checked.', { cause: error });
