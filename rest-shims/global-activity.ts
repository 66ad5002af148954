import { readGlobalSpend, type SpendReport } from '../resolvers/spend.ts';
import { sumOfSpend } from '../src/domain/spend/daily-activity.ts';
import type { SpendGroup } from '../src/domain/spend/spend-reports.ts';
import { json, route, type RouteRow } from './helpers/http/route.ts';
import {
  requiredPeriod,
  validatedPeriod,
  queryParameters,
  groupsByDay,
  grouping,
  type ReportGrouping,
} from './helpers/fields/report-query.ts';
import { requiredParameters } from './helpers/http/schema.ts';
import { MANAGEMENT_READ } from './helpers/http/row-facts.ts';

const READING = {
  ...MANAGEMENT_READ,
  statuses: [200, 400, 401],
} as const;
const VALIDATING = { ...READING, statuses: [200, 400, 401, 422] } as const;

/** Error code of calls that a limit of the gateway refused: a rate limit, a budget or a cooldown. */
const LIMIT_ERROR = 'LIMIT_EXCEEDED';
/** Name of keys without an alias. */
const UNNAMED = 'Unnamed Key';

/** Created at the first use: the first object of `Intl` loads 5 MiB of locale data. */
let monthDay: Intl.DateTimeFormat | null = null;

/** A day as `Nov 22`. */
function shortDay(day: string): string {
  monthDay ??= new Intl.DateTimeFormat('en-US', { month: 'short', day: '2-digit', timeZone: 'UTC' });
  return monthDay.format(new Date(`${day}T00:00:00Z`));
}

const callsAndTokens = (groups: readonly SpendGroup[]) => {
  const { calls, inputTokens, outputTokens } = sumOfSpend(groups);
  return { calls, tokens: inputTokens + outputTokens };
};

/** Calls and tokens by day and in total. Each day also has the members of `dayMembers`. */
function renderCounts<Members extends object>(groups: readonly SpendGroup[], dayMembers: Members) {
  const all = callsAndTokens(groups);
  return {
    daily_data: groupsByDay(groups).map(([day, dayGroups]) => {
      const { calls, tokens } = callsAndTokens(dayGroups);
      return { ...dayMembers, date: shortDay(day), api_requests: calls, total_tokens: tokens };
    }),
    sum_api_requests: all.calls,
    sum_total_tokens: all.tokens,
  };
}

const renderModels = ({ groups }: SpendReport) =>
  [...Map.groupBy(groups, ({ values }) => values.modelGroup ?? '')]
    .toSorted(([, left], [, right]) => callsAndTokens(right).calls - callsAndTokens(left).calls)
    .map(([model, modelGroups]) => ({ model, ...renderCounts(modelGroups, { model_group: model }) }));

const renderExceptions = (groups: readonly SpendGroup[]) => ({
  daily_data: groupsByDay(groups).map(([day, dayGroups]) => ({
    date: shortDay(day),
    num_rate_limit_exceptions: callsAndTokens(dayGroups).calls,
  })),
  sum_num_rate_limit_exceptions: callsAndTokens(groups).calls,
});

/**
 * Grouping of the calls to a model group that were refused by a limit (`LIMIT_ERROR`). Throws InvalidInput for missing
 * parameters.
 */
const exceptionGrouping = (search: string, groupedBy: ReportGrouping) =>
  grouping(validatedPeriod(search, 'model_group'), {
    ...groupedBy,
    any: { modelGroup: [queryParameters(search)('model_group') ?? ''], errorCode: [LIMIT_ERROR] },
  });

const byCallType = (groups: readonly SpendGroup[]) => Map.groupBy(groups, ({ values }) => values.callType ?? '');

/** Sums of the calls that a cached answer answered. */
const sumOfHits = (groups: readonly SpendGroup[]) =>
  sumOfSpend(groups.filter(({ values }) => typeof values.cacheHit === 'string'));

/**
 * Calls and failures by call type. Here `api_requests` counts successful calls only, unlike in the other reports.
 * Cache hits are successful calls too.
 */
function renderCacheHits({ groups, keys }: SpendReport) {
  const types = [...byCallType(groups)].map(([type, callGroups]) => {
    const { calls, failures, outputTokens } = sumOfSpend(callGroups);
    const cached = sumOfHits(callGroups);
    return {
      call_type: type,
      api_requests: calls - failures,
      cache_hits: cached.calls,
      failed_requests: failures,
      cached_completion_tokens: cached.outputTokens,
      generated_completion_tokens: outputTokens - cached.outputTokens,
    };
  });
  const all = sumOfSpend(groups);
  const hits = sumOfHits(groups);
  const succeeded = all.calls - all.failures;
  const aliases = groups.map(({ values }) => keys.get(values.key ?? '')?.alias ?? UNNAMED);
  const errors = Map.groupBy(
    groups.filter(({ values }) => typeof values.errorCode === 'string'),
    ({ values }) => `${values.callType}\n${values.errorCode}`,
  );
  return {
    groups: types,
    totals: {
      api_requests: succeeded,
      cache_hits: hits.calls,
      failed_requests: all.failures,
      cached_completion_tokens: hits.outputTokens,
      cache_hit_ratio: succeeded === 0 ? 0 : hits.calls / succeeded,
    },
    filter_options: {
      key_aliases: [...new Set(aliases)],
      models: [...new Set(groups.flatMap(({ values }) => values.model ?? []))],
    },
    error_breakdown: [...errors.values()].map((errorGroups) => ({
      call_type: errorGroups[0]?.values.callType ?? '',
      error_code: errorGroups[0]?.values.errorCode ?? '',
      error_class: errorGroups[0]?.values.errorCode ?? '',
      count: sumOfSpend(errorGroups).calls,
    })),
  };
}

/** Reports over the calls of all keys, for callers that see all spend. */
export const globalActivityRoutes: readonly RouteRow[] = [
  route({
    ...READING,
    name: 'globalActivity.days',
    querySchema: requiredParameters('start_date', 'end_date'),
    paths: ['/global/activity'],
    parse: ({ search }) => grouping(requiredPeriod(search), { by: [], byDay: true }),
    run: readGlobalSpend,
    render: ({ groups }) => json(renderCounts(groups, {})),
  }),
  route({
    ...READING,
    name: 'globalActivity.models',
    querySchema: requiredParameters('start_date', 'end_date'),
    paths: ['/global/activity/model'],
    parse: ({ search }) => grouping(requiredPeriod(search), { by: ['modelGroup'], byDay: true }),
    run: readGlobalSpend,
    render: (report) => json(renderModels(report)),
  }),
  route({
    ...VALIDATING,
    name: 'globalActivity.exceptions',
    querySchema: requiredParameters('start_date', 'end_date', 'model_group'),
    paths: ['/global/activity/exceptions'],
    parse: ({ search }) => exceptionGrouping(search, { by: [], byDay: true }),
    run: readGlobalSpend,
    render: ({ groups }) => json(renderExceptions(groups)),
  }),
  route({
    ...VALIDATING,
    name: 'globalActivity.exceptionsByDeployment',
    querySchema: requiredParameters('start_date', 'end_date', 'model_group'),
    paths: ['/global/activity/exceptions/deployment'],
    parse: ({ search }) => exceptionGrouping(search, { by: ['deployment'], byDay: true }),
    run: readGlobalSpend,
    render: ({ groups }) =>
      json(
        [...Map.groupBy(groups, ({ values }) => values.deployment ?? '')].map(([deployment, deploymentGroups]) => ({
          api_base: deployment,
          ...renderExceptions(deploymentGroups),
        })),
      ),
  }),
  route({
    ...VALIDATING,
    name: 'globalActivity.cacheHits',
    querySchema: requiredParameters('start_date', 'end_date'),
    paths: ['/global/activity/cache_hits'],
    parse: ({ search }) =>
      grouping(validatedPeriod(search), { by: ['callType', 'key', 'model', 'errorCode', 'cacheHit'] }),
    run: readGlobalSpend,
    render: (report) => json(renderCacheHits(report)),
  }),
];
