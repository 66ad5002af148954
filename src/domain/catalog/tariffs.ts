import type { CatalogEntry, TokenPrices } from './catalog.ts';
import { batchRowOf, readTariff, type Tariff } from './prices.ts';

/** The tariffs of an entry. A tariff is null when the entry has no token price for it. */
interface Tariffs {
  readonly standard: Tariff | null;
  /** For batches; the standard tariff where the map has no batch prices. */
  readonly batch: Tariff | null;
}

const cache = new WeakMap<CatalogEntry, Tariffs>();

/** Computed once per entry: entries never change, and a sort reads thousands. */
export function tariffsOf(entry: CatalogEntry): Tariffs {
  const known = cache.get(entry);
  if (known) return known;
  const standard = readTariff(entry.row);
  const batchRow = batchRowOf(entry.row);
  const batch = batchRow === entry.row ? standard : readTariff(batchRow);
  const tariffs = { standard, batch };
  cache.set(entry, tariffs);
  return tariffs;
}

const UNPRICED: TokenPrices = { input: null, output: null, cacheRead: null, cacheWrite: null, reasoning: null };

/** Token prices of a small request: the base prices of the standard tariff, below every tier. */
export function startingPricesOf(entry: CatalogEntry): TokenPrices {
  return tariffsOf(entry).standard?.base ?? UNPRICED;
}
