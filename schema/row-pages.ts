import { InvalidInput } from '../src/domain/errors.ts';
import type { PageArgs } from './paging.ts';

/** Most rows of a page, and the size of a page where the query names none. */
const ROW_PAGE_SIZE = 100;

/** The place of a row in the order of its creation. */
export interface RowPlace {
  readonly createdAt: Date;
  readonly id: string;
}

const CURSOR = /^(\d{1,15}):(.+)$/s;

const rowCursor = ({ createdAt, id }: RowPlace): string =>
  Buffer.from(`${createdAt.getTime()}:${id}`).toString('base64url');

/** The row that a page begins after. Throws InvalidInput for a malformed cursor. */
function readCursor(cursor: string): RowPlace {
  const [, ms, id] = CURSOR.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  if (ms === undefined || id === undefined) throw new InvalidInput('Invalid cursor.');
  return { createdAt: new Date(Number(ms)), id };
}

/** A page of rows in the order of their creation. */
export interface AskedRows {
  readonly limit: number;
  readonly from: 0 | RowPlace;
  readonly isBackwards: boolean;
  readonly isFirst: boolean;
}

function sizeOf(name: 'first' | 'last', size: number): number {
  if (size >= 1 && size <= ROW_PAGE_SIZE) return size;
  const message = `must be between 1 and ${ROW_PAGE_SIZE}`;
  throw new InvalidInput(`\`${name}\` ${message}.`, [{ path: [name], rule: 'range', message, input: size }]);
}

/** Reads the page arguments: forwards with `first` and `after`, backwards with `last` and `before`. Throws InvalidInput. */
export function askedRows({ first, after, last, before }: PageArgs): AskedRows {
  const isBackwards = typeof last === 'number' || typeof before === 'string';
  if (isBackwards && (typeof first === 'number' || typeof after === 'string'))
    throw new InvalidInput('`first` and `after` page forwards, `last` and `before` backwards: give one pair.');
  const cursor = isBackwards ? before : after;
  const size = isBackwards ? sizeOf('last', last ?? ROW_PAGE_SIZE) : sizeOf('first', first ?? ROW_PAGE_SIZE);
  return {
    isBackwards,
    limit: size,
    from: typeof cursor === 'string' ? readCursor(cursor) : 0,
    isFirst: typeof cursor !== 'string',
  };
}

/** One page as a connection. The nodes are in the order in which they were read. */
export function rowConnection<Node>(
  {
    nodes,
    totalCount,
    hasMore,
  }: { readonly nodes: readonly Node[]; readonly totalCount: number; readonly hasMore: boolean },
  { isBackwards, isFirst }: AskedRows,
  placeOf: (node: Node) => RowPlace,
) {
  const edges = (isBackwards ? nodes.toReversed() : [...nodes]).map((node) => ({
    node,
    cursor: rowCursor(placeOf(node)),
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

/** Cost of a connection: that of a row, for each row that the page may have. */
export const rowPageCost = ({ first, last }: PageArgs) => ({
  field: 1,
  multiplier: Math.max(0, Math.min(first ?? last ?? ROW_PAGE_SIZE, ROW_PAGE_SIZE)),
});
