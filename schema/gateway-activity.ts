import {
  type ActivityUpdate,
  type GatewayActivity,
  getGatewayActivity,
  watchGatewayActivity,
} from '../resolvers/gateway-activity.ts';
import type { ActivityGroup } from '../src/domain/gateway-activity/gateway-activity.ts';
import { builder } from './base/builder.ts';
import { droppedUpdates } from './base/shared-fields.ts';

/** Assumed number of routes of one day, for the complexity of a query. */
const USUAL_ROUTES = 20;
/** Assumed number of days of a period, for the complexity of a query. */
const USUAL_DAYS = 30;

const CategoryType = builder.enumType('ActivityCategory', {
  description: 'Kind of inbound call.',
  values: {
    LLM: { value: 'llm', description: 'A model call, also one that passes through to a provider.' },
    MCP: { value: 'mcp', description: 'A call of a tool server.' },
    A2A: { value: 'a2a', description: 'A message to an agent.' },
  } as const,
});

const CountsType = builder.objectRef<ActivityGroup>('ActivityCounts').implement({
  description: 'Counts of ended requests with the same `date`, `category` and `route`, as far as these are not null.',
  fields: (t) => ({
    date: t.string({
      nullable: true,
      description: 'UTC day of the end of the answer, `YYYY-MM-DD`. Null in lists that are not by day.',
      resolve: ({ of }) => of.day,
    }),
    category: t.field({
      type: CategoryType,
      nullable: true,
      description: 'Kind of call. Null in lists that are not by category.',
      resolve: ({ of }) => of.category,
    }),
    route: t.string({
      nullable: true,
      description: 'Normalized path, e.g. `/chat/completions`. Null in lists that are not by route.',
      resolve: ({ of }) => of.route,
    }),
    succeeded: t.expose('succeeded', {
      type: 'BigInt',
      description: 'Requests answered with a status from 200 to 299.',
    }),
    failed: t.expose('failed', {
      type: 'BigInt',
      description: 'Requests answered with another status, or not answered.',
    }),
  }),
});

const GatewayActivityType = builder.objectRef<GatewayActivity>('GatewayActivity').implement({
  description:
    'Counts of inbound LLM, MCP and A2A requests that have ended. A request with retries or fallbacks counts once. Counts are stored every 10 seconds, or at the interval `proxy_batch_write_at`. Calls in GraphQL documents and over WebSockets are not counted here; `endpointActivity` has them.',
  fields: (t) => ({
    startDate: t.exposeString('from', { description: 'First UTC day, `YYYY-MM-DD`.' }),
    endDate: t.exposeString('to', { description: 'Last UTC day, included.' }),
    succeeded: t.expose('succeeded', {
      type: 'BigInt',
      description: 'Requests answered with a status from 200 to 299.',
    }),
    failed: t.expose('failed', {
      type: 'BigInt',
      description: 'Requests answered with another status, or not answered.',
    }),
    byDate: t.field({
      type: [CountsType],
      complexity: { field: 1, multiplier: USUAL_DAYS },
      description: 'By day, the oldest first. Days without requests are left out.',
      resolve: ({ byDate }) => byDate,
    }),
    byCategory: t.field({
      type: [CountsType],
      complexity: { field: 1, multiplier: 3 },
      description: 'By category.',
      resolve: ({ byCategory }) => byCategory,
    }),
    byRoute: t.field({
      type: [CountsType],
      complexity: { field: 1, multiplier: USUAL_ROUTES },
      description: 'By category and route, those with the most successes first.',
      resolve: ({ byRoute }) => byRoute,
    }),
    series: t.field({
      type: [CountsType],
      complexity: { field: 1, multiplier: USUAL_DAYS * USUAL_ROUTES },
      description: 'By day, category and route, the oldest first.',
      resolve: ({ series }) => series,
    }),
  }),
});

builder.queryField('gatewayActivity', (t) =>
  t.field({
    type: GatewayActivityType,
    nullable: true,
    description: 'Numbers of ended requests. For proxy administrators with full or read-only access.',
    args: {
      startDate: t.arg.string({ description: 'First UTC day, `YYYY-MM-DD`. 30 days ago when absent.' }),
      endDate: t.arg.string({
        description: 'Last UTC day, included. Today when absent. A period has at most 366 days.',
      }),
      categories: t.arg({ type: [CategoryType], description: 'Only these categories. All when absent.' }),
      routes: t.arg.stringList({ description: 'Only these routes. All when absent.' }),
    },
    resolve: (_root, { startDate, endDate, categories, routes }, { scope }) =>
      getGatewayActivity(scope, {
        start: startDate ?? null,
        end: endDate ?? null,
        ...(categories ? { categories } : {}),
        ...(routes ? { routes } : {}),
      }),
  }),
);

const UpdateType = builder.objectRef<ActivityUpdate>('GatewayActivityUpdate').implement({
  description: 'Requests that ended in one process since its last update.',
  fields: (t) => ({
    at: t.expose('at', { type: 'DateTime', description: 'When the counts were taken.' }),
    counts: t.field({
      type: [CountsType],
      complexity: { field: 1, multiplier: USUAL_ROUTES },
      description: 'By category and route.',
      resolve: ({ counts }) =>
        counts.map(({ category, route, succeeded, failed }) => ({ of: { category, route }, succeeded, failed })),
    }),
    ...droppedUpdates(t),
  }),
});

builder.subscriptionField('activity', (t) =>
  t.field({
    type: UpdateType,
    description:
      'Requests that ended in this process, at most one update a second. There is no update while no request ends. For proxy administrators with full or read-only access.',
    subscribe: (_root, _args, { scope }) => watchGatewayActivity(scope, undefined),
    resolve: (update) => update,
  }),
);
