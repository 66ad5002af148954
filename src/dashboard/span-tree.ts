/** The fields that place a span in a tree. */
export interface TreeSpan {
  readonly spanId: string;
  readonly parentSpanId: string | null;
  readonly startNs: number | string;
}

export interface PlacedSpan<Span extends TreeSpan> {
  readonly span: Span;
  /** 0 for a root. */
  readonly depth: number;
}

/**
 * Spans in the order of a tree: each parent directly before its children, siblings by start. A span whose parent is not
 * in the list is a root. In a cycle of parents, the earliest span is the root.
 */
export function inTreeOrder<Span extends TreeSpan>(spans: readonly Span[]): readonly PlacedSpan<Span>[] {
  const ids = new Set(spans.map(({ spanId }) => spanId));
  const byStart = spans.toSorted((a, b) => compareNs(a.startNs, b.startNs));
  const children = new Map<string | null, Span[]>();
  for (const span of byStart) {
    const parent = span.parentSpanId !== null && ids.has(span.parentSpanId) ? span.parentSpanId : null;
    const siblings = children.get(parent);
    if (siblings === undefined) children.set(parent, [span]);
    else siblings.push(span);
  }
  const placed: PlacedSpan<Span>[] = [];
  const seen = new Set<string>();
  const place = (root: Span): void => {
    const waiting: PlacedSpan<Span>[] = [{ span: root, depth: 0 }];
    for (let current = waiting.pop(); current !== undefined; current = waiting.pop()) {
      const { span, depth } = current;
      if (seen.has(span.spanId)) continue;
      seen.add(span.spanId);
      placed.push(current);
      for (const child of (children.get(span.spanId) ?? []).toReversed())
        waiting.push({ span: child, depth: depth + 1 });
    }
  };
  for (const root of children.get(null) ?? []) place(root);
  // The remaining spans are in a cycle of parents, or below a cycle.
  for (const span of byStart) if (!seen.has(span.spanId)) place(span);
  return placed;
}

/** Compares nanoseconds as big integers, because a number cannot represent them exactly. */
export function compareNs(a: number | string, b: number | string): number {
  const [left, right] = [BigInt(a), BigInt(b)];
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
