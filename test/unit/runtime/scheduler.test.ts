import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { PeriodicTask } from '../../../src/domain/scheduler.ts';
import { createScheduler } from '../../../src/runtime/tasks/scheduler.ts';

const START_MS = 1_700_000_000_000;
const FAILED = 'a periodic task failed; it runs again after its interval';

/** A scheduler with one task, the starts of its runs in ms, and the warnings. */
function aTask(run: PeriodicTask['run'], more: Partial<PeriodicTask> = {}) {
  const warnings: unknown[] = [];
  const starts: number[] = [];
  const scheduler = createScheduler({ warn: (facts, event) => void warnings.push([facts, event]) });
  const task = scheduler.every({
    name: 'test',
    everyMs: 1_000,
    run(signal) {
      starts.push(Date.now() - START_MS);
      return run(signal);
    },
    ...more,
  });
  return { scheduler, task, starts, warnings };
}

describe('a periodic task', () => {
  beforeEach(() => void vi.useFakeTimers({ now: START_MS }));
  afterEach(() => void vi.useRealTimers());

  const after = (ms: number) => vi.advanceTimersByTimeAsync(ms);
  const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

  it('runs first after its interval, or after its initial delay', async () => {
    const [late, early] = [aTask(() => {}), aTask(() => {}, { firstMs: 0 })];
    await after(2_500);
    expect([late.starts, early.starts]).toEqual([
      [1_000, 2_000],
      [0, 1_000, 2_000],
    ]);
  });

  it('pauses after each run, so that runs do not overlap', async () => {
    const { starts } = aTask(() => pause(3_000));
    await after(10_000);
    expect(starts).toEqual([1_000, 5_000, 9_000]);
  });

  it('may choose its interval after each run', async () => {
    const delays = [10, 20, 30];
    const { starts } = aTask(() => {}, { everyMs: () => delays.shift() ?? 1_000 });
    await after(100);
    expect(starts).toEqual([10, 30, 60]);
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('unavailable');
      },
    ],
    ['rejects', () => Promise.reject(new Error('unavailable'))],
  ])('that %s is logged and counted, and runs again', async (_how, run) => {
    const { scheduler, starts, warnings } = aTask(run);
    await after(2_000);
    expect(starts).toEqual([1_000, 2_000]);
    expect(warnings).toEqual([FAILED, FAILED].map((event) => [{ err: new Error('unavailable'), task: 'test' }, event]));
    expect([...scheduler.failures()]).toEqual([['test', 2]]);
  });

  it('is aborted at its deadline, which is a failure, and runs again', async () => {
    const aborted: string[] = [];
    const { starts, warnings } = aTask(
      (signal) => {
        signal.addEventListener('abort', () => aborted.push(String(signal.reason)));
        return new Promise(() => {});
      },
      { deadlineMs: 60_000 },
    );
    // Aborted work may take five more seconds to end.
    await after(2 * 66_000);
    expect(starts).toEqual([1_000, 67_000]);
    expect(aborted).toEqual(Array(2).fill('DeadlineExceeded: Aborted after its deadline of 60 seconds.'));
    expect(warnings).toEqual([FAILED, FAILED].map((event) => [{ err: expect.any(Error), task: 'test' }, event]));
  });

  it('does not run after a stop, and has no timer', async () => {
    const { task, starts } = aTask(() => {});
    await after(1_000);
    await task.stop();
    expect(vi.getTimerCount()).toBe(0);
    await after(5_000);
    expect(starts).toEqual([1_000]);
  });

  it.each([{}, { deadlineMs: 60_000 }])('with %o is aborted by a stop, which waits for its end', async (more) => {
    const events: string[] = [];
    const { task, starts, warnings } = aTask(async (signal) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      await pause(500);
      events.push('ended');
      signal.throwIfAborted();
    }, more);
    await after(1_000);
    const stopped = task.stop().then(() => events.push('stopped'));
    await after(499);
    expect(events).toEqual([]);
    await after(1);
    await stopped;
    expect(events).toEqual(['ended', 'stopped']);
    await after(10_000);
    expect([starts, warnings]).toEqual([[1_000], []]);
  });

  it('that does not end is logged by the stop, which waits at most 4 seconds', async () => {
    const { scheduler, task, warnings } = aTask(() => new Promise(() => {}));
    await after(1_000);
    const stopped = Promise.all([task.stop(), task.stop(), scheduler.stop()]);
    await after(4_000);
    await stopped;
    expect(warnings).toEqual([
      [{ task: 'test' }, 'a periodic task did not end after its abort; the shutdown continues'],
    ]);
  });

  it('ends with its scheduler', async () => {
    const { scheduler, starts } = aTask(() => {});
    const otherStarts: number[] = [];
    scheduler.every({ name: 'other', everyMs: 500, run: () => void otherStarts.push(Date.now() - START_MS) });
    await after(1_000);
    await scheduler.stop();
    await after(5_000);
    expect([starts, otherStarts]).toEqual([[1_000], [500, 1_000]]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('does not keep the process alive', async () => {
    vi.useRealTimers();
    // Node.js does not export the class of timers.
    const unref = vi.spyOn(Object.getPrototypeOf(setTimeout(() => {}, 0)) as NodeJS.Timeout, 'unref');
    const { task } = aTask(() => {});
    expect(unref).toHaveBeenCalledTimes(1);
    await task.stop();
    unref.mockRestore();
  });
});
