import type { Span, SpanHead } from '../../domain/traces/span.ts';
import {
  joinLabels,
  labelsOfSpan,
  NO_LABELS,
  type StatedLabels,
  statedLabelsOf,
} from '../../domain/traces/trace-labels.ts';
import type { TraceIdentity } from '../../domain/traces/trace.ts';

/** Maximum number of spans of a trace whose attributes are read. */
const MOST_SPANS = 8;

/**
 * The labels of a trace from the attributes of its roots and first spans. For a summary that is computed from stored
 * spans: their heads do not contain labels.
 */
export async function storedLabels(
  identity: TraceIdentity,
  heads: readonly SpanHead[],
  findSpan: (traces: readonly TraceIdentity[], spanId: string) => Promise<Span | null>,
): Promise<StatedLabels> {
  const roots = heads.filter(({ parentSpanId }) => parentSpanId === null);
  const others = heads.filter(({ parentSpanId }) => parentSpanId !== null);
  let labels = NO_LABELS;
  for (const { spanId, parentSpanId, type } of [...roots, ...others].slice(0, MOST_SPANS)) {
    const { attributes = {} } = (await findSpan([identity], spanId)) ?? {};
    const stated = labelsOfSpan({ attributes, parentSpanId }, type);
    if (stated !== undefined) labels = joinLabels(labels, statedLabelsOf(stated, parentSpanId === null));
  }
  return labels;
}
