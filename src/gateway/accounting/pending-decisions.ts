import { withDeadline } from '../../domain/with-deadline.ts';

/** Decisions that wait for guardrails of the mode `logging_only` before they are stored. */
export interface PendingDecisions {
  /** Aborts when the shutdown ends the wait: the decisions are then stored without texts. */
  readonly signal: AbortSignal;
  /** `queued` resolves when the decision of the call is queued or dropped, and soon after an abort of `signal`. */
  add(callId: string, queued: Promise<void>): void;
  /** Resolves to whether no decision of the call waits any more; to false when one still waits after `maxMs`. */
  settled(callId: string, maxMs: number): Promise<boolean>;
  /** Resolves when no decision waits. Aborts `signal` after `maxMs`. */
  finish(maxMs: number): Promise<void>;
}

export function createPendingDecisions(): PendingDecisions {
  const waiting = new Set<{ readonly callId: string; readonly queued: Promise<void> }>();
  const ending = new AbortController();
  const allOf = async (callId: string | null): Promise<void> => {
    const some = [...waiting].filter((one) => callId === null || one.callId === callId);
    await Promise.all(some.map(({ queued }) => queued));
  };
  return {
    signal: ending.signal,
    add(callId, queued) {
      const one = { callId, queued };
      waiting.add(one);
      void queued.finally(() => waiting.delete(one));
    },
    settled: (callId, maxMs) =>
      withDeadline(
        allOf(callId).then(() => true),
        maxMs,
        () => false,
      ),
    async finish(maxMs) {
      const timer = setTimeout(() => ending.abort(), maxMs);
      await allOf(null);
      clearTimeout(timer);
    },
  };
}
