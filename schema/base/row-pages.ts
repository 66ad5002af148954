import { InvalidInput } from '../../src/domain/errors.ts';
import type { RowPlace } from '../../src/domain/row-store.ts';
import type { PageArgs } from './paging.ts';
import { checkedPageSize } from '../../src/domain/page-size.ts';

/** Maximum and default number of rows of a page. */
const ROW_PAGE_SIZE = 100;

type CreationPlace = Extract<RowPlace, { readonly createdAt: Date }>;

/** End of the year 9999, Unix ms. PostgreSQL does not read the ISO text of a later time. */
const LATEST_MS = 253_402_300_799_999;

const CREATION_CURSOR = /^(\d{1,15}):(.+)$/s;
const TEXT_CURSOR = /^([a-z_]{1,30}):(\d{1,9}):(.*)$/s;

const encoded = (text: string): string => Buffer.from(text).toString('base64url');
const decoded = (cursor: string): string => Buffer.from(cursor, 'base64url').toString();

/**
 * Cursor of a row: `time:id` in the order of creation, otherwise `order:length of the id:id` and directly after it the
 * text by which the order sorts.
 */
const rowCursor = (place: RowPlace, sort: string): string =>
  'createdAt' in place
    ? encoded(`${place.createdAt.getTime()}:${place.id}`)
    : encoded(`${sort}:${place.id.length}:${place.id}${place.text}`);

/** Reads a cursor of the order of creation. Throws InvalidInput for a malformed cursor. */
export function readCreationCursor(cursor: string): CreationPlace {
  const [, ms, id] = CREATION_CURSOR.exec(decoded(cursor)) ?? [];
  if (ms === undefined || id === undefined || Number(ms) > LATEST_MS) throw new InvalidInput('Invalid cursor.');
  return { createdAt: new Date(Number(ms)), id };
}

/**
 * Reads a cursor of an order by a text. Throws InvalidInput for a malformed cursor, and for a cursor of another order.
 */
function readTextCursor(cursor: string, sort: string): RowPlace {
  const [, cursorSort, length, rest] = TEXT_CURSOR.exec(decoded(cursor)) ?? [];
  if (cursorSort !== sort || rest === undefined || Number(length) > rest.length || Number(length) === 0)
    throw new InvalidInput('Invalid cursor.');
  return { id: rest.slice(0, Number(length)), text: rest.slice(Number(length)) };
}

/** A page of rows in an order. */
export interface RowPageRequest<Place extends RowPlace = CreationPlace, Sort extends string = 'created_at'> {
  readonly sort: Sort;
  readonly limit: number;
  /** Place of the row before the page, in the direction of reading. 0 for the first page. */
  readonly from: 0 | Place;
  readonly isBackwards: boolean;
  /** Whether no cursor was sent: the page is at the start of the list, or at its end when read backwards. */
  readonly isFirst: boolean;
}

/** Order argument of a query. */
interface OrderArgs<Sort extends string> {
  readonly field: Sort;
  readonly direction: 'ascending' | 'descending';
}

/** Reads the arguments of a page in the order of creation. Throws InvalidInput for invalid arguments. */
export const readCreationPage = (args: PageArgs): RowPageRequest => readPage(args, 'created_at', readCreationCursor);

/**
 * Reads the arguments of a page with an order. Without an order, the newest rows come first. `descending` is the
 * direction in which the store reads: for a backwards page, the opposite of the requested one. Throws InvalidInput for
 * invalid arguments.
 */
export function readOrderedPage<Sort extends string>(
  args: PageArgs,
  orderBy: OrderArgs<Sort | 'created_at'> | null | undefined,
): RowPageRequest<RowPlace, Sort | 'created_at'> & { readonly descending: boolean } {
  const sort = orderBy?.field ?? 'created_at';
  const page = readPage<RowPlace, Sort | 'created_at'>(args, sort, (cursor) =>
    sort === 'created_at' ? readCreationCursor(cursor) : readTextCursor(cursor, sort),
  );
  const isDescending = orderBy?.direction !== 'ascending';
  return { ...page, descending: page.isBackwards ? !isDescending : isDescending };
}

/**
 * Reads the page arguments: forwards with `first` and `after`, backwards with `last` and `before`. Throws InvalidInput
 * for both pairs, a bad size and a malformed cursor.
 */
function readPage<Place extends RowPlace, Sort extends string>(
  { first, after, last, before }: PageArgs,
  sort: Sort,
  readCursor: (cursor: string) => Place,
): RowPageRequest<Place, Sort> {
  const isBackwards = typeof last === 'number' || typeof before === 'string';
  if (isBackwards && (typeof first === 'number' || typeof after === 'string'))
    throw new InvalidInput('`first` and `after` page forwards, `last` and `before` backwards: give one pair.');
  const cursor = isBackwards ? before : after;
  const size = checkedPageSize((isBackwards ? last : first) ?? ROW_PAGE_SIZE, {
    name: isBackwards ? 'last' : 'first',
    max: ROW_PAGE_SIZE,
  });
  return {
    sort,
    isBackwards,
    limit: size,
    from: typeof cursor === 'string' ? readCursor(cursor) : 0,
    isFirst: typeof cursor !== 'string',
  };
}

/**
 * One page as a connection. `nodes` are in the order of the store's answer, which is reversed for a backwards page.
 * `hasMore` says whether rows follow in the direction of reading. In the other direction, rows exist exactly when the
 * client sent a cursor.
 */
export function rowConnection<Node>(
  {
    nodes,
    totalCount,
    hasMore,
  }: { readonly nodes: readonly Node[]; readonly totalCount: number; readonly hasMore: boolean },
  { isBackwards, isFirst, sort }: Pick<RowPageRequest<RowPlace, string>, 'isBackwards' | 'isFirst' | 'sort'>,
  placeOf: (node: Node) => RowPlace,
) {
  const edges = (isBackwards ? nodes.toReversed() : [...nodes]).map((node) => ({
    node,
    cursor: rowCursor(placeOf(node), sort),
  }));
  return {
    edges,
    totalCount,
    pageInfo: {
      hasNextPage: isBackwards ? !isFirst : hasMore,
      hasPreviousPage: isBackwards ? hasMore : !isFirst,
      startCursor: edges[0]?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
    },
  };
}

/** Cost of a full page: the cost of one row for each of its rows. */
export const rowPageCost = ({ first, last }: PageArgs) => ({
  field: 1,
  multiplier: Math.max(0, Math.min(first ?? last ?? ROW_PAGE_SIZE, ROW_PAGE_SIZE)),
});
