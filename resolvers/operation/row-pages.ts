import type { RowPlace, RowStore } from '../../src/domain/row-store.ts';

/** A page in an order. */
export interface RequestedPage<Sort extends string = 'created_at'> {
  readonly sort: Sort;
  readonly descending: boolean;
  readonly limit: number;
  readonly from: 0 | RowPlace;
}

export interface FoundPage<Row> {
  readonly nodes: readonly Row[];
  /** Number of rows that match, on all pages. */
  readonly totalCount: number;
  readonly hasMore: boolean;
}

/** A filter, without what the caller may see, and a page. */
export interface FilteredPage<Filter, Sort extends string> {
  readonly asked: Filter;
  readonly page: RequestedPage<Sort>;
}

/** One page of the rows of a store. */
export async function pageOf<Row, Filter, Sort extends string>(
  store: RowStore<Row, Filter, Sort>,
  filter: Filter,
  { sort, descending, limit, from }: RequestedPage<Sort>,
): Promise<FoundPage<Row>> {
  const [found, totalCount] = await Promise.all([
    store.list({ filter, sort, descending, from, limit: limit + 1 }),
    store.count(filter),
  ]);
  return { nodes: found.slice(0, limit), totalCount, hasMore: found.length > limit };
}
