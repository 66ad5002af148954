import type { CatalogEntry, CatalogSnapshot, PatternCompiler } from '../src/domain/catalog/catalog.ts';
import { type EntryFilters, findEntries, modelFilterOf, partMatcher } from '../src/domain/catalog/find-entries.ts';
import { keepRecent, type Recent } from '../src/domain/catalog/recent.ts';
import { InvalidInput, NotFound } from '../src/domain/errors.ts';
import { anyone } from './access.ts';
import { operation } from './operation.ts';

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

const keyOf = ({ provider, mode, model, capabilities }: EntryFilters): string =>
  JSON.stringify([provider, mode, model, capabilities]);

function matcherOf(model: string | null, patterns: PatternCompiler): ((id: string) => boolean) | null {
  const filter = modelFilterOf(model);
  if (filter.kind === 'any') return null;
  if (filter.kind === 'part') return partMatcher(filter.text);
  const compiled = patterns.compile(filter.source);
  if ('fault' in compiled) throw new InvalidInput(`Invalid regex in 'model' param: ${compiled.fault}`);
  return (id) => compiled.pattern.occursIn(id);
}

function find(snapshot: CatalogSnapshot, filters: EntryFilters, patterns: PatternCompiler): FoundEntries {
  return keptOf(snapshot).found.get(keyOf(filters), () => ({
    snapshot,
    entries: findEntries(snapshot.entries, filters, matcherOf(filters.model, patterns)),
  }));
}

function pageOf({ snapshot, entries }: FoundEntries, page: bigint, pageSize: number): CatalogPage {
  const totalCount = entries.length;
  const end = page * BigInt(pageSize);
  const items = end - BigInt(pageSize) < totalCount ? entries.slice(Number(end) - pageSize, Number(end)) : [];
  return { snapshot, items, totalCount, hasMore: end < totalCount, page, pageSize };
}

/** Every entry that passes the filters, in the catalog's order. Throws InvalidInput for a pattern it cannot read. */
export const findCatalogEntries = operation({
  name: 'findCatalogEntries',
  access: anyone,
  run: ({ platform }, filters: EntryFilters): FoundEntries =>
    find(platform.catalog.current(), filters, platform.patterns),
});

/** One numbered page. `page` and `pageSize` are at least 1. Throws as `findCatalogEntries`. */
export const listCatalogEntries = operation({
  name: 'listCatalogEntries',
  access: anyone,
  run({ platform }, input: { filters: EntryFilters; page: bigint; pageSize: number }): CatalogPage {
    const { filters, page, pageSize } = input;
    const snapshot = platform.catalog.current();
    return keptOf(snapshot).pages.get(`${page}/${pageSize}${keyOf(filters)}`, () =>
      pageOf(find(snapshot, filters, platform.patterns), page, pageSize),
    );
  },
});

/** The entry with exactly this id, or null. */
export const findCatalogEntry = operation({
  name: 'findCatalogEntry',
  access: anyone,
  run: ({ platform }, id: string): CatalogEntry | null => platform.catalog.current().find(id),
});

/** The entry with exactly this id. Throws NotFound. */
export const getCatalogEntry = operation({
  name: 'getCatalogEntry',
  access: anyone,
  run({ platform }, id: string): CatalogEntry {
    const entry = platform.catalog.current().find(id);
    if (entry === null) throw new NotFound('catalog entry', id, `Model '${id}' not found in catalog`);
    return entry;
  },
});
