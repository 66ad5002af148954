import type { Usd } from '../money.ts';
import type { SpanStatus } from './span.ts';
import type { TraceSummary } from './trace.ts';

/** What traces must be; everything that is not null must hold. */
export interface TraceFilters {
  readonly status: SpanStatus | null;
  readonly service: string | null;
  /** One of its agents. */
  readonly agent: string | null;
  /** One of its models. */
  readonly model: string | null;
  /** Hash of the key that sent it. */
  readonly keyHash: string | null;
  readonly teamId: string | null;
  /** Known to have cost so much. */
  readonly minSpend: Usd | null;
  readonly minDurationNs: bigint | null;
  /** Spans that failed in it. */
  readonly minErrors: number | null;
  /** Stands in its name, service, input preview, agents or models, in whatever letter case. */
  readonly text: string | null;
}

export const NO_FILTERS: TraceFilters = {
  status: null,
  service: null,
  agent: null,
  model: null,
  keyHash: null,
  teamId: null,
  minSpend: null,
  minDurationNs: null,
  minErrors: null,
  text: null,
};

/** By what the greatest come first. */
export const TRACE_ORDERS = ['start', 'duration', 'spend', 'errors'] as const;
export type TraceOrder = (typeof TRACE_ORDERS)[number];

/** One page of a search, from the greatest rank down, then by trace ref. */
export interface TraceSearch {
  /** Unix milliseconds, inclusive; the other exclusive. */
  readonly startMs: number;
  readonly endMs: number;
  readonly filters: TraceFilters;
  readonly order: TraceOrder;
  /** Continue strictly below this row; null for the first page. */
  readonly after: { readonly rank: bigint; readonly traceRef: string } | null;
}

/** Where a trace stands in an order. One whose cost nobody knows stands behind those that were free. */
export function rankOf({ startNs, endNs, spend, errorCount }: TraceSummary, order: TraceOrder): bigint {
  switch (order) {
    case 'start':
      return startNs / 1_000_000n;
    case 'duration':
      return endNs - startNs;
    case 'spend':
      return spend ?? -1n;
    case 'errors':
      return BigInt(errorCount);
  }
}

/** Whether a trace is what the filters ask. */
export function passesFilters(summary: TraceSummary, filters: TraceFilters): boolean {
  const { status, service, agent, model, keyHash, teamId, minSpend, minDurationNs, minErrors, text } = filters;
  if (status !== null && summary.status !== status) return false;
  if (service !== null && summary.service !== service) return false;
  if (agent !== null && !summary.agentNames.includes(agent)) return false;
  if (model !== null && !summary.models.includes(model)) return false;
  if (keyHash !== null && summary.owner.keyHash !== keyHash) return false;
  if (teamId !== null && summary.owner.teamId !== teamId) return false;
  if (minSpend !== null && (summary.spend === null || summary.spend < minSpend)) return false;
  if (minDurationNs !== null && summary.endNs - summary.startNs < minDurationNs) return false;
  if (minErrors !== null && summary.errorCount < minErrors) return false;
  if (text === null) return true;
  const wanted = text.toLowerCase();
  const { name, service: of, inputPreview, agentNames, models } = summary;
  return [name, of, inputPreview, ...agentNames, ...models].some((told) => told.toLowerCase().includes(wanted));
}

/** What the traces that began in one stretch of time come to. */
export interface TraceBucket {
  /** Unix milliseconds, inclusive; it ends where the next begins. */
  readonly startMs: number;
  readonly traces: number;
  /** Traces in which a span failed. */
  readonly failed: number;
  readonly spans: number;
  readonly llmCalls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Null when no call is priced. */
  readonly spend: Usd | null;
  /** Durations that so many percent of the traces did not exceed, in nanoseconds; null without traces. */
  readonly p50Ns: bigint | null;
  readonly p90Ns: bigint | null;
  readonly p99Ns: bigint | null;
}

/** Traces by the time they began, in stretches of one length from `startMs` on. */
export interface TraceSeries {
  readonly startMs: number;
  readonly endMs: number;
  readonly bucketMs: number;
  readonly filters: TraceFilters;
}

export const MOST_BUCKETS = 500;

/** Which agents are asked for: those of the traces that began inside a window and pass the filters. */
export type AgentSearch = Pick<TraceSearch, 'startMs' | 'endMs' | 'filters'>;

/** An agent as the traces of a window name it. */
export interface AgentActivity {
  readonly name: string;
  /** Traces that it took part in. */
  readonly traces: number;
  /** Of those, the ones in which a span failed, not always its own. */
  readonly failed: number;
  /** When the latest of them began, Unix milliseconds. */
  readonly lastStartMs: number;
}

/** Most agents of one answer. */
export const MOST_AGENTS = 500;

/** A stretch without traces. */
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
