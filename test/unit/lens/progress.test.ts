import { expect, it } from 'vitest';
import { NO_COVERAGE } from '../../../src/domain/lens/lens.ts';
import { createReporter } from '../../../src/domain/lens/pipeline/progress.ts';
import type { Review } from '../../../src/domain/lens/review.ts';
import type { LensBackend, RunProgress } from '../../../src/domain/lens/worker.ts';

const CLAIM = { lensId: 'lens', runId: 'run', attempt: 1 };
const aReview = (executionId: string): Review => ({ executionId }) as Review;

/** A reporter whose first reports fail. */
function aReporter(failures: number) {
  const reports: RunProgress[] = [];
  let remainingFailures = failures;
  const backend = {
    progress(_claim: unknown, progress: RunProgress) {
      reports.push(progress);
      remainingFailures -= 1;
      return remainingFailures < 0 ? Promise.resolve() : Promise.reject(new Error('away'));
    },
  } as unknown as LensBackend;
  return { reports, report: createReporter(backend, CLAIM, AbortSignal.timeout(60_000)) };
}

/** Lets a started report end. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

it('a report contains the reviews of a failed report before it', async () => {
  const { reports, report } = aReporter(1);
  report.stage('reading');
  report.reviewed(aReview('one'));
  await settled();
  report.reviewed(aReview('two'));
  await report.flush();
  const coverage = NO_COVERAGE;
  expect(reports).toEqual([
    { stage: 'reading', coverage },
    { stage: 'reading', coverage, reviews: [aReview('one'), aReview('two')] },
  ]);
});

it('a flush sends a failed report again, and a second flush sends nothing', async () => {
  const { reports, report } = aReporter(1);
  report.reviewed(aReview('one'));
  await settled();
  await report.flush();
  await report.flush();
  const reportOfOne = { coverage: NO_COVERAGE, reviews: [aReview('one')] };
  expect(reports).toEqual([reportOfOne, reportOfOne]);
});

it('a flush rejects while reports fail', async () => {
  const { reports, report } = aReporter(2);
  report.reviewed(aReview('one'));
  await settled();
  await expect(report.flush()).rejects.toThrow('away');
  expect(reports).toHaveLength(2);
});
