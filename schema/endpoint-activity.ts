import { type EndpointActivity, type EndpointDay, readEndpointActivity } from '../resolvers/endpoint-activity.ts';
import type { SpendSums } from '../src/domain/spend/spend-reports.ts';
import { builder } from './base/builder.ts';
import { sumFields } from './base/shared-fields.ts';

/** Assumed number of days of a period, for the cost of a query. */
const USUAL_DAYS = 30;
/** Assumed number of endpoints, for the cost of a query. */
const USUAL_ENDPOINTS = 10;

const SumsType = builder.objectRef<SpendSums>('SpendSums').implement({
  description:
    'Sums over calls with a spend row. Requests that were refused before a model was called are not included.',
  fields: (t) => ({
    succeeded: t.field({
      type: 'BigInt',
      description: 'Calls that were answered completely.',
      resolve: ({ calls, failures }) => calls - failures,
    }),
    failed: t.expose('failures', { type: 'BigInt', description: 'Calls that failed.' }),
    ...sumFields(t),
  }),
});

const DayType = builder.objectRef<EndpointDay>('EndpointActivityDay').implement({
  description: 'Calls of one endpoint on one day.',
  fields: (t) => ({
    date: t.exposeString('day', { description: 'UTC day on which the calls began, `YYYY-MM-DD`.' }),
    sums: t.field({ type: SumsType, description: 'Sums of the day.', resolve: ({ sums }) => sums }),
  }),
});

const EndpointActivityType = builder.objectRef<EndpointActivity>('EndpointActivity').implement({
  description: 'Calls of one endpoint.',
  fields: (t) => ({
    endpoint: t.exposeString('endpoint', {
      description:
        'Path without a version, e.g. `/chat/completions`. For call types without an endpoint: the call type.',
    }),
    sums: t.field({ type: SumsType, description: 'Sums of the period.', resolve: ({ sums }) => sums }),
    lastSeenAt: t.expose('lastSeen', {
      type: 'DateTime',
      nullable: true,
      description: 'When the last call of the period ended. Null without calls.',
    }),
    series: t.field({
      type: [DayType],
      complexity: { field: 1, multiplier: USUAL_DAYS },
      description: 'By day, the oldest first. Days without calls are left out.',
      resolve: ({ days }) => days,
    }),
  }),
});

builder.queryField('endpointActivity', (t) =>
  t.field({
    type: [EndpointActivityType],
    nullable: true,
    complexity: { field: 1, multiplier: USUAL_ENDPOINTS },
    description:
      'Tokens, spend, successes and failures by endpoint, endpoints with the most calls first. Administrators and keys with the permission `get_spend_routes` see all calls. Other keys need a user and see their own calls and those of the user.',
    args: {
      startDate: t.arg.string({ description: 'First UTC day, `YYYY-MM-DD`. 30 days ago when absent.' }),
      endDate: t.arg.string({
        description: 'Last UTC day, included. Today when absent. A period has at most 366 days.',
      }),
    },
    resolve: (_root, { startDate, endDate }, { scope }) =>
      readEndpointActivity(scope, { start: startDate ?? null, end: endDate ?? null }),
  }),
);
