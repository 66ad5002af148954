import type { CatalogEntry, CatalogSnapshot, CatalogSource, PatternCompiler } from '../src/domain/catalog/catalog.ts';
import { type EntryFilters, findEntries, modelFilterOf, partMatcher } from '../src/domain/catalog/find-entries.ts';
import { assertDemands, type EntryDemands, narrowEntries } from '../src/domain/catalog/narrow-entries.ts';
import { keepRecent, type Recent } from '../src/domain/catalog/recent.ts';
import { type EntrySort, sortEntries } from '../src/domain/catalog/sort-entries.ts';
import { InvalidInput, NotFound } from '../src/domain/errors.ts';
import { anyone } from './operation/access.ts';
import { operation } from './operation/operation.ts';
import type { Platform } from './operation/scope.ts';

/** Which entries to find, and in which order. */
export interface EntrySearch {
  readonly filters: EntryFilters;
  readonly demands?: EntryDemands;
  /** The catalog's own order when it is left out. */
  readonly sort?: EntrySort;
}

/** Entries that passed the filters, all from one state of the catalog. */
export interface FoundEntries {
  readonly snapshot: CatalogSnapshot;
  readonly entries: readonly CatalogEntry[];
}

/** One numbered page of the entries that passed the filters. */
export interface CatalogPage {
  readonly snapshot: CatalogSnapshot;
  readonly items: readonly CatalogEntry[];
  readonly totalCount: number;
  readonly hasMore: boolean;
  /** From 1, and as large as the caller likes: past the end a page is empty. */
  readonly page: bigint;
  readonly pageSize: number;
}

/**
 * Kept of the current state, and gone with it: what was found by which filters, and pages of it. The same question
 * gives the same objects, so that a door may keep what it made of them. Weights count entries. Nothing is kept of
 * older states: few readers still page through those.
 */
interface Kept {
  readonly snapshot: CatalogSnapshot;
  readonly found: Recent<FoundEntries>;
  readonly pages: Recent<CatalogPage>;
}
const MOST_FOUND = 200_000;
const MOST_ON_PAGES = 6_000;
const kept = new WeakMap<CatalogSource, Kept>();

function keptOf({ catalog }: Pick<Platform, 'catalog'>, snapshot: CatalogSnapshot): Kept | null {
  const before = kept.get(catalog);
  if (before?.snapshot === snapshot) return before;
  if (catalog.current() !== snapshot) return null;
  const fresh = {
    snapshot,
    // An empty answer weighs too, or hostile filters could pile up without end.
    found: keepRecent<FoundEntries>(MOST_FOUND, ({ entries }) => entries.length + 500),
    pages: keepRecent<CatalogPage>(MOST_ON_PAGES, ({ items }) => items.length + 50),
  };
  kept.set(catalog, fresh);
  return fresh;
}

/** Keys of filters that are asked by again; a search of the graph is a new object every time. */
const keys = new WeakMap<EntryFilters, string>();

function keyOfFilters(filters: EntryFilters): string {
  const known = keys.get(filters) ?? keyOf({ filters });
  keys.set(filters, known);
  return known;
}

const keyOf = ({ filters: { provider, mode, model, capabilities }, demands, sort }: EntrySearch): string =>
  JSON.stringify([provider, mode, model, capabilities, demands, sort], (_key, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  );

function matcherOf(model: string | null, patterns: PatternCompiler): ((id: string) => boolean) | null {
  const filter = modelFilterOf(model);
  if (filter.kind === 'any') return null;
  if (filter.kind === 'part') return partMatcher(filter.text);
  const compiled = patterns.compile(filter.source);
  if ('fault' in compiled) throw new InvalidInput(`Invalid regex in 'model' param: ${compiled.fault}`);
  return (id) => compiled.pattern.occursIn(id);
}

/** Finds in one state of the catalog; in the current one the same search gives the same object. Throws InvalidInput. */
export function searchEntries(platform: Platform, snapshot: CatalogSnapshot, search: EntrySearch): FoundEntries {
  const { filters, demands, sort } = search;
  if (demands) assertDemands(demands);
  const find = (): FoundEntries => {
    const passed = findEntries(snapshot.entries, filters, matcherOf(filters.model, platform.patterns));
    const narrowed = demands ? narrowEntries(passed, demands) : passed;
    return { snapshot, entries: sort ? sortEntries(narrowed, sort) : narrowed };
  };
  return keptOf(platform, snapshot)?.found.get(keyOf(search), find) ?? find();
}

/** The state that a reader who pages through it has named, else the current one. Throws InvalidInput. */
export function stateOf({ catalog }: Platform, pin: string | null): CatalogSnapshot {
  if (pin === null) return catalog.current();
  const state = catalog.at(pin);
  if (state !== null) return state;
  const message = 'This state of the catalog is not kept any more; begin again without `snapshot`';
  throw new InvalidInput(message, [{ path: ['query', 'snapshot'], rule: 'snapshot_not_kept', message, input: pin }]);
}

function pageOf({ snapshot, entries }: FoundEntries, page: bigint, pageSize: number): CatalogPage {
  const totalCount = entries.length;
  const end = page * BigInt(pageSize);
  const items = end - BigInt(pageSize) < totalCount ? entries.slice(Number(end) - pageSize, Number(end)) : [];
  return { snapshot, items, totalCount, hasMore: end < totalCount, page, pageSize };
}

/** A search, and the id of the state of the catalog to search in; null for the current one. */
export interface PinnedSearch extends EntrySearch {
  readonly pin: string | null;
}

/** Every entry that is searched for, in its order. Throws InvalidInput for a search that means nothing. */
export const findCatalogEntries = operation({
  name: 'findCatalogEntries',
  access: anyone,
  allowance: 'catalog',
  run: ({ platform }, { pin, ...search }: PinnedSearch): FoundEntries =>
    searchEntries(platform, stateOf(platform, pin), search),
});

/** Which page to give. `page` and `pageSize` are at least 1. */
export interface PageRequest {
  readonly filters: EntryFilters;
  readonly page: bigint;
  readonly pageSize: number;
  /** Id of the state to answer from; null for the current one. */
  readonly pin: string | null;
}

/** One numbered page. Throws InvalidInput for a pattern it cannot read and for a state that is not kept. */
export const listCatalogEntries = operation({
  name: 'listCatalogEntries',
  access: anyone,
  allowance: 'catalog',
  run({ platform }, { filters, page, pageSize, pin }: PageRequest): CatalogPage {
    const snapshot = stateOf(platform, pin);
    const make = (): CatalogPage => pageOf(searchEntries(platform, snapshot, { filters }), page, pageSize);
    return keptOf(platform, snapshot)?.pages.get(`${page}/${pageSize}${keyOfFilters(filters)}`, make) ?? make();
  },
});

/** The entry with exactly this id, or null. */
export const findCatalogEntry = operation({
  name: 'findCatalogEntry',
  access: anyone,
  allowance: 'catalog',
  run: ({ platform }, id: string): CatalogEntry | null => platform.catalog.current().find(id),
});

/** An entry, and the state of the catalog it was found in. */
export interface LocatedEntry {
  readonly snapshot: CatalogSnapshot;
  readonly entry: CatalogEntry;
}

/** The entry with exactly this id. Throws NotFound, and InvalidInput for a state that is not kept. */
export const getCatalogEntry = operation({
  name: 'getCatalogEntry',
  access: anyone,
  allowance: 'catalog',
  run({ platform }, { id, pin }: { readonly id: string; readonly pin: string | null }): LocatedEntry {
    const snapshot = stateOf(platform, pin);
    const entry = snapshot.find(id);
    if (entry === null) throw new NotFound('catalog entry', id, `Model '${id}' not found in catalog`);
    return { snapshot, entry };
  },
});
