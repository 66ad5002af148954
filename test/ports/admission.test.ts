import type { ShareTiming } from '../../src/runtime/admission/shares.ts';
import { anAdmission } from '../support/admission.ts';
import { MemoryLedger } from '../support/memory-ledger.ts';
import { someShares } from '../support/shares.ts';
import { admissionSuite } from './admission-suite.ts';
import { type OpenLedger, withPostgres, withRedis } from './ledgers.ts';
import { sharedBudgetsSuite } from './shared-budgets-suite.ts';

const SPARING: ShareTiming = { tickMs: 20, minCalls: 0, answerMs: 5_000 };
const READY: ShareTiming = { tickMs: 5, minCalls: 8, answerMs: 5_000 };

/** Admission in one process; over a ledger where there is one. */
function suiteOver(name: string, open: () => OpenLedger | null, pace = SPARING): void {
  admissionSuite(name, async (stored) => {
    let nowMs = 0;
    const place = open();
    const shares = place === null ? null : someShares(place.ledger, { pace });
    const admission = anAdmission(async (counter) => stored.get(counter) ?? 0n, {
      clock: { monotonicMs: () => nowMs },
      shares,
      leaseMs: 1_000,
      // Time only ends leases here.
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

const ofTheTests = (): OpenLedger => ({ ledger: new MemoryLedger(), prefix: '' });

suiteOver('in memory', () => null);
for (const pace of [SPARING, READY]) {
  const name = `over a ledger of the tests, with a reserve of ${pace.minCalls} calls`;
  suiteOver(name, ofTheTests, pace);
  sharedBudgetsSuite(name, ofTheTests, pace);
}
withRedis((open) => {
  suiteOver('in Redis', open);
  sharedBudgetsSuite('in Redis', open, SPARING);
});
withPostgres((open) => sharedBudgetsSuite('in PostgreSQL', open, READY));
