import type { CatalogEntry, CatalogSnapshot, CatalogSource } from './catalog.ts';
import type { Ranking } from './estimate.ts';
import type { EntryFilters } from './find-entries.ts';
import { joinModels, type Models } from './models.ts';
import type { EntryConditions } from './narrow-entries.ts';
import { createWeightedCache, type WeightedCache } from './weighted-cache.ts';
import type { EntrySort } from './sort-entries.ts';
import type { Workload } from './workload.ts';

/** Search for entries: filters and order. */
export interface EntrySearch {
  readonly filters: EntryFilters;
  readonly conditions?: EntryConditions;
  /** The order of the catalog when absent. */
  readonly sort?: EntrySort;
}

/** Entries that match a search, all from one snapshot of the catalog. */
export interface FoundEntries {
  readonly snapshot: CatalogSnapshot;
  readonly entries: readonly CatalogEntry[];
}

/** One numbered page of the entries that match the filters. */
export interface CatalogPage {
  readonly snapshot: CatalogSnapshot;
  readonly items: readonly CatalogEntry[];
  readonly totalCount: number;
  readonly hasMore: boolean;
  /** At least 1, without an upper limit: a page past the end is empty. */
  readonly page: bigint;
  readonly pageSize: number;
}

/** A ranking, all from one snapshot of the catalog. */
export interface RankedEntries extends Ranking {
  readonly snapshot: CatalogSnapshot;
}

/**
 * Results derived from the current snapshot of a catalog, evicted when the catalog replaces the snapshot. While a
 * result is cached, the same request gives the same object, so that a transport can cache the text of the object.
 * Results of older snapshots are not cached, because few readers still page through old snapshots.
 */
export interface CatalogResultCache {
  found(snapshot: CatalogSnapshot, search: EntrySearch, make: () => FoundEntries): FoundEntries;
  page(
    snapshot: CatalogSnapshot,
    request: Pick<CatalogPage, 'page' | 'pageSize'> & { readonly filters: EntryFilters },
    make: () => CatalogPage,
  ): CatalogPage;
  ranking(
    snapshot: CatalogSnapshot,
    request: { readonly workload: Workload; readonly search: EntrySearch },
    make: () => RankedEntries,
  ): RankedEntries;
  /** The models of any snapshot, cached as long as the snapshot is in memory. */
  models(snapshot: CatalogSnapshot): Models;
}

/** Capacities of the caches of searches, pages and rankings, in entries. */
const MAX_FOUND = 200_000;
const MAX_PAGED = 6_000;
const MAX_RANKED = 50_000;

interface SnapshotResults {
  readonly snapshot: CatalogSnapshot;
  readonly found: WeightedCache<FoundEntries>;
  readonly pages: WeightedCache<CatalogPage>;
  readonly rankings: WeightedCache<RankedEntries>;
}

/** Weights of an empty list and an empty page. Without them, filters that match nothing could fill the memory. */
const EMPTY_LIST_WEIGHT = 500;
const EMPTY_PAGE_WEIGHT = 50;

const emptyResults = (snapshot: CatalogSnapshot): SnapshotResults => ({
  snapshot,
  found: createWeightedCache(MAX_FOUND, ({ entries }) => entries.length + EMPTY_LIST_WEIGHT),
  pages: createWeightedCache(MAX_PAGED, ({ items }) => items.length + EMPTY_PAGE_WEIGHT),
  rankings: createWeightedCache(MAX_RANKED, ({ entries }) => entries.length + EMPTY_LIST_WEIGHT),
});

const jsonOf = (value: unknown): string =>
  JSON.stringify(value, (_key, member: unknown) => (typeof member === 'bigint' ? String(member) : member));

const keyOf = ({ filters: { provider, mode, model, capabilities }, conditions, sort }: EntrySearch): string =>
  jsonOf([provider, mode, model, capabilities, conditions, sort]);

/** A cache for one catalog. */
export function createCatalogResultCache(catalog: Pick<CatalogSource, 'current'>): CatalogResultCache {
  let results: SnapshotResults | null = null;
  const models = new WeakMap<CatalogSnapshot, Models>();
  /** Cache keys by filter object, for transports that use one object for many requests. */
  const filterKeys = new WeakMap<EntryFilters, string>();

  function resultsOf(snapshot: CatalogSnapshot): SnapshotResults | null {
    if (results?.snapshot === snapshot) return results;
    if (catalog.current() !== snapshot) return null;
    results = emptyResults(snapshot);
    return results;
  }

  function keyOfFilters(filters: EntryFilters): string {
    const key = filterKeys.get(filters) ?? keyOf({ filters });
    filterKeys.set(filters, key);
    return key;
  }

  return {
    found: (snapshot, search, make) => resultsOf(snapshot)?.found.get(keyOf(search), make) ?? make(),
    page: (snapshot, { filters, page, pageSize }, make) =>
      resultsOf(snapshot)?.pages.get(`${page}/${pageSize}${keyOfFilters(filters)}`, make) ?? make(),
    ranking: (snapshot, { workload, search }, make) =>
      resultsOf(snapshot)?.rankings.get(jsonOf([workload, search]), make) ?? make(),
    models(snapshot) {
      const joined = models.get(snapshot) ?? joinModels(snapshot.entries);
      models.set(snapshot, joined);
      return joined;
    },
  };
}
