import type { CatalogSnapshot } from '../catalog/catalog.ts';
import { isJsonObject, type JsonObject } from '../json-object.ts';
import { attoCost, type Rate, rateFrom, type Usd, usdFromAtto } from '../money.ts';
import { adjustedCost, type CostAdjustments } from '../settings/cost-adjustments.ts';
import { providerOf, type SearchTool } from './search-tool.ts';
import type { WebSearch } from './search.ts';

/** Number of results that decides the price where a search names none. */
const USUAL_RESULTS = 10;

/** Key of the price map for the searches of a provider. A deep search of Tavily has a price of its own. */
export const priceKeyOf = (provider: string, { further }: Pick<WebSearch, 'further'>): string =>
  provider === 'tavily' && further['search_depth'] === 'advanced' ? 'tavily/search-advanced' : `${provider}/search`;

/** Price of a query in a row of the price map; by the number of results where the row has tiers. Null without one. */
function rateIn(row: JsonObject, results: number): Rate | null {
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
 * Cost of a search: `input_cost_per_query` of its tool, else the price map, with the discount and the margin of the
 * provider. Null when the price is unknown.
 */
export function searchCost(
  { catalog, adjustments }: { readonly catalog: CatalogSnapshot; readonly adjustments: CostAdjustments },
  { tool, search, queries }: { readonly tool: SearchTool; readonly search: WebSearch; readonly queries: number },
): Usd | null {
  const provider = providerOf(tool);
  const row = catalog.find(priceKeyOf(provider, search))?.row ?? {};
  const rate = rateFrom(tool.params['input_cost_per_query']) ?? rateIn(row, search.maxResults ?? USUAL_RESULTS);
  if (rate === null || rate < 0n) return null;
  return adjustedCost(usdFromAtto(attoCost(rate, queries)), provider, adjustments);
}
