import { type Activity, type ActivityQuery, readDailyActivity } from '../resolvers/daily-activity.ts';
import { routeOfCallType } from '../src/domain/inference/call-route.ts';
import { type ActivityEntity, type ActivityPart, type DayActivity, sumOf } from '../src/domain/spend/daily-activity.ts';
import { dayText } from '../src/domain/spend/report-dates.ts';
import type { ActivityNames } from '../resolvers/operation/activity-view.ts';
import type { SpendSums } from '../src/domain/spend/spend-reports.ts';
import { integer, query, rowsBefore } from './helpers/http/query.ts';
import { json, route, type RouteRow } from './helpers/http/route.ts';
import { merged } from './helpers/http/schema.ts';
import {
  ACTIVITY_READING,
  ACTIVITY_ROUTES,
  type ActivityRoute,
  answersOf,
  entitySchema,
  parseEntity,
  TIMEZONE,
} from './helpers/fields/activity.ts';
import { countsOf, keyMetadata } from './helpers/answers/activity.ts';

/** Name of calls without a value. */
const UNASSIGNED = 'Unassigned';
const MOST_DAYS = 1_000;
/** Default number of keys in the breakdowns of an answer without pages. */
const USUAL_KEYS = 100;

/** Savings and flat costs that this gateway has no features for: always zero. */
const NO_SAVINGS = {
  flat_cost: 0,
  compression_saved_tokens: 0,
  compression_savings_spend: 0,
  prompt_caching_savings_spend: 0,
  gateway_injected_caching_savings_spend: 0,
  autorouter_savings_spend: 0,
} as const;

const metricsOf = (sums: SpendSums): Readonly<Record<string, number>> => ({
  ...countsOf(sums),
  ...NO_SAVINGS,
  total_response_time_ms: sums.successMs,
  timed_requests: sums.calls - sums.failures,
});

const keyParts = (byKey: ReadonlyMap<string, SpendSums>, names: ActivityNames) =>
  Object.fromEntries(
    [...byKey].map(([hash, sums]) => [hash, { metrics: metricsOf(sums), metadata: keyMetadata(hash, names) }]),
  );

const partsOf = (
  parts: readonly ActivityPart[],
  names: ActivityNames,
  { nameOf = (name: string): string => name, metadataOf = (_name: string) => ({}) } = {},
) =>
  Object.fromEntries(
    parts.map(({ name, sums, byKey }) => [
      name === null ? UNASSIGNED : nameOf(name),
      {
        metrics: metricsOf(sums),
        metadata: name === null ? {} : metadataOf(name),
        api_key_breakdown: keyParts(byKey, names),
      },
    ]),
  );

/** Facts about an entity; empty where it has no row. */
function entityMetadata(entity: ActivityEntity, id: string, { aliases, emails }: ActivityNames) {
  const alias = aliases.get(id);
  if (entity === 'user') return { user_email: emails.get(id) ?? null, user_alias: alias ?? null };
  if (alias === undefined) return {};
  if (entity === 'endUser') return { alias };
  return entity === 'team' ? { team_alias: alias } : { organization_alias: alias };
}

const renderDay = (
  { startMs, sums, parts, entities, byKey }: DayActivity,
  { entity, offsetMs, keyLimit }: PagedActivity,
  names: ActivityNames,
) => ({
  date: dayText(startMs + offsetMs),
  metrics: metricsOf(sums),
  breakdown: {
    mcp_servers: {},
    models: partsOf(parts.model, names),
    model_groups: partsOf(parts.modelGroup, names),
    providers: partsOf(parts.provider, names),
    endpoints: partsOf(parts.callType, names, { nameOf: routeOfCallType }),
    api_keys: keyParts(byKey, names),
    // A whole answer about users has no part for each user, as in the reference.
    entities:
      entity === 'user' && keyLimit !== null
        ? {}
        : partsOf(entities, names, { metadataOf: (id) => entityMetadata(entity, id, names) }),
  },
});

/** Names of the totals: `total_` and the metric. Two metrics have that prefix already. */
const totalsOf = (sums: SpendSums): Record<string, number> =>
  Object.fromEntries(
    Object.entries(metricsOf(sums)).map(([name, value]) => [name.startsWith('total_') ? name : `total_${name}`, value]),
  );

const pageReader = (pageSize: number) =>
  query({
    page: integer({ least: 1, otherwise: 1 }),
    page_size: integer({ least: 1, most: MOST_DAYS, otherwise: pageSize }),
    api_key_limit: integer({ least: 1, most: 1_000, otherwise: USUAL_KEYS }),
    timezone: TIMEZONE,
  });

interface PagedActivity extends ActivityQuery {
  readonly page: number;
}

function parseActivity(search: string, facts: ActivityRoute, isWhole: boolean): PagedActivity {
  const parameters = pageReader(facts.pageSize)(search);
  const [page, limit] = isWhole ? [1, MOST_DAYS] : [Number(parameters.page), Number(parameters.page_size)];
  return {
    ...parseEntity(search, facts),
    limit,
    from: rowsBefore(page, limit),
    page,
    keyLimit: isWhole ? Number(parameters.api_key_limit) : null,
  };
}

function renderActivity(activity: Activity, request: PagedActivity) {
  const { days, totalDays, totalKeys, names } = activity;
  const { page, limit, keyLimit, entity } = request;
  const totalPages = Math.ceil(totalDays / limit);
  const hasEntities = keyLimit !== null && entity !== 'user';
  return {
    results: days.map((day) => renderDay(day, request, names)),
    metadata: {
      ...totalsOf(sumOf(days.map(({ sums }) => sums))),
      page,
      total_pages: totalPages,
      has_more: page < totalPages,
      api_key_limit: keyLimit,
      total_api_keys: keyLimit === null ? null : totalKeys,
      entity_total_api_keys: hasEntities ? Object.fromEntries(activity.keysByEntity) : null,
    },
  };
}

const activityRows = (facts: ActivityRoute): readonly RouteRow[] =>
  [false, true].map((isWhole) =>
    route({
      ...ACTIVITY_READING,
      name: `dailyActivity.${facts.entity}${isWhole ? 'Whole' : ''}`,
      query: merged(entitySchema(facts), pageReader(facts.pageSize)),
      paths: [`${facts.path}/daily/activity${isWhole ? '/aggregated' : ''}`],
      answers: answersOf(facts),
      parse: ({ search }) => parseActivity(search, facts, isWhole),
      run: readDailyActivity,
      render: (activity, { search }) => json(renderActivity(activity, parseActivity(search, facts, isWhole))),
    }),
  );

/** Calls by day with breakdowns. */
export const dailyActivityRoutes: readonly RouteRow[] = ACTIVITY_ROUTES.flatMap(activityRows);
