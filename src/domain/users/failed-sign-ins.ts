import type { Clock } from '../clock.ts';
import { Unavailable } from '../errors.ts';
import { evictOldest } from '../evict-oldest.ts';
import type { KeyGenerator } from '../keys/virtual-key.ts';
import type { PendingSignInStore } from './pending-sign-ins.ts';

/** Failed sign-ins of a name or a source. */
export interface SignInFailureCount {
  /** Start of the window, in ms of the clock of the counts. */
  readonly sinceMs: number;
  readonly failures: number;
  readonly blockedUntilMs: number;
}

/** Counts of failed sign-ins by a text. */
export interface SignInFailureCounts {
  nowMs(): number;
  /** The count; null for none. Throws Unavailable. */
  find(of: string): Promise<SignInFailureCount | null>;
  /** Replaces the count by the result of `next`. No concurrent change is lost. Throws Unavailable. */
  change(of: string, next: (count: SignInFailureCount | null) => SignInFailureCount): Promise<void>;
  remove(of: string): Promise<void>;
}

/** Capacity in memory, in counts; the least recently changed is evicted. */
const MAX_IN_MEMORY = 20_000;

/** Counts of this process. */
export function createMemoryFailures(clock: Pick<Clock, 'monotonicMs'>): SignInFailureCounts {
  const counts = new Map<string, SignInFailureCount>();
  return {
    nowMs: () => clock.monotonicMs(),
    find: (of) => Promise.resolve(counts.get(of) ?? null),
    change(of, next) {
      const changed = next(counts.get(of) ?? null);
      counts.delete(of);
      counts.set(of, changed);
      evictOldest(counts, MAX_IN_MEMORY);
      return Promise.resolve();
    },
    remove: (of) => Promise.resolve(void counts.delete(of)),
  };
}

/** Maximum number of counts in the store. Further names and sources are counted by each process separately. */
const MAX_STORED = 10_000;
/** Maximum number of attempts of a change that conflicts with changes by other requests. */
const MAX_TRIES = 20;

/** Counts of all processes of an installation, in their database. */
export function createStoredFailures(options: {
  readonly store: PendingSignInStore;
  readonly generator: Pick<KeyGenerator, 'hash'>;
  readonly clock: Clock;
  /** Time after which a count that is not changed is removed, in seconds. */
  readonly keptSeconds: number;
}): SignInFailureCounts {
  const { store, generator, clock, keptSeconds } = options;
  const overflow = createMemoryFailures({ monotonicMs: () => clock.now().getTime() });
  const nowMs = (): number => clock.now().getTime();
  const idOf = (of: string): string => `failed-${generator.hash(of)}`;
  const read = (content: string): SignInFailureCount => JSON.parse(content) as SignInFailureCount;

  /** Adds a first count; in memory where the store is full. Returns false where another request was first. */
  async function addFirst(of: string, next: Parameters<SignInFailureCounts['change']>[1]): Promise<boolean> {
    const id = idOf(of);
    const at = nowMs();
    const count = next(await overflow.find(of));
    const pending = {
      id,
      kind: 'failures',
      content: JSON.stringify(count),
      untilMs: at + keptSeconds * 1_000,
    } as const;
    try {
      if (!(await store.add(pending, { nowMs: at, most: MAX_STORED }))) await overflow.change(of, next);
      return true;
    } catch (error) {
      if ((await store.find(id, nowMs())) === null) throw error;
      return false;
    }
  }

  return {
    nowMs,
    async find(of) {
      const found = await store.find(idOf(of), nowMs());
      return found === null ? overflow.find(of) : read(found.content);
    },
    async change(of, next) {
      const id = idOf(of);
      for (let tries = 0; tries < MAX_TRIES; tries += 1) {
        const found = await store.find(id, nowMs());
        const isDone =
          found === null
            ? await addFirst(of, next)
            : await store.replace(
                id,
                found.revision,
                JSON.stringify(next(read(found.content))),
                nowMs() + keptSeconds * 1_000,
              );
        if (isDone) return;
      }
      throw new Unavailable('Too many sign-ins fail at once. Try again.');
    },
    async remove(of) {
      await overflow.remove(of);
      await store.take(idOf(of), nowMs());
    },
  };
}
