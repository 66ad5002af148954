import type { CatalogSnapshot } from '../catalog/catalog.ts';
import type { PriceRow } from '../catalog/prices.ts';
import type { Deployment } from '../chat/provider.ts';
import { isJsonObject } from '../json-object.ts';
import { catalogEntryFor } from './catalog-entry.ts';

/** Key of a price. Its endings name special prices: for long prompts, for classes of service and for batches. */
const PRICE_KEY = /^(.+?)(?:_above_\d+k_tokens)?(?:_flex|_priority)?(?:_batches)?$/;

/** The key without its endings: `input_cost_per_token` for `input_cost_per_token_flex`. */
const usualKeyOf = (key: string): string => PRICE_KEY.exec(key)?.[1] ?? key;

function withoutKeys(row: PriceRow, isRemoved: (key: string) => boolean): PriceRow {
  return Object.fromEntries(Object.entries(row).filter(([key]) => !isRemoved(key)));
}

/**
 * A row of the catalog with configured prices. A configured price also replaces the special prices that the catalog
 * has of it: for long prompts, classes of service, batches and off-peak hours. Configured special prices stay.
 */
export function withConfiguredPrices(row: PriceRow | undefined, configured: PriceRow): PriceRow {
  if (row === undefined) return configured;
  const names = new Set(Object.keys(configured));
  if (names.size === 0) return row;
  const isReplaced = (key: string): boolean => names.has(usualKeyOf(key));
  const kept = Object.entries(withoutKeys(row, isReplaced)).map(([key, value]) => [
    key,
    withoutNested(value, isReplaced),
  ]);
  return { ...(Object.fromEntries(kept) as PriceRow), ...configured };
}

/** Removes keys of the objects in a value, such as the steps of `tiered_pricing` and `off_peak_pricing`. */
function withoutNested(value: unknown, isRemoved: (key: string) => boolean): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutNested(item, isRemoved));
  return isJsonObject(value) ? withoutKeys(value, isRemoved) : value;
}

/** All prices of a deployment, and the other members of its catalog entry. */
export const pricedRow = (deployment: Deployment, catalog: CatalogSnapshot): PriceRow =>
  withConfiguredPrices(catalogEntryFor(deployment, catalog)?.row, deployment.priceOverrides);
