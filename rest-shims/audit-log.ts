import { type AuditPage, getAuditEntry, listAuditLog } from '../resolvers/audit-log.ts';
import {
  AUDIT_ACTIONS,
  AUDIT_NOUNS,
  type AuditEntry,
  type AuditFilter,
  type AuditNoun,
  type AuditSort,
} from '../src/domain/audit-log/audit-entry.ts';
import { InvalidInput } from '../src/domain/errors.ts';
import type { RowPage } from '../src/domain/row-store.ts';
import { utcTimeFrom } from '../src/domain/utc-time.ts';
import { integer, query, rowsBefore } from './helpers/http/query.ts';
import { json, route, type RouteRow } from './helpers/http/route.ts';
import { queryParameters } from './helpers/fields/report-query.ts';
import { merged, textParameters } from './helpers/http/schema.ts';
import { MANAGEMENT_READ } from './helpers/http/row-facts.ts';

/** Table names of the reference, by noun. For other nouns, the table name is the noun itself. */
const TABLES: Readonly<Partial<Record<AuditNoun, string>>> = {
  key: 'LiteLLM_VerificationToken',
  user: 'LiteLLM_UserTable',
  invitation: 'LiteLLM_InvitationLink',
  team: 'LiteLLM_TeamTable',
  team_member: 'LiteLLM_TeamMembership',
  organization: 'LiteLLM_OrganizationTable',
  organization_member: 'LiteLLM_OrganizationMembership',
  project: 'LiteLLM_ProjectTable',
  customer: 'LiteLLM_EndUserTable',
  budget: 'LiteLLM_BudgetTable',
  tag: 'LiteLLM_TagTable',
  token_mapping: 'LiteLLM_JWTKeyMapping',
  deployment: 'LiteLLM_ProxyModelTable',
  credential: 'LiteLLM_CredentialsTable',
};

/** `changed_by_api_key` of changes that no virtual key made: the reference's name of the master key. */
const MASTER_KEY = 'litellm_proxy_master_key';
const DAY_MS = 86_400_000;
const MAX_PAGE_SIZE = 100;

/** Sort columns, by the value of `sort_by`. An entry never changes, so `updated_at` is the time of its creation. */
const SORTS: Readonly<Record<string, AuditSort>> = {
  updated_at: 'created_at',
  changed_by: 'changed_by',
  action: 'action',
  table_name: 'noun',
  object_id: 'object_id',
};

const tableOf = (noun: AuditNoun): string => TABLES[noun] ?? noun;

const readPage = query({
  page: integer({ min: 1, defaultValue: 1 }),
  page_size: integer({ min: 1, max: MAX_PAGE_SIZE, defaultValue: 10 }),
});

const malformed = (name: string, message: string): InvalidInput =>
  new InvalidInput('The query is not valid.', [{ path: ['query', name], rule: 'value_error', message }]);

/** The choice that is `input`, or whose text is `input`. Null without input. Throws InvalidInput for other inputs. */
function parseChoice<Choice extends string>(
  input: string | null,
  name: string,
  choices: readonly Choice[],
  textOf: (choice: Choice) => string = (choice) => choice,
): Choice | null {
  if (input === null) return null;
  const match = choices.find((choice) => choice === input || textOf(choice) === input);
  if (match === undefined) throw malformed(name, `Input should be one of: ${choices.map(textOf).join(', ')}`);
  return match;
}

/**
 * Reads a day or a time in ISO 8601; null without input. A time without an offset is UTC. Throws InvalidInput for other
 * texts.
 */
function parseMoment(input: string | null, name: string): Date | null {
  if (input === null) return null;
  const moment = utcTimeFrom(input);
  if (moment === null)
    throw malformed(name, 'Input should be a day (YYYY-MM-DD) or a time in UTC (YYYY-MM-DD HH:MM:SS)');
  return moment;
}

/**
 * Exclusive end of a period; null without input. `end_date` is an inclusive day or time: the end is one day or 1 ms
 * later.
 */
function parseEnd(input: string | null): Date | null {
  const last = parseMoment(input, 'end_date');
  if (last === null) return null;
  const isDay = input?.length === 'YYYY-MM-DD'.length;
  return new Date(last.getTime() + (isDay ? DAY_MS : 1));
}

function parseFilter(search: string): AuditFilter {
  const parameter = queryParameters(search);
  const changedByKey = parameter('changed_by_api_key');
  return {
    changedBy: parameter('changed_by'),
    changedByKey: changedByKey === MASTER_KEY ? null : changedByKey,
    withoutKey: changedByKey === MASTER_KEY,
    action: parseChoice(parameter('action'), 'action', AUDIT_ACTIONS),
    noun: parseChoice(parameter('table_name'), 'table_name', AUDIT_NOUNS, tableOf),
    objectId: parameter('object_id'),
    teamId: parameter('object_team_id'),
    keyHash: parameter('object_key_hash'),
    from: parseMoment(parameter('start_date'), 'start_date'),
    to: parseEnd(parameter('end_date')),
  };
}

/** A requested page. Its `from` is the number of entries before the page; `filter.from` is a time. */
interface RequestedPage extends RowPage<AuditFilter, AuditSort> {
  readonly page: number;
}

function parsePage(search: string): RequestedPage {
  const { page, page_size: size } = readPage(search);
  const parameter = queryParameters(search);
  const sort = parseChoice(parameter('sort_by'), 'sort_by', Object.keys(SORTS)) ?? 'updated_at';
  return {
    filter: parseFilter(search),
    sort: SORTS[sort] ?? 'created_at',
    descending: parseChoice(parameter('sort_order'), 'sort_order', ['asc', 'desc']) !== 'asc',
    limit: Number(size),
    from: rowsBefore(Number(page), Number(size)),
    page: Number(page),
  };
}

const renderEntry = (entry: AuditEntry) => ({
  id: entry.id,
  updated_at: entry.createdAt.toISOString(),
  changed_by: entry.changedBy,
  actor: entry.actor,
  changed_by_api_key: entry.changedByKey ?? MASTER_KEY,
  action: entry.action,
  table_name: tableOf(entry.noun),
  object_id: entry.objectId,
  before_value: entry.before,
  updated_values: entry.after,
});

function renderPage({ entries, totalCount }: AuditPage, { page, limit }: RequestedPage) {
  return {
    audit_logs: entries.map(renderEntry),
    total: totalCount,
    page,
    page_size: limit,
    total_pages: Math.ceil(totalCount / limit),
  };
}

const READING = {
  ...MANAGEMENT_READ,
  failureForm: { body: 'detail' },
} as const;

/** Recorded changes of keys, users, models and other stored objects. */
export const auditLogRoutes: readonly RouteRow[] = [
  route({
    ...READING,
    name: 'auditLog.list',
    querySchema: merged(
      readPage,
      textParameters(
        'changed_by',
        'changed_by_api_key',
        'action',
        'table_name',
        'object_id',
        'object_team_id',
        'object_key_hash',
        'start_date',
        'end_date',
        'sort_by',
        'sort_order',
      ),
    ),
    paths: ['/audit'],
    statuses: [200, 401, 422],
    parse: ({ search }) => parsePage(search),
    run: listAuditLog,
    render: (page, { search }) => json(renderPage(page, parsePage(search))),
  }),
  route({
    ...READING,
    name: 'auditLog.get',
    paths: ['/audit/:id'],
    statuses: [200, 401, 404],
    parse: ({ params }) => ({ id: params['id'] ?? '' }),
    run: getAuditEntry,
    render: (entry) => json(renderEntry(entry)),
  }),
];
