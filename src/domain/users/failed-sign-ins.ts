import type { Clock } from '../clock.ts';
import { Unavailable } from '../errors.ts';
import { evictOldest } from '../evict-oldest.ts';
import type { KeyGenerator } from '../keys/virtual-key.ts';
import type { PendingSignInStore } from './pending-sign-ins.ts';

/** Failed sign-ins of a name or of a source, which is a client network. */
export interface SignInFailureCount {
  /** Start of the window, in ms as by `SignInFailureCounts.nowMs`. */
  readonly sinceMs: number;
  readonly failures: number;
  readonly blockedUntilMs: number;
}

type NextCount = (count: SignInFailureCount | null) => SignInFailureCount;

/** Counts of failed sign-ins by subject. A subject is a text that identifies a name or a source. */
export interface SignInFailureCounts {
  nowMs(): number;
  /** The count; null for none. Throws Unavailable. */
  find(subject: string): Promise<SignInFailureCount | null>;
  /** Replaces the count by the result of `next`. No concurrent change is lost. Throws Unavailable. */
  change(subject: string, next: NextCount): Promise<void>;
  remove(subject: string): Promise<void>;
}

/** Capacity in memory, in counts; the least recently changed is evicted. */
const MAX_IN_MEMORY = 20_000;

/** Counts of this process. */
export function createMemoryFailures(clock: Pick<Clock, 'monotonicMs'>): SignInFailureCounts {
  const counts = new Map<string, SignInFailureCount>();
  return {
    nowMs: () => clock.monotonicMs(),
    find: (subject) => Promise.resolve(counts.get(subject) ?? null),
    change(subject, next) {
      const changed = next(counts.get(subject) ?? null);
      counts.delete(subject);
      counts.set(subject, changed);
      evictOldest(counts, MAX_IN_MEMORY);
      return Promise.resolve();
    },
    remove: (subject) => Promise.resolve(void counts.delete(subject)),
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
  /** Time in seconds after which a count that is not changed is removed. */
  readonly keptSeconds: number;
}): SignInFailureCounts {
  const { store, generator, clock, keptSeconds } = options;
  /** Counts that the full store does not accept. */
  const overflow = createMemoryFailures({ monotonicMs: () => clock.now().getTime() });
  const nowMs = (): number => clock.now().getTime();
  const idOf = (subject: string): string => `failed-${generator.hash(subject)}`;
  const countIn = (content: string): SignInFailureCount => JSON.parse(content) as SignInFailureCount;

  /** Adds a first count; in memory where the store is full. Returns false where another request was first. */
  async function addFirst(subject: string, next: NextCount): Promise<boolean> {
    const id = idOf(subject);
    const now = nowMs();
    const count = next(await overflow.find(subject));
    const pending = {
      id,
      kind: 'failures',
      content: JSON.stringify(count),
      untilMs: now + keptSeconds * 1_000,
    } as const;
    try {
      if (!(await store.add(pending, { nowMs: now, most: MAX_STORED }))) await overflow.change(subject, next);
      return true;
    } catch (error) {
      // `add` also rejects when another request has added this count. `change` then tries again with the stored count.
      if ((await store.find(id, nowMs())) === null) throw error;
      return false;
    }
  }

  /** Returns false where another request has changed the count since it was read. */
  function replace(
    id: string,
    { content, revision }: { readonly content: string; readonly revision: number },
    next: NextCount,
  ): Promise<boolean> {
    const count = next(countIn(content));
    return store.replace(id, revision, JSON.stringify(count), nowMs() + keptSeconds * 1_000);
  }

  return {
    nowMs,
    async find(subject) {
      const found = await store.find(idOf(subject), nowMs());
      return found === null ? overflow.find(subject) : countIn(found.content);
    },
    async change(subject, next) {
      const id = idOf(subject);
      for (let tries = 0; tries < MAX_TRIES; tries += 1) {
        const found = await store.find(id, nowMs());
        const isDone = found === null ? await addFirst(subject, next) : await replace(id, found, next);
        if (isDone) return;
      }
      throw new Unavailable('Too many sign-ins fail at once. Try again.');
    },
    async remove(subject) {
      await overflow.remove(subject);
      await store.take(idOf(subject), nowMs());
    },
  };
}
