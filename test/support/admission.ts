import type { RateLimits } from '../../src/domain/admission/rate-limits.ts';
import type { StoredTotals } from '../../src/domain/admission/stored-totals.ts';
import { createMemoryRateLimits } from '../../src/runtime/admission/memory-rate-limits.ts';
import { createMemoryAdmission, type MemoryAdmission } from '../../src/runtime/admission/memory-admission.ts';

/** Stored totals that a test sets. Counted use is not added to them. */
function fixedTotals(totalOf: (counter: string) => Promise<bigint> = async () => 0n): StoredTotals {
  return {
    position: () => 1,
    storedThrough: () => 0,
    async read(counters) {
      const found = await Promise.all(counters.map(async (name) => [name, await totalOf(name)] as const));
      return { totals: new Map(found), through: 0 };
    },
  };
}

const unexpected = (error: unknown): never => {
  throw error;
};

/** Admission in memory over totals that a test sets. The default clock stands still. */
export const anAdmission = (
  totalOf?: (counter: string) => Promise<bigint>,
  more: Partial<Parameters<typeof createMemoryAdmission>[0]> = {},
): MemoryAdmission =>
  createMemoryAdmission({
    totals: fixedTotals(totalOf),
    clock: { monotonicMs: () => 0 },
    failed: unexpected,
    ...more,
  });

/** Limits per minute in memory. The default clock stands still. */
export const someRateLimits = (clock = { monotonicMs: () => 0 }): RateLimits => createMemoryRateLimits({ clock });
