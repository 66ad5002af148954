import { expect, it } from 'vitest';
import type { CountsOfAll, CountsReport } from '../../../src/domain/routing/shared-counts.ts';
import type { PeriodicTask } from '../../../src/domain/scheduler.ts';
import { startCountsExchange } from '../../../src/runtime/routing/counts-exchange.ts';

const REPORT: CountsReport = { minute: 1, deployments: [], cooldowns: [] };
const ALL: CountsOfAll = { deployments: [], cooldowns: [] };

it('counts are exchanged again after a failure, and only changes from success to failure and back are reported', async () => {
  const failure = new Error('no connection');
  const answers: (CountsOfAll | Error)[] = [failure, failure, ALL, ALL, failure];
  const accepted: unknown[] = [];
  const changes: unknown[] = [];
  let task: PeriodicTask | null = null;
  startCountsExchange({
    ledger: {
      async exchange(process, report) {
        expect([process, report]).toEqual(['here', REPORT]);
        const answer = answers.shift();
        if (answer === undefined || answer instanceof Error) throw answer ?? new Error('No answer is left.');
        return answer;
      },
    },
    counts: { report: () => REPORT, accept: (...both) => accepted.push(both) },
    process: 'here',
    scheduler: {
      every(started) {
        task = started;
        return { stop: () => Promise.resolve() };
      },
    },
    changed: (change) => changes.push(change),
  });
  const { run, everyMs } = task as unknown as PeriodicTask;
  const pauses: number[] = [];
  while (answers.length > 0) {
    await run(new AbortController().signal);
    pauses.push(typeof everyMs === 'number' ? everyMs : everyMs());
  }
  // The client of a server that hangs keeps each report in memory.
  expect(pauses).toEqual([2_000, 4_000, 1_000, 1_000, 2_000]);
  expect(changes).toEqual([failure, null, failure]);
  expect(accepted).toEqual([
    [REPORT, ALL],
    [REPORT, ALL],
  ]);
});
