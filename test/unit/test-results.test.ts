import { describe, expect, it } from 'vitest';
import { countTests, filesToRepeat, type Report } from '../../scripts/test-results.ts';

const ROOT = '/project';

type State = 'passed' | 'failed' | 'skipped';

/** A file with tests in these states. `broken` is a failure of its import or of a hook. */
function file(path: string, tests: Readonly<Record<string, State>>, broken?: string) {
  const assertionResults = Object.entries(tests).map(([fullName, status]) => ({
    fullName,
    status,
    failureMessages: status === 'failed' ? [`${fullName} is wrong`] : [],
  }));
  const isFailed = broken !== undefined || Object.values(tests).includes('failed');
  return { name: `${ROOT}/${path}`, status: isFailed ? 'failed' : 'passed', message: broken ?? '', assertionResults };
}

const report = (...testResults: ReturnType<typeof file>[]): Report => ({ testResults });

describe('the files to run again', () => {
  it('are the failed ones of tiers that start servers', () => {
    const firstRun = report(
      file('test/unit/a.test.ts', { one: 'failed' }),
      file('test/house/e2e/b.test.ts', { one: 'failed' }),
      file('test/contract/keys/b.test.ts', { one: 'failed' }),
      file('test/e2e/c.test.ts', { one: 'failed', two: 'passed' }),
      file('test/ports/d.test.ts', { one: 'passed' }),
      file('test/ports/e.test.ts', { one: 'passed' }, 'A step of the shutdown failed.'),
      file('test/clients/f.test.ts', {}, 'No such module.'),
      file('test/browser/g.test.ts', { one: 'failed' }),
    );
    expect(filesToRepeat(firstRun, ROOT)).toEqual([
      'test/contract/keys/b.test.ts',
      'test/e2e/c.test.ts',
      'test/ports/e.test.ts',
      'test/clients/f.test.ts',
      'test/browser/g.test.ts',
    ]);
  });

  it('are none when more than 20 of these files failed', () => {
    const failed = Array.from({ length: 20 }, (_, index) => file(`test/graph/${index}.test.ts`, { one: 'failed' }));
    expect(filesToRepeat(report(...failed), ROOT)).toHaveLength(20);
    expect(filesToRepeat(report(...failed, file('test/graph/20.test.ts', { one: 'failed' })), ROOT)).toEqual([]);
  });

  it('are none without a report', () => {
    expect(filesToRepeat({}, ROOT)).toEqual([]);
  });
});

describe('the counts of tests', () => {
  it('are those of the first run when nothing runs again', () => {
    const firstRun = report(
      file('test/unit/a.test.ts', { one: 'failed', two: 'passed', three: 'skipped' }),
      file('test/unit/b.test.ts', {}, 'No such module.'),
    );
    expect(countTests(firstRun, null, ROOT)).toEqual({
      passed: 1,
      failed: 2,
      skipped: 1,
      failures: ['test/unit/a.test.ts: one\none is wrong', 'test/unit/b.test.ts: the file itself\nNo such module.'],
      secondRuns: [],
    });
    expect(countTests({}, null, ROOT)).toEqual({ passed: 0, failed: 0, skipped: 0, failures: [], secondRuns: [] });
  });

  it('have a failure where a test fails in both runs', () => {
    const firstRun = report(file('test/e2e/c.test.ts', { one: 'failed', two: 'failed', three: 'passed' }));
    const secondRun = report(file('test/e2e/c.test.ts', { one: 'passed', two: 'failed', three: 'failed' }));
    expect(countTests(firstRun, secondRun, ROOT)).toEqual({
      passed: 2,
      failed: 1,
      skipped: 0,
      failures: ['test/e2e/c.test.ts: two\ntwo is wrong'],
      secondRuns: ['test/e2e/c.test.ts: one'],
    });
  });

  it('include the failures of other files', () => {
    const firstRun = report(
      file('test/unit/a.test.ts', { one: 'failed' }),
      file('test/e2e/c.test.ts', { one: 'failed' }),
    );
    const secondRun = report(file('test/e2e/c.test.ts', { one: 'passed' }));
    expect(countTests(firstRun, secondRun, ROOT)).toMatchObject({
      passed: 1,
      failed: 1,
      failures: ['test/unit/a.test.ts: one\none is wrong'],
      secondRuns: ['test/e2e/c.test.ts: one'],
    });
  });

  it('count a file that fails without a failed test once, unless it passes in the second run', () => {
    const broken = file('test/ports/e.test.ts', { one: 'passed', two: 'skipped' }, 'A step of the shutdown failed.');
    const whole = file('test/ports/e.test.ts', { one: 'passed', two: 'passed' });
    expect(countTests(report(broken), report(whole), ROOT)).toEqual({
      passed: 2,
      failed: 0,
      skipped: 0,
      failures: [],
      secondRuns: ['test/ports/e.test.ts: the file itself'],
    });
    expect(countTests(report(broken), report(broken), ROOT)).toEqual({
      passed: 1,
      failed: 1,
      skipped: 1,
      failures: ['test/ports/e.test.ts: the file itself\nA step of the shutdown failed.'],
      secondRuns: [],
    });
  });

  it('have a failure where a failed test did not run again', () => {
    const firstRun = report(file('test/e2e/c.test.ts', { one: 'failed' }));
    const failures = ['test/e2e/c.test.ts: one\none is wrong'];
    expect(countTests(firstRun, {}, ROOT)).toMatchObject({ passed: 0, failed: 1, failures });
    const secondRun = report(file('test/e2e/c.test.ts', { one: 'skipped' }, 'A hook failed.'));
    expect(countTests(firstRun, secondRun, ROOT)).toMatchObject({ passed: 0, failed: 1, skipped: 0 });
  });

  it('have a failure where only one of two tests with the same name passes', () => {
    const twice = (...states: readonly State[]): Report => ({
      testResults: [
        {
          name: `${ROOT}/test/e2e/c.test.ts`,
          status: 'failed',
          assertionResults: states.map((status) => ({ fullName: 'one', status })),
        },
      ],
    });
    expect(countTests(twice('failed', 'passed'), twice('failed', 'passed'), ROOT)).toMatchObject({
      failed: 1,
      passed: 1,
    });
  });
});
