import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { removeOld } from '../../../src/runtime/tasks/retention.ts';

const DAY_MS = 86_400_000;
const START_MS = 1_700_000_000_000;

beforeEach(() => {
  // Only the date is fake: the pauses between the steps are real.
  vi.useFakeTimers({ now: START_MS, toFake: ['Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A store with a number of old traces. */
function aStore(old: number) {
  const state = {
    old,
    isUnavailable: false,
    /** The cutoff of each step, in ms from the start of the test. */
    cutoffs: [] as number[],
    logLines: [] as unknown[],
    stopping: new AbortController(),
  };
  const removal = (days: number): Promise<void> =>
    removeOld({
      what: 'traces',
      days,
      async remove(beforeMs, most) {
        state.cutoffs.push(beforeMs - START_MS);
        if (state.isUnavailable) throw new Error('unavailable');
        const count = Math.min(most, state.old);
        state.old -= count;
        return count;
      },
      clock: { now: () => new Date(), monotonicMs: () => Date.now() },
      log: { info: (facts, event) => void state.logLines.push([event, facts]) },
      signal: state.stopping.signal,
    });
  return { removal, state };
}

it('rows older than the given days are removed in steps of 100, and their number is logged', async () => {
  const { removal, state } = aStore(250);
  await removal(14);
  expect(state.old).toBe(0);
  expect(state.cutoffs).toEqual([-14 * DAY_MS, -14 * DAY_MS, -14 * DAY_MS]);
  expect(state.logLines).toEqual([['old traces were removed', { traces: 250, days: 14 }]]);
});

it('nothing is logged without old rows', async () => {
  const { removal, state } = aStore(0);
  await removal(1);
  expect([state.cutoffs, state.logLines]).toEqual([[-DAY_MS], []]);
});

it('a removal fails with the error of the store', async () => {
  const { removal, state } = aStore(10);
  state.isUnavailable = true;
  await expect(removal(1)).rejects.toThrow('unavailable');
  expect([state.old, state.logLines]).toEqual([10, []]);
});

it('a removal stops between two steps', async () => {
  const { removal, state } = aStore(250);
  const ended = removal(1);
  state.stopping.abort(new Error('stopping'));
  await expect(ended).rejects.toThrow('stopping');
  expect(state.old).toBe(150);
});
