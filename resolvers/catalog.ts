import type { CatalogEntry, CatalogSnapshot } from '../src/domain/catalog/catalog.ts';
import type { EntryFilters } from '../src/domain/catalog/find-entries.ts';
import type { CatalogPage, EntrySearch, FoundEntries } from '../src/domain/catalog/result-cache.ts';
import { NotFound } from '../src/domain/errors.ts';
import { anyone } from './operation/access.ts';
import { operation } from './operation/operation.ts';
import type { CatalogPlatform } from './operation/catalog-platform.ts';
import type { Scope } from './operation/scope.ts';
import { searchEntries, type SnapshotPin, snapshotOf } from './operation/catalog-search.ts';

/** A page of found entries. Only the number of a page without entries may be too large for the type `number`. */
function pageOf({ snapshot, entries }: FoundEntries, page: bigint, pageSize: number): CatalogPage {
  const totalCount = entries.length;
  const end = page * BigInt(pageSize);
  const start = end - BigInt(pageSize);
  const items = start < totalCount ? entries.slice(Number(start), Number(end)) : [];
  return { snapshot, items, totalCount, hasMore: end < totalCount, page, pageSize };
}

/** A search, and the snapshot to search; null for the current one. */
export interface PinnedSearch extends EntrySearch {
  readonly pin: SnapshotPin | null;
}

/** Every entry that matches a search, in the order of the search. Throws InvalidInput, also for an evicted snapshot. */
export const findCatalogEntries = operation({
  name: 'findCatalogEntries',
  access: anyone,
  allowance: 'catalog',
  run: ({ platform }: Scope<CatalogPlatform>, { pin, ...search }: PinnedSearch): FoundEntries =>
    searchEntries(platform, snapshotOf(platform, pin), search),
});

/** A page to list. `page` is its number, of any size; `page` and `pageSize` are at least 1. */
export interface PageRequest {
  readonly filters: EntryFilters;
  readonly page: bigint;
  readonly pageSize: number;
  /** Snapshot to list; null for the current one. */
  readonly pin: SnapshotPin | null;
}

/** One numbered page. Throws InvalidInput for an invalid pattern and for an evicted snapshot. */
export const listCatalogEntries = operation({
  name: 'listCatalogEntries',
  access: anyone,
  allowance: 'catalog',
  run({ platform }: Scope<CatalogPlatform>, { filters, page, pageSize, pin }: PageRequest): CatalogPage {
    const snapshot = snapshotOf(platform, pin);
    const make = (): CatalogPage => pageOf(searchEntries(platform, snapshot, { filters }), page, pageSize);
    return platform.catalogResults.page(snapshot, { filters, page, pageSize }, make);
  },
});

/** The entry with exactly this id, or null. */
export const findCatalogEntry = operation({
  name: 'findCatalogEntry',
  access: anyone,
  allowance: 'catalog',
  run: ({ platform }: Scope<CatalogPlatform>, id: string): CatalogEntry | null => platform.catalog.current().find(id),
});

/** The stored snapshot of the catalog with this id, or null. */
export const findCatalogSnapshot = operation({
  name: 'findCatalogSnapshot',
  access: anyone,
  allowance: 'catalog',
  run: ({ platform }: Scope<CatalogPlatform>, id: string): CatalogSnapshot | null => platform.catalog.findSnapshot(id),
});

/** An entry, and the snapshot that contains it. */
export interface LocatedEntry {
  readonly snapshot: CatalogSnapshot;
  readonly entry: CatalogEntry;
}

/** The entry with exactly this id. Throws NotFound, and InvalidInput for an evicted snapshot. */
export const getCatalogEntry = operation({
  name: 'getCatalogEntry',
  access: anyone,
  allowance: 'catalog',
  run(
    { platform }: Scope<CatalogPlatform>,
    { id, pin }: { readonly id: string; readonly pin: SnapshotPin | null },
  ): LocatedEntry {
    const snapshot = snapshotOf(platform, pin);
    const entry = snapshot.find(id);
    if (entry === null) throw new NotFound('catalog entry', id, `Model '${id}' not found in catalog`);
    return { snapshot, entry };
  },
});
