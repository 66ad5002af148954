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
import { momentFrom } from '../src/domain/spend/report-dates.ts';
import { integer, query, rowsBefore } from './helpers/http/query.ts';
import { json, route, type RouteRow } from './helpers/http/route.ts';
import { wordsOf } from './helpers/fields/report-query.ts';
import { merged, textParameters } from './helpers/http/schema.ts';
import { MANAGEMENT_READ } from './helpers/http/row-facts.ts';

/** Names of the tables of the reference. Other rows have the name of their noun. */
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

/** The reference's name of the master key. */
const MASTER_KEY = 'litellm_proxy_master_key';
const DAY_MS = 86_400_000;
const MOST_ENTRIES = 100;

const SORTS: Readonly<Record<string, AuditSort>> = {
  updated_at: 'created_at',
  changed_by: 'changed_by',
  action: 'action',
  table_name: 'noun',
  object_id: 'object_id',
};

const tableOf = (noun: AuditNoun): string => TABLES[noun] ?? noun;

const readPage = query({
  page: integer({ least: 1, otherwise: 1 }),
  page_size: integer({ least: 1, most: MOST_ENTRIES, otherwise: 10 }),
});

const malformed = (name: string, message: string): InvalidInput =>
  new InvalidInput('The query is not valid.', [{ path: ['query', name], rule: 'value_error', message }]);

/** One value of a list; null when absent. Throws InvalidInput. */
function oneOf<Word extends string>(
  input: string | null,
  name: string,
  words: readonly Word[],
  textOf: (word: Word) => string = (word) => word,
): Word | null {
  if (input === null) return null;
  const found = words.find((word) => word === input || textOf(word) === input);
  if (found === undefined) throw malformed(name, `Input should be one of: ${words.map(textOf).join(', ')}`);
  return found;
}

/** A day as `2026-01-31`, a time as `2026-01-31 10:00:00`, or RFC 3339 text. Throws InvalidInput. */
function momentIn(input: string | null, name: string): Date | null {
  if (input === null) return null;
  const moment = momentFrom(input) ?? new Date(/^\d{4}-\d{2}-\d{2}T/.test(input) ? input : Number.NaN);
  if (Number.isNaN(moment.getTime())) throw malformed(name, 'Input should be a day or a time in UTC');
  return moment;
}

/** The first moment after a period: that after a last day, or after a last time. */
function endIn(input: string | null): Date | null {
  const last = momentIn(input, 'end_date');
  return last && new Date(last.getTime() + (input?.length === 'YYYY-MM-DD'.length ? DAY_MS : 1));
}

function filterIn(search: string): AuditFilter {
  const word = wordsOf(search);
  const changedByKey = word('changed_by_api_key');
  return {
    changedBy: word('changed_by'),
    changedByKey,
    action: oneOf(word('action'), 'action', AUDIT_ACTIONS),
    noun: oneOf(word('table_name'), 'table_name', AUDIT_NOUNS, tableOf),
    objectId: word('object_id'),
    teamId: word('object_team_id'),
    keyHash: word('object_key_hash'),
    from: momentIn(word('start_date'), 'start_date'),
    to: endIn(word('end_date')),
  };
}

interface RequestedPage extends RowPage<AuditFilter, AuditSort> {
  readonly page: number;
}

function parsePage(search: string): RequestedPage {
  const { page, page_size: size } = readPage(search);
  const word = wordsOf(search);
  const sort = oneOf(word('sort_by'), 'sort_by', Object.keys(SORTS)) ?? 'updated_at';
  return {
    filter: filterIn(search),
    sort: SORTS[sort] ?? 'created_at',
    descending: oneOf(word('sort_order'), 'sort_order', ['asc', 'desc']) !== 'asc',
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
  failures: { body: 'detail' },
} as const;

/** Recorded changes of rows. */
export const auditLogRoutes: readonly RouteRow[] = [
  route({
    ...READING,
    name: 'auditLog.list',
    query: merged(
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
    answers: [200, 401, 422],
    parse: ({ search }) => parsePage(search),
    run: listAuditLog,
    render: (page, { search }) => json(renderPage(page, parsePage(search))),
  }),
  route({
    ...READING,
    name: 'auditLog.get',
    paths: ['/audit/:id'],
    answers: [200, 401, 404],
    parse: ({ params }) => ({ id: params['id'] ?? '' }),
    run: getAuditEntry,
    render: (entry) => json(renderEntry(entry)),
  }),
];
