import { type Activity, type ActivityQuery, readDailyActivity } from '../resolvers/daily-activity.ts';
import { routeOfCallType } from '../src/domain/inference/call-route.ts';
import { usdNumber } from '../src/domain/money.ts';
import { type ActivityEntity, type ActivityPart, type DayActivity, sumOf } from '../src/domain/spend/daily-activity.ts';
import { dayText } from '../src/domain/spend/report-dates.ts';
import type { FieldValues, SpendField, SpendSums } from '../src/domain/spend/spend-reports.ts';
import { integer, query } from './http/query.ts';
import { json, route, type RouteRow } from './http/route.ts';
import { listOf, RANGE_FAULT, requiredPeriod } from './spend-dates.ts';

const READING = {
  method: 'GET',
  surface: 'management',
  category: null,
  credential: 'required',
  bodyLimit: 0,
} as const;

/** Name of calls without a value. */
const UNASSIGNED = 'Unassigned';
const MINUTE_MS = 60_000;
/** Widest offset of a time zone, in minutes. */
const MOST_OFFSET = 1_440;
const MOST_DAYS = 1_000;

/** Savings and flat costs that this gateway has no features for: always zero. */
const NO_SAVINGS = {
  flat_cost: 0,
  compression_saved_tokens: 0,
  compression_savings_spend: 0,
  prompt_caching_savings_spend: 0,
  gateway_injected_caching_savings_spend: 0,
  autorouter_savings_spend: 0,
} as const;

const metricsOf = (sums: SpendSums): Record<string, number> => ({
  spend: usdNumber(sums.cost),
  prompt_tokens: sums.inputTokens,
  completion_tokens: sums.outputTokens,
  cache_read_input_tokens: sums.cacheReadTokens,
  cache_creation_input_tokens: sums.cacheWriteTokens,
  ...NO_SAVINGS,
  total_tokens: sums.inputTokens + sums.outputTokens,
  successful_requests: sums.calls - sums.failures,
  failed_requests: sums.failures,
  api_requests: sums.calls,
  total_response_time_ms: sums.successMs,
  timed_requests: sums.calls - sums.failures,
});

type Keys = Activity['keys'];

function keyParts(byKey: ReadonlyMap<string, SpendSums>, keys: Keys): object {
  const parts = [...byKey].map(([hash, sums]) => {
    const key = keys.get(hash);
    const metadata = {
      key_alias: key?.alias ?? null,
      team_id: key?.teamId ?? null,
      user_id: key?.userId ?? null,
      user_email: null,
      key_exists: key !== undefined && key.deletedAt === null,
    };
    return [hash, { metrics: metricsOf(sums), metadata }] as const;
  });
  return Object.fromEntries(parts);
}

const partsOf = (parts: readonly ActivityPart[], keys: Keys, nameOf = (name: string): string => name): object =>
  Object.fromEntries(
    parts.map(({ name, sums, byKey }) => [
      name === null ? UNASSIGNED : nameOf(name),
      { metrics: metricsOf(sums), metadata: {}, api_key_breakdown: keyParts(byKey, keys) },
    ]),
  );

const renderDay = ({ startMs, sums, parts, entities, byKey }: DayActivity, keys: Keys, offsetMs: number): object => ({
  date: dayText(startMs + offsetMs),
  metrics: metricsOf(sums),
  breakdown: {
    mcp_servers: {},
    models: partsOf(parts.model, keys),
    model_groups: partsOf(parts.modelGroup, keys),
    providers: partsOf(parts.provider, keys),
    endpoints: partsOf(parts.callType, keys, routeOfCallType),
    api_keys: keyParts(byKey, keys),
    entities: partsOf(entities, keys),
  },
});

/** Names of the totals: `total_` and the metric, but for two that begin so. */
const totalsOf = (sums: SpendSums): Record<string, number> =>
  Object.fromEntries(
    Object.entries(metricsOf(sums)).map(([name, value]) => [name.startsWith('total_') ? name : `total_${name}`, value]),
  );

interface ActivityRoute {
  readonly path: string;
  readonly entity: ActivityEntity;
  /** Parameter that names entities; `exclude_` before it leaves them out. */
  readonly parameter: string;
  readonly pageSize: number;
}

const pageReader = (pageSize: number) =>
  query({
    page: integer({ least: 1, otherwise: 1 }),
    page_size: integer({ least: 1, most: MOST_DAYS, otherwise: pageSize }),
    timezone: integer({ least: -MOST_OFFSET, most: MOST_OFFSET, otherwise: 0 }),
  });

interface PagedActivity extends ActivityQuery {
  readonly page: number;
}

function fieldsIn(search: string, parameters: Readonly<Record<string, SpendField>>): FieldValues {
  const named = Object.entries(parameters).flatMap(([parameter, field]) => {
    const values = listOf(search, parameter);
    return values === undefined ? [] : [[field, values] as const];
  });
  return Object.fromEntries(named);
}

function parseActivity(
  search: string,
  { entity, parameter, pageSize }: ActivityRoute,
  isWhole: boolean,
): PagedActivity {
  const sent = pageReader(pageSize)(search);
  // Minutes as browsers give them: positive west of Greenwich.
  const offsetMs = -Number(sent.timezone) * MINUTE_MS;
  const period = requiredPeriod(search, RANGE_FAULT);
  const [page, limit] = isWhole ? [1, MOST_DAYS] : [Number(sent.page), Number(sent.page_size)];
  return {
    entity,
    filter: {
      from: new Date(period.from.getTime() - offsetMs),
      to: new Date(period.to.getTime() - offsetMs),
      any: fieldsIn(search, { model: 'model', api_key: 'key', [parameter]: entity }),
      none: fieldsIn(search, { [`exclude_${parameter}`]: entity }),
    },
    offsetMs,
    limit,
    from: Math.min((page - 1) * limit, Number.MAX_SAFE_INTEGER),
    page,
  };
}

function renderActivity({ days, totalDays, keys }: Activity, { page, limit, offsetMs }: PagedActivity): object {
  const totalPages = Math.ceil(totalDays / limit);
  return {
    results: days.map((day) => renderDay(day, keys, offsetMs)),
    metadata: {
      ...totalsOf(sumOf(days.map(({ sums }) => sums))),
      page,
      total_pages: totalPages,
      has_more: page < totalPages,
      api_key_limit: null,
      total_api_keys: null,
      entity_total_api_keys: null,
    },
  };
}

const activityRows = (facts: ActivityRoute): readonly RouteRow[] =>
  [false, true].map((isWhole) =>
    route({
      ...READING,
      name: `dailyActivity.${facts.entity}${isWhole ? 'Whole' : ''}`,
      paths: [`${facts.path}/daily/activity${isWhole ? '/aggregated' : ''}`],
      answers: [200, 400, 401, 403, 422],
      parse: ({ search }) => parseActivity(search, facts, isWhole),
      run: readDailyActivity,
      render: (activity, { search }) => json(renderActivity(activity, parseActivity(search, facts, isWhole))),
    }),
  );

/** Calls by day with breakdowns. */
export const dailyActivityRoutes: readonly RouteRow[] = [
  ...activityRows({ path: '/user', entity: 'user', parameter: 'user_id', pageSize: 50 }),
  ...activityRows({ path: '/team', entity: 'team', parameter: 'team_ids', pageSize: 10 }),
  ...activityRows({ path: '/tag', entity: 'tag', parameter: 'tags', pageSize: 10 }),
  ...activityRows({ path: '/customer', entity: 'endUser', parameter: 'end_user_ids', pageSize: 10 }),
];
