import { describe, expect, it } from 'vitest';
import type { CatalogEntry } from '../../../src/domain/catalog/catalog.ts';
import {
  type EntryFilters,
  findEntries,
  modelFilterOf,
  NO_ENTRY_FILTERS,
  partMatcher,
} from '../../../src/domain/catalog/find-entries.ts';

const entry = (id: string, row: Record<string, unknown> = {}): CatalogEntry => ({
  id,
  provider: typeof row['litellm_provider'] === 'string' ? row['litellm_provider'] : null,
  mode: typeof row['mode'] === 'string' ? row['mode'] : null,
  row,
});

const ENTRIES = [
  entry('zeta', { litellm_provider: 'OpenAI', mode: 'chat', supports_vision: true, supports_reasoning: false }),
  entry('Azure/GPT-4', { litellm_provider: 'azure', mode: 'chat', supports_vision: false }),
  entry('alpha', { litellm_provider: 'openai_like', mode: 'embedding', supports_vision: null }),
  entry('bare', { supports_vision: 'true' }),
];

const idsFor = (filters: Partial<EntryFilters>, matches: ((id: string) => boolean) | null = null): string[] =>
  findEntries(ENTRIES, { ...NO_ENTRY_FILTERS, ...filters }, matches).map(({ id }) => id);

describe('finding catalog entries', () => {
  it('returns all entries without a filter, in the order of the file', () => {
    expect(idsFor({})).toEqual(['zeta', 'Azure/GPT-4', 'alpha', 'bare']);
  });
  it('compares the whole provider, case-insensitive', () => {
    expect(idsFor({ provider: 'OPENAI' })).toEqual(['zeta']);
    expect(idsFor({ provider: 'open' })).toEqual([]);
  });
  it('finds entries without a provider by an empty provider', () => {
    expect(idsFor({ provider: '' })).toEqual(['bare']);
  });
  it('compares the whole mode, case-insensitive', () => {
    expect(idsFor({ mode: 'Chat' })).toEqual(['zeta', 'Azure/GPT-4']);
  });
  it('finds entries without a mode by an empty mode', () => {
    expect(idsFor({ mode: '' })).toEqual(['bare']);
  });
  it('finds a capability that is exactly true', () => {
    expect(idsFor({ capabilities: { supports_vision: true } })).toEqual(['zeta']);
  });
  it('finds a capability that is exactly false, and no missing or null capability', () => {
    expect(idsFor({ capabilities: { supports_vision: false } })).toEqual(['Azure/GPT-4']);
  });
  it('requires every filter to match', () => {
    const capabilities = { supports_vision: true, supports_reasoning: false };
    expect(idsFor({ provider: 'openai', mode: 'chat', capabilities })).toEqual(['zeta']);
    expect(idsFor({ provider: 'azure', capabilities })).toEqual([]);
  });
  it('calls the model matcher last, and only for entries that pass the other filters', () => {
    const matched: string[] = [];
    // `push` returns the new length: the first entry does not match, the second does.
    const matches = (id: string): boolean => matched.push(id) > 1;
    expect([idsFor({ mode: 'chat' }, matches), matched]).toEqual([['Azure/GPT-4'], ['zeta', 'Azure/GPT-4']]);
  });
});

describe('the model filter', () => {
  it.each([
    [null, { kind: 'any' }],
    ['', { kind: 'any' }],
    ['re:', { kind: 'any' }],
    ['gpt', { kind: 'part', text: 'gpt' }],
    ['re:^gpt', { kind: 'pattern', source: '^gpt' }],
    ['RE:^gpt', { kind: 'part', text: 'RE:^gpt' }],
  ])('parses %j', (model, filter) => {
    expect(modelFilterOf(model)).toEqual(filter);
  });
  it('finds a part of the name, case-insensitive', () => {
    expect([partMatcher('e/gPt')('Azure/GPT-4'), partMatcher('gpt4')('Azure/GPT-4')]).toEqual([true, false]);
  });
});
