import {
  type Ledger,
  LEDGER_LEASE_MS,
  type LedgerSnapshot,
  type ShareAnswer,
  type ShareRequest,
} from '../../domain/admission/ledger.ts';
import type { Clock } from '../../domain/clock.ts';
import type { Scheduler } from '../../domain/scheduler.ts';
import { withDeadline } from '../../domain/with-deadline.ts';

/** Maximum number of requests of one round trip. */
const BATCH = 200;
/** Time for which the last answer about a budget or slots stays valid after the ledger is lost, in ms. */
const ANSWER_VALID_MS = 5_000;
/** Time in ms without a request to the ledger after which a heartbeat is sent. Well below the lease. */
const HEARTBEAT_MS = 3_000;

/** A counter of this process that holds a share of a limit. */
export interface ShareHolder {
  /** Whether each tick visits this holder. Only `Shares` changes this field. */
  listed: boolean;
  /** Whether a request of this holder waits to be sent. Only `Shares` changes this field. */
  queued: boolean;
  /** The request to send now. Until the answer, calls are admitted up to the `held` amount of the request. */
  nextRequest(): ShareRequest;
  answer(share: ShareAnswer, ask: ShareRequest, sentMs: number): void;
  /** Action at a tick. `ask` sends a request; `ask` and `stay` keep the holder on the list; `unlist` removes it. */
  tick(): 'ask' | 'stay' | 'unlist';
}

/** When shares send requests to the ledger, and how much spare room they request. */
export interface ShareTiming {
  /** Time between two ticks, in ms. At a tick, a share in use may request more room or return unused room. */
  readonly tickMs: number;
  /**
   * Number of further calls for which a share requests spare room, where the limit allows it. A share that has admitted
   * more calls between two ticks requests room for that many.
   */
  readonly minSpareCalls: number;
  /** Timeout of a round trip, in ms. The first calls after a loss of the ledger wait this long, later ones do not. */
  readonly answerMs: number;
}

/** Shares of limits that this process holds in a ledger. */
export interface Shares {
  readonly timing: ShareTiming;
  /**
   * Changes when the ledger is lost or has removed this process, and when the lease of this process has ended. Shares
   * of an earlier epoch are void.
   */
  epoch(): number;
  /** Whether the ledger is unavailable. This process then counts for itself. */
  isUnavailable(): boolean;
  /**
   * Whether an answer of an epoch is valid: always in the current epoch. After a loss of the ledger, an answer of the
   * previous epoch stays valid for `ANSWER_VALID_MS`.
   */
  isAnswerValid(epoch: number): boolean;
  /**
   * Sends the request of a holder with the next round trip, and watches the holder. Resolves after its answer, or when
   * the ledger is unavailable.
   */
  requestShare(holder: ShareHolder): Promise<void>;
  /** Calls `tick` of the holder at each tick, until it returns `unlist`. */
  watch(holder: ShareHolder): void;
  /** State of counters in the ledger, in their order; null when the ledger is unavailable. */
  snapshot(counters: readonly string[]): Promise<readonly LedgerSnapshot[] | null>;
  counts(): { readonly isUnavailable: boolean; readonly losses: number };
  /** Reports the last state, ends the lease and closes the ledger. */
  stop(): Promise<void>;
}

/** The requests of one round trip. */
interface Round {
  readonly holders: ShareHolder[];
  readonly done: PromiseWithResolvers<void>;
}

const nextTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

const newRound = (): Round => ({ holders: [], done: Promise.withResolvers() });

export function createShares({
  ledger,
  process,
  clock,
  timing,
  scheduler,
  changed,
}: {
  readonly ledger: Ledger;
  /** Id of this process, different at each start. */
  readonly process: string;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly timing: ShareTiming;
  readonly scheduler: Scheduler;
  /** Called when the ledger was lost, with the reason, and when it answers again, with null. */
  readonly changed: (failure: unknown) => void;
}): Shares {
  const { answerMs } = timing;
  const state = {
    isUnavailable: false,
    epoch: 1,
    losses: 0,
    sentMs: -Infinity,
    /** Time at which the last answered request was sent. The lease is not shorter than from then on. */
    renewedMs: -Infinity,
    lostMs: -Infinity,
    isSending: false,
    isStopped: false,
    /** Whether the ledger knows this process, as far as this process knows. */
    hasJoined: false,
  };
  const rounds: Round[] = [];
  let watched: ShareHolder[] = [];
  let probing: Promise<void> | null = null;

  function onLoss(failure: unknown): void {
    if (state.isUnavailable) return;
    state.isUnavailable = true;
    state.epoch += 1;
    state.lostMs = clock.monotonicMs();
    state.losses += 1;
    if (!state.isStopped) changed(failure);
  }

  /** The epoch. Begins a new one when this process was stalled for as long as its lease, before a call is admitted. */
  function currentEpoch(): number {
    const isStalled = clock.monotonicMs() - state.renewedMs >= LEDGER_LEASE_MS;
    if (isStalled && state.hasJoined && !state.isUnavailable) {
      state.epoch += 1;
      state.hasJoined = false;
    }
    return state.epoch;
  }

  /** Begins a new epoch when the ledger had removed this process: its shares are void. */
  function noteMembership(isNew: boolean, sentMs: number): void {
    if (isNew && state.hasJoined) state.epoch += 1;
    state.hasJoined = true;
    state.renewedMs = Math.max(state.renewedMs, sentMs);
  }

  async function sendAll(): Promise<void> {
    if (state.isSending) return;
    state.isSending = true;
    for (let round = rounds.shift(); round !== undefined; round = rounds.shift()) {
      for (const holder of round.holders) holder.queued = false;
      if (!state.isUnavailable) await send(round.holders);
      round.done.resolve();
      // Let the waiting calls take their room first: requests of the next round would return it.
      if (rounds.length > 0) await nextTurn();
    }
    state.isSending = false;
  }

  async function send(holders: readonly ShareHolder[]): Promise<void> {
    const sentMs = clock.monotonicMs();
    state.sentMs = sentMs;
    try {
      const asks = holders.map((holder) => holder.nextRequest());
      const { shares, isNew } = await withTimeout(ledger.requestShares(process, asks), answerMs);
      noteMembership(isNew, sentMs);
      for (const [position, holder] of holders.entries()) {
        const [share, ask] = [shares[position], asks[position]];
        if (share !== undefined && ask !== undefined) holder.answer(share, ask, sentMs);
      }
    } catch (error) {
      onLoss(error);
    }
  }

  function queue(holder: ShareHolder): Promise<void> {
    if (holder.queued) {
      const queuedRound = rounds.find(({ holders }) => holders.includes(holder));
      if (queuedRound !== undefined) return queuedRound.done.promise;
    }
    let round = rounds.at(-1);
    if (round === undefined || round.holders.length >= BATCH) {
      round = newRound();
      rounds.push(round);
      if (!state.isSending) queueMicrotask(() => void sendAll());
    }
    holder.queued = true;
    round.holders.push(holder);
    return round.done.promise;
  }

  function watch(holder: ShareHolder): void {
    if (holder.listed) return;
    holder.listed = true;
    watched.push(holder);
  }

  async function probe(): Promise<void> {
    const sentMs = clock.monotonicMs();
    try {
      noteMembership((await withTimeout(ledger.requestShares(process, []), answerMs)).isNew, sentMs);
    } catch (error) {
      onLoss(error);
      return;
    }
    if (!state.isUnavailable) return;
    state.isUnavailable = false;
    changed(null);
  }

  /** Sends an empty request: a heartbeat, or a probe whether the ledger is available again. */
  function probeOnce(): Promise<void> {
    state.sentMs = clock.monotonicMs();
    probing ??= probe().finally(() => {
      probing = null;
    });
    return probing;
  }

  function tick(): void {
    if (state.isUnavailable) return void probeOnce();
    const due = watched;
    watched = [];
    for (const holder of due) {
      const action = holder.tick();
      holder.listed = action !== 'unlist';
      if (action !== 'unlist') watched.push(holder);
      if (action === 'ask') void queue(holder);
    }
    if (clock.monotonicMs() - state.sentMs > HEARTBEAT_MS) void probeOnce();
  }

  const ticking = scheduler.every({ name: 'limit-shares', everyMs: timing.tickMs, run: tick });

  return {
    timing,
    epoch: currentEpoch,
    isUnavailable: () => state.isUnavailable,
    isAnswerValid: (epoch) =>
      epoch === currentEpoch() ||
      (state.isUnavailable && epoch === state.epoch - 1 && clock.monotonicMs() - state.lostMs < ANSWER_VALID_MS),
    requestShare(holder) {
      if (state.isUnavailable) return Promise.resolve();
      // The call may be refused by another limit. A later tick then returns the granted room.
      watch(holder);
      return queue(holder);
    },
    watch,
    async snapshot(counters) {
      if (state.isUnavailable) return null;
      try {
        return await withTimeout(ledger.snapshot(process, counters), answerMs);
      } catch (error) {
        onLoss(error);
        return null;
      }
    },
    counts: () => ({ isUnavailable: state.isUnavailable, losses: state.losses }),
    async stop() {
      void ticking.stop();
      state.isStopped = true;
      if (!state.isUnavailable) {
        await Promise.all(watched.map((holder) => queue(holder)));
        await withTimeout(ledger.leave(process), answerMs).catch(() => {});
      }
      await ledger.close();
    },
  };
}

const withTimeout = <Result>(work: Promise<Result>, ms: number): Promise<Result> =>
  withDeadline(work, ms, async () => {
    // An answer that arrived while the event loop was blocked is read before the second turn.
    await nextTurn();
    await nextTurn();
    throw new Error(`The ledger did not answer within ${ms} ms.`);
  });
