import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type Operation, allOperations } from '../../resolvers/operation.ts';
import { readFiles, ROOT } from './repository.ts';

const TABLE = join(import.meta.dirname, 'access.md');

type Row = Pick<Operation<never, unknown>, 'operation' | 'access'>;

function tableOf(operations: readonly Row[]): string {
  const rows = operations
    .map(({ operation, access }) => `| ${operation} | ${access.name} | ${access.description} |`)
    .toSorted();
  return [
    '# Who may run what',
    '',
    'Written by `test/house/operations.test.ts` from the operations themselves. A changed line here is a changed right.',
    '',
    '| Operation | Access rule | Means |',
    '| --- | --- | --- |',
    ...rows,
    '',
  ].join('\n');
}

async function loadOperations(): Promise<readonly Row[]> {
  for (const { path } of readFiles('resolvers/**/*.ts')) await import(join(ROOT, path));
  return allOperations();
}

it('the table of rights is the one that was reviewed', async () => {
  const operations = await loadOperations();
  expect(existsSync(TABLE)).toBe(true);
  expect(operations.length).toBeGreaterThan(8);
  await expect(tableOf(operations)).toMatchFileSnapshot(TABLE);
});

it('a changed right changes the table', () => {
  const rights = (name: string): Row => ({ operation: 'readTrace', access: { name, description: name, check() {} } });
  expect(tableOf([rights('anyone')])).not.toEqual(tableOf([rights('admin')]));
});

it('no two operations share a name', async () => {
  const names = (await loadOperations()).map(({ operation }) => operation);
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});
