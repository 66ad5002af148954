import { describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/domain/clock.ts';
import {
  createMemoryFailures,
  createStoredFailures,
  type SignInFailureCount,
  type SignInFailureCounts,
} from '../../../src/domain/users/failed-sign-ins.ts';
import type { PendingSignInStore } from '../../../src/domain/users/pending-sign-ins.ts';
import { createSignInThrottle, SignInThrottled } from '../../../src/domain/users/sign-in.ts';
import { keyGenerator } from '../../../src/runtime/identifiers.ts';
import { createSourceLimits, type SourceLimits } from '../../../src/runtime/network/source-limits.ts';
import { createMemoryPendingSignIns } from '../../support/memory-pending-sign-ins.ts';

type CountsOf = (clock: Clock) => SignInFailureCounts;

const IN_MEMORY: CountsOf = (clock) => createMemoryFailures(clock);
const IN_STORE: CountsOf = (clock) =>
  createStoredFailures({ store: createMemoryPendingSignIns(), generator: keyGenerator, clock, keptSeconds: 300 });

/**
 * A throttle that by default allows ten failures of a source in a window, and half as many of one name from one source.
 */
function throttleOf(
  countsOf: CountsOf,
  limits: { readonly perSource?: number; readonly countsSources?: boolean; readonly bySource?: SourceLimits } = {},
) {
  let nowMs = 1_000;
  const throttle = createSignInThrottle(
    {
      perSource: 10,
      windowSeconds: 60,
      blockSeconds: 300,
      countsSources: false,
      limitOf: createSourceLimits(limits.bySource ?? []),
      ...limits,
    },
    countsOf({ now: () => new Date(nowMs), monotonicMs: () => nowMs }),
  );
  return {
    ...throttle,
    pass: (seconds: number): void => {
      nowMs += seconds * 1_000;
    },
    async fail(times: number, name = 'anna', source = 'a'): Promise<void> {
      for (let turn = 0; turn < times; turn += 1) await throttle.failed({ source, name });
    },
    async isOpen(name = 'anna', source = 'a'): Promise<boolean> {
      try {
        await throttle.admit({ source, name });
        return true;
      } catch (error) {
        if (error instanceof SignInThrottled) return false;
        throw error;
      }
    },
  };
}

describe.each([
  ['of one process', IN_MEMORY],
  ['of all processes', IN_STORE],
])('failed sign-ins with counts %s', (_title, counts) => {
  it('block a name from a source at the sixth failure, in any letter case', async () => {
    const throttle = throttleOf(counts);
    await throttle.fail(5);
    expect(await throttle.isOpen()).toBe(true);
    await throttle.fail(1);
    expect([
      await throttle.isOpen(),
      await throttle.isOpen('ANNA'),
      await throttle.isOpen('bert'),
      await throttle.isOpen('anna', 'b'),
    ]).toEqual([false, false, true, true]);
  });

  it('are counted by the first 256 characters of a name', async () => {
    const throttle = throttleOf(counts);
    await throttle.fail(6, 'x'.repeat(256));
    expect([await throttle.isOpen(`${'x'.repeat(256)}y`), await throttle.isOpen('x'.repeat(255))]).toEqual([
      false,
      true,
    ]);
  });

  it('block for 300 seconds, with the remaining time in the error', async () => {
    const throttle = throttleOf(counts);
    await throttle.fail(6);
    throttle.pass(299);
    await expect(throttle.admit({ source: 'a', name: 'anna' })).rejects.toThrow('Try again in 1 seconds.');
    throttle.pass(1);
    expect(await throttle.isOpen()).toBe(true);
  });

  it('are counted in a window, and cleared by a success of the name', async () => {
    const throttle = throttleOf(counts);
    await throttle.fail(5);
    throttle.pass(60);
    await throttle.fail(1);
    expect(await throttle.isOpen()).toBe(true);
    await throttle.fail(4);
    await throttle.succeeded({ source: 'a', name: 'Anna' });
    await throttle.fail(5);
    expect(await throttle.isOpen()).toBe(true);
  });

  it('block all names of a source at the eleventh failure, where sources are counted', async () => {
    const names = Array.from({ length: 11 }, (_none, index) => `user-${index}`);
    const counting = throttleOf(counts, { countsSources: true });
    for (const name of names.slice(0, 10)) await counting.fail(1, name);
    expect(await counting.isOpen('other')).toBe(true);
    await counting.fail(1, names[10]);
    expect([await counting.isOpen('other'), await counting.isOpen('other', 'b')]).toEqual([false, true]);
    const plain = throttleOf(counts);
    for (const name of names) await plain.fail(1, name);
    expect(await plain.isOpen('other')).toBe(true);
  });

  it('have no limit at 0, and otherwise allow at least one failure', async () => {
    const open = throttleOf(counts, { perSource: 0 });
    await open.fail(100);
    expect(await open.isOpen()).toBe(true);
    const strict = throttleOf(counts, { perSource: 1 });
    await strict.fail(1);
    expect(await strict.isOpen()).toBe(true);
    await strict.fail(1);
    expect(await strict.isOpen()).toBe(false);
  });

  it('have the limit of the smallest matching network, where 0 means no limit and precedes other limits', async () => {
    const bySource: SourceLimits = [
      ['10.0.0.0/8', 2],
      ['10.1.0.0/16', 20],
      ['10.1.2.3', 0],
      ['10.1.2.3/32', 4],
      ['fd00::1', 2],
    ];
    const throttle = throttleOf(counts, { bySource });
    const failuresUntilBlocked = async (source: string): Promise<number> => {
      for (let times = 1; times <= 30; times += 1) {
        await throttle.fail(1, 'anna', source);
        if (!(await throttle.isOpen('anna', source))) return times;
      }
      return Infinity;
    };
    const networks = ['10.9.9.9', '10.1.9.9', '10.1.2.3', '192.0.2.1', 'fd00::/64', 'fd00:1::/64', 'unknown'];
    const found: number[] = [];
    for (const network of networks) found.push(await failuresUntilBlocked(network));
    // A name is blocked by one failure more than half the limit. An IPv6 address counts as its /64 network.
    expect(found).toEqual([2, 11, Infinity, 6, 2, 6, 6]);
    expect(await throttleOf(counts, { perSource: 0, bySource }).isOpen('anna', '10.9.9.9')).toBe(true);
  });
});

it('counts of two processes are shared, also for concurrent failures', async () => {
  const store = createMemoryPendingSignIns();
  const clock = { now: () => new Date(1_000), monotonicMs: () => 1_000 };
  const [processA, processB] = [1, 2].map(() =>
    createStoredFailures({ store, generator: keyGenerator, clock, keptSeconds: 300 }),
  ) as [SignInFailureCounts, SignInFailureCounts];
  const addFailure = (count: SignInFailureCount | null) => ({
    sinceMs: 0,
    failures: (count?.failures ?? 0) + 1,
    blockedUntilMs: 0,
  });
  await Promise.all(
    Array.from({ length: 12 }, (_none, index) => (index % 2 === 0 ? processA : processB).change('a', addFailure)),
  );
  expect((await processB.find('a'))?.failures).toBe(12);
  await processA.remove('a');
  expect(await processB.find('a')).toBeNull();
});

it('each concurrent failure is counted while the store has no space for further counts', async () => {
  const full: PendingSignInStore = { ...createMemoryPendingSignIns(), add: () => Promise.resolve(false) };
  const clock = { now: () => new Date(1_000), monotonicMs: () => 1_000 };
  const counts = createStoredFailures({ store: full, generator: keyGenerator, clock, keptSeconds: 300 });
  const addFailure = (count: SignInFailureCount | null) => ({
    sinceMs: 0,
    failures: (count?.failures ?? 0) + 1,
    blockedUntilMs: 0,
  });
  await Promise.all(Array.from({ length: 12 }, () => counts.change('a', addFailure)));
  expect((await counts.find('a'))?.failures).toBe(12);
});
