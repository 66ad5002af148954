import { KEY_PAGE_SIZE, type KeyList, type KeyQuery, listKeys } from '../resolvers/keys.ts';
import { InvalidInput } from '../src/domain/errors.ts';
import type { VirtualKey } from '../src/domain/keys/virtual-key.ts';
import { idOrNull } from '../src/domain/optional-id.ts';
import { builder } from './builder.ts';
import { OrderDirectionType } from './order.ts';
import type { PageArgs } from './paging.ts';
import { VirtualKeyType } from './refs.ts';

const VirtualKeyFilterType = builder.inputType('VirtualKeyFilter', {
  description: 'Filter of virtual keys. All conditions must match; blank text is ignored.',
  fields: (t) => ({
    teamId: t.id({ description: 'Exact team.' }),
    userId: t.id({ description: 'Exact user.' }),
    alias: t.string({ description: 'Exact alias.' }),
    blocked: t.boolean({ description: 'Whether the key is blocked.' }),
  }),
});

const OrderFieldType = builder.enumType('VirtualKeyOrderField', {
  description: 'Properties that virtual keys are ordered by.',
  values: { CREATED_AT: { value: 'created_at', description: 'When the key was created.' } } as const,
});

const VirtualKeyOrderType = builder.inputType('VirtualKeyOrder', {
  description: 'Order of virtual keys. Ties are ordered by hash.',
  fields: (t) => ({
    field: t.field({ type: OrderFieldType, required: true, description: 'Property to order by.' }),
    direction: t.field({
      type: OrderDirectionType,
      required: true,
      defaultValue: 'descending',
      description: 'Direction.',
    }),
  }),
});

const cursorOf = ({ createdAt, hash }: VirtualKey): string =>
  Buffer.from(`${createdAt.getTime()}:${hash}`).toString('base64url');

/** The row that a page begins after. Throws InvalidInput for a malformed cursor. */
function readCursor(cursor: string): Pick<VirtualKey, 'createdAt' | 'hash'> {
  const [, ms, hash] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  if (ms === undefined || hash === undefined) throw new InvalidInput('Invalid cursor.');
  return { createdAt: new Date(Number(ms)), hash };
}

type Page = Pick<KeyQuery, 'limit' | 'from'> & { readonly isBackwards: boolean; readonly isFirst: boolean };

function sizeOf(name: 'first' | 'last', size: number): number {
  if (size >= 1 && size <= KEY_PAGE_SIZE) return size;
  const message = `must be between 1 and ${KEY_PAGE_SIZE}`;
  throw new InvalidInput(`\`${name}\` ${message}.`, [{ path: [name], rule: 'range', message, input: size }]);
}

/** Reads the page arguments: forwards with `first` and `after`, backwards with `last` and `before`. */
function readPage({ first, after, last, before }: PageArgs): Page {
  const isBackwards = typeof last === 'number' || typeof before === 'string';
  if (isBackwards && (typeof first === 'number' || typeof after === 'string'))
    throw new InvalidInput('`first` and `after` page forwards, `last` and `before` backwards: give one pair.');
  const cursor = isBackwards ? before : after;
  const size = isBackwards ? sizeOf('last', last ?? KEY_PAGE_SIZE) : sizeOf('first', first ?? KEY_PAGE_SIZE);
  return {
    isBackwards,
    limit: size,
    from: typeof cursor === 'string' ? readCursor(cursor) : 0,
    isFirst: typeof cursor !== 'string',
  };
}

function connectionOf({ keys, totalCount, hasMore }: KeyList, { isBackwards, isFirst }: Page) {
  const rows = keys.map(({ row }) => row);
  const edges = (isBackwards ? rows.toReversed() : rows).map((node) => ({ node, cursor: cursorOf(node) }));
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

builder.queryField('virtualKeys', (t) =>
  t.connection(
    {
      type: VirtualKeyType,
      description:
        'Virtual keys, newest first: all for administrators, else the own key and those of its user. Deleted keys are left out. At most 100 a page.',
      complexity: ({ first, last }) => ({
        field: 1,
        multiplier: Math.max(0, Math.min(first ?? last ?? KEY_PAGE_SIZE, KEY_PAGE_SIZE)),
      }),
      args: {
        filter: t.arg({ type: VirtualKeyFilterType, description: 'All keys when absent.' }),
        orderBy: t.arg({ type: VirtualKeyOrderType, description: 'Newest first when absent.' }),
      },
      resolve: async (_root, { filter, orderBy, ...args }, { scope }) => {
        const page = readPage(args);
        const { isBackwards, limit, from } = page;
        const isDescending = orderBy?.direction !== 'ascending';
        const list = await listKeys(scope, {
          filter: {
            hash: null,
            alias: idOrNull(filter?.alias),
            teamId: idOrNull(filter?.teamId),
            userId: idOrNull(filter?.userId),
            blocked: filter?.blocked ?? null,
            status: null,
          },
          sort: orderBy?.field ?? 'created_at',
          descending: isDescending !== isBackwards,
          limit,
          from,
        });
        return connectionOf(list, page);
      },
    },
    {
      name: 'VirtualKeyConnection',
      description: 'One page of virtual keys.',
      fields: (connection) => ({
        totalCount: connection.int({
          description: 'Number of keys that match the filter, on all pages.',
          resolve: ({ totalCount }) => totalCount,
        }),
      }),
    },
    { name: 'VirtualKeyEdge', description: 'One key of a page.' },
  ),
);
