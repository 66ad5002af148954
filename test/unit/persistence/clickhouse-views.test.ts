import { expect, it } from 'vitest';
import { Unavailable } from '../../../src/domain/errors.ts';
import { createViews } from '../../../src/persistence/clickhouse/views.ts';

it('a user that may not create views causes a warning, and no error', async () => {
  const refused = new Unavailable('The trace store refused the user or its rights.', null);
  const warnings: unknown[] = [];
  const log = { warn: (facts: object, event: string) => void warnings.push([facts, event]) };
  await createViews({ run: () => Promise.reject(refused) }, log);
  expect(warnings).toEqual([
    [{ err: refused }, 'The views `spans` and `traces` were not created: grant `create view` and `drop view`.'],
  ]);
});
