import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take longest. Their sizes do not show it, because they import suites or wait. */
export const LONG_FILES: readonly string[] = [
  'test/ports/trace-store.test.ts',
  'test/graph/hostile-lists.test.ts',
  'test/graph/event-loop.test.ts',
  'test/e2e/team-and-global-budgets-of-two-processes.test.ts',
  'test/house/access-matrix.test.ts',
  'test/contract/management/hostile-texts.test.ts',
  'test/parity/inference-recordings.test.ts',
  'test/contract/settings/generated-values.test.ts',
  'test/ports/trace-query.test.ts',
  'test/e2e/limits-of-two-processes.test.ts',
];

const isLong = ({ moduleId }: TestSpecification): boolean => LONG_FILES.some((file) => moduleId.endsWith(file));

/** Order of test files: long files first, because a long file at the end would run alone. */
export class LongFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- a method of the base class, not of an array
    const sorted = await super.sort(files);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}
