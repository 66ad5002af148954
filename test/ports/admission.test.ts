import { anAdmission } from '../support/admission.ts';
import { admissionSuite } from './admission-suite.ts';

admissionSuite('in memory', async (stored) => {
  let nowMs = 0;
  const admission = anAdmission(async (counter) => stored.get(counter) ?? 0n, {
    clock: { monotonicMs: () => nowMs },
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
    close: async () => {},
  };
});
