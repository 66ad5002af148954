import { listKeys } from '../resolvers/keys.ts';
import type { Scope } from '../resolvers/operation/scope.ts';
import { InvalidInput } from '../src/domain/errors.ts';
import { budgetUse, type KeyPlace, type VirtualKey } from '../src/domain/keys/virtual-key.ts';
import type { RowPlace } from '../src/domain/row-store.ts';
import { nullIfBlank } from '../src/domain/optional-text.ts';
import { builder } from './base/builder.ts';
import { edgeType, pageType, totalCount } from './base/counted-pages.ts';
import { localId } from './base/global-id.ts';
import { directionField } from './base/order.ts';
import type { PageArgs } from './base/paging.ts';
import { VirtualKeyType } from './base/refs.ts';
import { readOrderedPage, rowConnection, rowPageCost } from './base/row-pages.ts';

export const VirtualKeyFilterType = builder.inputType('VirtualKeyFilter', {
  description: 'Filter of virtual keys. All conditions must match; blank text is ignored.',
  fields: (t) => ({
    teamId: t.id({ description: 'Team: global id or local id.' }),
    userId: t.id({ description: 'User: global id or local id.' }),
    alias: t.string({ description: 'Exact alias.' }),
    blocked: t.boolean({ description: 'Whether the key is blocked.' }),
  }),
});

const OrderFieldType = builder.enumType('VirtualKeyOrderField', {
  description: 'Properties that virtual keys are ordered by.',
  values: {
    CREATED_AT: { value: 'created_at', description: 'When the key was created.' },
    BUDGET_USE: {
      value: 'budget_use',
      description:
        '`spendUsd` divided by `maxBudgetUsd`. Keys without a budget are the smallest. Expensive: reads all keys of the filter. When calls are made between two pages, a key may be repeated or left out. For proxy administrators with full or read-only access.',
    },
  } as const,
});

export const VirtualKeyOrderType = builder.inputType('VirtualKeyOrder', {
  description: 'Order of virtual keys. Equal values are ordered by hash.',
  fields: (t) => ({
    field: t.field({ type: OrderFieldType, required: true, description: 'Property to order by.' }),
    direction: directionField(t, 'descending'),
  }),
});

type Sort = 'created_at' | 'budget_use';

const placeOf = ({ createdAt, hash }: VirtualKey) => ({ createdAt, id: hash });

/**
 * `budgetUse` of a key in a cursor: spend in millionths of the budget, -1 without a budget. At most 18 digits, to fit
 * in a 64-bit integer.
 */
const BUDGET_USE_IN_CURSOR = /^-?\d{1,18}$/;

/** Place in the list of keys, from a decoded cursor. Throws InvalidInput for a malformed cursor. */
function keyPlace(from: RowPlace): KeyPlace {
  if ('createdAt' in from) return { createdAt: from.createdAt, hash: from.id };
  if (!BUDGET_USE_IN_CURSOR.test(from.text)) throw new InvalidInput('Invalid cursor.');
  return { budgetUse: BigInt(from.text), hash: from.id };
}

/** Arguments of a list of keys. */
export interface KeyListArgs extends PageArgs {
  readonly filter?: typeof VirtualKeyFilterType.$inferInput | null | undefined;
  readonly orderBy?: typeof VirtualKeyOrderType.$inferInput | null | undefined;
}

/** A page of the keys that the caller may read; only those of the owner when `owner` names one. */
export async function keyPage(
  scope: Scope,
  { filter, orderBy, ...args }: KeyListArgs,
  owner: { readonly teamId?: string; readonly userId?: string } = {},
) {
  const page = readOrderedPage<Sort>(args, orderBy);
  const { sort, descending, limit, from } = page;
  const teamId = nullIfBlank(localId('Team', filter?.teamId));
  const userId = nullIfBlank(localId('User', filter?.userId));
  if (excludes(teamId, owner.teamId) || excludes(userId, owner.userId))
    return rowConnection<VirtualKey>({ nodes: [], totalCount: 0, hasMore: false }, page, placeOf);
  const list = await listKeys(scope, {
    filter: {
      hash: null,
      alias: nullIfBlank(filter?.alias),
      teamId: owner.teamId ?? teamId,
      userId: owner.userId ?? userId,
      blocked: filter?.blocked ?? null,
      status: null,
    },
    sort,
    descending,
    limit,
    from: from === 0 ? 0 : keyPlace(from),
  });
  const budgetUses = new Map(list.keys.map(({ row, total: totalSpend }) => [row.hash, budgetUse(row, totalSpend)]));
  return rowConnection({ ...list, nodes: list.keys.map(({ row }) => row) }, page, (row) =>
    sort === 'created_at' ? placeOf(row) : { text: String(budgetUses.get(row.hash)), id: row.hash },
  );
}

/** Whether a filter names another id than that of the object whose rows are listed. Nothing then matches. */
export const excludes = (filterId: string | null, listedId: string | undefined): boolean =>
  filterId !== null && listedId !== undefined && filterId !== listedId;

builder.queryField('virtualKeys', (t) =>
  t.connection(
    {
      type: VirtualKeyType,
      description:
        'Virtual keys, newest first by default. Administrators see all keys. Other callers see their own key and the keys of their user. With a filter by team, they also see the keys of that team if the user administers the team or its organization. The same applies if the team lets its members list its keys. Deleted keys are left out. At most 100 a page.',
      complexity: rowPageCost,
      args: {
        filter: t.arg({ type: VirtualKeyFilterType, description: 'All keys when absent.' }),
        orderBy: t.arg({ type: VirtualKeyOrderType, description: 'Newest first when absent.' }),
      },
      resolve: (_root, args, { scope }) => keyPage(scope, args),
    },
    { ...pageType('VirtualKey', 'virtual keys'), fields: (pageFields) => totalCount(pageFields, 'virtual keys') },
    edgeType('VirtualKey', 'key'),
  ),
);
