import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createRetention } from '../../../src/runtime/tasks/retention.ts';

const DAY_MS = 86_400_000;
const START_MS = 1_700_000_000_000;

beforeEach(() => {
  vi.useFakeTimers({ now: START_MS });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A store whose old traces are counted down. */
function aRetention(days: number) {
  const state = { old: 250, away: false, asked: [] as number[], told: [] as unknown[] };
  const quiet = (): void => {};
  const tell = (facts: object, event: string): void => void state.told.push([event, { ...facts, err: undefined }]);
  const retention = createRetention({
    what: 'traces',
    days,
    async forget(beforeMs, most) {
      state.asked.push(beforeMs - START_MS);
      if (state.away) throw new Error('away');
      const count = Math.min(most, state.old);
      state.old -= count;
      return count;
    },
    clock: { now: () => new Date(), monotonicMs: () => Date.now() },
    log: { debug: quiet, info: tell, error: quiet, warn: tell },
  });
  return { retention, state };
}

it('removes what is older than its days in small steps, with pauses, and looks again later', async () => {
  const { retention, state } = aRetention(14);
  retention.start();
  await vi.advanceTimersByTimeAsync(100);
  expect(state.old).toBe(150);
  await vi.advanceTimersByTimeAsync(99);
  expect(state.old).toBe(150);
  await vi.advanceTimersByTimeAsync(101);
  expect(state.old).toBe(0);
  expect(state.asked).toEqual([100, 200, 300].map((ms) => ms - 14 * DAY_MS));
  expect(state.told).toEqual([['old traces were removed', { traces: 250, days: 14 }]]);
  state.old = 1;
  await vi.advanceTimersByTimeAsync(600_000);
  expect(state.old).toBe(0);
  expect(state.told).toHaveLength(2);
  await retention.stop();
});

it('tries again when the store was away', async () => {
  const { retention, state } = aRetention(1);
  state.away = true;
  retention.start();
  await vi.advanceTimersByTimeAsync(100);
  expect(state.told).toEqual([['old traces could not be removed; trying again', {}]]);
  state.away = false;
  await vi.advanceTimersByTimeAsync(601_000);
  expect(state.old).toBe(0);
  await retention.stop();
});

it('removes nothing with zero days, and nothing more once stopped', async () => {
  const kept = aRetention(0);
  kept.retention.start();
  const stopped = aRetention(1);
  stopped.retention.start();
  await vi.advanceTimersByTimeAsync(100);
  await stopped.retention.stop();
  await vi.advanceTimersByTimeAsync(DAY_MS);
  expect([kept.state.asked, stopped.state.old]).toEqual([[], 150]);
});
