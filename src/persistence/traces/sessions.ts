import { type Kysely, type RawBuilder, sql, type SqlBool } from 'kysely';
import type { SessionActivity, SessionSearch } from '../../domain/traces/sessions.ts';
import { storable } from '../../domain/storable.ts';
import type { Database } from '../database/database.ts';
import type { Tables } from '../database/tables.ts';
import { sessionOf, type SessionRow } from './aggregates.ts';
import { amountOf, bigint, sumInHalves } from './search.ts';

type EngineValues = Readonly<
  Record<'first_user' | 'last_user' | `${'spend' | 'estimate'}_${'high' | 'low'}`, string | null>
>;

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
  const isAfterCursor =
    after === null
      ? sql`1 = 1`
      : sql`(max(start_ms) < ${bigint(after.lastStartMs)}
          or (max(start_ms) = ${bigint(after.lastStartMs)} and ${id} < ${storable(after.sessionId)}))`;
  const { rows } = await sql<SessionRow & EngineValues>`
    select session_id as session, min(user_id) as first_user, max(user_id) as last_user, count(*) as traces,
      sum(case when error_count > 0 then 1 else 0 end) as failed, sum(llm_calls) as calls,
      cast(sum(input_tokens) as double precision) as tokens_in,
      cast(sum(output_tokens) as double precision) as tokens_out,
      ${sumInHalves('spend')}, ${sumInHalves('estimate')},
      cast(min(start_ns) as text) as first_ns, cast(max(end_ns) as text) as last_ns,
      cast(max(start_ms) as double precision) as last_start_ms
    from trace_summary where ${inWindow(search, condition)}
    group by session_id having ${isAfterCursor} order by max(start_ms) desc, ${id} desc limit ${limit}`.execute(db);
  return rows.map((row) =>
    sessionOf(row, {
      userId: row.first_user === row.last_user ? row.first_user : null,
      spend: amountOf(row.spend_high, row.spend_low),
      estimate: amountOf(row.estimate_high, row.estimate_low),
    }),
  );
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
