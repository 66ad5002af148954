import { createMemoryFreeTierStore } from '../support/memory-free-tier-store.ts';
import { ENGINES } from './engines.ts';
import { freeTierStoreSuite } from './free-tier-store-suite.ts';

for (const { name, skipReason, create } of ENGINES)
  freeTierStoreSuite(name, skipReason, async () => {
    const scratch = await create();
    return { ...scratch, open: async () => (await scratch.open()).freeTier };
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
