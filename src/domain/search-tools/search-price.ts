import type { CatalogSnapshot } from '../catalog/catalog.ts';
import { isJsonObject, type JsonObject } from '../json-object.ts';
import { attoCost, type Rate, rateFrom, type Usd, usdFromAtto } from '../money.ts';
import { adjustedCost, type CostAdjustments } from '../settings/cost-adjustments.ts';
import { providerOf, type SearchTool } from './search-tool.ts';
import type { WebSearch } from './search.ts';

/** Number of results for the price of a search that sets no maximum. */
const DEFAULT_RESULTS = 10;

/** Key of the price map for a search at a provider. Advanced searches of Tavily have another price. */
export const priceKeyOf = (provider: string, { further }: Pick<WebSearch, 'further'>): string =>
  provider === 'tavily' && further['search_depth'] === 'advanced' ? 'tavily/search-advanced' : `${provider}/search`;

/** Price of a query in a row of the price map; null for none. In a row with tiers, `results` selects the tier. */
function queryRateIn(row: JsonObject, results: number): Rate | null {
  const tiers = row['tiered_pricing'];
  if (!Array.isArray(tiers)) return rateFrom(row['input_cost_per_query']);
  for (const tier of tiers.filter(isJsonObject)) {
    const range: readonly unknown[] = Array.isArray(tier['max_results_range']) ? tier['max_results_range'] : [];
    const [from, to] = range;
    if (typeof from === 'number' && typeof to === 'number' && results >= from && results <= to)
      return rateFrom(tier['input_cost_per_query']);
  }
  return null;
}

/**
 * Cost of a search with `queries` billed queries. The price is `input_cost_per_query` of the tool, else that of the
 * price map. The discount and the margin of the provider are applied. Null for an unknown price.
 */
export function searchCost(
  { catalog, adjustments }: { readonly catalog: CatalogSnapshot; readonly adjustments: CostAdjustments },
  { tool, search, queries }: { readonly tool: SearchTool; readonly search: WebSearch; readonly queries: number },
): Usd | null {
  const provider = providerOf(tool);
  const row = catalog.find(priceKeyOf(provider, search))?.row ?? {};
  const rate = rateFrom(tool.params['input_cost_per_query']) ?? queryRateIn(row, search.maxResults ?? DEFAULT_RESULTS);
  if (rate === null || rate < 0n) return null;
  return adjustedCost(usdFromAtto(attoCost(rate, queries)), provider, adjustments);
}
