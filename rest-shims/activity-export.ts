import { type ActivityExport, type ActivityExportQuery, readActivityTable } from '../resolvers/daily-activity.ts';
import { InvalidInput } from '../src/domain/errors.ts';
import { usdNumber } from '../src/domain/money.ts';
import type { SpendGroup } from '../src/domain/spend/spend-reports.ts';
import { dayText } from '../src/domain/spend/report-dates.ts';
import {
  ACTIVITY_READ,
  ACTIVITY_ROUTES,
  type ActivityRoute,
  activityStatuses,
  parseActivityFilter,
  activitySchema,
} from './helpers/fields/activity.ts';
import { type Cell, csvOf } from './helpers/http/csv.ts';
import { type HttpAnswer, json, route, type RouteRow } from './helpers/http/route.ts';
import { queryParameters } from './helpers/fields/report-query.ts';
import { merged, objectSchema } from './helpers/http/schema.ts';

/** The third grouping field, by the value of `export_type`. Rows are always grouped by day and entity. */
const TYPES = {
  daily: null,
  daily_with_keys: 'key',
  daily_with_models: 'model',
  daily_with_users: 'user',
} as const satisfies Readonly<Record<string, ActivityExportQuery['by']>>;
const FORMATS = { csv: 'csv', json: 'json' } as const;

/** Value of a query parameter. `values` maps the accepted texts to values. Throws InvalidInput for other texts. */
function choiceIn<Value>(
  search: string,
  name: string,
  values: Readonly<Record<string, Value>>,
  defaultValue: string,
): Value | undefined {
  const value = queryParameters(search)(name) ?? defaultValue;
  if (Object.hasOwn(values, value)) return values[value];
  const names = Object.keys(values).map((one) => `'${one}'`);
  const message = `Input should be ${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;
  throw new InvalidInput('The query is not valid.', [{ path: ['query', name], rule: 'enum', message }]);
}

const parseExport = (search: string, facts: ActivityRoute): ActivityExportQuery => ({
  by: choiceIn(search, 'export_type', TYPES, 'daily') ?? null,
  ...parseActivityFilter(search, facts),
});

function rowOf(
  group: SpendGroup,
  { entity, by, offsetMs }: ActivityExportQuery,
  { keys, emails, aliases }: ActivityExport['names'],
) {
  const { values } = group;
  const id = values[entity] ?? '';
  const key = by === 'key' ? keys.get(values.key ?? '') : undefined;
  const user = by === 'user' ? (values.user ?? '') : (key?.userId ?? null);
  return {
    date: dayText((group.startMs ?? 0) + (offsetMs ?? 0)),
    entity_id: id,
    entity_alias:
      entity === 'team' || entity === 'organization' || entity === 'endUser' ? (aliases.get(id) ?? null) : null,
    api_key: by === 'key' ? (values.key ?? '') : null,
    key_alias: key?.alias ?? null,
    user_id: user,
    user_email: user === null ? null : (emails.get(user) ?? null),
    model: by === 'model' ? (values.model ?? '') : null,
    spend: usdNumber(group.cost),
    flat_cost: 0,
    prompt_tokens: group.inputTokens,
    completion_tokens: group.outputTokens,
    api_requests: group.calls,
    successful_requests: group.calls - group.failures,
    failed_requests: group.failures,
    cache_read_input_tokens: group.cacheReadTokens,
    cache_creation_input_tokens: group.cacheWriteTokens,
  } satisfies Readonly<Record<(typeof COLUMNS)[number], Cell>>;
}

/** Columns of the CSV table, in order. */
const COLUMNS = [
  'date',
  'entity_id',
  'entity_alias',
  'api_key',
  'key_alias',
  'user_id',
  'user_email',
  'model',
  'spend',
  'flat_cost',
  'prompt_tokens',
  'completion_tokens',
  'api_requests',
  'successful_requests',
  'failed_requests',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
] as const;

/** Sort key of a group: day (oldest first), entity, third grouping field. Padding makes the texts sort as numbers. */
const sortKey = ({ startMs, values }: SpendGroup): string =>
  JSON.stringify([String(startMs).padStart(16, '0'), ...Object.values(values).map((value) => value ?? '')]);

function render({ groups, names }: ActivityExport, search: string, facts: ActivityRoute): HttpAnswer {
  const query = parseExport(search, facts);
  const rows = groups
    .toSorted((left, right) => (sortKey(left) < sortKey(right) ? -1 : 1))
    .map((group) => rowOf(group, query, names));
  const headers = { 'cache-control': 'no-store' };
  if (choiceIn(search, 'format', FORMATS, 'csv') === 'json') return json(rows, headers);
  const bytes = Buffer.from(csvOf(COLUMNS, rows));
  return { headers, body: { kind: 'bytes', bytes, contentType: 'text/csv; charset=utf-8' } };
}

/** Downloads of daily activity by user, team and other entities, as CSV or JSON. */
export const activityExportRoutes: readonly RouteRow[] = ACTIVITY_ROUTES.map((facts) =>
  route({
    ...ACTIVITY_READ,
    name: `dailyActivity.${facts.entity}Export`,
    querySchema: merged(
      activitySchema(facts),
      objectSchema({ format: { enum: Object.keys(FORMATS) }, export_type: { enum: Object.keys(TYPES) } }),
    ),
    paths: [`${facts.path}/daily/activity/export`],
    statuses: activityStatuses(facts),
    parse({ search }) {
      // Throws InvalidInput for an invalid `format` before the table is read. `render` uses the value.
      choiceIn(search, 'format', FORMATS, 'csv');
      return parseExport(search, facts);
    },
    run: readActivityTable,
    render: (table, { search }) => render(table, search, facts),
  }),
);
