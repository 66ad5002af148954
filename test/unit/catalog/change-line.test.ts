import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readChangeLine } from '../../../src/domain/catalog/change-line.ts';
import { fieldKindOf } from '../../../src/domain/catalog/changes.ts';
import { sharedData } from '../../support/catalog-maps.ts';

const NOW = new Date('2026-11-21T00:00:00Z');
const CHANGED = { at: '2026-07-24T10:15:30Z', id: 'm', op: 'changed', field: 'rpm', old: 1, new: null };
const read = (fields: object): unknown => readChangeLine(JSON.stringify(fields), NOW);
const nested = (depth: number): unknown => (depth === 0 ? 1 : [nested(depth - 1)]);

describe('a line of an imported history', () => {
  it('is read as a change', () => {
    const change = {
      at: new Date('2026-07-24T10:15:30Z'),
      notBefore: null,
      entryId: 'm',
      provider: null,
      op: 'changed',
      field: 'rpm',
      old: 1,
      new: null,
      snapshotId: null,
    };
    expect(read(CHANGED)).toEqual({ change });
    expect(read({ ...CHANGED, provider: 'p', note: 'ignored' })).toEqual({ change: { ...change, provider: 'p' } });
    expect(read({ ...CHANGED, field: 'litellm_provider' })).toEqual({ change: { ...change, field: 'provider' } });
  });

  it('is read as an added or removed entry, with or without its fields', () => {
    const { at, id } = CHANGED;
    expect(read({ at, id, op: 'added' })).toMatchObject({ change: { op: 'added', field: null, old: null, new: null } });
    expect(read({ at, id, op: 'removed', old: { rpm: 1 } })).toMatchObject({ change: { old: { rpm: 1 }, new: null } });
  });

  it.each([
    ['[]', 'the line is not a JSON object'],
    ['{"at":', 'the line is not valid JSON'],
    ['null', 'the line is not a JSON object'],
    [JSON.stringify(CHANGED).replace('1,', '1e999,'), '`old` contains a number that is too large'],
  ])('is refused for the text %s', (text, fault) => {
    expect(readChangeLine(text, NOW)).toEqual({ fault });
  });

  it.each([
    ['`at` is not an instant in UTC such as 2026-07-24T10:15:30Z', { at: undefined }],
    ['`at` is not an instant in UTC such as 2026-07-24T10:15:30Z', { at: 1 }],
    ['`at` is not an instant in UTC such as 2026-07-24T10:15:30Z', { at: '2026-07-24' }],
    ['`at` is not an instant in UTC such as 2026-07-24T10:15:30Z', { at: '2026-07-24T10:15:30+02:00' }],
    ['`at` is not an instant in UTC such as 2026-07-24T10:15:30Z', { at: '2026-02-30T10:15:30Z' }],
    ['`at` is not an instant in UTC such as 2026-07-24T10:15:30Z', { at: '2026-07-24T25:15:30Z' }],
    ['`at` is in the future', { at: '2026-11-21T00:00:01Z' }],
    ['`id` is not a text of 1 to 512 characters', { id: '' }],
    ['`id` is not a text of 1 to 512 characters', { id: 'x'.repeat(513) }],
    ['`id` is not a text of 1 to 512 characters', { id: 5 }],
    ['`id` is not a text of 1 to 512 characters', { id: 'a\0' }],
    ['`id` is not a text of 1 to 512 characters', { id: '\ud800' }],
    ['`op` is not one of added, removed, changed', { op: 'renamed' }],
    ['`provider` is not a text', { provider: 5 }],
    ['`field` is not a field name', { field: undefined }],
    ['`field` is not a field name', { field: '' }],
    ['`old` or `new` is missing', { old: undefined }],
    ['`old` or `new` is missing', { new: undefined }],
    ['`field` is not allowed with added', { op: 'added' }],
    ['`old` is not an object of fields', { op: 'removed', field: null, old: 1 }],
    ['`new` is not an object of fields', { op: 'added', field: null, old: null, new: [] }],
    ['`new` is nested more than 16 levels deep', { new: nested(17) }],
  ])('is refused because %s: %o', (fault, fields) => {
    expect(read({ ...CHANGED, ...fields })).toEqual({ fault });
  });

  it('is read with values at the limits', () => {
    const atLimits = { ...CHANGED, at: NOW.toISOString(), id: 'x'.repeat(512), new: nested(16), old: 5e-324 };
    expect(read(atLimits)).toMatchObject({ change: { at: NOW, old: 5e-324 } });
  });

  const file = sharedData('model_prices_history.jsonl');
  it.skipIf(file === null)(
    'is read as a change for every line of a real file, and history stores each field that changed',
    () => {
      const lines = readFileSync(file ?? '', 'utf8')
        .trim()
        .split('\n');
      const changes = lines
        .map((line) => readChangeLine(line, NOW))
        .flatMap((line) => ('change' in line ? line.change : []));
      const linesOfFile = 8_481;
      expect(changes).toHaveLength(linesOfFile);
      const fields = new Set(changes.flatMap(({ field }) => field ?? []));
      expect([...fields].filter((field) => fieldKindOf(field) === null)).toEqual([]);
    },
  );
});
