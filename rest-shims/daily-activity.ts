import { type Activity, type ActivityQuery, readDailyActivity } from '../resolvers/daily-activity.ts';
import { routeOfCallType } from '../src/domain/inference/call-route.ts';
import {
  type ActivityEntity,
  type ActivityPart,
  type DayActivity,
  sumOfSpend,
} from '../src/domain/spend/daily-activity.ts';
import { dayText } from '../src/domain/spend/report-dates.ts';
import type { ActivityNames } from '../resolvers/operation/activity-view.ts';
import type { SpendSums } from '../src/domain/spend/spend-reports.ts';
import { integer, query, rowsBefore } from './helpers/http/query.ts';
import { json, route, type RouteRow } from './helpers/http/route.ts';
import { merged } from './helpers/http/schema.ts';
import {
  ACTIVITY_READ,
  ACTIVITY_ROUTES,
  type ActivityRoute,
  activityStatuses,
  activitySchema,
  parseActivityFilter,
  TIMEZONE,
} from './helpers/fields/activity.ts';
import { activityMetrics, keyMetadata } from './helpers/answers/activity.ts';

/** Name that a breakdown gives to calls without a value, for example calls without a model. */
const UNASSIGNED = 'Unassigned';
const MAX_DAYS = 1_000;
/** Default number of keys in the breakdowns of an unpaged answer. */
const DEFAULT_KEYS = 100;

/** Metrics of unsupported features, which are always 0. */
const ZERO_SAVINGS = {
  flat_cost: 0,
  compression_saved_tokens: 0,
  compression_savings_spend: 0,
  prompt_caching_savings_spend: 0,
  gateway_injected_caching_savings_spend: 0,
  autorouter_savings_spend: 0,
} as const;

const metricsWithSavings = (sums: SpendSums): Readonly<Record<string, number>> => ({
  ...activityMetrics(sums),
  ...ZERO_SAVINGS,
  total_response_time_ms: sums.successMs,
  timed_requests: sums.calls - sums.failures,
});

const keyBreakdown = (byKey: ReadonlyMap<string, SpendSums>, names: ActivityNames) =>
  Object.fromEntries(
    [...byKey].map(([hash, sums]) => [hash, { metrics: metricsWithSavings(sums), metadata: keyMetadata(hash, names) }]),
  );

const breakdownOf = (
  parts: readonly ActivityPart[],
  names: ActivityNames,
  { nameOf = (name: string): string => name, metadataOf = (_name: string) => ({}) } = {},
) =>
  Object.fromEntries(
    parts.map(({ name, sums, byKey }) => [
      name === null ? UNASSIGNED : nameOf(name),
      {
        metrics: metricsWithSavings(sums),
        metadata: name === null ? {} : metadataOf(name),
        api_key_breakdown: keyBreakdown(byKey, names),
      },
    ]),
  );

/**
 * Alias of an entity, and email of a user. Unknown values of a user are null. For other entities without an alias, the
 * object is empty.
 */
function entityMetadata(entity: ActivityEntity, id: string, { aliases, emails }: ActivityNames) {
  const alias = aliases.get(id);
  if (entity === 'user') return { user_email: emails.get(id) ?? null, user_alias: alias ?? null };
  if (alias === undefined) return {};
  if (entity === 'endUser') return { alias };
  return entity === 'team' ? { team_alias: alias } : { organization_alias: alias };
}

const renderDay = (
  { startMs, sums, parts, entities, byKey }: DayActivity,
  activityQuery: PagedActivityQuery,
  names: ActivityNames,
) => ({
  // The day in the time zone of the query.
  date: dayText(startMs + activityQuery.offsetMs),
  metrics: metricsWithSavings(sums),
  breakdown: {
    mcp_servers: {},
    models: breakdownOf(parts.model, names),
    model_groups: breakdownOf(parts.modelGroup, names),
    providers: breakdownOf(parts.provider, names),
    endpoints: breakdownOf(parts.callType, names, { nameOf: routeOfCallType }),
    api_keys: keyBreakdown(byKey, names),
    // As in the reference, an unpaged answer about users has no breakdown by user.
    entities:
      activityQuery.entity === 'user' && isUnpaged(activityQuery)
        ? {}
        : breakdownOf(entities, names, { metadataOf: (id) => entityMetadata(activityQuery.entity, id, names) }),
  },
});

/** Totals over the days of the answer. Each name gets the prefix `total_`, unless it already has the prefix. */
const renderTotals = (sums: SpendSums): Record<string, number> =>
  Object.fromEntries(
    Object.entries(metricsWithSavings(sums)).map(([name, value]) => [
      name.startsWith('total_') ? name : `total_${name}`,
      value,
    ]),
  );

const pageReader = (pageSize: number) =>
  query({
    page: integer({ min: 1, defaultValue: 1 }),
    page_size: integer({ min: 1, max: MAX_DAYS, defaultValue: pageSize }),
    api_key_limit: integer({ min: 1, max: 1_000, defaultValue: DEFAULT_KEYS }),
    timezone: TIMEZONE,
  });

interface PagedActivityQuery extends ActivityQuery {
  readonly page: number;
}

/** Whether the answer to a query is unpaged. Only unpaged answers limit the number of keys. */
const isUnpaged = ({ keyLimit }: ActivityQuery): boolean => keyLimit !== null;

function parseActivity(search: string, facts: ActivityRoute, form: 'paged' | 'unpaged'): PagedActivityQuery {
  const parameters = pageReader(facts.pageSize)(search);
  const [page, limit] = form === 'unpaged' ? [1, MAX_DAYS] : [Number(parameters.page), Number(parameters.page_size)];
  return {
    ...parseActivityFilter(search, facts),
    limit,
    from: rowsBefore(page, limit),
    page,
    keyLimit: form === 'unpaged' ? Number(parameters.api_key_limit) : null,
  };
}

function renderActivity(activity: Activity, activityQuery: PagedActivityQuery) {
  const { days, totalDays, totalKeys, names } = activity;
  const { page, limit, keyLimit, entity } = activityQuery;
  const totalPages = Math.ceil(totalDays / limit);
  const hasKeysByEntity = isUnpaged(activityQuery) && entity !== 'user';
  return {
    results: days.map((day) => renderDay(day, activityQuery, names)),
    metadata: {
      ...renderTotals(sumOfSpend(days.map(({ sums }) => sums))),
      page,
      total_pages: totalPages,
      has_more: page < totalPages,
      api_key_limit: keyLimit,
      total_api_keys: keyLimit === null ? null : totalKeys,
      entity_total_api_keys: hasKeysByEntity ? Object.fromEntries(activity.keysByEntity) : null,
    },
  };
}

const activityRows = (facts: ActivityRoute): readonly RouteRow[] =>
  (['paged', 'unpaged'] as const).map((form) =>
    route({
      ...ACTIVITY_READ,
      name: `dailyActivity.${facts.entity}${form === 'unpaged' ? 'Whole' : ''}`,
      querySchema: merged(activitySchema(facts), pageReader(facts.pageSize)),
      paths: [`${facts.path}/daily/activity${form === 'unpaged' ? '/aggregated' : ''}`],
      statuses: activityStatuses(facts),
      parse: ({ search }) => parseActivity(search, facts, form),
      run: readDailyActivity,
      render: (activity, { search }) => json(renderActivity(activity, parseActivity(search, facts, form))),
    }),
  );

/** Daily activity with breakdowns by model, provider, key and entity. */
export const dailyActivityRoutes: readonly RouteRow[] = ACTIVITY_ROUTES.flatMap(activityRows);
