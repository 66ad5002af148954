import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Duty, DutyBackend, DutyOutcome } from '../../../src/domain/jobs/duty.ts';
import type { Job } from '../../../src/domain/jobs/job.ts';
import { createDutyRunner } from '../../../src/runtime/tasks/duty-runner.ts';
import { createScheduler } from '../../../src/runtime/tasks/scheduler.ts';

/** 22:14:00 UTC: the beginning of a minute. */
const START_MS = 1_700_000_040_000;
const DUTY: Duty = { name: 'd', everyMs: 60_000 };

beforeEach(() => {
  vi.useFakeTimers({ now: START_MS });
});
afterEach(() => {
  vi.useRealTimers();
});

const aJob = (attempts: number): Job => ({
  id: 'j',
  kind: 'duty:d',
  subject: '',
  status: 'running',
  createdAt: new Date(),
  dueAt: new Date(),
  attempts,
  mostAttempts: 3,
  workerId: 'w',
  finishedAt: null,
  error: '',
});

/** A runner over a backend with one job for each period. The test ends the work. */
function aRunner({ alone = false }: { readonly alone?: boolean } = {}) {
  const state = {
    isUnavailable: false,
    isLeaseHeld: true,
    /** Whether the work continues when it is aborted. */
    ignoresAbort: false,
    /** Times of the claimed periods. Null where the runner looks for jobs of lost processes. */
    periods: [] as (string | null)[],
    ended: [] as DutyOutcome[],
    warnings: [] as string[],
    /** Outcome, attempt and length in ms of each run. */
    reported: [] as (readonly [string, number, number])[],
    runs: [] as { readonly signal: AbortSignal; readonly end: PromiseWithResolvers<void> }[],
  };
  const backend: DutyBackend = {
    async claim(_duty, period) {
      if (state.isUnavailable) throw new Error('away');
      state.periods.push(period?.toISOString().slice(11, 19) ?? null);
      return period === null ? null : aJob(1);
    },
    extend: async () => state.isLeaseHeld,
    async end(_duty, _claim, outcome) {
      state.ended.push(outcome);
    },
  };
  const log = { warn: (_facts: object, event: string) => void state.warnings.push(event) };
  const runner = createDutyRunner({
    duty: DUTY,
    backend,
    alone,
    anchor: new Date(0),
    deadlineMs: 150_000,
    firstClaimMs: 100,
    work(signal) {
      const end = Promise.withResolvers<void>();
      if (!state.ignoresAbort) signal.addEventListener('abort', () => end.reject(signal.reason as Error));
      state.runs.push({ signal, end });
      return end.promise;
    },
    onRun: ({ outcome, job, startedAt, endedAt }) =>
      void state.reported.push([outcome.kind, job.attempts, endedAt.getTime() - startedAt.getTime()]),
    clock: { now: () => new Date(), monotonicMs: () => Date.now() },
    scheduler: createScheduler(log),
    log,
  });
  return { runner, state };
}

it('a runner adds the job of each period once, and looks for jobs of lost processes twice in a lease', async () => {
  const { runner, state } = aRunner();
  runner.start();
  await vi.advanceTimersByTimeAsync(100);
  state.runs[0]?.end.resolve();
  await vi.advanceTimersByTimeAsync(119_000);
  state.runs[1]?.end.resolve();
  await vi.advanceTimersByTimeAsync(0);
  expect(state.periods).toEqual(['22:14:00', null, null, null, '22:15:00']);
  expect(state.ended).toEqual([{ kind: 'completed' }, { kind: 'completed' }]);
  // The second run begins 60,000 ms after the start of the test, and ends after 119,100 ms.
  expect(state.reported).toEqual([
    ['completed', 1, 0],
    ['completed', 1, 59_100],
  ]);
  await runner.stop();
});

it('the only process claims a job only at the start of each period, and repeats a claim that failed', async () => {
  const { runner, state } = aRunner({ alone: true });
  state.isUnavailable = true;
  runner.start();
  await vi.advanceTimersByTimeAsync(100);
  state.isUnavailable = false;
  await vi.advanceTimersByTimeAsync(15_000);
  expect(state.periods).toEqual(['22:14:00']);
  state.runs[0]?.end.resolve();
  await vi.advanceTimersByTimeAsync(104_000);
  expect(state.periods).toEqual(['22:14:00', '22:15:00']);
  state.runs[1]?.end.resolve();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(state.periods).toEqual(['22:14:00', '22:15:00', '22:16:00']);
  await runner.stop();
});

it('a failure ends the job, and the next period runs', async () => {
  const { runner, state } = aRunner();
  runner.start();
  await vi.advanceTimersByTimeAsync(100);
  state.runs[0]?.end.reject(new Error('no'));
  await vi.advanceTimersByTimeAsync(60_000);
  expect(state.ended).toEqual([{ kind: 'failed', error: 'no' }]);
  expect(state.reported).toEqual([['failed', 1, 0]]);
  expect(state.runs).toHaveLength(2);
  expect(state.warnings).toEqual(['a duty failed; trying again in the next period']);
  await runner.stop();
});

it('work stops when another process has taken over its job', async () => {
  const { runner, state } = aRunner();
  runner.start();
  await vi.advanceTimersByTimeAsync(20_000);
  expect(state.runs[0]?.signal.aborted).toBe(false);
  state.isLeaseHeld = false;
  await vi.advanceTimersByTimeAsync(10_000);
  expect(state.runs[0]?.signal.aborted).toBe(true);
  expect(state.ended).toEqual([]);
  expect(state.reported).toEqual([['lost', 1, 20_000]]);
  await runner.stop();
});

it.each([
  ['ends when it is aborted', false, 150_000],
  // Aborted work has five more seconds to end.
  ['does not end', true, 155_000],
])(
  'work that exceeds its deadline and %s is a failure, and the next period runs',
  async (_how, ignoresAbort, endMs) => {
    const { runner, state } = aRunner();
    state.ignoresAbort = ignoresAbort;
    runner.start();
    await vi.advanceTimersByTimeAsync(100 + endMs - 1);
    expect(state.ended).toEqual([]);
    // Work that ignores its abort was aborted five seconds ago.
    expect(state.runs[0]?.signal.aborted).toBe(ignoresAbort);
    await vi.advanceTimersByTimeAsync(1);
    expect(state.ended).toEqual([{ kind: 'failed', error: 'Aborted after its deadline of 150 seconds.' }]);
    expect(state.warnings).toEqual(['a duty failed; trying again in the next period']);
    await vi.advanceTimersByTimeAsync(30_000);
    expect(state.runs).toHaveLength(2);
    state.runs[1]?.end.resolve();
    await runner.stop();
  },
);

it('a stop aborts the work and returns the job', async () => {
  const { runner, state } = aRunner();
  runner.start();
  await vi.advanceTimersByTimeAsync(100);
  await runner.stop();
  expect(state.ended).toEqual([{ kind: 'released' }]);
  expect(state.reported).toEqual([['released', 1, 0]]);
  await vi.advanceTimersByTimeAsync(600_000);
  expect(state.runs).toHaveLength(1);
});

it('a claim is retried with the same period after the store was unavailable', async () => {
  const { runner, state } = aRunner();
  state.isUnavailable = true;
  runner.start();
  await vi.advanceTimersByTimeAsync(100);
  state.isUnavailable = false;
  await vi.advanceTimersByTimeAsync(15_000);
  expect(state.periods).toEqual(['22:14:00']);
  expect(state.warnings).toEqual(['a periodic task failed; it runs again after its interval']);
  await runner.stop();
});
