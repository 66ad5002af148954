import type { CatalogEntry, CatalogSnapshot, PatternCompiler } from '../src/domain/catalog/catalog.ts';
import { type EntryFilters, findEntries, modelFilterOf, partMatcher } from '../src/domain/catalog/find-entries.ts';
import { assertConditions, narrowEntries } from '../src/domain/catalog/narrow-entries.ts';
import type { CatalogPage, EntrySearch, FoundEntries } from '../src/domain/catalog/result-cache.ts';
import { sortEntries } from '../src/domain/catalog/sort-entries.ts';
import { InvalidInput, NotFound } from '../src/domain/errors.ts';
import { anyone } from './operation/access.ts';
import { operation } from './operation/operation.ts';
import type { CatalogPlatform } from './operation/catalog-platform.ts';
import type { Scope } from './operation/scope.ts';

function matcherOf(model: string | null, patterns: PatternCompiler): ((id: string) => boolean) | null {
  const filter = modelFilterOf(model);
  if (filter.kind === 'any') return null;
  if (filter.kind === 'part') return partMatcher(filter.text);
  const compiled = patterns.compile(filter.source);
  if ('fault' in compiled) throw new InvalidInput(`Invalid regex in 'model' param: ${compiled.fault}`);
  return (id) => compiled.pattern.occursIn(id);
}

/** Searches a snapshot. Equal searches of the current snapshot share a cached object. Throws InvalidInput. */
export function searchEntries(platform: CatalogPlatform, snapshot: CatalogSnapshot, search: EntrySearch): FoundEntries {
  const { filters, conditions, sort } = search;
  if (conditions) assertConditions(conditions);
  const find = (): FoundEntries => {
    const passed = findEntries(snapshot.entries, filters, matcherOf(filters.model, platform.patterns));
    const narrowed = conditions ? narrowEntries(passed, conditions) : passed;
    return { snapshot, entries: sort ? sortEntries(narrowed, sort) : narrowed };
  };
  return platform.catalogResults.found(snapshot, search, find);
}

/** The snapshot with the id `pin`; the current one for null. Throws InvalidInput for an evicted snapshot. */
export function snapshotOf({ catalog }: CatalogPlatform, pin: string | null): CatalogSnapshot {
  if (pin === null) return catalog.current();
  const state = catalog.findSnapshot(pin);
  if (state !== null) return state;
  const message = 'This catalog snapshot is no longer stored. Repeat the request without `snapshot`.';
  throw new InvalidInput(message, [{ path: ['query', 'snapshot'], rule: 'snapshot_not_kept', message, input: pin }]);
}

/** A page of found entries. `page` may be too large for a `number`; for a page with entries, it never is. */
function pageOf({ snapshot, entries }: FoundEntries, page: bigint, pageSize: number): CatalogPage {
  const totalCount = entries.length;
  const end = page * BigInt(pageSize);
  const items = end - BigInt(pageSize) < totalCount ? entries.slice(Number(end) - pageSize, Number(end)) : [];
  return { snapshot, items, totalCount, hasMore: end < totalCount, page, pageSize };
}

/** A search, and the id of the snapshot to search; null for the current one. */
export interface PinnedSearch extends EntrySearch {
  readonly pin: string | null;
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
  /** Id of the snapshot to list; null for the current one. */
  readonly pin: string | null;
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
    { id, pin }: { readonly id: string; readonly pin: string | null },
  ): LocatedEntry {
    const snapshot = snapshotOf(platform, pin);
    const entry = snapshot.find(id);
    if (entry === null) throw new NotFound('catalog entry', id, `Model '${id}' not found in catalog`);
    return { snapshot, entry };
  },
});
