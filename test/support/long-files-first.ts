import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Files that take longest, in the order of their start. Their sizes do not show it, because they import suites, start
 * processes or wait.
 */
export const LONG_FILES: readonly string[] = [
  'test/ports/trace-store.test.ts',
  'test/graph/hostile-lists.test.ts',
  'test/graph/event-loop.test.ts',
  'test/house/access-matrix.test.ts',
  'test/contract/management/hostile-texts.test.ts',
  'test/parity/inference-recordings.test.ts',
  'test/contract/settings/generated-values.test.ts',
  'test/contract/identity/token-budgets.test.ts',
  'test/contract/lens/hostile-reviewers.test.ts',
  'test/ports/trace-query.test.ts',
  'test/e2e/team-and-global-budgets-of-two-processes.test.ts',
  'test/e2e/limits-of-two-processes.test.ts',
  'test/e2e/catalog-hostile.test.ts',
  'test/e2e/process.test.ts',
  'test/e2e/catalog-history.test.ts',
  'test/e2e/bundle.test.ts',
  'test/e2e/secrets.test.ts',
  'test/e2e/upstream-client.test.ts',
  'test/e2e/free-tier.test.ts',
  'test/e2e/lens-worker.test.ts',
  'test/e2e/catalog-live-swap.test.ts',
  'test/e2e/shutdown.test.ts',
  'test/e2e/write-lock.test.ts',
  'test/e2e/checkout.test.ts',
  'test/e2e/documents.test.ts',
  'test/e2e/catalog-quarantine.test.ts',
  'test/e2e/catalog-refresh.test.ts',
  'test/e2e/bench-lens.test.ts',
  'test/e2e/feeds-of-expired-keys.test.ts',
];

/** Position in the list of long files; behind the list for other files. */
function startOf({ moduleId }: TestSpecification): number {
  const index = LONG_FILES.findIndex((file) => moduleId.endsWith(file));
  return index === -1 ? LONG_FILES.length : index;
}

/** Order of test files: long files first, because a long file at the end would run alone. */
export class LongFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- a method of the base class, not of an array
    const sorted = await super.sort(files);
    return sorted.toSorted((left, right) => startOf(left) - startOf(right));
  }
}
