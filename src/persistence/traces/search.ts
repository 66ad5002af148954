import { type Kysely, type RawBuilder, sql, type SqlBool } from 'kysely';
import type { Usd } from '../../domain/money.ts';
import { storable } from '../../domain/storable.ts';
import type {
  AgentActivity,
  AgentSearch,
  TraceBucket,
  TraceFilters,
  TraceOrder,
  TraceSeries,
} from '../../domain/traces/trace-search.ts';
import { INTERNAL_TAG } from '../../domain/traces/trace-labels.ts';
import type { Database } from '../database/database.ts';
import { textsOf } from '../database/rows.ts';
import type { Tables } from '../database/tables.ts';
import { agentActivityOf, type AgentRow, bucketOf, type BucketRow } from './aggregates.ts';

type Flavour = Database['flavour'];

/** Sort expression of each order. The start is a plain column, because it has an index. */
export const RANKS: Readonly<Record<TraceOrder, RawBuilder<unknown>>> = {
  start: sql`trace_summary.start_ms`,
  duration: sql`(trace_summary.end_ns - trace_summary.start_ns)`,
  spend: sql`coalesce(trace_summary.spend, -1)`,
  errors: sql`cast(trace_summary.error_count as bigint)`,
};

/** A 64-bit parameter, sent as text: a JavaScript number is a double. */
export const bigint = (value: bigint | number): RawBuilder<unknown> => sql`cast(${String(value)} as bigint)`;

/** Condition: a column with a JSON list of texts has `text` among them. */
const containsText = (flavour: Flavour, column: string, text: string): RawBuilder<SqlBool> =>
  flavour === 'postgresql'
    ? sql<SqlBool>`cast(${sql.ref(column)} as jsonb) @> to_jsonb(cast(${text} as text))`
    : sql<SqlBool>`exists (select 1 from json_each(${sql.ref(column)}) where value = ${text})`;

/** Condition: the trace has the tag of the product's own model calls, or lacks it. */
function internalIs(flavour: Flavour, internal: boolean): RawBuilder<SqlBool> {
  const tagged = containsText(flavour, 'trace_summary.tags', INTERNAL_TAG);
  // `tags` is null for a trace without tags.
  return internal ? tagged : sql<SqlBool>`(trace_summary.tags is null or not ${tagged})`;
}

const TEXT_COLUMNS = ['name', 'service', 'input_preview', 'session_id', 'user_id'];
const LIST_COLUMNS = ['agent_names', 'models', 'tags'];

/** Condition: a text of the summary contains `text`. SQLite ignores case for ASCII only. */
function mentions(flavour: Flavour, text: string): RawBuilder<SqlBool> {
  const isIn = (value: RawBuilder<unknown>) =>
    flavour === 'postgresql'
      ? sql`strpos(lower(${value}), lower(cast(${text} as text))) > 0`
      : sql`instr(lower(${value}), lower(${text})) > 0`;
  // Element by element: the JSON text of a list has brackets and escapes.
  const isListed = (column: string) =>
    sql`exists (select 1 from ${sql.raw(textsOf(flavour, column))} as listed where ${isIn(sql`listed.value`)})`;
  return sql<SqlBool>`(${sql.join(
    [
      ...TEXT_COLUMNS.map((column) => isIn(sql.ref(`trace_summary.${column}`))),
      ...LIST_COLUMNS.map((column) => isListed(`trace_summary.${column}`)),
    ],
    sql` or `,
  )})`;
}

/** The filters as one condition on summaries. */
export function filterCondition(flavour: Flavour, filters: TraceFilters): RawBuilder<SqlBool> {
  const { status, service, agent, model, keyHash, teamId, minSpend, minDurationNs, minErrors, text } = filters;
  const { sessionId, userId, tag, internal } = filters;
  const clauses: (RawBuilder<SqlBool> | null)[] = [
    status === null ? null : sql<SqlBool>`trace_summary.status = ${status}`,
    service === null ? null : sql<SqlBool>`trace_summary.service = ${storable(service)}`,
    keyHash === null ? null : sql<SqlBool>`trace_summary.key_hash = ${storable(keyHash)}`,
    teamId === null ? null : sql<SqlBool>`trace_summary.team_id = ${storable(teamId)}`,
    sessionId === null ? null : sql<SqlBool>`trace_summary.session_id = ${storable(sessionId)}`,
    userId === null ? null : sql<SqlBool>`trace_summary.user_id = ${storable(userId)}`,
    tag === null ? null : containsText(flavour, 'trace_summary.tags', storable(tag)),
    internal === null ? null : internalIs(flavour, internal),
    agent === null ? null : containsText(flavour, 'trace_summary.agent_names', storable(agent)),
    model === null ? null : containsText(flavour, 'trace_summary.models', storable(model)),
    minSpend === null ? null : sql<SqlBool>`trace_summary.spend >= ${bigint(minSpend)}`,
    minDurationNs === null ? null : sql<SqlBool>`${RANKS.duration} >= ${bigint(minDurationNs)}`,
    minErrors === null ? null : sql<SqlBool>`trace_summary.error_count >= ${bigint(minErrors)}`,
    text === null ? null : mentions(flavour, storable(text)),
  ];
  const conditions = clauses.filter((clause) => clause !== null);
  return conditions.length === 0 ? sql<SqlBool>`1 = 1` : sql<SqlBool>`(${sql.join(conditions, sql` and `)})`;
}

/** Value of the lowest of the upper bits. */
const UPPER_UNIT = 2n ** 32n;

/**
 * SQL that selects two sums of a column of picodollars: of the upper and of the lower 32 bits. SQLite fails when a sum
 * overflows 64 bits.
 */
export const sumInHalves = (column: 'spend' | 'estimate') => sql`
  cast(sum(${sql.ref(column)} / ${bigint(UPPER_UNIT)}) as text) as ${sql.ref(`${column}_high`)},
  cast(sum(${sql.ref(column)} % ${bigint(UPPER_UNIT)}) as text) as ${sql.ref(`${column}_low`)}`;

/** The sum from the two sums that `sumInHalves` selected; null without rows. */
export const amountOf = (high: string | null, low: string | null): Usd | null =>
  high === null || low === null ? null : ((BigInt(high) * UPPER_UNIT + BigInt(low)) as Usd);

/** The buckets with traces. A quantile is the duration at its rank in the bucket, so a trace had this duration. */
export async function bucketsOf(
  db: Kysely<Tables>,
  series: TraceSeries,
  condition: RawBuilder<SqlBool>,
): Promise<readonly TraceBucket[]> {
  const { startMs, endMs, bucketMs } = series;
  // The rank is rounded up.
  const quantile = (percent: number) =>
    sql`cast(max(case when place = (bucket_size * ${sql.lit(percent)} + 99) / 100 then duration end) as text)`;
  const { rows } = await sql<BucketRow & Readonly<Record<'spend_high' | 'spend_low', string | null>>>`
    with found as (
      select (start_ms - ${bigint(startMs)}) / ${bigint(bucketMs)} as bucket, end_ns - start_ns as duration,
        error_count, span_count, llm_calls, input_tokens, output_tokens, spend
      from trace_summary
      where start_ms >= ${bigint(startMs)} and start_ms < ${bigint(endMs)} and ${condition}
    ), ranked as (
      select found.*, row_number() over (partition by bucket order by duration) as place,
        count(*) over (partition by bucket) as bucket_size
      from found
    )
    select cast(bucket as double precision) as bucket, count(*) as traces,
      sum(case when error_count > 0 then 1 else 0 end) as failed, sum(span_count) as spans, sum(llm_calls) as calls,
      cast(sum(input_tokens) as double precision) as tokens_in,
      cast(sum(output_tokens) as double precision) as tokens_out, ${sumInHalves('spend')},
      ${quantile(50)} as p50, ${quantile(90)} as p90, ${quantile(99)} as p99
    from ranked group by bucket order by bucket`.execute(db);
  return rows.map((row) => bucketOf(series, row, amountOf(row.spend_high, row.spend_low)));
}

/** The agents of the traces that began inside the window. */
export async function agentsOf(
  db: Kysely<Tables>,
  flavour: Flavour,
  {
    search: { startMs, endMs },
    condition,
    limit,
  }: {
    readonly search: AgentSearch;
    readonly condition: RawBuilder<SqlBool>;
    readonly limit: number;
  },
): Promise<readonly AgentActivity[]> {
  const names = sql.raw(textsOf(flavour, 'trace_summary.agent_names'));
  // Byte order on both engines.
  const order = flavour === 'postgresql' ? sql`collate "C"` : sql`collate binary`;
  const listed = sql`distinct coalesce(trace_summary.frameworks, '[]')`;
  const frameworks =
    flavour === 'postgresql' ? sql`cast(json_agg(${listed}) as text)` : sql`json_group_array(${listed})`;
  const { rows } = await sql<AgentRow>`
    select agent.value as agent, count(*) as traces, sum(case when error_count > 0 then 1 else 0 end) as failed,
      cast(max(start_ms) as double precision) as last_start_ms, ${frameworks} as frameworks
    from trace_summary cross join ${names} as agent
    where start_ms >= ${bigint(startMs)} and start_ms < ${bigint(endMs)} and ${condition}
    group by agent.value order by max(start_ms) desc, agent.value ${order} limit ${limit}`.execute(db);
  return rows.map(agentActivityOf);
}
