import type { FreeTierCalls, FreeTierStore } from '../../src/domain/free-tier/free-tier.ts';

const nameOf = ({ day, ipHash }: Pick<FreeTierCalls, 'day' | 'ipHash'>): string => `${day}/${ipHash}`;

/** Free tier store in memory with the rules of the real store. */
export function createMemoryFreeTierStore(): FreeTierStore {
  const used = new Map<string, number>();
  return {
    async reserve(reserved, limit) {
      const before = used.get(nameOf(reserved)) ?? 0;
      const granted = Math.max(0, Math.min(reserved.calls, limit - before));
      used.set(nameOf(reserved), before + granted);
      return { granted, used: before + granted };
    },
    async release(unused) {
      for (const calls of unused) {
        const before = used.get(nameOf(calls));
        if (before !== undefined) used.set(nameOf(calls), before - calls.calls);
      }
    },
    usedOn: async (day, ipHash) => used.get(nameOf({ day, ipHash })) ?? 0,
    async removeBefore(day, most) {
      // A name begins with its day, so that names sort by day.
      const old = [...used.keys()].filter((name) => name < day).slice(0, most);
      for (const name of old) used.delete(name);
      return old.length;
    },
  };
}
