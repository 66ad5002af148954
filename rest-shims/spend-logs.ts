import { listKeys } from '../resolvers/keys.ts';
import { type GroupingRequest, findSpendContent, listSpend, readSpend, type SpendQuery } from '../resolvers/spend.ts';
import { InvalidInput } from '../src/domain/errors.ts';
import { usdFrom, usdNumber } from '../src/domain/money.ts';
import { DAY_MS, sumOfSpend } from '../src/domain/spend/daily-activity.ts';
import { dayFrom, dayText, momentFrom, type Period } from '../src/domain/spend/report-dates.ts';
import { parseStructure } from '../src/domain/traces/conventions/conversation.ts';
import { type FieldValues, SPEND_SORTS, type SpendGroup } from '../src/domain/spend/spend-reports.ts';
import { integer, query, missingParameters, rowsBefore } from './helpers/http/query.ts';
import { json, route, type RouteRow } from './helpers/http/route.ts';
import { renderStored } from './helpers/answers/keys.ts';
import {
  listParameter,
  periodIn,
  requiredPeriod,
  queryParameters,
  MAX_REPORT_GROUPS,
  last30Days,
} from './helpers/fields/report-query.ts';
import { renderLog, renderLogItem } from './helpers/answers/spend-logs.ts';
import { merged, objectSchema, requiredParameters, textParameters } from './helpers/http/schema.ts';
import { MANAGEMENT_READ } from './helpers/http/row-facts.ts';

/** Maximum number of rows on a page, and in an unpaged list of the newest rows. */
const MAX_ROWS = 1_000;
const PAGE_SIZE = 50;
/** Maximum number of keys in the list by spend. */
const MAX_KEYS = 1_000;

const READING = {
  ...MANAGEMENT_READ,
  statuses: [200, 400, 401],
} as const;

const readPage = query({
  page: integer({ min: 1, defaultValue: 1 }),
  page_size: integer({ min: 1, max: MAX_ROWS, defaultValue: PAGE_SIZE }),
});

/** Fields of calls, by the parameter that filters by them. */
const FIELDS = {
  api_key: 'key',
  user_id: 'user',
  team_id: 'team',
  end_user: 'endUser',
  model: 'model',
  model_id: 'deployment',
  status_filter: 'status',
  error_code: 'errorCode',
} as const;

function fieldsIn(search: string): FieldValues {
  const parameter = queryParameters(search);
  const entries = Object.entries(FIELDS).flatMap(([name, field]) => {
    const value = parameter(name);
    return value === null ? [] : [[field, [value]] as const];
  });
  return Object.fromEntries(entries);
}

/** Filter by the ids that answers show: `request_id` and `session_id`. */
const idFilter = (search: string): Pick<SpendQuery['filter'], 'requestId' | 'sessionId'> => {
  const parameter = queryParameters(search);
  const [requestId, sessionId] = [parameter('request_id'), parameter('session_id')];
  return { ...(requestId === null ? {} : { requestId }), ...(sessionId === null ? {} : { sessionId }) };
};

const FILTERS = ['request_id', 'session_id', ...Object.keys(FIELDS)] as const;
const LOG_FILTER = textParameters('start_date', 'end_date', 'summarize', ...FILTERS);
const PAGED = merged(
  readPage,
  textParameters('key_alias', 'sort_by', 'sort_order', ...FILTERS),
  objectSchema({ min_spend: { type: 'number' }, max_spend: { type: 'number' } }),
);

type LogsRequest =
  | { readonly kind: 'rows'; readonly query: SpendQuery }
  | { readonly kind: 'days'; readonly grouping: GroupingRequest; readonly period: Period };

/** A request for sums by day if both dates are sent and `summarize` is not false, else for rows. */
function parseLogs(search: string): LogsRequest {
  const parameter = queryParameters(search);
  const hasBothDates = parameter('start_date') !== null && parameter('end_date') !== null;
  // `message` is for a missing date, which cannot occur here.
  const period = hasBothDates ? requiredPeriod(search, { field: 'log_date', message: '' }) : null;
  const filter = {
    from: period?.from ?? null,
    to: period?.to ?? null,
    any: fieldsIn(search),
    ...idFilter(search),
  };
  if (period !== null && parameter('summarize')?.toLowerCase() !== 'false')
    return {
      kind: 'days',
      period,
      grouping: {
        filter,
        by: ['key', 'user', 'model'],
        bucket: { ms: DAY_MS, offsetMs: 0 },
        limit: MAX_REPORT_GROUPS,
      },
    };
  return { kind: 'rows', query: { filter, sort: 'startTime', descending: true, limit: MAX_ROWS, from: 0 } };
}

/** Spend by the values of a field, in USD. */
const spendBy = (groups: readonly SpendGroup[], field: 'user' | 'model' | 'key'): Record<string, number> =>
  Object.fromEntries(
    [...Map.groupBy(groups, ({ values }) => values[field] ?? '')].map(([name, valueGroups]) => [
      name,
      usdNumber(sumOfSpend(valueGroups).cost),
    ]),
  );

/** Sums of a day. As in the reference, the spend of each key is a member of the day, named by the hash of the key. */
const renderDay = (day: string, groups: readonly SpendGroup[]) => ({
  ...spendBy(groups, 'key'),
  startTime: day,
  spend: usdNumber(sumOfSpend(groups).cost),
  users: spendBy(groups, 'user'),
  models: spendBy(groups, 'model'),
});

/** Days with calls, the earliest first. The last day of the period is always included. */
function renderDays(groups: readonly SpendGroup[], { to }: Period) {
  const last = dayText(to.getTime() - DAY_MS);
  const byDay = Map.groupBy(groups, ({ startMs }) => dayText(startMs ?? 0));
  const days = [...new Set([...byDay.keys(), last])].toSorted((left, right) => (left < right ? -1 : 1));
  return days.map((day) => renderDay(day, byDay.get(day) ?? []));
}

/** A time in UTC as `YYYY-MM-DD HH:MM:SS`, or the start of a day as `YYYY-MM-DD`. Throws InvalidInput. */
function requiredMoment(input: string): Date {
  const moment = momentFrom(input);
  if (moment !== null) return moment;
  const message = `Invalid date format: ${input.slice(0, 40)}. Expected: 'YYYY-MM-DD HH:MM:SS'`;
  throw new InvalidInput(message, [], { field: 'log_date' });
}

function parsePeriod(search: string): Period {
  const parameter = queryParameters(search);
  const [start, end] = [parameter('start_date'), parameter('end_date')];
  if (start === null || end === null)
    throw new InvalidInput('Start date and end date are required', [], { field: 'required_dates' });
  // `end_date` is inclusive: a time includes its second, and a day is included as a whole.
  const endMs = requiredMoment(end).getTime() + (dayFrom(end) === null ? 1_000 : DAY_MS);
  return { from: requiredMoment(start), to: new Date(endMs) };
}

function parseSort(search: string): Pick<SpendQuery, 'sort' | 'descending'> {
  const parameter = queryParameters(search);
  const column = parameter('sort_by') ?? 'startTime';
  const sort = SPEND_SORTS.find((name) => name === column);
  if (sort !== undefined) return { sort, descending: parameter('sort_order')?.toLowerCase() !== 'asc' };
  throw new InvalidInput(`Invalid sort column. Must be one of: ${SPEND_SORTS.join(', ')}`, [], { field: 'sort_by' });
}

function costFilter(search: string): Pick<SpendQuery['filter'], 'minCost' | 'maxCost'> {
  const parameter = queryParameters(search);
  const amountOf = (name: string) => {
    const input = parameter(name);
    const amount = input === null ? undefined : usdFrom(input);
    if (amount !== null) return amount;
    throw new InvalidInput('The query is not valid.', [
      { path: ['query', name], rule: 'float_parsing', message: 'Input should be a valid number' },
    ]);
  };
  const [minCost, maxCost] = [amountOf('min_spend'), amountOf('max_spend')];
  return { ...(minCost === undefined ? {} : { minCost }), ...(maxCost === undefined ? {} : { maxCost }) };
}

interface PagedQuery extends SpendQuery {
  readonly page: number;
}

function pagedQuery(search: string, period: Period | null): PagedQuery {
  const parameters = readPage(search);
  const [page, limit] = [Number(parameters.page), Number(parameters.page_size)];
  const keyAlias = queryParameters(search)('key_alias');
  return {
    filter: {
      from: period?.from ?? null,
      to: period?.to ?? null,
      any: fieldsIn(search),
      ...idFilter(search),
      ...costFilter(search),
      ...(keyAlias === null ? {} : { keyAlias }),
    },
    ...parseSort(search),
    limit,
    from: rowsBefore(page, limit),
    page,
  };
}

/** A page of rows with the counts that clients need for further pages. */
const renderPage = <Row>(search: string, total: number, data: readonly Row[]) => {
  const parameters = readPage(search);
  const size = Number(parameters.page_size);
  return { data, total, page: Number(parameters.page), page_size: size, total_pages: Math.ceil(total / size) };
};

function parseSession(search: string): PagedQuery {
  if (queryParameters(search)('session_id') !== null) return pagedQuery(search, null);
  throw missingParameters('session_id');
}

/**
 * The list or object that a stored text contains as JSON, else the text itself. An empty text gives an empty object.
 */
const storedValue = (text: string): unknown => (text === '' ? {} : (parseStructure(text) ?? text));

/** Grouping of the calls of the requested period. The default is the last 30 days. */
const groupingBy = (search: string, by: GroupingRequest['by'], any: FieldValues): GroupingRequest => ({
  filter: { ...(periodIn(search) ?? last30Days()), any },
  by,
  limit: MAX_REPORT_GROUPS,
});

/** Users with their spend. As in the reference, `[null]` if the requested user has no visible calls in the period. */
function renderUsers(groups: readonly SpendGroup[], userId: string | null) {
  const users = groups.flatMap(({ values, cost }) =>
    values.user === null || values.user === undefined ? [] : [{ user_id: values.user, spend: usdNumber(cost) }],
  );
  return userId !== null && users.length === 0 ? [null] : users;
}

/** Spend rows and sums of the calls that the caller may see. */
export const spendLogRoutes: readonly RouteRow[] = [
  route({
    ...READING,
    name: 'spend.logs',
    querySchema: LOG_FILTER,
    paths: ['/spend/logs'],
    parse: ({ search }) => parseLogs(search),
    run: async (scope, request) =>
      request.kind === 'rows'
        ? { kind: request.kind, list: await listSpend(scope, request.query) }
        : { ...request, report: await readSpend(scope, request.grouping) },
    render: (result) =>
      json(
        result.kind === 'rows'
          ? result.list.rows.map((row) => renderLog(row, result.list))
          : renderDays(result.report.groups, result.period),
      ),
  }),
  route({
    ...READING,
    name: 'spend.search',
    querySchema: merged(PAGED, requiredParameters('start_date', 'end_date')),
    paths: ['/spend/logs/v2', '/spend/logs/ui'],
    statuses: [200, 400, 401, 422],
    parse: ({ search }) => pagedQuery(search, parsePeriod(search)),
    run: listSpend,
    render: (list, { search }) =>
      json({
        ...renderPage(
          search,
          list.total,
          list.rows.map((row) => renderLogItem(row, list)),
        ),
        total_is_capped: list.isCapped,
      }),
  }),
  route({
    ...READING,
    name: 'spend.session',
    querySchema: merged(PAGED, requiredParameters('session_id')),
    paths: ['/spend/logs/session/ui'],
    statuses: [200, 400, 401, 422],
    parse: ({ search }) => parseSession(search),
    run: listSpend,
    render: (list, { search }) =>
      json(
        renderPage(
          search,
          list.total,
          list.rows.map((row) => renderLogItem(row, list)),
        ),
      ),
  }),
  route({
    ...READING,
    name: 'spend.content',
    paths: ['/spend/logs/ui/:id'],
    statuses: [200, 401],
    parse: ({ params }) => params['id'] ?? '',
    run: findSpendContent,
    render: (content) =>
      json(
        content === null
          ? null
          : { messages: storedValue(content.input), response: storedValue(content.output), proxy_server_request: {} },
      ),
  }),
  route({
    ...READING,
    name: 'spend.keys',
    paths: ['/spend/keys'],
    statuses: [200, 401],
    parse: () =>
      ({
        filter: { hash: null, alias: null, teamId: null, userId: null, blocked: null, status: null },
        sort: 'spend',
        descending: true,
        limit: MAX_KEYS,
        from: 0,
      }) as const,
    run: listKeys,
    render: ({ keys }) => json(keys.map((info) => ({ token: info.row.hash, ...renderStored(info) }))),
  }),
  route({
    ...READING,
    name: 'spend.users',
    querySchema: textParameters('start_date', 'end_date', 'user_id'),
    paths: ['/spend/users'],
    parse: ({ search }) => {
      const user = listParameter(search, 'user_id');
      return groupingBy(search, ['user'], user === undefined ? {} : { user });
    },
    run: readSpend,
    render: ({ groups }, { search }) => json(renderUsers(groups, queryParameters(search)('user_id'))),
  }),
  route({
    ...READING,
    name: 'spend.tags',
    querySchema: textParameters('start_date', 'end_date'),
    paths: ['/spend/tags'],
    parse: ({ search }) => groupingBy(search, ['tag'], {}),
    run: readSpend,
    render: ({ groups }) =>
      json(
        groups.map(({ values, calls, cost }) => ({
          individual_request_tag: values.tag ?? '',
          log_count: calls,
          total_spend: usdNumber(cost),
        })),
      ),
  }),
];
