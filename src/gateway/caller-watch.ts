import type { Caller } from '../domain/caller.ts';
import { Unauthenticated } from '../domain/errors.ts';
import type { KeyRing } from './key-ring.ts';

/** Something a caller follows for as long as they may. */
interface WatchedFeed {
  /** Shown who the caller is by now. Throws when they may follow it no longer. */
  check(caller: Caller): void;
  /** Told why the caller may follow it no longer. */
  lost(reason: Error): void;
}

/** Ends feeds of callers whose key has died or changed, also while nothing else happens in them. */
export interface CallerWatch {
  /** Takes a feed in, until the function it gives is called. */
  watch(caller: Caller, feed: WatchedFeed): () => void;
  /** Checks every caller: once for all it follows. */
  tend(): void;
  /** Checks the caller with this key hash now, when it follows anything. */
  check(keyHash: string): void;
}

interface Watched {
  readonly caller: Caller;
  readonly feeds: Set<WatchedFeed>;
  /** Whether the store is being asked. */
  asking: boolean;
  /** Whether the key changed meanwhile, so that the answer may be too old. */
  askAgain: boolean;
}

/** A watch over a key ring; whoever makes it tends it. */
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
        // A later one may stand under the same key.
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

/** A store that does not answer says nothing of a key: the next round asks again. */
function lose({ feeds }: Watched, error: unknown): void {
  if (error instanceof Unauthenticated) for (const feed of feeds) feed.lost(error);
}

const asError = (error: unknown): Error =>
  error instanceof Error ? error : new Error('A feed could not be checked.', { cause: error });
