import { expect, it } from 'vitest';
import { sinceLastSuccess } from '../../../src/runtime/tasks/since-last-success.ts';

const START_MS = 1_700_000_000_000;
const WEEK_MS = 7 * 86_400_000;

it('a run covers the time from 10 minutes before the last success, and the first run covers a week', async () => {
  let nowMs = START_MS;
  let isUnavailable = false;
  const since: number[] = [];
  const run = sinceLastSuccess({ now: () => new Date(nowMs), monotonicMs: () => nowMs }, async (from) => {
    since.push(from.getTime() - START_MS);
    if (isUnavailable) throw new Error('unavailable');
  });
  const { signal } = new AbortController();
  await run(signal);
  nowMs += 300_000;
  isUnavailable = true;
  await expect(run(signal)).rejects.toThrow('unavailable');
  await expect(run(signal)).rejects.toThrow('unavailable');
  isUnavailable = false;
  nowMs += 600_000;
  await run(signal);
  await run(signal);
  // The first success is at the start. The second is at 900,000 ms, so the last run covers the time from 300,000 ms.
  expect(since).toEqual([-WEEK_MS, -600_000, -600_000, -600_000, 300_000]);
});
