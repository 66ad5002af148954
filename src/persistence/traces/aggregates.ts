import type { Usd } from '../../domain/money.ts';
import type { SessionActivity } from '../../domain/traces/sessions.ts';
import type { AgentActivity, TraceBucket, TraceSeries } from '../../domain/traces/trace-search.ts';

/** A number of an aggregate as the database returns it: 64-bit numbers may be text. */
type Count = number | string;

/** Columns of buckets and of sessions. */
type Sums = Readonly<Record<'traces' | 'failed' | 'calls' | 'tokens_in' | 'tokens_out', Count>>;

export interface BucketRow extends Sums {
  /** Number of the bucket, from 0. */
  readonly bucket: Count;
  readonly spans: Count;
  readonly p50: string;
  readonly p90: string;
  readonly p99: string;
}

const sumsOf = (row: Sums) => ({
  traces: Number(row.traces),
  failed: Number(row.failed),
  llmCalls: Number(row.calls),
  inputTokens: Number(row.tokens_in),
  outputTokens: Number(row.tokens_out),
});

export const bucketOf = ({ startMs, bucketMs }: TraceSeries, row: BucketRow, spend: Usd | null): TraceBucket => ({
  ...sumsOf(row),
  startMs: startMs + Number(row.bucket) * bucketMs,
  spans: Number(row.spans),
  spend,
  p50Ns: BigInt(row.p50),
  p90Ns: BigInt(row.p90),
  p99Ns: BigInt(row.p99),
});

export interface AgentRow extends Readonly<Record<'traces' | 'failed' | 'last_start_ms', Count>> {
  readonly agent: string;
  /** JSON list of JSON lists of names: one for each distinct list of a trace. */
  readonly frameworks: string;
}

/** The distinct names in a JSON list of JSON lists, sorted. */
function namesInLists(text: string): readonly string[] {
  const lists = JSON.parse(text) as readonly string[];
  return [...new Set(lists.flatMap((list) => JSON.parse(list) as readonly string[]))].toSorted();
}

export const agentActivityOf = (row: AgentRow): AgentActivity => ({
  name: row.agent,
  traces: Number(row.traces),
  failed: Number(row.failed),
  lastStartMs: Number(row.last_start_ms),
  frameworks: namesInLists(row.frameworks),
});

export interface SessionRow extends Sums {
  readonly session: string;
  readonly first_ns: string;
  readonly last_ns: string;
  readonly last_start_ms: Count;
}

/** `engineValues`: values that SQL and ClickHouse select in different forms. */
export const sessionOf = (
  row: SessionRow,
  engineValues: Pick<SessionActivity, 'userId' | 'spend' | 'estimate'>,
): SessionActivity => ({
  ...sumsOf(row),
  ...engineValues,
  sessionId: row.session,
  startNs: BigInt(row.first_ns),
  endNs: BigInt(row.last_ns),
  lastStartMs: Number(row.last_start_ms),
});
