import { compare } from '../compare.ts';
import { agentsOf } from './agents.ts';
import type { SpanHead } from './span.ts';
import { joinLabels, labelsIn } from './trace-labels.ts';
import { growSummary, type Trace, type TraceIdentity, type TraceSummary } from './trace.ts';

const NS_PER_MS = 1_000_000;

/** Milliseconds between two instants, with their fraction. */
export const msBetween = (startNs: bigint, endNs: bigint): number => Number(endNs - startNs) / NS_PER_MS;

/**
 * A trace from its summaries and their spans. Summaries of several owners with one trace id are merged to one summary
 * with an empty `traceRef`. Of spans with the same id the earliest is kept. Null when there is no summary.
 */
export function assembleTrace(
  summaries: readonly TraceSummary[],
  spansByRef: ReadonlyMap<string, readonly SpanHead[]>,
): Trace | null {
  const [first, ...others] = summaries;
  if (first === undefined) return null;
  const spans = spansOfParts(summaries, spansByRef);
  const summary =
    others.length === 0
      ? first
      : { ...growSummary(null, { ...first, traceRef: '' }, spans), ...summaries.map(labelsIn).reduce(joinLabels) };
  const parts = summaries.map(({ traceId, traceRef, owner }) => ({ traceId, traceRef, owner }));
  return { summary: withNameOfRootOrFirst(summary, spans), agents: agentsOf(spans), spans, parts };
}

/** The parts of a merged trace, by team, then key. */
export const sortedParts = (parts: readonly TraceIdentity[]): readonly TraceIdentity[] =>
  parts.toSorted(
    ({ owner: left }, { owner: right }) =>
      compare(left.teamId ?? '', right.teamId ?? '') || compare(left.keyHash, right.keyHash),
  );

/** The spans of all parts of a merged trace, by start, each id once. */
export const spansOfParts = (
  parts: readonly TraceIdentity[],
  spansByRef: ReadonlyMap<string, readonly SpanHead[]>,
): readonly SpanHead[] => distinctSpans(parts.flatMap(({ traceRef }) => spansByRef.get(traceRef) ?? []));

/** Spans sorted by start, then id; of equal ids the first. */
function distinctSpans(spans: readonly SpanHead[]): readonly SpanHead[] {
  const inOrder = spans.toSorted(
    (left, right) => compare(left.startNs, right.startNs) || compare(left.spanId, right.spanId),
  );
  const seen = new Set<string>();
  return inOrder.filter(({ spanId }) => {
    const isFirst = !seen.has(spanId);
    seen.add(spanId);
    return isFirst;
  });
}

/** Whether none of the spans is a root. */
export const isRootless = (spans: readonly SpanHead[]): boolean =>
  spans.every(({ parentSpanId }) => parentSpanId !== null);

function withNameOfRootOrFirst(summary: TraceSummary, spans: readonly SpanHead[]): TraceSummary {
  return isRootless(spans) ? namedByFirst(summary, spans[0]) : summary;
}

/**
 * The summary of a trace whose root has not arrived. It has name and status of the first span, and the preview of that
 * span if the span has one.
 */
export function namedByFirst(summary: TraceSummary, first: SpanHead | undefined): TraceSummary {
  if (first === undefined) return summary;
  const { name, status, inputPreview } = first;
  return { ...summary, name, status, inputPreview: inputPreview || summary.inputPreview };
}
