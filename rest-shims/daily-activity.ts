import { type Activity, type ActivityQuery, readDailyActivity } from '../resolvers/daily-activity.ts';
import { routeOfCallType } from '../src/domain/inference/call-route.ts';
import { usdNumber } from '../src/domain/money.ts';
import { type ActivityEntity, type ActivityPart, type DayActivity, sumOf } from '../src/domain/spend/daily-activity.ts';
import { dayText } from '../src/domain/spend/report-dates.ts';
import type { ActivityNames } from '../resolvers/operation/activity-view.ts';
import type { FieldValues, SpendField, SpendSums } from '../src/domain/spend/spend-reports.ts';
import { integer, query } from './http/query.ts';
import { json, route, type RouteRow } from './http/route.ts';
import { listOf, RANGE_FAULT, requiredPeriod } from './spend-dates.ts';
import { type JsonSchema, merged, textParameters } from './http/schema.ts';

export const ACTIVITY_READING = {
  method: 'GET',
  surface: 'management',
  category: null,
  credential: 'required',
  bodyLimit: 0,
  failures: { body: 'detail' },
} as const;

/** Statuses of a row about an entity: only the teams of a user may be unknown, and some entities are for administrators only. */
export function answersOf({ entity }: Pick<ActivityRoute, 'entity'>): readonly number[] {
  if (entity === 'team') return [200, 400, 401, 404, 422];
  return entity === 'endUser' || entity === 'agent' ? [200, 400, 401, 422] : [200, 400, 401, 403, 422];
}

/** Name of calls without a value. */
const UNASSIGNED = 'Unassigned';
const MINUTE_MS = 60_000;
/** Maximum offset of a time zone, in minutes. */
const MOST_OFFSET = 1_440;
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

/** Facts about a key by its hash; a deleted or unknown one is marked as missing. */
export function keyMetadata(hash: string, { keys, emails }: ActivityNames) {
  const key = keys.get(hash);
  return {
    key_alias: key?.alias ?? null,
    team_id: key?.teamId ?? null,
    user_id: key?.userId ?? null,
    user_email: emails.get(key?.userId ?? '') ?? null,
    key_exists: key !== undefined && key.deletedAt === null,
  };
}

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

export interface ActivityRoute {
  readonly path: string;
  readonly entity: ActivityEntity;
  /** Parameter that names entities; `exclude_` before it leaves them out. */
  readonly parameter: string;
  readonly pageSize: number;
}

/** Kinds of owners of calls. */
export const ACTIVITY_ROUTES: readonly ActivityRoute[] = [
  { path: '/user', entity: 'user', parameter: 'user_id', pageSize: 50 },
  { path: '/team', entity: 'team', parameter: 'team_ids', pageSize: 10 },
  { path: '/tag', entity: 'tag', parameter: 'tags', pageSize: 10 },
  { path: '/organization', entity: 'organization', parameter: 'organization_ids', pageSize: 10 },
  { path: '/customer', entity: 'endUser', parameter: 'end_user_ids', pageSize: 10 },
  { path: '/agent', entity: 'agent', parameter: 'agent_ids', pageSize: 10 },
];

const timezone = integer({ least: -MOST_OFFSET, most: MOST_OFFSET, otherwise: 0 });

const pageReader = (pageSize: number) =>
  query({
    page: integer({ least: 1, otherwise: 1 }),
    page_size: integer({ least: 1, most: MOST_DAYS, otherwise: pageSize }),
    api_key_limit: integer({ least: 1, most: 1_000, otherwise: USUAL_KEYS }),
    timezone,
  });

const offsetReader = query({ timezone });

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

/** Parameters that all reports about an entity have. */
export const entitySchema = ({ parameter }: ActivityRoute): JsonSchema =>
  merged(textParameters('start_date', 'end_date', 'model', 'api_key', parameter, `exclude_${parameter}`), offsetReader);

/** The entity, the days and the filter of a query. Throws InvalidInput. */
export function parseEntity(search: string, { entity, parameter }: ActivityRoute) {
  const sent = offsetReader(search);
  // Minutes as browsers give them: positive west of Greenwich.
  const offsetMs = -Number(sent.timezone) * MINUTE_MS;
  const period = requiredPeriod(search, RANGE_FAULT);
  return {
    entity,
    filter: {
      from: new Date(period.from.getTime() - offsetMs),
      to: new Date(period.to.getTime() - offsetMs),
      any: fieldsIn(search, { model: 'model', api_key: 'key', [parameter]: entity }),
      none: fieldsIn(search, { [`exclude_${parameter}`]: entity }),
    },
    offsetMs,
  };
}

function parseActivity(search: string, facts: ActivityRoute, isWhole: boolean): PagedActivity {
  const sent = pageReader(facts.pageSize)(search);
  const [page, limit] = isWhole ? [1, MOST_DAYS] : [Number(sent.page), Number(sent.page_size)];
  return {
    ...parseEntity(search, facts),
    limit,
    from: Math.min((page - 1) * limit, Number.MAX_SAFE_INTEGER),
    page,
    keyLimit: isWhole ? Number(sent.api_key_limit) : null,
  };
}

function renderActivity(activity: Activity, asked: PagedActivity) {
  const { days, totalDays, totalKeys, names } = activity;
  const { page, limit, keyLimit, entity } = asked;
  const totalPages = Math.ceil(totalDays / limit);
  const hasEntities = keyLimit !== null && entity !== 'user';
  return {
    results: days.map((day) => renderDay(day, asked, names)),
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
