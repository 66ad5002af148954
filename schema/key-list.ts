import { KEY_PAGE_SIZE, type KeyList, type KeyQuery, listKeys } from '../resolvers/keys.ts';
import { InvalidInput } from '../src/domain/errors.ts';
import type { VirtualKey } from '../src/domain/keys/virtual-key.ts';
import { idOrNull } from '../src/domain/optional-id.ts';
import { builder } from './builder.ts';
import type { PageArgs } from './paging.ts';
import { VirtualKeyType } from './refs.ts';

const VirtualKeyFilterType = builder.inputType('VirtualKeyFilter', {
  description: 'Filter of virtual keys. All conditions must match; a blank one is none.',
  fields: (t) => ({
    teamId: t.id({ description: 'The team it belongs to.' }),
    userId: t.id({ description: 'The user it belongs to.' }),
    alias: t.string({ description: 'Its alias, exactly.' }),
    blocked: t.boolean({ description: 'Whether it is blocked.' }),
  }),
});

const cursorOf = ({ createdAt, hash }: VirtualKey): string =>
  Buffer.from(`${createdAt.getTime()}:${hash}`).toString('base64url');

/** The row after which a page begins. Throws InvalidInput for a cursor that no page gave. */
function readCursor(cursor: string): Pick<VirtualKey, 'createdAt' | 'hash'> {
  const [, ms, hash] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  if (ms === undefined || hash === undefined) throw new InvalidInput('Invalid cursor.');
  return { createdAt: new Date(Number(ms)), hash };
}

type Page = Pick<KeyQuery, 'descending' | 'limit' | 'from'> & { readonly isFirst: boolean };

function sizeOf(name: 'first' | 'last', size: number): number {
  if (size >= 1 && size <= KEY_PAGE_SIZE) return size;
  const message = `must be between 1 and ${KEY_PAGE_SIZE}`;
  throw new InvalidInput(`\`${name}\` ${message}.`, [{ path: [name], rule: 'range', message, input: size }]);
}

/** Reads the page that was asked for: forwards with `first` and `after`, backwards with `last` and `before`. */
function readPage({ first, after, last, before }: PageArgs): Page {
  const backwards = typeof last === 'number' || typeof before === 'string';
  if (backwards && (typeof first === 'number' || typeof after === 'string'))
    throw new InvalidInput('`first` and `after` page forwards, `last` and `before` backwards: give one pair.');
  const cursor = backwards ? before : after;
  const size = backwards ? sizeOf('last', last ?? KEY_PAGE_SIZE) : sizeOf('first', first ?? KEY_PAGE_SIZE);
  return {
    descending: !backwards,
    limit: size,
    from: typeof cursor === 'string' ? readCursor(cursor) : 0,
    isFirst: typeof cursor !== 'string',
  };
}

function connectionOf({ keys, totalCount, hasMore }: KeyList, { descending, isFirst }: Page) {
  const rows = keys.map(({ row }) => row);
  const edges = (descending ? rows : rows.toReversed()).map((node) => ({ node, cursor: cursorOf(node) }));
  return {
    edges,
    totalCount,
    pageInfo: {
      hasNextPage: descending ? hasMore : !isFirst,
      hasPreviousPage: descending ? !isFirst : hasMore,
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
        'Virtual keys that are not deleted, newest first: all for administrators, else the own key and those of its user. At most 100 a page.',
      complexity: ({ first, last }) => ({
        field: 1,
        multiplier: Math.max(0, Math.min(first ?? last ?? KEY_PAGE_SIZE, KEY_PAGE_SIZE)),
      }),
      args: { filter: t.arg({ type: VirtualKeyFilterType, description: 'Which keys; all when absent.' }) },
      resolve: async (_root, { filter, ...args }, { scope }) => {
        const page = readPage(args);
        const { descending, limit, from } = page;
        const list = await listKeys(scope, {
          filter: {
            hash: null,
            alias: idOrNull(filter?.alias),
            teamId: idOrNull(filter?.teamId),
            userId: idOrNull(filter?.userId),
            blocked: filter?.blocked ?? null,
            status: null,
          },
          sort: 'created_at',
          descending,
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
