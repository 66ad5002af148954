import type { Span, SpanHead } from '../src/domain/traces/span.ts';
import type { TraceKey } from '../src/domain/traces/store.ts';
import type { TraceIdentity } from '../src/domain/traces/trace.ts';
import { labelledSpans, labelsOf, type TraceLabels } from '../src/domain/traces/trace-labels.ts';

/** Queries for the labels of a trace; see `Loaders`. */
interface LabelQueries {
  readonly spansByTrace: { load(trace: TraceKey): Promise<readonly SpanHead[]> };
  readonly contentBySpan: { load(span: TraceKey & Pick<SpanHead, 'spanId'>): Promise<Span | null> };
}

/** Session, user and tags of the parts of one trace, from the attributes of its first spans. */
export async function readLabels(
  parts: readonly TraceIdentity[],
  { spansByTrace, contentBySpan }: LabelQueries,
): Promise<TraceLabels> {
  const read = parts.map(async ({ traceId, traceRef }) => {
    const spans = labelledSpans(await spansByTrace.load({ traceId, traceRef }));
    return Promise.all(spans.map(({ spanId }) => contentBySpan.load({ traceId, traceRef, spanId })));
  });
  const spans = (await Promise.all(read)).flat();
  return labelsOf(spans.flatMap((span) => (span === null ? [] : [span.attributes])));
}
