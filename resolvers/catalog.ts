import type { CatalogEntry, CatalogSnapshot, PatternCompiler } from '../src/domain/catalog/catalog.ts';
import { type EntryFilters, findEntries, modelFilterOf, partMatcher } from '../src/domain/catalog/find-entries.ts';
import { assertDemands, type EntryDemands, narrowEntries } from '../src/domain/catalog/narrow-entries.ts';
import { keepRecent, type Recent } from '../src/domain/catalog/recent.ts';
import { type EntrySort, sortEntries } from '../src/domain/catalog/sort-entries.ts';
import { InvalidInput, NotFound } from '../src/domain/errors.ts';
import { anyone } from './access.ts';
import { operation } from './operation.ts';

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
 * Kept of one snapshot, and gone with it: what was found by which filters, and pages of it. The same question
 * gives the same objects, so that a door may keep what it made of them. Weights count entries.
 */
interface Kept {
  readonly found: Recent<FoundEntries>;
  readonly pages: Recent<CatalogPage>;
}
const MOST_FOUND = 200_000;
const MOST_ON_PAGES = 15_000;
const kept = new WeakMap<CatalogSnapshot, Kept>();

function keptOf(snapshot: CatalogSnapshot): Kept {
  const known = kept.get(snapshot) ?? {
    // An empty answer weighs too, or hostile filters could pile up without end.
    found: keepRecent<FoundEntries>(MOST_FOUND, ({ entries }) => entries.length + 500),
    pages: keepRecent<CatalogPage>(MOST_ON_PAGES, ({ items }) => items.length + 50),
  };
  kept.set(snapshot, known);
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

/** Finds in one state of the catalog. The same search gives the same object. Throws InvalidInput. */
function searchEntries(snapshot: CatalogSnapshot, search: EntrySearch, patterns: PatternCompiler): FoundEntries {
  const { filters, demands, sort } = search;
  if (demands) assertDemands(demands);
  return keptOf(snapshot).found.get(keyOf(search), () => {
    const passed = findEntries(snapshot.entries, filters, matcherOf(filters.model, patterns));
    const narrowed = demands ? narrowEntries(passed, demands) : passed;
    return { snapshot, entries: sort ? sortEntries(narrowed, sort) : narrowed };
  });
}

function pageOf({ snapshot, entries }: FoundEntries, page: bigint, pageSize: number): CatalogPage {
  const totalCount = entries.length;
  const end = page * BigInt(pageSize);
  const items = end - BigInt(pageSize) < totalCount ? entries.slice(Number(end) - pageSize, Number(end)) : [];
  return { snapshot, items, totalCount, hasMore: end < totalCount, page, pageSize };
}

/** Every entry that is searched for, in its order. Throws InvalidInput for a search that means nothing. */
export const findCatalogEntries = operation({
  name: 'findCatalogEntries',
  access: anyone,
  allowance: 'catalog',
  run: ({ platform }, search: EntrySearch): FoundEntries =>
    searchEntries(platform.catalog.current(), search, platform.patterns),
});

/** One numbered page. `page` and `pageSize` are at least 1. Throws as `findCatalogEntries`. */
export const listCatalogEntries = operation({
  name: 'listCatalogEntries',
  access: anyone,
  allowance: 'catalog',
  run({ platform }, input: { filters: EntryFilters; page: bigint; pageSize: number }): CatalogPage {
    const { filters, page, pageSize } = input;
    const snapshot = platform.catalog.current();
    return keptOf(snapshot).pages.get(`${page}/${pageSize}${keyOf({ filters })}`, () =>
      pageOf(searchEntries(snapshot, { filters }, platform.patterns), page, pageSize),
    );
  },
});

/** The entry with exactly this id, or null. */
export const findCatalogEntry = operation({
  name: 'findCatalogEntry',
  access: anyone,
  allowance: 'catalog',
  run: ({ platform }, id: string): CatalogEntry | null => platform.catalog.current().find(id),
});

/** The entry with exactly this id. Throws NotFound. */
export const getCatalogEntry = operation({
  name: 'getCatalogEntry',
  access: anyone,
  allowance: 'catalog',
  run({ platform }, id: string): CatalogEntry {
    const entry = platform.catalog.current().find(id);
    if (entry === null) throw new NotFound('catalog entry', id, `Model '${id}' not found in catalog`);
    return entry;
  },
});
