import { describe, expect, it } from 'vitest';
import type { CatalogSnapshot } from '../../../src/domain/catalog/catalog.ts';
import { usdText } from '../../../src/domain/money.ts';
import { searchCost } from '../../../src/domain/search-tools/search-price.ts';
import { readSearch } from '../../../src/domain/search-tools/search.ts';
import { costAdjustmentsOf, NO_ADJUSTMENTS } from '../../../src/domain/settings/cost-adjustments.ts';

const ROWS: Readonly<Record<string, object>> = {
  'tavily/search': { input_cost_per_query: 0.008 },
  'tavily/search-advanced': { input_cost_per_query: 0.016 },
  'exa_ai/search': {
    tiered_pricing: [
      { input_cost_per_query: 0.005, max_results_range: [0, 25] },
      { input_cost_per_query: 0.025, max_results_range: [26, 50] },
      'no tier',
      { input_cost_per_query: 1 },
    ],
  },
  'searxng/search': { input_cost_per_query: 0 },
};
const catalog: CatalogSnapshot = {
  id: 'c',
  takenAt: new Date(0),
  source: 'embedded',
  entries: [],
  find: (id) => (ROWS[id] === undefined ? null : { id, provider: null, mode: 'search', row: { ...ROWS[id] } }),
};

/** Cost of a search in USD; null for an unknown cost. */
function costOf(provider: string, body: object, { params = {}, queries = 1, adjustments = NO_ADJUSTMENTS } = {}) {
  const tool = {
    id: 't',
    name: 't',
    params: { search_provider: provider, ...params },
    info: null,
    isFromConfig: true,
    createdAt: null,
    updatedAt: null,
  };
  const cost = searchCost({ catalog, adjustments }, { tool, search: readSearch({ query: 'x', ...body }), queries });
  return cost === null ? null : usdText(cost);
}

describe('the price of a search', () => {
  it.each([
    ['tavily', {}, {}, '0.008'],
    ['tavily', {}, { queries: 3 }, '0.024'],
    ['tavily', { search_depth: 'advanced' }, {}, '0.016'],
    ['exa_ai', {}, {}, '0.005'],
    ['exa_ai', { max_results: 25 }, {}, '0.005'],
    ['exa_ai', { max_results: 26 }, {}, '0.025'],
    ['exa_ai', { max_results: 51 }, {}, null],
    ['searxng', {}, {}, '0'],
    ['brave', {}, {}, null],
    ['brave', {}, { params: { input_cost_per_query: '0.003' } }, '0.003'],
    ['tavily', {}, { params: { input_cost_per_query: 0 } }, '0'],
    ['tavily', {}, { params: { input_cost_per_query: -1 } }, null],
    ['tavily', {}, { params: { input_cost_per_query: 'much' } }, '0.008'],
  ])('of %s with the search %j and the options %j is %s', (provider, body, options, expected) => {
    expect(costOf(provider, body, options)).toBe(expected);
  });

  it('includes the discount and the margin of the provider', () => {
    const adjustments = costAdjustmentsOf({ tavily: 0.5 }, { tavily: { percentage: 0.1, fixed_amount: 0.001 } });
    expect(costOf('tavily', {}, { adjustments })).toBe('0.0054');
  });
});
