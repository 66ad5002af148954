import type { LedgerSnapshot } from '../../domain/admission/ledger.ts';
import type { StoredTotals } from '../../domain/admission/stored-totals.ts';
import { withDeadline } from '../../domain/with-deadline.ts';
import type { UseCounter } from './use-counter.ts';

/** Maximum counters of one read. */
const READ_COUNTERS = 500;
/** How long background reads are collected, in ms, so that one statement serves many counters. */
const GATHER_MS = 50;
/** After a failed or slow read, totals in memory are used for this time before another read starts, in ms. */
const RETRY_MS = 1_000;
/** How long a call waits for a new read of an old total, in ms. Then it uses the old total. */
const CALLER_WAIT_MS = 250;
/**
 * How long the first read of a counter waits for the running commit, in ms. The wait is short: usually a call waits for
 * the read, and this process has no costs yet that could count twice.
 */
const FIRST_COMMIT_WAIT_MS = 250;
/** How long a later read waits for the running commit, in ms. Longer than a commit should take. */
const COMMIT_WAIT_MS = 5_000;

/** Reads stored totals, many in one statement. */
export interface TotalsReader {
  /** Schedules a read in the background, unless one is scheduled or running. */
  readAhead(counter: UseCounter): void;
  /**
   * Reads now. For a counter that was read before, the promise resolves after at most a quarter of a second, also when
   * the read fails. The caller then uses the total in memory. For a counter that was never read, a failure rejects.
   */
  readNow(counter: UseCounter): Promise<void>;
}

interface Batch {
  readonly counters: UseCounter[];
  readonly done: Promise<void>;
}

export function createTotalsReader({
  totals,
  nowMs,
  failed,
  snapshot = () => Promise.resolve(null),
}: {
  readonly totals: StoredTotals;
  /** Snapshots of counters that several processes share; null when the ledger is unavailable or not used. */
  readonly snapshot?: ((counters: readonly string[]) => Promise<readonly LedgerSnapshot[] | null>) | undefined;
  readonly nowMs: () => number;
  readonly failed: (error: unknown) => void;
}): TotalsReader {
  /** Counters to read in the background. */
  const scheduled = new Set<UseCounter>();
  /** Batches whose reads begin in the next microtask: of counters that were never read, and of others. */
  const gathering: { first: Batch | null; again: Batch | null } = { first: null, again: null };

  async function read(counters: readonly UseCounter[], commitWaitMs: number): Promise<void> {
    // The age counts from the start of the read, because the read may miss what other processes store later.
    const readMs = nowMs();
    try {
      const names = counters.map(({ name }) => name);
      // The snapshots are taken before the totals. Otherwise a snapshot could contain stored amounts that the totals
      // lack.
      const shared = counters.filter(({ share }) => share !== null);
      const snapshots = shared.length === 0 ? null : await snapshot(shared.map(({ name }) => name));
      const { totals: found, through } = await totals.read(names, commitWaitMs);
      const snapshotsByCounter = new Map(shared.map((counter, position) => [counter, snapshots?.[position]]));
      for (const counter of counters) {
        const value = counter.take(found.get(counter.name) ?? 0n, through, readMs);
        const ledger = snapshotsByCounter.get(counter);
        if (ledger !== undefined) counter.share?.takeBase({ value: value - ledger.stored, version: ledger.version });
      }
    } catch (error) {
      const retryMs = nowMs() + RETRY_MS;
      for (const counter of counters) counter.retryMs = retryMs;
      throw error;
    } finally {
      for (const counter of counters) counter.reading = null;
    }
  }

  function addToBatch(counter: UseCounter): Promise<void> {
    const kind = counter.wasRead ? 'again' : 'first';
    let batch = gathering[kind];
    if (batch === null || batch.counters.length >= READ_COUNTERS) {
      batch = startBatch(kind);
      gathering[kind] = batch;
    }
    batch.counters.push(counter);
    counter.reading = batch.done;
    return batch.done;
  }

  function startBatch(kind: 'first' | 'again'): Batch {
    const counters: UseCounter[] = [];
    const done = Promise.resolve().then(() => {
      if (gathering[kind]?.counters === counters) gathering[kind] = null;
      return read(counters, kind === 'first' ? FIRST_COMMIT_WAIT_MS : COMMIT_WAIT_MS);
    });
    // One report per failed read, not per waiting call. A failed first read rejects the calls that wait for it.
    if (kind === 'again') done.catch(failed);
    return { counters, done };
  }

  function readScheduled(): void {
    const due = [...scheduled];
    scheduled.clear();
    const firstReads = new Set<Promise<void>>();
    for (const counter of due) {
      if (counter.reading !== null) continue;
      const reading = addToBatch(counter);
      if (!counter.wasRead) firstReads.add(reading);
    }
    // No caller waits for these reads.
    for (const reading of firstReads) reading.catch(failed);
  }

  return {
    readAhead(counter) {
      if (counter.reading !== null || scheduled.has(counter)) return;
      if (scheduled.size === 0) setTimeout(readScheduled, GATHER_MS).unref();
      scheduled.add(counter);
    },
    async readNow(counter) {
      const wasReadBefore = counter.wasRead;
      const reading = counter.reading ?? addToBatch(counter);
      if (!wasReadBefore) return reading;
      await withDeadline(
        reading.catch(() => {}),
        CALLER_WAIT_MS,
        () => {},
      );
      // The next calls do not wait for the same slow read.
      if (counter.reading !== null) counter.retryMs = nowMs() + RETRY_MS;
    },
  };
}
