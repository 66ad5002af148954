import {
  type GroupingRequest,
  checkSpendIsReadable,
  readCaptureRate,
  readGlobalSpend,
  type SpendReport,
} from '../resolvers/spend.ts';
import { resetAllSpend } from '../resolvers/spend-resets.ts';
import { InvalidInput } from '../src/domain/errors.ts';
import { type Usd, usdNumber } from '../src/domain/money.ts';
import { sumOfSpend } from '../src/domain/spend/daily-activity.ts';
import { type Period } from '../src/domain/spend/report-dates.ts';
import type { SpendField, SpendGroup, SpendSums } from '../src/domain/spend/spend-reports.ts';
import { text } from '../src/wire/json/fields.ts';
import { parseObject } from './helpers/http/body-fields.ts';
import { json, route, type RouteRow } from './helpers/http/route.ts';
import {
  periodIn,
  requiredPeriod,
  validatedPeriod,
  queryParameters,
  fieldsIn,
  MAX_REPORT_GROUPS,
  grouping,
  last30Days,
  groupsByDay,
  type ReportGrouping,
} from './helpers/fields/report-query.ts';
import { merged, objectSchema, requiredParameters, textParameters } from './helpers/http/schema.ts';
import { MANAGEMENT_READ } from './helpers/http/row-facts.ts';

const BODY_LIMIT = 64 * 1024;
/** Team name of calls without a team. */
const UNASSIGNED = 'Unassigned';

const ROW = {
  ...MANAGEMENT_READ,
  statuses: [200, 400, 401],
} as const;

const costUsd = ({ cost }: { readonly cost: Usd }): number => usdNumber(cost);
const totalUsd = (groups: readonly SpendSums[]): number => costUsd(sumOfSpend(groups));

const REQUIRED_DATES = requiredParameters('start_date', 'end_date');
const OPTIONAL_DATES = textParameters('start_date', 'end_date');

/** A route for a report over a period. */
function reportRoute(facts: {
  readonly name: string;
  readonly path: string;
  readonly groupedBy: ReportGrouping;
  /** Error field for a missing period. When absent, the period is optional and the default is the last 30 days. */
  readonly missingPeriodField?: 'date_range' | 'tag_dates';
  readonly parameters?: Readonly<Record<string, SpendField>>;
  /** Whether the parameter `limit` limits the number of groups. */
  readonly hasLimit?: boolean;
  readonly render: (report: SpendReport, search: string) => unknown;
}): RouteRow {
  const { name, path, groupedBy, missingPeriodField, parameters = {}, hasLimit = false, render } = facts;
  const periodOf = (search: string): Period =>
    missingPeriodField === undefined
      ? (periodIn(search) ?? last30Days())
      : requiredPeriod(search, { field: missingPeriodField, message: 'Please provide start_date and end_date' });
  return route({
    ...ROW,
    name,
    paths: [path],
    querySchema: merged(
      missingPeriodField ? REQUIRED_DATES : OPTIONAL_DATES,
      textParameters(...(hasLimit ? ['limit'] : []), ...Object.keys(parameters)),
    ),
    parse: ({ search }) => grouping(periodOf(search), { ...groupedBy, any: fieldsIn(search, parameters) }),
    run: readGlobalSpend,
    render: ({ groups, ...report }, { search }) =>
      json(render({ ...report, groups: hasLimit ? groups.slice(0, limitIn(search)) : groups }, search)),
  });
}

const limitIn = (search: string): number => {
  const limit = Number(queryParameters(search)('limit') ?? MAX_REPORT_GROUPS);
  return Number.isSafeInteger(limit) && limit > 0 ? limit : MAX_REPORT_GROUPS;
};

/** Spend of teams by day, and in total. */
function renderTeams({ groups }: SpendReport) {
  const teamOf = ({ values }: SpendGroup): string => values.team ?? UNASSIGNED;
  const sumsOf = (spendGroups: readonly SpendGroup[]): readonly (readonly [team: string, spend: number])[] =>
    [...Map.groupBy(spendGroups, teamOf)].map(([team, teamGroups]) => [team, totalUsd(teamGroups)]);
  const totals = sumsOf(groups);
  return {
    daily_spend: groupsByDay(groups).map(([date, dayGroups]) => ({ date, ...Object.fromEntries(sumsOf(dayGroups)) })),
    teams: totals.map(([team]) => team),
    total_spend_per_team: totals.map(([team, spend]) => ({ team_id: team, total_spend: spend })),
  };
}

const tagRows = ({ groups }: SpendReport) =>
  groups.map(({ values, calls, cost }) => ({ name: values.tag ?? '', spend: usdNumber(cost), log_count: calls }));

const endUserRows = ({ groups }: SpendReport) =>
  groups.map(({ values, calls, cost }) => ({
    end_user: values.endUser ?? '',
    total_count: calls,
    total_spend: usdNumber(cost),
  }));

/** Grouping by end user, for the period and key of a body. The default period is the last 30 days. */
function endUserGrouping(body: Uint8Array): GroupingRequest {
  const input = body.length === 0 ? {} : parseObject(body);
  const [start, end, key] = [text(input['startTime']), text(input['endTime']), text(input['api_key'])];
  // The first ten characters of a time are its date.
  const dates = new URLSearchParams({ start_date: start?.slice(0, 10) ?? '', end_date: end?.slice(0, 10) ?? '' });
  const any = key === null || key === '' ? {} : { key: [key] };
  return grouping(periodIn(dates.toString()) ?? last30Days(), { by: ['endUser'], any });
}

/**
 * Values of `group_by`: grouping field, member name of the list, and member name of the value in each item of the list.
 */
const GROUPS = {
  team: { field: 'team', list: 'teams', name: 'team_name' },
  customer: { field: 'endUser', list: 'customers', name: 'customer' },
  api_key: { field: 'key', list: 'keys', name: 'api_key' },
} as const;
type ReportGroup = keyof typeof GROUPS;

function groupIn(search: string): ReportGroup {
  const input = queryParameters(search)('group_by') ?? 'team';
  const group = (Object.keys(GROUPS) as ReportGroup[]).find((name) => name === input);
  if (group !== undefined) return group;
  const message = "Input should be 'team', 'customer' or 'api_key'";
  throw new InvalidInput('The query is not valid.', [{ path: ['query', 'group_by'], rule: 'literal_error', message }]);
}

/** Fields of calls, by the parameter that filters by them. */
const REPORT_FIELDS = { api_key: 'key', internal_user_id: 'user', team_id: 'team', customer_id: 'endUser' } as const;

/** Whether the query names a key or a user. The report of such a query has totals by key, and no days. */
const namesOneKeyOrUser = (search: string): boolean =>
  queryParameters(search)('api_key') !== null || queryParameters(search)('internal_user_id') !== null;

function parseReport(search: string): GroupingRequest {
  const { field } = GROUPS[groupIn(search)];
  const any = fieldsIn(search, REPORT_FIELDS);
  const period = requiredPeriod(search);
  return namesOneKeyOrUser(search)
    ? grouping(period, { by: ['key', 'model'], any })
    : grouping(period, { by: [...new Set([field, 'model', 'key'] as const)], any, byDay: true });
}

/** Totals of each value of a field, with a breakdown by model. `member` is the member name of the value. */
const renderTotals = (groups: readonly SpendGroup[], field: SpendField, member: string) =>
  [...Map.groupBy(groups, ({ values }) => values[field] ?? '')].map(([name, valueGroups]) => ({
    [member]: name,
    ...renderSums(sumOfSpend(valueGroups)),
    model_details: [...Map.groupBy(valueGroups, ({ values }) => values.model ?? '')].map(([model, modelGroups]) => ({
      model,
      ...renderSums(sumOfSpend(modelGroups)),
    })),
  }));

const renderSums = (sums: SpendSums) => ({
  total_cost: costUsd(sums),
  total_input_tokens: sums.inputTokens,
  total_output_tokens: sums.outputTokens,
});

function renderReport({ groups }: SpendReport, search: string) {
  if (namesOneKeyOrUser(search)) return renderTotals(groups, 'key', 'api_key');
  const { field, list, name } = GROUPS[groupIn(search)];
  return groupsByDay(groups).map(([day, dayGroups]) => ({
    group_by_day: `${day}T00:00:00+00:00`,
    [list]: [...Map.groupBy(dayGroups, ({ values }) => values[field] ?? '')].map(([value, valueGroups]) => ({
      [name]: value,
      total_spend: totalUsd(valueGroups),
      metadata: valueGroups.map((group) => ({
        model: group.values.model ?? '',
        spend: costUsd(group),
        total_tokens: group.inputTokens + group.outputTokens,
        api_key: group.values.key ?? '',
      })),
    })),
  }));
}

/** A report of totals by key, user, team or organization. `member` is the member name of its id in the answer. */
const totalsRoute = (path: 'key' | 'user' | 'team' | 'organization', parameter: string, member: string): RouteRow =>
  reportRoute({
    name: `spend.${path}Report`,
    path: `/${path}/spend/report`,
    groupedBy: { by: [path, 'model'] },
    missingPeriodField: 'date_range',
    parameters: { [parameter]: path },
    render: ({ groups }) => renderTotals(groups, path, member),
  });

/** Reports over the spend of all keys, for administrators. */
export const spendReportRoutes: readonly RouteRow[] = [
  reportRoute({
    name: 'spend.days',
    path: '/global/spend/logs',
    groupedBy: { by: [], byDay: true },
    parameters: { api_key: 'key' },
    render: ({ groups }, search) => {
      const key = queryParameters(search)('api_key');
      return groupsByDay(groups).map(([date, dayGroups]) => ({
        date,
        spend: totalUsd(dayGroups),
        ...(key === null ? {} : { api_key: key }),
      }));
    },
  }),
  reportRoute({
    name: 'spend.byKey',
    path: '/global/spend/keys',
    groupedBy: { by: ['key'] },
    hasLimit: true,
    render: ({ groups, keys }) =>
      groups.map(({ values, cost }) => {
        const key = keys.get(values.key ?? '');
        const names = { key_alias: key?.alias ?? null, key_name: key?.name ?? null };
        return { api_key: values.key ?? null, ...names, total_spend: usdNumber(cost) };
      }),
  }),
  reportRoute({
    name: 'spend.byTeam',
    path: '/global/spend/teams',
    groupedBy: { by: ['team'], byDay: true },
    render: renderTeams,
  }),
  reportRoute({
    name: 'spend.byModel',
    path: '/global/spend/models',
    groupedBy: { by: ['model'] },
    hasLimit: true,
    render: ({ groups }) =>
      groups.map(({ values, cost }) => ({ model: values.model ?? null, total_spend: usdNumber(cost) })),
  }),
  reportRoute({
    name: 'spend.byTag',
    path: '/global/spend/tags',
    groupedBy: { by: ['tag'] },
    missingPeriodField: 'tag_dates',
    parameters: { tags: 'tag' },
    render: (report) => ({ spend_per_tag: tagRows(report) }),
  }),
  reportRoute({
    name: 'spend.tagNames',
    path: '/global/spend/all_tag_names',
    groupedBy: { by: ['tag'] },
    render: ({ groups }) => ({ tag_names: groups.flatMap(({ values }) => values.tag ?? []) }),
  }),
  reportRoute({
    name: 'spend.byProvider',
    path: '/global/spend/provider',
    groupedBy: { by: ['provider'] },
    parameters: { api_key: 'key', internal_user_id: 'user', team_id: 'team' },
    render: ({ groups }) =>
      groups.map(({ values, cost }) => ({ provider: values.provider ?? null, spend: usdNumber(cost) })),
  }),
  reportRoute({
    name: 'spend.endUsers',
    path: '/global/all_end_users',
    groupedBy: { by: ['endUser'] },
    render: ({ groups }) => ({ end_users: groups.map(({ values }) => values.endUser ?? '') }),
  }),
  route({
    ...ROW,
    method: 'POST',
    name: 'spend.byEndUser',
    bodySchema: textParameters('startTime', 'endTime', 'api_key'),
    paths: ['/global/spend/end_users'],
    bodyLimit: BODY_LIMIT,
    statuses: [200, 400, 401, 422],
    parse: ({ body }) => endUserGrouping(body),
    run: readGlobalSpend,
    render: (report) => json(endUserRows(report)),
  }),
  route({
    ...ROW,
    name: 'spend.report',
    querySchema: merged(
      REQUIRED_DATES,
      objectSchema({ group_by: { enum: Object.keys(GROUPS) } }),
      textParameters(...Object.keys(REPORT_FIELDS)),
    ),
    paths: ['/global/spend/report'],
    statuses: [200, 400, 401, 422],
    parse: ({ search }) => parseReport(search),
    run: readGlobalSpend,
    render: (report, { search }) => json(renderReport(report, search)),
  }),
  totalsRoute('key', 'api_key', 'api_key'),
  totalsRoute('user', 'user_id', 'user_id'),
  totalsRoute('team', 'team_id', 'team_id'),
  totalsRoute('organization', 'organization_id', 'organization_id'),
  route({
    ...ROW,
    name: 'spend.captureRate',
    querySchema: REQUIRED_DATES,
    paths: ['/spend/capture_rate'],
    statuses: [200, 400, 401, 422],
    parse: ({ search }) => validatedPeriod(search),
    run: readCaptureRate,
    render: ({ calls, priced }) =>
      json({ total_requests: calls, captured_requests: priced, capture_rate: calls === 0 ? null : priced / calls }),
  }),
  route({
    ...ROW,
    method: 'POST',
    name: 'spend.reset',
    paths: ['/global/spend/reset'],
    statuses: [200, 401],
    bodyLimit: BODY_LIMIT,
    parse: () => undefined,
    run: resetAllSpend,
    render: () => json({ message: 'Spend for all API Keys and Teams reset successfully', status: 'success' }),
  }),
  route({
    ...ROW,
    method: 'POST',
    name: 'spend.refresh',
    paths: ['/global/spend/refresh'],
    statuses: [200, 401],
    bodyLimit: BODY_LIMIT,
    parse: () => undefined,
    // Waits until all ended calls are in the reports, unless the store is slow.
    run: checkSpendIsReadable,
    render: () => json(null),
  }),
];
