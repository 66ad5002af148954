import { expect, it } from 'vitest';
import { Unavailable } from '../../../src/domain/errors.ts';
import { createViews } from '../../../src/persistence/clickhouse/views.ts';

it('logs a warning and continues when the user may not create views', async () => {
  const refused = new Unavailable('The trace store refused the user or its rights.', null);
  const warned: unknown[] = [];
  const log = { warn: (facts: object, event: string) => void warned.push([facts, event]) };
  await createViews({ run: () => Promise.reject(refused) }, log);
  expect(warned).toEqual([
    [{ err: refused }, 'The views `spans` and `traces` were not created: grant `create view` and `drop view`.'],
  ]);
});
