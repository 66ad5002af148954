import type { CallRecord, CallStore, QueuedCall } from '../domain/calls/call-record.ts';
import { InvalidInput, TooLarge, Unavailable } from '../domain/errors.ts';
import type { TraceSummary } from '../domain/traces/trace.ts';
import type { Log } from '../runtime/telemetry/log.ts';
import { afterSends } from '../runtime/write-coalescing/write-coalescing.ts';
import { createUnfolding, type Unfolding } from '../runtime/tasks/call-unfolding.ts';
import { createWriteBehind, type WriteBehind } from '../runtime/tasks/write-behind.ts';

/** Maximum number of calls of one commit. Few large commits cost less than many small ones. */
const BATCH_CALLS = 4_000;
/** Number of records that are encoded together, so that code and data stay in the processor's cache. */
const GROUP_RECORDS = 32;
/** Maximum time that the records of a smaller group wait to be encoded, in ms. */
const GATHER_MS = 5;

/** Records of calls that wait for the stores. */
export interface CallRecords
  extends Pick<WriteBehind<CallRecord>, 'flush' | 'caughtUp' | 'waiting'>, Pick<Unfolding, 'start' | 'stop'> {
  /** Queues a record; never waits and never throws. */
  record(call: CallRecord): void;
  /** Position of the latest record: the number of records so far. */
  position(): number;
  /** Position up to which the first store, which keeps spend, has stored, refused or dropped every record. */
  storedThrough(): number;
  /** As `caughtUp`, for the first store only. */
  spendStored(withinMs: number): Promise<boolean>;
  /** Runs a read of the first store while no commit to that store runs; see `WriteBehind`. */
  readonly betweenCommits: WriteBehind<CallRecord>['betweenCommits'];
}

/** A store with its queue, and the task that unfolds its call log (`call-unfolding.ts`). */
interface StoreQueue {
  readonly store: CallStore;
  readonly queue: WriteBehind<QueuedCall>;
  readonly unfolding: Unfolding;
}

/**
 * Queues every record for each store. Each store has its own queue, so that an unavailable store delays only its own
 * records.
 */
export function createCallRecords({
  stores,
  hasSubscribers,
  changed,
  recorded,
  log,
}: {
  /** The first store keeps spend. */
  readonly stores: readonly [CallStore, ...CallStore[]];
  /** Whether clients subscribe to traces. Records are then encoded with a summary. */
  readonly hasSubscribers: () => boolean;
  /**
   * Called after each commit, and when unfolding merges traces, with a function that returns the summaries of the
   * changed traces.
   */
  readonly changed: (summaries: () => Promise<readonly TraceSummary[]>) => Promise<void>;
  /** Called with each call before it is stored. Must not throw. */
  readonly recorded?: (call: CallRecord) => void;
  readonly log: Log;
}): CallRecords {
  let refusedRecords = 0;
  const reportRefused = (callId: string, traceId: string, error: unknown): void => {
    refusedRecords += 1;
    const facts = { err: error, callId, traceId, refused: refusedRecords };
    log.error(facts, 'the record of a call was lost: the store refused it');
  };

  function storeQueueOf(store: CallStore): StoreQueue {
    const unfolding = createUnfolding({ store, merged: (summaries) => changed(() => Promise.resolve(summaries)), log });
    /** Publishes and unfolds committed calls. Never throws, because a failure must not repeat the commit. */
    async function publishAndUnfold(
      callCount: number,
      summaries: () => Promise<readonly TraceSummary[]>,
    ): Promise<void> {
      try {
        await changed(summaries);
        await unfolding.committed(callCount);
      } catch (error) {
        log.warn({ err: error, calls: callCount }, 'calls are committed, but could not be unfolded or published');
      }
    }
    let committed: (() => Promise<void>)[] = [];
    const queue = createWriteBehind<QueuedCall>({
      async commit(calls) {
        const summaries = await store.append(calls);
        committed.push(() => publishAndUnfold(calls.length, summaries));
      },
      async afterCommit() {
        const due = committed;
        committed = [];
        for (const publish of due) await publish();
      },
      faultOf(error) {
        if (error instanceof Unavailable) return 'store';
        return error instanceof InvalidInput || error instanceof TooLarge ? 'record' : 'either';
      },
      failed: (error, waiting) =>
        log.error({ err: error, waiting }, 'gateway records could not be committed; trying again'),
      dropped: (count) => log.error({ count }, 'gateway records were lost: the store was unavailable for too long'),
      refused: ({ callId, traceId }, error) => reportRefused(callId, traceId, error),
      batchLimit: BATCH_CALLS,
    });
    return { store, queue, unfolding };
  }

  const [store, ...others] = stores;
  const first = storeQueueOf(store);
  const queues = [first, ...others.map(storeQueueOf)];
  let unencoded: CallRecord[] = [];
  let recordedCount = 0;
  /**
   * One number for each record that the first store refused to encode: how many records were queued for that store
   * before. `storedThrough` removes the numbers that it has passed.
   */
  const queuedBeforeRefused: number[] = [];
  let refusedPassed = 0;

  function encodeGathered(): void {
    const calls = unencoded;
    unencoded = [];
    const withSummary = hasSubscribers();
    for (const call of calls) enqueue(call, withSummary);
  }

  function enqueue(call: CallRecord, withSummary: boolean): void {
    for (const storeQueue of queues) {
      const { queue } = storeQueue;
      try {
        queue.push(storeQueue.store.encode(call, withSummary));
      } catch (error) {
        if (storeQueue === first) queuedBeforeRefused.push(queue.settledCount() + queue.waiting());
        reportRefused(call.spend.callId, call.spend.traceId, error);
      }
    }
  }

  return {
    record(call) {
      recordedCount += 1;
      recorded?.(call);
      // Encoded after the answer is sent: the caller does not wait for its record.
      const gatheredCount = unencoded.push(call);
      if (gatheredCount === 1) setTimeout(encodeGathered, GATHER_MS).unref();
      else if (gatheredCount === GROUP_RECORDS) afterSends(encodeGathered);
    },
    async flush() {
      encodeGathered();
      const ends = await Promise.allSettled(queues.map(({ queue }) => queue.flush()));
      const failure = ends.find((end) => end.status === 'rejected');
      if (failure) throw failure.reason;
    },
    async caughtUp(withinMs) {
      encodeGathered();
      const caughtUp = await Promise.all(queues.map(({ queue }) => queue.caughtUp(withinMs)));
      return caughtUp.every(Boolean);
    },
    spendStored(withinMs) {
      encodeGathered();
      return first.queue.caughtUp(withinMs);
    },
    waiting: () => queues.reduce((total, { queue }) => total + queue.waiting(), unencoded.length * queues.length),
    position: () => recordedCount,
    storedThrough() {
      const settledCount = first.queue.settledCount();
      while ((queuedBeforeRefused[0] ?? Number.POSITIVE_INFINITY) <= settledCount) {
        queuedBeforeRefused.shift();
        refusedPassed += 1;
      }
      return settledCount + refusedPassed;
    },
    betweenCommits: (read, withinMs) => first.queue.betweenCommits(read, withinMs),
    start() {
      for (const { unfolding } of queues) unfolding.start();
    },
    async stop() {
      await Promise.all(queues.map(({ unfolding }) => unfolding.stop()));
    },
  };
}
