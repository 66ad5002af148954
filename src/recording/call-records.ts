import type { CallRecord, CallStore, KeptCall } from '../domain/calls/call-record.ts';
import { InvalidInput, TooLarge, Unavailable } from '../domain/errors.ts';
import type { TraceSummary } from '../domain/traces/trace.ts';
import type { Log } from '../runtime/telemetry/log.ts';
import { behindSends } from '../runtime/tasks/write-coalescing.ts';
import { createUnfolding, type Unfolding } from '../runtime/tasks/call-unfolding.ts';
import { createWriteBehind, type WriteBehind } from '../runtime/tasks/write-behind.ts';

/** Calls of one commit at most: they are bytes by then, and few large commits cost less than many small ones. */
const BATCH_CALLS = 4_000;
/** Records that are made bytes at once: the first of them pays for code and memory that the processor has forgotten. */
const BATCH_FRESH = 32;
/** How long fewer than that gather. */
const GATHER_MS = 5;

/** What calls leave behind, on its way to wherever it is kept. */
export interface CallRecords
  extends Pick<WriteBehind<CallRecord>, 'flush' | 'caughtUp' | 'waiting'>, Pick<Unfolding, 'start' | 'stop'> {
  /** Takes a record; never waits and never throws. */
  record(call: CallRecord): void;
  /** Number of records taken so far: the position of the latest. */
  position(): number;
  /** Position up to which every record is in the first store, or given up. */
  storedThrough(): number;
  /** Runs a read of the first store while no commit to it runs; see WriteBehind. */
  readonly betweenCommits: WriteBehind<CallRecord>['betweenCommits'];
}

/** A store, what waits for it, and what is unfolded in it. */
interface Lane {
  readonly store: CallStore;
  readonly queue: WriteBehind<KeptCall>;
  readonly unfolding: Unfolding;
}

/**
 * Hands every record to each store that wants it. Each has a queue of its own: what is behind a store that is away
 * waits for it, and nothing else does.
 */
export function createCallRecords({
  stores,
  changed,
  log,
}: {
  /** The first keeps what calls cost. */
  readonly stores: readonly [CallStore, ...CallStore[]];
  /** Hears of the traces that a commit changed, to be asked for when somebody wants to know. */
  readonly changed: (summaries: () => Promise<readonly TraceSummary[]>) => Promise<void>;
  readonly log: Log;
}): CallRecords {
  let refusedRecords = 0;
  const setAside = (callId: string, traceId: string, error: unknown): void => {
    refusedRecords += 1;
    const facts = { err: error, callId, traceId, refused: refusedRecords };
    log.error(facts, 'the record of a call was set aside: the store cannot take it');
  };

  function laneOf(store: CallStore): Lane {
    const unfolding = createUnfolding({ store, log });
    /** The calls are committed: what fails from here on must not commit them again. */
    async function afterCommit(calls: number, summaries: () => Promise<readonly TraceSummary[]>): Promise<void> {
      try {
        await changed(summaries);
        await unfolding.committed(calls);
      } catch (error) {
        log.warn({ err: error, calls }, 'calls are committed, but could not be unfolded or told of');
      }
    }
    let news: (() => Promise<void>)[] = [];
    const queue = createWriteBehind<KeptCall>({
      async commit(calls) {
        const summaries = await store.append(calls);
        news.push(() => afterCommit(calls.length, summaries));
      },
      async afterCommit() {
        const due = news;
        news = [];
        for (const tell of due) await tell();
      },
      faultOf(error) {
        if (error instanceof Unavailable) return 'store';
        return error instanceof InvalidInput || error instanceof TooLarge ? 'record' : 'either';
      },
      failed: (error, waiting) =>
        log.error({ err: error, waiting }, 'gateway records could not be committed; trying again'),
      dropped: (count) => log.error({ count }, 'gateway records were lost: the store stayed away too long'),
      refused: ({ callId, traceId }, error) => setAside(callId, traceId, error),
      batchLimit: BATCH_CALLS,
    });
    return { store, queue, unfolding };
  }

  const [store, ...others] = stores;
  const first = laneOf(store);
  const lanes = [first, ...others.map(laneOf)];
  let fresh: CallRecord[] = [];
  let taken = 0;
  /** For each record that the first store refused before it was queued: how many had been queued before it. */
  const unqueued: number[] = [];
  let unqueuedGone = 0;

  function keepFresh(): void {
    const calls = fresh;
    fresh = [];
    for (const call of calls) keep(call);
  }

  function keep(call: CallRecord): void {
    for (const lane of lanes) {
      const { queue } = lane;
      try {
        queue.push(lane.store.keep(call));
      } catch (error) {
        if (lane === first) unqueued.push(queue.gone() + queue.waiting());
        setAside(call.spend.callId, call.spend.traceId, error);
      }
    }
  }

  return {
    record(call) {
      taken += 1;
      // Its caller waits for an answer, and nobody for its record.
      const gathered = fresh.push(call);
      if (gathered === 1) setTimeout(keepFresh, GATHER_MS).unref();
      else if (gathered === BATCH_FRESH) behindSends(keepFresh);
    },
    async flush() {
      keepFresh();
      const ends = await Promise.allSettled(lanes.map(({ queue }) => queue.flush()));
      const failure = ends.find((end) => end.status === 'rejected');
      if (failure) throw failure.reason;
    },
    async caughtUp(withinMs) {
      keepFresh();
      const caughtUp = await Promise.all(lanes.map(({ queue }) => queue.caughtUp(withinMs)));
      return caughtUp.every(Boolean);
    },
    waiting: () => lanes.reduce((total, { queue }) => total + queue.waiting(), fresh.length * lanes.length),
    position: () => taken,
    storedThrough() {
      const gone = first.queue.gone();
      for (let [before] = unqueued; before !== undefined && before <= gone; [before] = unqueued) {
        unqueued.shift();
        unqueuedGone += 1;
      }
      return gone + unqueuedGone;
    },
    betweenCommits: (read, withinMs) => first.queue.betweenCommits(read, withinMs),
    start() {
      for (const { unfolding } of lanes) unfolding.start();
    },
    async stop() {
      await Promise.all(lanes.map(({ unfolding }) => unfolding.stop()));
    },
  };
}
