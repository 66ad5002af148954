import type { Usd } from '../../domain/money.ts';
import type { SessionActivity, SessionSearch } from '../../domain/traces/sessions.ts';
import { storable } from '../../domain/storable.ts';
import type { ClickHouse } from './client.ts';
import { allOf, beganIn, type Condition } from './trace-search.ts';

interface SessionRow {
  readonly session: string;
  readonly users: readonly string[];
  readonly traces: string;
  readonly failed: string;
  readonly calls: string;
  readonly tokens_in: string;
  readonly tokens_out: string;
  readonly spent: string | null;
  readonly estimated: string | null;
  readonly first_ns: string;
  readonly last_ns: string;
  readonly last_start_ms: string;
}

const STATED: Condition = { text: 'isNotNull(session_id)', params: {} };

/** A page of the sessions of the traces that began inside the window. */
export async function sessionsOf(
  server: ClickHouse,
  {
    search,
    condition,
    limit,
  }: { readonly search: SessionSearch; readonly condition: Condition; readonly limit: number },
): Promise<readonly SessionActivity[]> {
  const { startMs, endMs, after } = search;
  const found = allOf(condition, STATED, beganIn(startMs, endMs));
  const below =
    after === null
      ? ''
      : `having last_start_ms < {lastMs:Int64} or (last_start_ms = {lastMs:Int64} and session < {lastId:String})`;
  const rows = await server.rows<SessionRow>(
    `select assumeNotNull(session_id) as session, groupUniqArray(2)(user_id) as users, count() as traces,
       countIf(error_count > 0) as failed, sum(llm_calls) as calls, sum(input_tokens) as tokens_in,
       sum(output_tokens) as tokens_out, toString(sum(toInt128(spend))) as spent,
       toString(sum(toInt128(estimate))) as estimated, toString(min(start_ns)) as first_ns,
       toString(max(end_ns)) as last_ns, max(start_ms) as last_start_ms
     from trace_by_start final where ${found.text}
     group by session ${below} order by last_start_ms desc, session desc limit {limit:UInt32}`,
    { ...found.params, limit, lastMs: after?.lastStartMs ?? 0, lastId: storable(after?.sessionId ?? '') },
  );
  return rows.map((row) => ({
    sessionId: row.session,
    userId: row.users.length === 1 ? (row.users[0] ?? null) : null,
    traces: Number(row.traces),
    failed: Number(row.failed),
    llmCalls: Number(row.calls),
    inputTokens: Number(row.tokens_in),
    outputTokens: Number(row.tokens_out),
    spend: row.spent === null ? null : (BigInt(row.spent) as Usd),
    estimate: row.estimated === null ? null : (BigInt(row.estimated) as Usd),
    startNs: BigInt(row.first_ns),
    endNs: BigInt(row.last_ns),
    lastStartMs: Number(row.last_start_ms),
  }));
}

export async function countSessionsOf(
  server: ClickHouse,
  { startMs, endMs }: SessionSearch,
  condition: Condition,
): Promise<number> {
  const found = allOf(condition, STATED, beganIn(startMs, endMs));
  const [row] = await server.rows<{ sessions: string }>(
    `select uniqExact(session_id) as sessions from trace_by_start final where ${found.text}`,
    found.params,
  );
  return Number(row?.sessions ?? 0);
}
