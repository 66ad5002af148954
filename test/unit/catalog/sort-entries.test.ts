import { describe, expect, it } from 'vitest';
import type { CatalogEntry } from '../../../src/domain/catalog/catalog.ts';
import { type EntryOrder, type EntrySort, sortEntries } from '../../../src/domain/catalog/sort-entries.ts';
import { loadEmbeddedSnapshot } from '../../../src/runtime/catalog/snapshot.ts';

const entry = (id: string, input: unknown, output: unknown, window: unknown): CatalogEntry => ({
  id,
  provider: 'p',
  mode: 'chat',
  row: { input_cost_per_token: input, output_cost_per_token: output, max_input_tokens: window },
});

const ENTRIES = [
  entry('delta', 2e-6, 8e-6, null),
  entry('Bravo', null, null, 8192),
  entry('alpha', 2e-6, 1e-6, 128_000),
  entry('charlie', 0, null, 8192),
];

const ids = (by: EntryOrder, direction: EntrySort['direction']): string[] =>
  sortEntries(ENTRIES, { by, direction }).map(({ id }) => id);

describe('sorting entries', () => {
  it.each([
    ['catalog', ['delta', 'Bravo', 'alpha', 'charlie'], ['charlie', 'alpha', 'Bravo', 'delta']],
    ['id', ['Bravo', 'alpha', 'charlie', 'delta'], ['delta', 'charlie', 'alpha', 'Bravo']],
    ['input_price', ['charlie', 'delta', 'alpha', 'Bravo'], ['delta', 'alpha', 'charlie', 'Bravo']],
    ['output_price', ['alpha', 'delta', 'Bravo', 'charlie'], ['delta', 'alpha', 'Bravo', 'charlie']],
    ['context_window', ['Bravo', 'charlie', 'alpha', 'delta'], ['alpha', 'Bravo', 'charlie', 'delta']],
  ] as const)('by %s puts missing values last and keeps the order of equal entries', (by, up, down) => {
    expect([ids(by, 'ascending'), ids(by, 'descending')]).toEqual([up, down]);
  });

  it('does not change its input, and keeps every entry of a whole catalog', () => {
    const { entries } = loadEmbeddedSnapshot();
    const before = [...entries];
    const sorted = sortEntries(entries, { by: 'input_price', direction: 'descending' });
    expect(new Set(sorted)).toEqual(new Set(before));
    expect(entries).toEqual(before);
  });
});
