import { describe, expect, it, onTestFinished } from 'vitest';
import { createMemoryFreeTierStore } from '../support/memory-free-tier-store.ts';
import { ENGINES } from './engines.ts';
import { freeTierStoreSuite } from './free-tier-store-suite.ts';

for (const { name, skipReason, create } of ENGINES)
  freeTierStoreSuite(name, skipReason, async () => {
    const scratch = await create();
    return { ...scratch, open: async () => (await scratch.open()).freeTier };
  });

for (const { name, skipReason, create } of ENGINES)
  describe.skipIf(skipReason !== null)(`reservations with several limits on ${name}`, () => {
    it('are made once when another reservation of their commit fails', async () => {
      const scratch = await create();
      onTestFinished(() => scratch.remove());
      const { freeTier } = await scratch.open();
      const calls = { day: '2026-11-21', ipHash: 'a'.repeat(64), calls: 3 };
      const valid = freeTier.reserve(calls, 10);
      // The database refuses the limit.
      const invalid = freeTier.reserve({ ...calls, ipHash: 'b'.repeat(64) }, Number.NaN);
      await expect(invalid).rejects.toThrow();
      expect(await valid).toEqual({ granted: 3, used: 3 });
    });
  });

// The store in memory, which other tests use, has the same contract.
freeTierStoreSuite('memory', null, async () => {
  let store = createMemoryFreeTierStore();
  const current = () => store;
  return {
    open: async () => ({
      reserve: (...parameters) => current().reserve(...parameters),
      release: (unusedCalls) => current().release(unusedCalls),
      usedOn: (...parameters) => current().usedOn(...parameters),
      removeBefore: (...parameters) => current().removeBefore(...parameters),
    }),
    async clear() {
      store = createMemoryFreeTierStore();
    },
    remove: async () => {},
  };
});
