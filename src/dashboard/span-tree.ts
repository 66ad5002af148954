/** The fields of a span that its place in the tree needs. */
export interface TreeSpan {
  readonly spanId: string;
  readonly parentSpanId: string | null;
  readonly startNs: number | string;
}

export interface PlacedSpan<S extends TreeSpan> {
  readonly span: S;
  /** 0 for a root. */
  readonly depth: number;
}

/**
 * Spans in the order of a tree: each parent before its children, siblings by start. A span without a known parent is a
 * root. A cycle of parents is shown once, from its earliest span.
 */
export function inTreeOrder<S extends TreeSpan>(spans: readonly S[]): readonly PlacedSpan<S>[] {
  const ids = new Set(spans.map(({ spanId }) => spanId));
  const byStart = spans.toSorted((a, b) => compareNs(a.startNs, b.startNs));
  const children = new Map<string | null, S[]>();
  for (const span of byStart) {
    const parent = span.parentSpanId !== null && ids.has(span.parentSpanId) ? span.parentSpanId : null;
    const siblings = children.get(parent);
    if (siblings === undefined) children.set(parent, [span]);
    else siblings.push(span);
  }
  const placed: PlacedSpan<S>[] = [];
  const seen = new Set<string>();
  const place = (root: S): void => {
    const waiting: PlacedSpan<S>[] = [{ span: root, depth: 0 }];
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
  // Only spans of a cycle are left.
  for (const span of byStart) if (!seen.has(span.spanId)) place(span);
  return placed;
}

/** Nanoseconds exceed the exact integers of a number, so they are compared as big integers. */
export function compareNs(a: number | string, b: number | string): number {
  const [left, right] = [BigInt(a), BigInt(b)];
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
