import type { Visibility } from '../../domain/caller.ts';
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
import type { TraceKey } from '../../domain/traces/store.ts';
import { agentActivityOf, type AgentRow, bucketOf, type BucketRow } from '../traces/aggregates.ts';
import type { ClickHouse, Params } from './client.ts';

/** A condition on summaries, with its parameters. */
export interface Condition {
  readonly text: string;
  readonly params: Params;
}

/** Sort expression of each order. */
export const RANKS: Readonly<Record<TraceOrder, string>> = {
  start: 'start_ms',
  duration: '(end_ns - start_ns)',
  spend: 'ifNull(spend, -1)',
  errors: 'ifNull(error_count, 0)',
};

/** All conditions must match. */
export function allOf(...conditions: readonly Condition[]): Condition {
  return {
    text: conditions.map(({ text }) => `(${text})`).join(' and '),
    params: Object.fromEntries(conditions.flatMap(({ params }) => Object.entries(params))),
  };
}

/** A visibility as a condition. */
export function visibleTo(visibility: Visibility): Condition {
  switch (visibility.kind) {
    case 'all':
      return { text: '1', params: {} };
    case 'team':
      return { text: `team_id = {seen:String} and team_id != ''`, params: { seen: visibility.teamId } };
    case 'key':
      return { text: `team_id = '' and key_hash = {seen:String}`, params: { seen: visibility.keyHash } };
  }
}

/** Maximum number of refs in one parameter: it must fit the request limits of servers and proxies. */
const REFS_OF_PARAMETER = 500;

/** Condition: the summary is of one of these traces. */
export function isOneOf(traces: readonly TraceKey[]): Condition {
  const refs = traces.map(({ traceRef }) => traceRef);
  const batches = Array.from(
    { length: Math.ceil(refs.length / REFS_OF_PARAMETER) },
    (_, batch): readonly [string, readonly string[]] => [
      `refs${batch}`,
      refs.slice(batch * REFS_OF_PARAMETER, (batch + 1) * REFS_OF_PARAMETER),
    ],
  );
  if (batches.length === 0) return { text: '0', params: {} };
  return {
    text: batches.map(([name]) => `trace_ref in {${name}:Array(String)}`).join(' or '),
    params: Object.fromEntries(batches),
  };
}

/** Traces that began in an interval, Unix ms, end exclusive. `newest_first` is the negative start. */
export const beganIn = (startMs: number, endMs: number): Condition => ({
  text: 'newest_first <= -{from:Int64} and newest_first > -{until:Int64}',
  params: { from: startMs, until: endMs },
});

const TEXT_COLUMNS = ['name', 'service', 'input_preview', `ifNull(session_id, '')`, `ifNull(user_id, '')`];
const LIST_COLUMNS = ['agent_names', 'models', `ifNull(tags, '[]')`];
/** SQL of the texts in a column with a JSON list. */
const textsIn = (column: string): string => `JSONExtract(${column}, 'Array(String)')`;

/** The filters as one condition. */
export function filterCondition(filters: TraceFilters): Condition {
  const { status, service, agent, model, keyHash, teamId, minSpend, minDurationNs, minErrors, text } = filters;
  const { sessionId, userId, tag, internal } = filters;
  const clause = (condition: string, name: string, value: string | null): Condition[] =>
    value === null ? [] : [{ text: condition, params: { [name]: value } }];
  const textOf = (value: string | null): string | null => (value === null ? null : storable(value));
  const numberOf = (value: bigint | number | null): string | null => (value === null ? null : String(value));
  const containsText = (column: string, name: string): string => `has(${textsIn(column)}, {${name}:String})`;
  const isIn = (value: string): string => `positionCaseInsensitiveUTF8(${value}, {mentioned:String}) > 0`;
  const mentioned = [
    ...TEXT_COLUMNS.map(isIn),
    ...LIST_COLUMNS.map((column) => `arrayExists(value -> ${isIn('value')}, ${textsIn(column)})`),
  ];
  return allOf(
    // Always true, for a search without filters.
    { text: '1', params: {} },
    ...clause('status = {status:String}', 'status', status),
    ...clause('service = {service:String}', 'service', textOf(service)),
    ...clause('key_hash = {keyHash:String}', 'keyHash', textOf(keyHash)),
    ...clause('team_id = {teamId:String}', 'teamId', textOf(teamId)),
    ...clause(containsText('agent_names', 'agent'), 'agent', textOf(agent)),
    ...clause(containsText('models', 'model'), 'model', textOf(model)),
    ...clause(`ifNull(session_id, '') = {sessionId:String}`, 'sessionId', textOf(sessionId)),
    ...clause(`ifNull(user_id, '') = {userId:String}`, 'userId', textOf(userId)),
    ...clause(containsText(`ifNull(tags, '[]')`, 'tag'), 'tag', textOf(tag)),
    ...clause(
      `${internal === false ? 'not ' : ''}${containsText(`ifNull(tags, '[]')`, 'internalTag')}`,
      'internalTag',
      internal === null ? null : INTERNAL_TAG,
    ),
    ...clause('spend >= {minSpend:Int64}', 'minSpend', numberOf(minSpend)),
    ...clause(`${RANKS.duration} >= {minDuration:Int64}`, 'minDuration', numberOf(minDurationNs)),
    ...clause('error_count >= {minErrors:Int64}', 'minErrors', numberOf(minErrors)),
    ...clause(mentioned.join(' or '), 'mentioned', textOf(text)),
  );
}

/** The buckets with traces. A quantile is the duration at its rank in the bucket, so a trace had this duration. */
export async function bucketsOf(
  server: ClickHouse,
  series: TraceSeries,
  condition: Condition,
): Promise<readonly TraceBucket[]> {
  const { startMs, endMs, bucketMs } = series;
  const where = allOf(condition, beganIn(startMs, endMs));
  // The rank is rounded up. Array indexes of ClickHouse begin at 1.
  const quantile = (percent: number): string => `durations[intDiv(traces * ${percent} + 99, 100)]`;
  const rows = await server.rows<BucketRow & { readonly spent: string | null }>(
    `select intDiv(start_ms - {from:Int64}, {step:Int64}) as bucket, count() as traces,
       countIf(error_count > 0) as failed, sum(span_count) as spans, sum(llm_calls) as calls,
       sum(input_tokens) as tokens_in, sum(output_tokens) as tokens_out, toString(sum(toInt128(spend))) as spent,
       arraySort(groupArray(end_ns - start_ns)) as durations,
       ${quantile(50)} as p50, ${quantile(90)} as p90, ${quantile(99)} as p99
     from trace_by_start final where ${where.text} group by bucket order by bucket`,
    { ...where.params, step: bucketMs },
  );
  return rows.map((row) => bucketOf(series, row, row.spent === null ? null : (BigInt(row.spent) as Usd)));
}

/** The agents of the traces that began inside the window. */
export async function agentsOf(
  server: ClickHouse,
  {
    search: { startMs, endMs },
    condition,
    limit,
  }: { readonly search: AgentSearch; readonly condition: Condition; readonly limit: number },
): Promise<readonly AgentActivity[]> {
  const where = allOf(condition, beganIn(startMs, endMs));
  const rows = await server.rows<AgentRow>(
    `select arrayJoin(${textsIn('agent_names')}) as agent, count() as traces,
       countIf(error_count > 0) as failed, max(start_ms) as last_start_ms,
       toJSONString(groupUniqArray(ifNull(trace_by_start.frameworks, '[]'))) as frameworks
     from trace_by_start final where ${where.text}
     group by agent order by last_start_ms desc, agent limit {limit:UInt32}`,
    { ...where.params, limit },
  );
  return rows.map(agentActivityOf);
}
