import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { LONG_FILES } from '../support/long-files-first.ts';

it('the test files that start first exist', () => {
  expect(LONG_FILES.filter((file) => !existsSync(file))).toEqual([]);
});
