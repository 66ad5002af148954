import { readChangeCursor } from '../src/domain/catalog/change-cursor.ts';
import type { CatalogChange } from '../src/domain/catalog/changes.ts';
import {
  type ChangeFilters,
  type EntryHistory,
  type HistorySpan,
  type ListedChange,
  changePassesFilters,
  CHANGE_PAGE_SIZE,
} from '../src/domain/catalog/history.ts';
import { pricesAt, type PricesAtInstant, priceStepsOf, type PriceStep } from '../src/domain/catalog/price-history.ts';
import { InvalidInput } from '../src/domain/errors.ts';
import { mapStream, type PollableStream } from '../src/domain/pollable-stream.ts';
import { anyone } from './operation/access.ts';
import { operation } from './operation/operation.ts';
import type { CatalogPlatform } from './operation/catalog-platform.ts';
import type { Scope } from './operation/scope.ts';
import { checkedPageSize } from '../src/domain/page-size.ts';

/** Default number of changes of a page. */
const DEFAULT_CHANGES = 50;

export interface ChangeListQuery {
  readonly filters: ChangeFilters;
  /** Cursor of the last change of the previous page; null for the first page. */
  readonly cursor: string | null;
  /** 0 to 500; null for 50. */
  readonly limit: number | null;
}

/** One page of changes, newest first. */
export interface ChangePage {
  readonly items: readonly ListedChange[];
  readonly hasMore: boolean;
}

/** Changes that were recorded together. */
export interface CatalogChangeUpdate {
  readonly at: Date;
  readonly snapshotId: string;
  readonly changes: readonly CatalogChange[];
  /** Updates dropped since the previous one because this subscriber read too slowly. */
  readonly missed: number;
}

/** A time range. A null bound is the start or the end of the history. */
export interface Period {
  readonly from: Date | null;
  readonly to: Date | null;
}

function assertPeriod({ from, to }: Period): void {
  if (from !== null && to !== null && from >= to)
    throw new InvalidInput('The period is empty: `from` must be before `to`.');
}

/** Changes of the catalog that pass the filters, newest first. Throws InvalidInput. */
export const listCatalogChanges = operation({
  name: 'listCatalogChanges',
  access: anyone,
  allowance: 'catalog',
  async run({ platform }: Scope<CatalogPlatform>, { filters, cursor, limit }: ChangeListQuery): Promise<ChangePage> {
    const size = checkedPageSize(limit ?? DEFAULT_CHANGES, { min: 0, max: CHANGE_PAGE_SIZE });
    assertPeriod(filters);
    const after = cursor === null ? null : readChangeCursor(cursor);
    // Reads one row more than the page has, to find out whether another page follows.
    const rows = await platform.stores.catalogHistory.list(filters, after, size + 1);
    return { items: rows.slice(0, size), hasMore: rows.length > size };
  },
});

/** The periods that the history covers, in the order of their starts. */
export const listHistorySpans = operation({
  name: 'listHistorySpans',
  access: anyone,
  allowance: 'catalog',
  run: ({ platform }: Scope<CatalogPlatform>): Promise<readonly HistorySpan[]> =>
    platform.stores.catalogHistory.spans(),
});

/** History of an entry; null for an id that neither the catalog nor its history contains. */
async function historyOf({ platform, loaders }: Scope<CatalogPlatform>, entryId: string): Promise<EntryHistory | null> {
  const history = await loaders.historyByEntry.load(entryId);
  const isRecorded = history.changes.length > 0 || history.fields !== null;
  if (isRecorded) return history;
  return platform.catalog.current().find(entryId) === null ? null : history;
}

/** Prices of an entry over time, by price field and then by time; null for an unknown id. Throws InvalidInput. */
export const listPriceSteps = operation({
  name: 'listPriceSteps',
  access: anyone,
  allowance: 'catalog',
  async run(
    scope: Scope<CatalogPlatform>,
    { entryId, from, to }: Period & { readonly entryId: string },
  ): Promise<readonly PriceStep[] | null> {
    assertPeriod({ from, to });
    const history = await historyOf(scope, entryId);
    return history === null ? null : priceStepsOf(history, { from, to }, scope.platform.clock.now());
  },
});

/** Prices of an entry at an instant; null for an unknown id. */
export const findPricesAt = operation({
  name: 'findPricesAt',
  access: anyone,
  allowance: 'catalog',
  async run(
    scope: Scope<CatalogPlatform>,
    { entryId, at }: { readonly entryId: string; readonly at: Date },
  ): Promise<PricesAtInstant | null> {
    const history = await historyOf(scope, entryId);
    return history === null ? null : pricesAt(history, at, scope.platform.clock.now());
  },
});

/** Streams changes that pass the filters as they are recorded. Ends when the client disconnects. */
export const watchCatalogChanges = operation({
  name: 'watchCatalogChanges',
  access: anyone,
  allowance: 'catalog',
  run(scope: Scope<CatalogPlatform>, filters: Omit<ChangeFilters, 'from' | 'to'>): PollableStream<CatalogChangeUpdate> {
    const passes = (change: CatalogChange): boolean => changePassesFilters(change, filters);
    const deliveries = scope.platform.bus.subscribe('catalogChange', {
      wanted: ({ changes }) => changes.some(passes),
      signal: scope.signal,
    });
    return mapStream(deliveries, ({ event, missed }) => ({ ...event, changes: event.changes.filter(passes), missed }));
  },
});
