import { type SpendRequest, listSpendRows } from '../resolvers/owner-lists.ts';
import { findCustomerRow, findUserRow } from '../resolvers/owner-nodes.ts';
import { findTraceNode } from '../resolvers/nodes.ts';
import type { Scope } from '../resolvers/operation/scope.ts';
import { InvalidInput } from '../src/domain/errors.ts';
import type { FieldValues, SpendPlace } from '../src/domain/spend/spend-reports.ts';
import type { SpendRow } from '../src/domain/spend/spend-row.ts';
import { SpendStatusType } from './spend.ts';
import { builder } from './base/builder.ts';
import { localIds } from './base/global-id.ts';
import { TRACE_COST } from './base/limits.ts';
import { directionField } from './base/order.ts';
import { edgesOf, forwardPage } from './base/paging.ts';
import { CustomerType, SpendRowType, teamOf, TeamType, TraceType, UserType, VirtualKeyType } from './base/refs.ts';
import { checkedPageSize } from '../src/domain/page-size.ts';

const PAGE_SIZE = 100;

builder.objectFields(SpendRowType, (t) => ({
  key: t.field({
    type: VirtualKeyType,
    nullable: true,
    description:
      'Key of the call. Null for the admin key, for calls without a key, and when the caller may not read it.',
    resolve: ({ keyHash }, _args, { scope }) => scope.loaders.keyByHash.load(keyHash),
  }),
  team: t.field({
    type: TeamType,
    nullable: true,
    description: 'Team of the key at the time of the call. Null when it had none.',
    resolve: ({ teamId }) => teamOf(teamId),
  }),
  user: t.field({
    type: UserType,
    nullable: true,
    description: 'User of the key at the time of the call. Null when it had none that the caller may read.',
    resolve: ({ userId }, _args, { scope }) => (userId === null ? null : findUserRow(scope, userId)),
  }),
  endUser: t.string({
    nullable: true,
    description: 'End user of the client application. Null when the request named none.',
    resolve: ({ endUser }) => endUser,
  }),
  customer: t.field({
    type: CustomerType,
    nullable: true,
    description: 'Stored customer of `endUser`. Null when there is none, and for callers who are not administrators.',
    resolve: ({ endUser }, _args, { scope }) => (endUser === null ? null : findCustomerRow(scope, endUser)),
  }),
  sessionId: t.string({
    nullable: true,
    description: 'Session of the client. Null when the request named none.',
    resolve: ({ sessionId }) => sessionId,
  }),
  tags: t.stringList({
    description: 'Distinct tags of the request, its key, team and project, then of its user agent.',
    resolve: ({ tags }) => [...tags],
  }),
  trace: t.field({
    type: TraceType,
    nullable: true,
    complexity: TRACE_COST,
    description: 'Trace of the call. Null when it was removed, and when the caller may not read it.',
    resolve: ({ traceId }, _args, { scope }) => findTraceNode(scope, traceId),
  }),
}));

export const SpendFilterType = builder.inputType('SpendFilter', {
  description: 'Filter of calls. All conditions must match; a list matches any of its values.',
  fields: (t) => ({
    from: t.field({
      type: 'DateTime',
      description: 'Earliest start, inclusive. When absent: 30 days ago in `spend`, all earlier calls in `spendRows`.',
    }),
    to: t.field({ type: 'DateTime', description: 'Latest start, exclusive; all later calls when absent.' }),
    keys: t.idList({ description: 'Keys: global ids, hashes or secrets.' }),
    userIds: t.idList({ description: 'Users: global ids or local ids.' }),
    teamIds: t.idList({ description: 'Teams: global ids or local ids.' }),
    organizationIds: t.idList({ description: 'Organizations of teams: global ids or local ids.' }),
    endUsers: t.stringList({ description: 'End users.' }),
    tags: t.stringList({ description: 'Tags.' }),
    models: t.stringList({ description: 'Upstream models, as `provider/name` or `name`.' }),
    modelGroups: t.stringList({ description: 'Public model names.' }),
    providers: t.stringList({ description: 'Providers.' }),
    status: t.field({ type: SpendStatusType, description: 'Result of the call.' }),
  }),
});

type Filter = typeof SpendFilterType.$inferInput | null | undefined;

/** Values of a filter, by field of a call. Absent conditions are left out. */
export function fieldValuesOf(filter: Filter): FieldValues {
  const values = {
    key: localIds('VirtualKey', filter?.keys),
    user: localIds('User', filter?.userIds),
    team: localIds('Team', filter?.teamIds),
    organization: localIds('Organization', filter?.organizationIds),
    endUser: filter?.endUsers,
    tag: filter?.tags,
    model: filter?.models,
    modelGroup: filter?.modelGroups,
    provider: filter?.providers,
    status: filter?.status && [filter.status],
  };
  return Object.fromEntries(
    Object.entries(values).flatMap(([field, accepted]) => (accepted ? [[field, accepted]] : [])),
  );
}

type OrderField = Extract<SpendRequest['sort'], 'startTime' | 'spend' | 'total_tokens'>;

const OrderFieldType = builder.enumType('SpendRowOrderField', {
  description: 'Properties that calls are ordered by.',
  values: {
    STARTED_AT: { value: 'startTime', description: 'When the gateway received the request.' },
    COST: {
      value: 'spend',
      description: 'Cost; an unknown cost counts as zero. Expensive: reads all calls of the filter.',
    },
    TOKENS: {
      value: 'total_tokens',
      description: 'Input and output tokens; unknown counts are zero. Expensive: reads all calls of the filter.',
    },
  } as const,
});

export const SpendRowOrderType = builder.inputType('SpendRowOrder', {
  description: 'Order of calls. Equal values are ordered by start.',
  fields: (t) => ({
    field: t.field({
      type: OrderFieldType,
      required: true,
      defaultValue: 'startTime',
      description: 'Property to order by.',
    }),
    direction: directionField(t, 'descending'),
  }),
});

/**
 * The value of a call in an order by cost or tokens. Null in the order of start times, which needs no further value.
 */
function rankOf({ cost, usage }: SpendRow, sort: OrderField): bigint | null {
  if (sort === 'startTime') return null;
  return sort === 'spend' ? (cost ?? 0n) : BigInt((usage?.inputTokens ?? 0) + (usage?.outputTokens ?? 0));
}

/** Cursor of a call. It contains the name of the order, unless that is the order of start times. */
function cursorOf(row: SpendRow, sort: OrderField): string {
  const { startedAt, traceId, spanId, id } = row;
  const rank = rankOf(row, sort);
  const position = [startedAt.getTime(), traceId, spanId, id];
  return Buffer.from(JSON.stringify(rank === null ? position : [...position, sort, String(rank)])).toString(
    'base64url',
  );
}

const isText = (value: unknown): value is string => typeof value === 'string';
const isTime = (value: unknown): value is number =>
  typeof value === 'number' && !Number.isNaN(new Date(value).getTime());

/** The place that a cursor names. Throws InvalidInput for a malformed cursor, and for a cursor of another order. */
function readCursor(cursor: string, sort: OrderField): SpendPlace {
  let position: unknown;
  try {
    position = JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch (cause) {
    throw new InvalidInput('Invalid cursor.', [], { cause });
  }
  if (!Array.isArray(position)) throw new InvalidInput('Invalid cursor.');
  const [ms, traceId, spanId, id, cursorSort, rank] = position as readonly unknown[];
  if (!isTime(ms) || !isText(traceId) || !isText(spanId) || !isText(id)) throw new InvalidInput('Invalid cursor.');
  const place = { startedAt: new Date(ms), traceId, spanId, id };
  if (sort === 'startTime' && cursorSort === undefined) return place;
  // 18 digits always fit into a 64-bit integer of the database.
  if (sort === cursorSort && isText(rank) && /^-?\d{1,18}$/.test(rank)) return { ...place, rank: BigInt(rank) };
  throw new InvalidInput('Invalid cursor.');
}

const SpendRowEdgeType = builder.edgeObject({
  type: SpendRowType,
  name: 'SpendRowEdge',
  description: 'One call of a page.',
});

export const SpendRowConnectionType = builder.connectionObject(
  { type: SpendRowType, name: 'SpendRowConnection', description: 'One page of calls.' },
  SpendRowEdgeType,
);

export interface SpendPageArgs {
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
  readonly filter?: Filter;
  readonly orderBy?: typeof SpendRowOrderType.$inferInput | null | undefined;
}

/** Arguments of a field that lists the calls of an owner. */
export const ownedSpendArgs = () =>
  builder.args((t) => ({
    first: t.int({ description: `Page size, 1 to ${PAGE_SIZE}; ${PAGE_SIZE} when absent.` }),
    after: t.string({ description: 'Returns calls after this cursor.' }),
    filter: t.field({ type: SpendFilterType, description: 'All its calls when absent.' }),
    orderBy: t.field({ type: SpendRowOrderType, description: 'The newest first when absent.' }),
  }));

/** Cost of a full page of calls. */
export const spendPageCost = ({ first }: SpendPageArgs) => ({
  field: 1,
  multiplier: Math.max(0, Math.min(first ?? PAGE_SIZE, PAGE_SIZE)),
});

/** A page of the calls of a filter, the newest first by default. `within` limits the calls to one owner. */
export async function spendRowsOf(
  scope: Scope,
  { first, after, filter, orderBy }: SpendPageArgs,
  within: FieldValues = {},
) {
  const limit = checkedPageSize(first ?? PAGE_SIZE, { max: PAGE_SIZE });
  const sort = orderBy?.field ?? 'startTime';
  // 0 is the place before the first row.
  const from = typeof after === 'string' ? readCursor(after, sort) : 0;
  const { nodes, hasMore } = await listSpendRows(scope, {
    filter: { from: filter?.from ?? null, to: filter?.to ?? null, any: fieldValuesOf(filter), within },
    sort,
    descending: orderBy?.direction !== 'ascending',
    limit,
    from,
  });
  const edges = edgesOf(nodes, (row) => cursorOf(row, sort));
  return forwardPage(edges, { hasNextPage: hasMore, hasPreviousPage: from !== 0 });
}
