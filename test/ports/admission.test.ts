import type { ShareTiming } from '../../src/runtime/admission/shares.ts';
import { anAdmission } from '../support/admission.ts';
import { MemoryLedger } from '../support/memory-ledger.ts';
import { someShares } from '../support/shares.ts';
import { admissionSuite } from './admission-suite.ts';
import { type OpenLedger, withPostgres, withRedis } from './ledgers.ts';
import { sharedBudgetsSuite } from './shared-budgets-suite.ts';

const NO_SPARE_CALLS: ShareTiming = { tickMs: 20, minSpareCalls: 0, answerMs: 5_000 };
const EIGHT_SPARE_CALLS: ShareTiming = { tickMs: 5, minSpareCalls: 8, answerMs: 5_000 };

/** Runs the suite on an admission of one process, over the ledger that `open` returns, or without a ledger. */
function suiteOver(name: string, open: () => OpenLedger | null, timing = NO_SPARE_CALLS): void {
  admissionSuite(name, async (stored) => {
    let nowMs = 0;
    const opened = open();
    const shares = opened === null ? null : someShares(opened.ledger, { timing });
    const admission = anAdmission(async (counter) => stored.get(counter) ?? 0n, {
      clock: { monotonicMs: () => nowMs },
      shares,
      leaseMs: 1_000,
      // Stored totals are read once: a move of the clock only ends leases.
      staleMs: Infinity,
      refreshAgeMs: Infinity,
    });
    return {
      admission,
      endLeases() {
        nowMs += 1_000;
      },
      close: async () => shares?.stop(),
    };
  });
}

const memoryLedger = (): OpenLedger => ({ ledger: new MemoryLedger(), prefix: '' });

suiteOver('in memory', () => null);
for (const timing of [NO_SPARE_CALLS, EIGHT_SPARE_CALLS]) {
  const name = `over a ledger in memory, with room for ${timing.minSpareCalls} spare calls`;
  suiteOver(name, memoryLedger, timing);
  sharedBudgetsSuite(name, memoryLedger, timing);
}
withRedis((open) => {
  suiteOver('in Redis', open);
  sharedBudgetsSuite('in Redis', open, NO_SPARE_CALLS);
});
withPostgres((open) => sharedBudgetsSuite('in PostgreSQL', open, EIGHT_SPARE_CALLS));
