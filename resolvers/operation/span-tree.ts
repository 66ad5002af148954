import { spansOfParts } from '../../src/domain/traces/assemble-trace.ts';
import type { SpanHead } from '../../src/domain/traces/span.ts';
import type { TraceIdentity } from '../../src/domain/traces/trace.ts';

/** A span and the stored trace that has it. */
export type OwnedSpan = SpanHead & { readonly traceRef: string };

/** All spans of a trace, indexed. `spans` are ordered by start, then id. */
export interface SpanTree {
  readonly spans: readonly SpanHead[];
  readonly byId: ReadonlyMap<string, SpanHead>;
  /** By the id of the parent, in the order of `spans`. */
  readonly children: ReadonlyMap<string, readonly SpanHead[]>;
  /** The ref of the stored trace that has a span of this tree. */
  refOf(span: SpanHead): string;
}

/** Indexes the spans of a trace. `spansByRef` has the spans of each part. */
export function spanTreeOf(
  parts: readonly TraceIdentity[],
  spansByRef: ReadonlyMap<string, readonly SpanHead[]>,
): SpanTree {
  const spans = spansOfParts(parts, spansByRef);
  const refs = new Map<SpanHead, string>();
  if (parts.length > 1)
    for (const { traceRef } of parts) for (const span of spansByRef.get(traceRef) ?? []) refs.set(span, traceRef);
  // The spans of a trace with one part are not in `refs`.
  const firstRef = parts[0]?.traceRef ?? '';
  return {
    spans,
    byId: new Map(spans.map((span) => [span.spanId, span])),
    children: Map.groupBy(
      // A span that names itself as its parent has no parent.
      spans.filter(({ parentSpanId, spanId }) => parentSpanId !== null && parentSpanId !== spanId),
      ({ parentSpanId }) => parentSpanId ?? '',
    ),
    refOf: (span) => refs.get(span) ?? firstRef,
  };
}
