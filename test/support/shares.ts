import { randomUUID } from 'node:crypto';
import type { Ledger } from '../../src/domain/admission/ledger.ts';
import { createShares, type ShareTiming, type Shares } from '../../src/runtime/admission/shares.ts';
import { aScheduler } from './scheduler.ts';

export const realClock = { monotonicMs: () => performance.now() };

/** Wraps a ledger so that `close` keeps it open for the other processes of a test. */
const leftOpen = (ledger: Ledger): Ledger => ({
  requestShares: (process, asks) => ledger.requestShares(process, asks),
  snapshot: (process, counters) => ledger.snapshot(process, counters),
  leave: (process) => ledger.leave(process),
  close: () => Promise.resolve(),
});

/** Shares of one process over the ledger of a test. */
export const someShares = (
  ledger: Ledger,
  more: {
    readonly process?: string;
    readonly clock?: { monotonicMs(): number };
    readonly timing?: ShareTiming;
    readonly changed?: (failure: unknown) => void;
  } = {},
): Shares =>
  createShares({
    ledger: leftOpen(ledger),
    process: randomUUID(),
    clock: realClock,
    scheduler: aScheduler(),
    timing: { tickMs: 20, minSpareCalls: 0, answerMs: 5_000 },
    changed: () => {},
    ...more,
  });
