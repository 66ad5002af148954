import type { ShareTiming } from '../../src/runtime/admission/shares.ts';
import { anAdmission } from '../support/admission.ts';
import { MemoryLedger } from '../support/memory-ledger.ts';
import { someShares } from '../support/shares.ts';
import { admissionSuite } from './admission-suite.ts';
import { type OpenLedger, withPostgres, withRedis } from './ledgers.ts';
import { sharedBudgetsSuite } from './shared-budgets-suite.ts';

const WITHOUT_RESERVE: ShareTiming = { tickMs: 20, minCalls: 0, answerMs: 5_000 };
const WITH_RESERVE: ShareTiming = { tickMs: 5, minCalls: 8, answerMs: 5_000 };

/** Runs the suite on an admission of one process, over the ledger that `open` returns, or without a ledger. */
function suiteOver(name: string, open: () => OpenLedger | null, timing = WITHOUT_RESERVE): void {
  admissionSuite(name, async (stored) => {
    let nowMs = 0;
    const opened = open();
    const shares = opened === null ? null : someShares(opened.ledger, { timing });
    const admission = anAdmission(async (counter) => stored.get(counter) ?? 0n, {
      clock: { monotonicMs: () => nowMs },
      shares,
      leaseMs: 1_000,
      // The clock only ends leases here: stored totals never become stale.
      staleMs: Infinity,
      aheadMs: Infinity,
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
for (const timing of [WITHOUT_RESERVE, WITH_RESERVE]) {
  const name = `over a ledger in memory, with a reserve of ${timing.minCalls} calls`;
  suiteOver(name, memoryLedger, timing);
  sharedBudgetsSuite(name, memoryLedger, timing);
}
withRedis((open) => {
  suiteOver('in Redis', open);
  sharedBudgetsSuite('in Redis', open, WITHOUT_RESERVE);
});
withPostgres((open) => sharedBudgetsSuite('in PostgreSQL', open, WITH_RESERVE));
