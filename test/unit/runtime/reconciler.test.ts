import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createReconciler, sinceLastLook } from '../../../src/runtime/tasks/payment-reconciler.ts';

const DAY_MS = 86_400_000;
const START_MS = 1_700_000_000_000;

beforeEach(() => {
  vi.useFakeTimers({ now: START_MS });
});
afterEach(() => {
  vi.useRealTimers();
});

function aReconciler(seconds = 300) {
  const looks: number[] = [];
  const warnings: string[] = [];
  const state = { away: false, looks, warnings };
  const quiet = (): void => {};
  const reconciler = createReconciler({
    what: 'payments',
    seconds,
    longestSeconds: 60,
    reconcile: sinceLastLook({ now: () => new Date(), monotonicMs: () => Date.now() }, async (since) => {
      looks.push(since.getTime() - START_MS);
      if (state.away) throw new Error('away');
    }),
    log: { debug: quiet, info: quiet, error: quiet, warn: (_facts, event) => void warnings.push(event) },
  });
  return { reconciler, state };
}

it('looks a week back at first, then from the last look on, with some overlap', async () => {
  const { reconciler, state } = aReconciler();
  reconciler.start();
  await vi.advanceTimersByTimeAsync(600_000);
  expect(state.looks).toEqual([-7 * DAY_MS, -600_000, -300_000]);
  reconciler.stop();
  await vi.advanceTimersByTimeAsync(600_000);
  expect(state.looks).toHaveLength(3);
});

it('looks again from the last look that ended well', async () => {
  const { reconciler, state } = aReconciler();
  reconciler.start();
  await vi.advanceTimersByTimeAsync(0);
  state.away = true;
  await vi.advanceTimersByTimeAsync(600_000);
  state.away = false;
  await vi.advanceTimersByTimeAsync(600_000);
  expect(state.looks).toEqual([-7 * DAY_MS, -600_000, -600_000, -600_000, 300_000]);
  expect(state.warnings).toEqual(Array(2).fill('payments not reconciled; trying again'));
  reconciler.stop();
});

it('aborts a check at its deadline, and checks again', async () => {
  const warnings: string[] = [];
  const aborted: unknown[] = [];
  const quiet = (): void => {};
  const reconciler = createReconciler({
    what: 'stored models',
    seconds: 2,
    longestSeconds: 60,
    reconcile(signal) {
      signal.addEventListener('abort', () => aborted.push(String(signal.reason)));
      return new Promise(() => {});
    },
    log: { debug: quiet, info: quiet, error: quiet, warn: (_facts, event) => void warnings.push(event) },
  });
  reconciler.start();
  await vi.advanceTimersByTimeAsync(2 * 67_000);
  expect(aborted).toEqual(Array(2).fill('Overrun: Aborted after its deadline of 60 seconds.'));
  expect(warnings).toEqual(Array(2).fill('stored models not reconciled; trying again'));
  reconciler.stop();
});

it('never polls when polling is disabled', async () => {
  const { reconciler, state } = aReconciler(0);
  reconciler.start();
  await vi.advanceTimersByTimeAsync(DAY_MS);
  expect(state.looks).toEqual([]);
});
