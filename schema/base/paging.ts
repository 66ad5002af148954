import { checkedPageSize } from '../../src/domain/page-size.ts';
import { InvalidInput } from '../../src/domain/errors.ts';

/** Maximum number of items of one page. */
const MAX_PAGE = 500;
/** Default number of items of a page. */
const DEFAULT_PAGE = 50;

/** Paging arguments of a connection. */
export interface PageArgs {
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
  readonly last?: number | null | undefined;
  readonly before?: string | null | undefined;
}

export interface Edge<Item> {
  readonly node: Item;
  readonly cursor: string;
}

/** A page as the graph shows one. */
export interface Connection<Item> {
  readonly edges: Edge<Item>[];
  readonly pageInfo: {
    readonly hasNextPage: boolean;
    readonly hasPreviousPage: boolean;
    readonly startCursor: string | null;
    readonly endCursor: string | null;
  };
}

/** Cost of a full page: the cost of one item for each of its items. */
export function pageCost({ first, last }: PageArgs): { readonly field: number; readonly multiplier: number } {
  return { field: 1, multiplier: Math.max(0, Math.min(first ?? last ?? DEFAULT_PAGE, MAX_PAGE)) };
}

/** An edge whose cursor is computed on demand: most queries do not select it. */
class ListedEdge<Item> implements Edge<Item> {
  readonly node: Item;
  readonly #index: number;
  readonly #idOf: (item: Item) => string;

  constructor(node: Item, index: number, idOf: (item: Item) => string) {
    this.node = node;
    this.#index = index;
    this.#idOf = idOf;
  }

  get cursor(): string {
    return cursorAt(this.#index, this.#idOf(this.node));
  }
}

/**
 * One page of a list in memory, with the number of all items of the list. Throws InvalidInput for invalid arguments.
 */
export function pageOf<Item>(
  items: readonly Item[],
  args: PageArgs,
  idOf: (item: Item) => string,
): Connection<Item> & { readonly totalCount: number } {
  const { first, after, last, before } = args;
  let start = typeof after === 'string' ? positionOf(items, after, idOf).nextIndex : 0;
  let end = typeof before === 'string' ? positionOf(items, before, idOf).index : items.length;
  if (typeof first === 'number') end = Math.min(end, start + checkedPageSize(first, { min: 0, max: MAX_PAGE }));
  if (typeof last === 'number')
    start = Math.max(start, end - checkedPageSize(last, { name: 'last', min: 0, max: MAX_PAGE }));
  if (typeof first !== 'number' && typeof last !== 'number') end = Math.min(end, start + DEFAULT_PAGE);
  const edges = items
    .slice(start, Math.max(start, end))
    .map((node, index) => new ListedEdge(node, start + index, idOf));
  const page = forwardPage(edges, { hasNextPage: end < items.length, hasPreviousPage: start > 0 });
  return { ...page, totalCount: items.length };
}

/** Edges of nodes. Cursors are computed on demand. */
export const edgesOf = <Node>(nodes: readonly Node[], cursorOf: (node: Node) => string): Edge<Node>[] =>
  nodes.map((node) => ({
    node,
    get cursor() {
      return cursorOf(node);
    },
  }));

/**
 * A page of these edges, which are in the order of the list. Its first and last cursors are computed on demand. Some
 * lists that only page forwards do not state `hasPreviousPage`.
 */
export const forwardPage = <Node>(
  edges: Edge<Node>[],
  { hasNextPage, hasPreviousPage = false }: { readonly hasNextPage: boolean; readonly hasPreviousPage?: boolean },
): Connection<Node> => ({
  edges,
  pageInfo: {
    hasNextPage,
    hasPreviousPage,
    get startCursor() {
      return edges[0]?.cursor ?? null;
    },
    get endCursor() {
      return edges.at(-1)?.cursor ?? null;
    },
  },
});

function cursorAt(index: number, id: string): string {
  return Buffer.from(`${index}:${id}`).toString('base64url');
}

/**
 * Index of the item of a cursor, and of the item after it. The lookup is by id, so that no item is repeated or skipped
 * when other items are added or removed between two pages. For a removed item, both are the index in the cursor. Throws
 * InvalidInput for a malformed cursor.
 */
function positionOf<Item>(
  items: readonly Item[],
  cursor: string,
  idOf: (item: Item) => string,
): { readonly index: number; readonly nextIndex: number } {
  const [, digits, id] = /^(\d{1,9}):(.*)$/s.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  if (digits === undefined || id === undefined) throw new InvalidInput('Invalid cursor.');
  const cursorIndex = Number(digits);
  const candidate = items[cursorIndex];
  const index =
    candidate !== undefined && idOf(candidate) === id ? cursorIndex : items.findIndex((item) => idOf(item) === id);
  return index === -1 ? { index: cursorIndex, nextIndex: cursorIndex } : { index, nextIndex: index + 1 };
}
