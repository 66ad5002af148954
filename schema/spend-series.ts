import { readSpendSeries, type SpendSeries } from '../resolvers/spend-series.ts';
import { findOrganizationRow, findUserRow } from '../resolvers/owner-nodes.ts';
import { type SpendGroup, MAX_GROUPS, MAX_GROUP_FIELDS } from '../src/domain/spend/spend-reports.ts';
import { routeOfCallType } from '../src/domain/inference/call-route.ts';
import { builder } from './base/builder.ts';
import { OrganizationType, TeamType, UserType, VirtualKeyType, teamOf } from './base/refs.ts';
import { COUNT_COST } from './base/limits.ts';
import { sumFields } from './base/shared-fields.ts';
import {
  fieldValuesOf,
  SpendFilterType,
  SpendRowConnectionType,
  SpendRowOrderType,
  spendPageCost,
  spendRowsOf,
} from './spend-rows.ts';

/** Assumed number of groups of a series. */
const USUAL_GROUPS = 100;

const FieldType = builder.enumType('SpendField', {
  description: 'Properties that calls are grouped by.',
  values: {
    KEY: { value: 'key', description: 'Hash of the key.' },
    USER: { value: 'user', description: 'User of the key.' },
    TEAM: { value: 'team', description: 'Team of the key.' },
    ORGANIZATION: { value: 'organization', description: 'Current organization of the team.' },
    END_USER: { value: 'endUser', description: 'End user of the client application.' },
    TAG: { value: 'tag', description: 'Tag. A call with several tags counts in the group of each.' },
    MODEL: { value: 'model', description: 'Upstream model, as `provider/name`.' },
    MODEL_GROUP: { value: 'modelGroup', description: 'Public model name.' },
    PROVIDER: { value: 'provider', description: 'Provider.' },
    ENDPOINT: { value: 'callType', description: 'Endpoint, as a path.' },
    STATUS: { value: 'status', description: '`success` or `failure`.' },
  } as const,
});

const BucketType = builder.enumType('SpendBucket', {
  description: 'Length of a time bucket, in UTC.',
  values: {
    HOUR: { value: 'hour', description: 'One hour. Slower than DAY, because all calls of the period are read.' },
    DAY: { value: 'day', description: 'One day.' },
  } as const,
});

const GroupType = builder.objectRef<SpendGroup>('SpendGroup').implement({
  description: 'Sums of the calls that have the same values in the fields of the grouping.',
  fields: (t) => {
    const value = (field: keyof SpendGroup['values'], description: string) =>
      t.string({
        nullable: true,
        description: `${description} Null when \`groupBy\` does not name it, and for calls without a value.`,
        resolve: ({ values }) => values[field] ?? null,
      });
    return {
      start: t.field({
        type: 'DateTime',
        nullable: true,
        description: 'Start of the time bucket. Null without buckets.',
        resolve: ({ startMs }) => (startMs === null ? null : new Date(startMs)),
      }),
      key: value('key', 'Hash of the key.'),
      userId: value('user', 'User.'),
      teamId: value('team', 'Team.'),
      organizationId: value('organization', 'Organization.'),
      virtualKey: t.field({
        type: VirtualKeyType,
        nullable: true,
        description: 'The key. Null where `key` is null, for the admin key, and when the caller may not read it.',
        resolve: ({ values }, _args, { scope }) => (values.key ? scope.loaders.keyByHash.load(values.key) : null),
      }),
      user: t.field({
        type: UserType,
        nullable: true,
        description: 'The user. Null where `userId` is null, and when the caller may not read it.',
        resolve: ({ values }, _args, { scope }) => (values.user ? findUserRow(scope, values.user) : null),
      }),
      team: t.field({
        type: TeamType,
        nullable: true,
        description: 'The team. Null where `teamId` is null.',
        resolve: ({ values }) => teamOf(values.team ?? null),
      }),
      organization: t.field({
        type: OrganizationType,
        nullable: true,
        description: 'The organization. Null where `organizationId` is null, and when the caller may not read it.',
        resolve: ({ values }, _args, { scope }) =>
          values.organization ? findOrganizationRow(scope, values.organization) : null,
      }),
      endUser: value('endUser', 'End user.'),
      tag: value('tag', 'Tag.'),
      model: value('model', 'Upstream model.'),
      modelGroup: value('modelGroup', 'Public model name.'),
      provider: value('provider', 'Provider.'),
      status: value('status', 'Result.'),
      endpoint: t.string({
        nullable: true,
        description: 'Endpoint, as a path. Null unless `groupBy` names it.',
        resolve: ({ values }) => (values.callType ? routeOfCallType(values.callType) : null),
      }),
      calls: t.expose('calls', { type: 'BigInt', description: 'Number of calls.' }),
      failures: t.expose('failures', { type: 'BigInt', description: 'Number of calls that failed.' }),
      ...sumFields(t),
    };
  },
});

const SeriesType = builder.objectRef<SpendSeries>('SpendSeries').implement({
  description: 'Spend over time.',
  fields: (t) => ({
    from: t.expose('from', { type: 'DateTime', description: 'Start of the period.' }),
    to: t.expose('to', { type: 'DateTime', description: 'End of the period, exclusive.' }),
    isCapped: t.exposeBoolean('isCapped', {
      description: `Whether there are more than ${MAX_GROUPS} groups. The groups with the lowest cost are left out.`,
    }),
    groups: t.field({
      type: [GroupType],
      complexity: { field: 1, multiplier: USUAL_GROUPS },
      description:
        'The oldest bucket first, and within a bucket by descending cost. Buckets without calls are left out.',
      resolve: ({ groups }) => [...groups],
    }),
  }),
});

builder.queryFields((t) => ({
  spend: t.field({
    type: SeriesType,
    nullable: true,
    complexity: COUNT_COST,
    description:
      'Sums of calls by fields and time: all calls for administrators and keys with the permission `get_spend_routes`. Other keys need a user and see their own calls and those of the user.',
    args: {
      groupBy: t.arg({
        type: [FieldType],
        description: `Fields, at most ${MAX_GROUP_FIELDS}. One group for each bucket when absent.`,
      }),
      bucket: t.arg({ type: BucketType, description: 'One group over the whole period when absent.' }),
      filter: t.arg({ type: SpendFilterType, description: 'All calls of the last 30 days when absent.' }),
    },
    resolve: (_root, { groupBy, bucket, filter }, { scope }) =>
      readSpendSeries(scope, {
        by: groupBy ?? [],
        bucket: bucket ?? null,
        filter: { from: filter?.from ?? null, to: filter?.to ?? null, any: fieldValuesOf(filter) },
      }),
  }),
  spendRows: t.field({
    type: SpendRowConnectionType,
    nullable: true,
    complexity: spendPageCost,
    description:
      'Calls, newest first by default: all calls for administrators and keys with the permission `get_spend_routes`. Other keys need a user and see their own calls and those of the user. At most 100 a page.',
    args: {
      filter: t.arg({ type: SpendFilterType, description: 'All calls when absent, also older ones.' }),
      orderBy: t.arg({ type: SpendRowOrderType, description: 'Newest first when absent.' }),
      first: t.arg.int({ description: 'Page size, 1 to 100; 100 when absent.' }),
      after: t.arg.string({ description: 'Returns calls after this cursor.' }),
    },
    resolve: (_root, args, { scope }) => spendRowsOf(scope, args),
  }),
}));
