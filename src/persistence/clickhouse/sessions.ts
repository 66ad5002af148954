import type { Usd } from '../../domain/money.ts';
import type { SessionActivity, SessionSearch } from '../../domain/traces/sessions.ts';
import { storable } from '../../domain/storable.ts';
import type { ClickHouse } from './client.ts';
import { sessionOf, type SessionRow } from '../traces/aggregates.ts';
import { allOf, beganIn, type Condition } from './trace-search.ts';

interface EngineRow extends SessionRow {
  readonly users: readonly string[];
  readonly spent: string | null;
  readonly estimated: string | null;
}

const amountOf = (text: string | null): Usd | null => (text === null ? null : (BigInt(text) as Usd));

const HAS_SESSION: Condition = { text: 'isNotNull(session_id)', params: {} };

/** One page of sessions. Only traces that began inside the window of the search count. */
export async function sessionsOf(
  server: ClickHouse,
  {
    search,
    condition,
    limit,
  }: { readonly search: SessionSearch; readonly condition: Condition; readonly limit: number },
): Promise<readonly SessionActivity[]> {
  const { startMs, endMs, after } = search;
  const where = allOf(condition, HAS_SESSION, beganIn(startMs, endMs));
  const afterCursor =
    after === null
      ? ''
      : `having last_start_ms < {lastMs:Int64} or (last_start_ms = {lastMs:Int64} and session < {lastId:String})`;
  // `groupUniqArray(2)`: two users are enough to know that a session has no single user.
  const rows = await server.rows<EngineRow>(
    `select assumeNotNull(session_id) as session, groupUniqArray(2)(user_id) as users, count() as traces,
       countIf(error_count > 0) as failed, sum(llm_calls) as calls, sum(input_tokens) as tokens_in,
       sum(output_tokens) as tokens_out, toString(sum(toInt128(spend))) as spent,
       toString(sum(toInt128(estimate))) as estimated, toString(min(start_ns)) as first_ns,
       toString(max(end_ns)) as last_ns, max(start_ms) as last_start_ms
     from trace_by_start final where ${where.text}
     group by session ${afterCursor} order by last_start_ms desc, session desc limit {limit:UInt32}`,
    { ...where.params, limit, lastMs: after?.lastStartMs ?? 0, lastId: storable(after?.sessionId ?? '') },
  );
  return rows.map((row) =>
    sessionOf(row, {
      userId: row.users.length === 1 ? (row.users[0] ?? null) : null,
      spend: amountOf(row.spent),
      estimate: amountOf(row.estimated),
    }),
  );
}

export async function countSessionsOf(
  server: ClickHouse,
  { startMs, endMs }: SessionSearch,
  condition: Condition,
): Promise<number> {
  const where = allOf(condition, HAS_SESSION, beganIn(startMs, endMs));
  const [row] = await server.rows<{ sessions: string }>(
    `select uniqExact(session_id) as sessions from trace_by_start final where ${where.text}`,
    where.params,
  );
  return Number(row?.sessions ?? 0);
}
