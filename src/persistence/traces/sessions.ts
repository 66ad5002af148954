import { type Kysely, type RawBuilder, sql, type SqlBool } from 'kysely';
import type { Usd } from '../../domain/money.ts';
import type { SessionActivity, SessionSearch } from '../../domain/traces/sessions.ts';
import { storable } from '../../domain/storable.ts';
import type { Database } from '../database/database.ts';
import type { Tables } from '../database/tables.ts';
import { bigint, HALF } from './search.ts';

interface SessionRow {
  readonly session_id: string;
  readonly first_user: string | null;
  readonly last_user: string | null;
  readonly traces: number | string;
  readonly failed: number | string;
  readonly llm_calls: number | string;
  readonly input_tokens: number | string;
  readonly output_tokens: number | string;
  readonly spend_high: string | null;
  readonly spend_low: string | null;
  readonly estimate_high: string | null;
  readonly estimate_low: string | null;
  readonly start_ns: string;
  readonly end_ns: string;
  readonly last_start_ms: number | string;
}

/** Sum of a column of picodollars in two halves: SQLite fails when a sum overflows 64 bits. */
const halves = (column: 'spend' | 'estimate') => sql`
  cast(sum(${sql.ref(column)} / ${bigint(HALF)}) as text) as ${sql.ref(`${column}_high`)},
  cast(sum(${sql.ref(column)} % ${bigint(HALF)}) as text) as ${sql.ref(`${column}_low`)}`;

const amountOf = (high: string | null, low: string | null): Usd | null =>
  high === null || low === null ? null : ((BigInt(high) * HALF + BigInt(low)) as Usd);

const inWindow = ({ startMs, endMs }: SessionSearch, condition: RawBuilder<SqlBool>) =>
  sql`start_ms >= ${bigint(startMs)} and start_ms < ${bigint(endMs)} and session_id is not null and ${condition}`;

/** A page of the sessions of the traces that began inside the window. */
export async function sessionsOf(
  db: Kysely<Tables>,
  flavour: Database['flavour'],
  {
    search,
    condition,
    limit,
  }: { readonly search: SessionSearch; readonly condition: RawBuilder<SqlBool>; readonly limit: number },
): Promise<readonly SessionActivity[]> {
  const { after } = search;
  // Byte order on both engines.
  const id = flavour === 'postgresql' ? sql`session_id collate "C"` : sql`session_id collate binary`;
  const below =
    after === null
      ? sql`1 = 1`
      : sql`(max(start_ms) < ${bigint(after.lastStartMs)}
          or (max(start_ms) = ${bigint(after.lastStartMs)} and ${id} < ${storable(after.sessionId)}))`;
  const { rows } = await sql<SessionRow>`
    select session_id, min(user_id) as first_user, max(user_id) as last_user, count(*) as traces,
      sum(case when error_count > 0 then 1 else 0 end) as failed, sum(llm_calls) as llm_calls,
      cast(sum(input_tokens) as double precision) as input_tokens,
      cast(sum(output_tokens) as double precision) as output_tokens,
      ${halves('spend')}, ${halves('estimate')},
      cast(min(start_ns) as text) as start_ns, cast(max(end_ns) as text) as end_ns,
      cast(max(start_ms) as double precision) as last_start_ms
    from trace_summary where ${inWindow(search, condition)}
    group by session_id having ${below} order by max(start_ms) desc, ${id} desc limit ${limit}`.execute(db);
  return rows.map((row) => ({
    sessionId: row.session_id,
    userId: row.first_user === row.last_user ? row.first_user : null,
    traces: Number(row.traces),
    failed: Number(row.failed),
    llmCalls: Number(row.llm_calls),
    inputTokens: Number(row.input_tokens),
    outputTokens: Number(row.output_tokens),
    spend: amountOf(row.spend_high, row.spend_low),
    estimate: amountOf(row.estimate_high, row.estimate_low),
    startNs: BigInt(row.start_ns),
    endNs: BigInt(row.end_ns),
    lastStartMs: Number(row.last_start_ms),
  }));
}

export async function countSessionsOf(
  db: Kysely<Tables>,
  search: SessionSearch,
  condition: RawBuilder<SqlBool>,
): Promise<number> {
  const { rows } = await sql<{ sessions: number | string }>`
    select count(distinct session_id) as sessions from trace_summary where ${inWindow(search, condition)}`.execute(db);
  return Number(rows[0]?.sessions ?? 0);
}
