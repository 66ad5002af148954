import { Conflict } from '../../src/domain/errors.ts';
import type { RowPage, RowPlace, RowStore } from '../../src/domain/row-store.ts';

/** Sort order, size and start of a page. */
export interface RequestedPage<Sort extends string = 'created_at'> {
  readonly sort: Sort;
  readonly descending: boolean;
  readonly limit: number;
  /** Place of the row after which the page begins; 0 for the first page. */
  readonly from: 0 | RowPlace;
}

export interface FoundPage<Row> {
  readonly nodes: readonly Row[];
  /** Number of rows that match, on all pages. */
  readonly totalCount: number;
  readonly hasMore: boolean;
}

/** A page, and a filter without the visibility of the caller, which the operation adds. */
export interface FilteredPage<Filter, Sort extends string> {
  readonly filter: Filter;
  readonly page: RequestedPage<Sort>;
}

/** One page of the rows of a store. */
export async function pageOf<Row, Filter, Sort extends string>(
  store: Pick<RowStore<Row, Filter, Sort>, 'list' | 'count'>,
  filter: Filter,
  { sort, descending, limit, from }: Omit<RowPage<Filter, Sort>, 'filter'>,
): Promise<FoundPage<Row>> {
  const [found, totalCount] = await Promise.all([
    store.list({ filter, sort, descending, from, limit: limit + 1 }),
    store.count(filter),
  ]);
  return { nodes: found.slice(0, limit), totalCount, hasMore: found.length > limit };
}

/** Removes the oldest rows that match, at most `limit`. Returns their number. */
export async function removeOldest<Row extends { readonly id: string }, Filter>(
  store: Pick<RowStore<Row, Filter>, 'list' | 'remove'>,
  filter: Filter,
  limit: number,
): Promise<number> {
  const rows = await store.list({ filter, sort: 'created_at', descending: false, limit, from: 0 });
  return rows.length === 0 ? 0 : (await store.remove(rows.map(({ id }) => id))).length;
}

/**
 * Changes the stored row with the id of `row`, or adds `row`. A row that a concurrent request adds is changed. Throws
 * Conflict when a unique value of `row` is taken by another row, or when a concurrent request adds and removes the row.
 */
export async function changeOrAdd<Row extends { readonly id: string }, Filter, Sort extends string>(
  store: Pick<RowStore<Row, Filter, Sort>, 'add' | 'change'>,
  row: Row,
  change: (before: Row) => Row,
): Promise<{ readonly row: Row; readonly isNew: boolean }> {
  const changed = await store.change(row.id, change);
  if (changed !== null) return { row: changed.after, isNew: false };
  try {
    await store.add(row);
    return { row, isNew: true };
  } catch (error) {
    if (!(error instanceof Conflict)) throw error;
    const later = await store.change(row.id, change);
    if (later === null) throw error;
    return { row: later.after, isNew: false };
  }
}
