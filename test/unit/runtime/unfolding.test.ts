import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { TraceSummary } from '../../../src/domain/traces/trace.ts';
import { createUnfolding } from '../../../src/runtime/tasks/call-unfolding.ts';

const STEP = 1_000;

/** Unfolding, which turns the call log into rows, over a store that unfolds a thousand calls in each step. */
function anUnfolding(waiting: number) {
  const state = { waiting, steps: 0, error: null as Error | null, merged: [] as TraceSummary[] };
  const published: TraceSummary[] = [];
  const logLines: [string, unknown][] = [];
  const unfolding = createUnfolding({
    store: {
      backlog: () => state.waiting,
      async unfold() {
        await Promise.resolve();
        if (state.error) throw state.error;
        state.steps += 1;
        state.waiting = Math.max(0, state.waiting - STEP);
        return state.merged.splice(0);
      },
    },
    merged: async (summaries) => void published.push(...summaries),
    log: { warn: (facts: unknown, event?: unknown) => void logLines.push([String(event), facts]) },
  });
  return { unfolding, state, logLines, published };
}

/** Runs ready work without advancing timers. */
const turn = (): Promise<unknown> => vi.advanceTimersByTimeAsync(0);

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('unfolding begins with calls of an earlier process, and continues until none is pending', async () => {
  const { unfolding, state } = anUnfolding(3_500);
  unfolding.start();
  await turn();
  expect([state.steps, state.waiting]).toEqual([4, 0]);
});

it('unfolding runs immediately after a commit of few calls', async () => {
  const { unfolding, state } = anUnfolding(10);
  await unfolding.committed(10);
  await turn();
  expect([state.steps, state.waiting]).toEqual([1, 0]);
});

it('unfolding starts a second after the last large commit', async () => {
  const { unfolding, state } = anUnfolding(0);
  for (let commit = 0; commit < 4; commit += 1) {
    state.waiting += 2_000;
    await unfolding.committed(2_000);
    await vi.advanceTimersByTimeAsync(900);
  }
  expect([state.steps, state.waiting]).toEqual([0, 8_000]);
  await vi.advanceTimersByTimeAsync(100);
  expect([state.steps, state.waiting]).toEqual([8, 0]);
});

it('unfolding starts after five seconds of large commits, also if large commits continue', async () => {
  const { unfolding, state } = anUnfolding(0);
  for (let commit = 0; commit < 6; commit += 1) {
    state.waiting += 2_000;
    await unfolding.committed(2_000);
    await vi.advanceTimersByTimeAsync(900);
  }
  expect([state.steps, state.waiting]).toEqual([0, 12_000]);
  state.waiting += 2_000;
  await unfolding.committed(2_000);
  await turn();
  expect(state.waiting).toBe(0);
  state.waiting += 2_000;
  await unfolding.committed(2_000);
  await vi.advanceTimersByTimeAsync(900);
  expect(state.waiting).toBe(2_000);
});

it('unfolding stops between two steps for a large commit', async () => {
  const { unfolding, state } = anUnfolding(9_000);
  unfolding.start();
  await unfolding.committed(2_000);
  await turn();
  expect([state.steps, state.waiting]).toEqual([1, 8_000]);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(state.waiting).toBe(0);
});

it('unfolding makes the commit wait while more than 65,536 calls are pending', async () => {
  const { unfolding, state } = anUnfolding(65_536 + 1_500);
  await unfolding.committed(2_000);
  expect([state.steps, state.waiting]).toEqual([2, 65_036]);
});

it('unfolding publishes the traces that the store reports as merged', async () => {
  const { unfolding, state, published } = anUnfolding(10);
  const summary = { traceId: 'a trace', spanCount: 2 } as TraceSummary;
  state.merged.push(summary);
  await unfolding.committed(10);
  await turn();
  expect(published).toEqual([summary]);
});

it('unfolding retries after the store was unavailable', async () => {
  const { unfolding, state, logLines } = anUnfolding(1_000);
  state.error = new Error('unavailable');
  unfolding.start();
  await turn();
  expect(logLines).toEqual([['calls could not be unfolded; trying again', { err: state.error, waiting: 1_000 }]]);
  state.error = null;
  await vi.advanceTimersByTimeAsync(5_000);
  expect([state.steps, state.waiting]).toEqual([1, 0]);
});

it('unfolding runs no further step after a stop', async () => {
  const { unfolding, state } = anUnfolding(5_000);
  unfolding.start();
  await unfolding.stop();
  await unfolding.committed(1);
  await unfolding.committed(2_000);
  await vi.advanceTimersByTimeAsync(60_000);
  expect([state.steps, state.waiting]).toEqual([1, 4_000]);
});
