import { Unavailable } from '../../domain/errors.ts';
import { QUERY_LIMITS } from '../../domain/traces/trace-query.ts';

/** Limits the queries that run in parallel, in total and to one per owner. */
export interface QueryTurns {
  /**
   * Runs a query when a slot is free and no other query of its owner runs. Of the queries that may run, the oldest runs
   * first. Throws Unavailable when another query of the owner waits, too many queries wait, or the wait is too long.
   * Throws the reason of the signal when the signal aborts before the query starts.
   */
  run<Result>(owner: string, signal: AbortSignal, query: () => Promise<Result>): Promise<Result>;
}

interface Waiter {
  readonly owner: string;
  readonly start: () => void;
}

const tooMany = (): Unavailable => new Unavailable('Too many trace queries at once. Try again shortly.');

export function createQueryTurns(): QueryTurns {
  const running = new Set<string>();
  const waiting = new Set<Waiter>();

  const mayStart = (owner: string): boolean => running.size < QUERY_LIMITS.atOnce && !running.has(owner);

  function startWaiting(): void {
    for (const waiter of waiting) {
      if (!mayStart(waiter.owner)) continue;
      waiting.delete(waiter);
      running.add(waiter.owner);
      waiter.start();
    }
  }

  async function waitForTurn(owner: string, signal: AbortSignal): Promise<void> {
    if (mayStart(owner)) {
      running.add(owner);
      return;
    }
    const isWaiting = waiting.values().some((other) => other.owner === owner);
    if (isWaiting || waiting.size >= QUERY_LIMITS.waiting) throw tooMany();
    const turn = Promise.withResolvers<void>();
    const waiter = { owner, start: turn.resolve };
    /** Leaves the queue at once: a query that ends before the next microtask must not start a rejected waiter. */
    function leave(reason: unknown): void {
      waiting.delete(waiter);
      turn.reject(reason);
    }
    const onAbort = (): void => leave(signal.reason);
    const deadline = setTimeout(() => leave(tooMany()), QUERY_LIMITS.timeMs);
    signal.addEventListener('abort', onAbort, { once: true });
    waiting.add(waiter);
    try {
      await turn.promise;
    } finally {
      clearTimeout(deadline);
      signal.removeEventListener('abort', onAbort);
    }
  }

  return {
    async run(owner, signal, query) {
      signal.throwIfAborted();
      await waitForTurn(owner, signal);
      try {
        return await query();
      } finally {
        running.delete(owner);
        startWaiting();
      }
    },
  };
}
