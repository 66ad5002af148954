import type { Owner } from '../caller.ts';
import { addUsd, type Usd } from '../money.ts';
import type { SpanHead, SpanStatus } from './span.ts';

/** The row of a list: cheap, no spans. Kept up to date as spans arrive. */
export interface TraceSummary {
  readonly traceId: string;
  /** Opaque handle of this owner's trace: two keys that send one trace id have two. */
  readonly traceRef: string;
  readonly owner: Owner;
  /** Name of the root span; empty until the root has arrived. */
  readonly name: string;
  readonly service: string;
  readonly inputPreview: string;
  /** Earliest start and latest end of its spans, Unix nanoseconds. */
  readonly startNs: bigint;
  readonly endNs: bigint;
  /** Status of the root span; `unset` until it has arrived. */
  readonly status: SpanStatus;
  readonly spanCount: number;
  /** Distinct agent names, sorted. */
  readonly agentNames: readonly string[];
  /** Number of agent spans. */
  readonly agentInvocations: number;
  readonly llmCalls: number;
  readonly toolCalls: number;
  /** Spans with error status anywhere in the trace. */
  readonly errorCount: number;
  /** Sum over its model calls, or over all spans while no model call is known. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Distinct models, sorted. */
  readonly models: readonly string[];
  /** Sum over the priced calls; null when none is priced. */
  readonly spend: Usd | null;
  readonly pricedCalls: number;
}

/** An agent as a trace shows it. */
export interface TraceAgent {
  readonly name: string;
  /** Nearest ancestor agent of another name; null at the top. */
  readonly parentAgent: string | null;
  readonly invocations: number;
  readonly llmCalls: number;
  readonly toolCalls: number;
  /** Sum over its agent spans: parallel ones can exceed the trace. */
  readonly durationMs: number;
}

export interface Trace {
  readonly summary: TraceSummary;
  readonly agents: readonly TraceAgent[];
  /** By start; hierarchy only through the parent ids. */
  readonly spans: readonly SpanHead[];
}

/** What subscribers of traces hear: the summary as it stands after a commit. */
export interface TraceChange {
  readonly summary: TraceSummary;
}

/** The window and position of one page of a list; newest first, by (startMs, traceRef). */
export interface TraceWindow {
  /** Unix milliseconds, inclusive. */
  readonly startMs: number;
  /** Unix milliseconds, exclusive. */
  readonly endMs: number;
  /** Continue strictly below this row; null for the first page. */
  readonly after: { readonly startMs: number; readonly traceRef: string } | null;
}

export const TRACE_PAGE_SIZE = 50;

const distinctSorted = (known: readonly string[], more: readonly string[]): readonly string[] =>
  [...new Set([...known, ...more.filter((name) => name !== '')])].toSorted();

/**
 * A summary after spans not counted before are added to it; `summary` null starts one. The order in which
 * spans arrive does not matter, except that the first of several roots names the trace.
 */
export function growSummary(
  summary: TraceSummary | null,
  identity: Pick<TraceSummary, 'traceId' | 'traceRef' | 'owner'>,
  added: readonly SpanHead[],
): TraceSummary {
  const root = added
    .filter((span) => span.parentSpanId === null)
    .toSorted((left, right) => (left.startNs < right.startNs ? -1 : 1))[0];
  const starts = added.map((span) => span.startNs);
  const ends = added.map((span) => span.endNs);
  const least = (values: readonly bigint[]): bigint => values.reduce((a, b) => (a < b ? a : b));
  const most = (values: readonly bigint[]): bigint => values.reduce((a, b) => (a > b ? a : b));
  const count = (wanted: (span: SpanHead) => boolean): number => added.filter(wanted).length;
  const sum = (of: (span: SpanHead) => number): number => telling.reduce((total, span) => total + of(span), 0);
  const costs = added.flatMap((span) => (span.cost === null ? [] : [span.cost]));
  const calls = added.filter((span) => span.type === 'llm');
  // Runs tell the usage of their calls a second time: once a call is known, only calls count.
  const telling = calls.length > 0 || (summary?.llmCalls ?? 0) > 0 ? calls : added;
  const counted = telling === calls && summary?.llmCalls === 0 ? null : summary;
  const named = summary !== null && summary.name !== '';
  return {
    ...identity,
    name: named || !root ? (summary?.name ?? '') : root.name,
    service: (named ? summary.service : root?.service) || summary?.service || added[0]?.service || '',
    inputPreview: named || !root ? (summary?.inputPreview ?? '') : root.inputPreview,
    status: named || !root ? (summary?.status ?? 'unset') : root.status,
    startNs: least(summary ? [summary.startNs, ...starts] : starts),
    endNs: most(summary ? [summary.endNs, ...ends] : ends),
    spanCount: (summary?.spanCount ?? 0) + added.length,
    agentNames: distinctSorted(
      summary?.agentNames ?? [],
      added.map((span) => span.agent),
    ),
    agentInvocations: (summary?.agentInvocations ?? 0) + count((span) => span.type === 'agent'),
    llmCalls: (summary?.llmCalls ?? 0) + calls.length,
    toolCalls: (summary?.toolCalls ?? 0) + count((span) => span.type === 'tool'),
    errorCount: (summary?.errorCount ?? 0) + count((span) => span.status === 'error'),
    inputTokens: (counted?.inputTokens ?? 0) + sum((span) => span.inputTokens),
    outputTokens: (counted?.outputTokens ?? 0) + sum((span) => span.outputTokens),
    models: distinctSorted(
      summary?.models ?? [],
      added.map((span) => span.model ?? ''),
    ),
    spend: costs.reduce<Usd | null>(
      (total, cost) => (total === null ? cost : addUsd(total, cost)),
      summary?.spend ?? null,
    ),
    pricedCalls: (summary?.pricedCalls ?? 0) + costs.length,
  };
}
