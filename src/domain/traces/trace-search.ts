import type { AnnotationConditions } from '../annotations/annotation-conditions.ts';
import type { Usd } from '../money.ts';
import { InvalidInput } from '../errors.ts';
import type { SpanStatus } from './span.ts';
import { INTERNAL_TAG } from './trace-labels.ts';
import type { TraceSummary } from './trace.ts';

/** Filters of traces. Every filter that is not null must match. */
export interface TraceFilters {
  readonly status: SpanStatus | null;
  readonly service: string | null;
  /** Name of one of its agents. */
  readonly agent: string | null;
  /** Name of one of its models. */
  readonly model: string | null;
  /** Hash of the key that sent it. */
  readonly keyHash: string | null;
  readonly teamId: string | null;
  /** Minimum cost; traces without a known cost do not match. */
  readonly minSpend: Usd | null;
  readonly minDurationNs: bigint | null;
  /** Minimum number of failed spans. */
  readonly minErrors: number | null;
  readonly sessionId: string | null;
  readonly userId: string | null;
  /** One of its tags. */
  readonly tag: string | null;
  /** Whether it has the tag of the product's own model calls. */
  readonly internal: boolean | null;
  /** Conditions that an annotation of the trace or of one of its spans must match. */
  readonly annotation: AnnotationConditions | null;
  /** Text in its name, service, input preview, agents, models, session, user or tags; ignores case. */
  readonly text: string | null;
}

export const NO_TRACE_FILTERS: TraceFilters = {
  status: null,
  service: null,
  agent: null,
  model: null,
  keyHash: null,
  teamId: null,
  minSpend: null,
  minDurationNs: null,
  minErrors: null,
  sessionId: null,
  userId: null,
  tag: null,
  internal: null,
  annotation: null,
  text: null,
};

/** Sort order, descending. */
export const TRACE_ORDERS = ['start', 'duration', 'spend', 'errors'] as const;
export type TraceOrder = (typeof TRACE_ORDERS)[number];

/** Query of one page of traces, by descending rank, then trace ref. */
export interface TraceSearch {
  /** Unix milliseconds, inclusive. */
  readonly startMs: number;
  /** Unix milliseconds, exclusive. */
  readonly endMs: number;
  readonly filters: TraceFilters;
  readonly order: TraceOrder;
  /** Continue strictly below this row; null for the first page. */
  readonly after: { readonly rank: bigint; readonly traceRef: string } | null;
}

/** Rank of a trace in an order. A trace without a known cost ranks below a free one. */
export function traceRankOf({ startNs, endNs, spend, errorCount }: TraceSummary, order: TraceOrder): bigint {
  switch (order) {
    case 'start':
      // Stores sort by the start in milliseconds.
      return startNs / 1_000_000n;
    case 'duration':
      return endNs - startNs;
    case 'spend':
      return spend ?? -1n;
    case 'errors':
      return BigInt(errorCount);
  }
}

/** Whether a trace passes all filters except `annotation`: a summary has no annotations. */
export function tracePassesFilters(summary: TraceSummary, filters: TraceFilters): boolean {
  const { status, service, agent, model, keyHash, teamId, minSpend, minDurationNs, minErrors, text } = filters;
  const { sessionId, userId, tag, internal } = filters;
  if (status !== null && summary.status !== status) return false;
  if (service !== null && summary.service !== service) return false;
  if (agent !== null && !summary.agentNames.includes(agent)) return false;
  if (model !== null && !summary.models.includes(model)) return false;
  if (keyHash !== null && summary.owner.keyHash !== keyHash) return false;
  if (teamId !== null && summary.owner.teamId !== teamId) return false;
  if (minSpend !== null && (summary.spend === null || summary.spend < minSpend)) return false;
  if (minDurationNs !== null && summary.endNs - summary.startNs < minDurationNs) return false;
  if (minErrors !== null && summary.errorCount < minErrors) return false;
  if (sessionId !== null && summary.sessionId !== sessionId) return false;
  if (userId !== null && summary.userId !== userId) return false;
  if (tag !== null && !summary.tags.includes(tag)) return false;
  if (internal !== null && summary.tags.includes(INTERNAL_TAG) !== internal) return false;
  if (text === null) return true;
  const wanted = text.toLowerCase();
  const { name, service: ownService, inputPreview, agentNames, models, tags } = summary;
  const labels = [summary.sessionId ?? '', summary.userId ?? '', ...tags];
  return [name, ownService, inputPreview, ...agentNames, ...models, ...labels].some((value) =>
    value.toLowerCase().includes(wanted),
  );
}

/** Aggregates of the traces that began in one time bucket. */
export interface TraceBucket {
  /** Start in Unix ms, inclusive. */
  readonly startMs: number;
  readonly traces: number;
  /** Traces with a failed span. */
  readonly failed: number;
  readonly spans: number;
  readonly llmCalls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Null when no call is priced. */
  readonly spend: Usd | null;
  /** Duration percentiles in nanoseconds; null without traces. */
  readonly p50Ns: bigint | null;
  readonly p90Ns: bigint | null;
  readonly p99Ns: bigint | null;
}

/** Time series of traces, in buckets of one length from `startMs` on. */
export interface TraceSeries {
  readonly startMs: number;
  readonly endMs: number;
  readonly bucketMs: number;
  readonly filters: TraceFilters;
}

/** Maximum number of buckets of a series. */
export const MAX_BUCKETS = 500;

/** Query of the agents of traces that began in a window and pass the filters. */
export type AgentSearch = Pick<TraceSearch, 'startMs' | 'endMs' | 'filters'>;

/** An agent in the traces of a window. */
export interface AgentActivity {
  readonly name: string;
  /** Number of its traces. */
  readonly traces: number;
  /** Traces with a failed span, of this agent or not, included in `traces`. */
  readonly failed: number;
  /** Start of its latest trace, Unix ms. */
  readonly lastStartMs: number;
  /** Distinct frameworks of its traces, sorted. */
  readonly frameworks: readonly string[];
}

/** Maximum number of agents of an answer. */
export const MAX_AGENTS = 500;

/** A bucket without traces. */
export const emptyBucket = (startMs: number): TraceBucket => ({
  startMs,
  traces: 0,
  failed: 0,
  spans: 0,
  llmCalls: 0,
  inputTokens: 0,
  outputTokens: 0,
  spend: null,
  p50Ns: null,
  p90Ns: null,
  p99Ns: null,
});

const DAY_MS = 86_400_000;

/** The window of a query, by default of `days` days. Throws InvalidInput for an empty one. */
export function windowOf(
  { startMs, endMs }: { readonly startMs: number | null; readonly endMs: number | null },
  nowMs: number,
  days = 1,
): { readonly startMs: number; readonly endMs: number } {
  const end = endMs ?? nowMs;
  const start = startMs ?? end - days * DAY_MS;
  if (start >= end) throw new InvalidInput('The window is empty: its start must be before its end.');
  return { startMs: start, endMs: end };
}
