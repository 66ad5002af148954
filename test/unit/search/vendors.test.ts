import { describe, expect, it } from 'vitest';
import { readSearch, SEARCH_PROVIDERS } from '../../../src/domain/search-tools/search.ts';
import { SEARCH_VENDORS } from '../../../src/providers/search/vendors.ts';

describe('providers of searches', () => {
  it('are the providers that the configuration accepts', () => {
    expect(SEARCH_VENDORS.all.map(({ name }) => name)).toEqual(SEARCH_PROVIDERS);
    expect(SEARCH_VENDORS.find('you_com')).toBeNull();
  });

  it.each(SEARCH_VENDORS.all)('$name reads null from an answer without a list of results', (vendor) => {
    for (const answer of [{}, { results: 3 }, { organic: 'x' }, { web: 3 }]) expect(vendor.read(answer)).toBeNull();
  });

  it.each([
    [{ auto_parameters: true }, 'basic'],
    [{ auto_parameters: true, search_depth: null }, 'basic'],
    [{ auto_parameters: true, search_depth: 'advanced' }, 'advanced'],
    [{}, undefined],
  ])(
    'Tavily gets a fixed search_depth with auto_parameters, because the depth decides the price: %j',
    (sent, depth) => {
      const { json } = SEARCH_VENDORS.find('tavily')?.write(readSearch({ query: 'x', ...sent }), null) ?? {};
      expect(json?.['search_depth']).toBe(depth);
    },
  );

  it('Brave reads an empty list from an answer without web results', () => {
    expect(SEARCH_VENDORS.find('brave')?.read({ type: 'search' })).toEqual([]);
  });

  it.each(SEARCH_VENDORS.all)(
    '$name reads members of wrong types as empty, and skips results that are no objects',
    (vendor) => {
      const wrong = [{ title: 3, url: null, snippet: [], date: 4 }, 'no object'];
      const [first, second] = vendor.read({ results: wrong, organic: wrong, web: { results: wrong } }) ?? [];
      expect(first).toEqual({ title: '', url: '', snippet: '', date: null, lastUpdated: null });
      expect(second).toBeUndefined();
    },
  );
});
