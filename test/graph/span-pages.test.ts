import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { traceRefOf } from '../support/memory-trace-store.ts';
import { aSpan, nsAt, OTHER_TEAM_KEY, spanId, START_MS, TEAM_KEY, traceId } from '../ports/samples.ts';
import { SpanPageDocument, SpanTreeDocument, TraceCountDocument } from './generated/graphql.ts';
import { openGraph } from './graph-server.ts';

let graph: Awaited<ReturnType<typeof openGraph>>;
const spanAt = (number: number) => ({ spanId: spanId(number), startNs: nsAt(START_MS + number) });
beforeEach(async () => {
  graph = await openGraph();
  // Spans 3 and 4 have the same start time, so that their ids decide the order.
  await graph.ingest(
    TEAM_KEY,
    aSpan(spanAt(3)),
    aSpan(spanAt(1)),
    aSpan(spanAt(2)),
    aSpan({ ...spanAt(4), startNs: nsAt(START_MS + 3) }),
  );
});
afterEach(() => graph.close());

const idsOf = (nodes: readonly { readonly spanId: string }[] = []) =>
  nodes.map((span) => Number.parseInt(span.spanId, 16));
const page = async (
  query: { readonly first?: number; readonly after?: string | null; readonly traceRef?: string },
  key?: string,
) => {
  const { data, errors } = await graph.call(SpanPageDocument, { id: traceId(1), ...query }, key);
  return { spans: data?.trace?.spans ?? null, errors };
};
const failure = (message: string, code: string) => [{ message, extensions: { code } }];

describe('Trace.spans', () => {
  it('are ordered by start and paged', async () => {
    const pages: number[][] = [];
    let after: string | null = null;
    do {
      const { spans } = await page({ first: 2, after });
      expect(spans?.edges.map(({ cursor }) => cursor)).toEqual([
        spans?.pageInfo.startCursor,
        spans?.pageInfo.endCursor,
      ]);
      // Pages of spans only continue forwards, and report no previous page.
      expect(spans?.pageInfo.hasPreviousPage).toBe(false);
      pages.push(idsOf(spans?.nodes));
      after = spans?.pageInfo.hasNextPage ? (spans.pageInfo.endCursor ?? null) : null;
    } while (after !== null);
    expect(pages).toEqual([
      [1, 2],
      [3, 4],
    ]);
    const { spans } = await page({});
    expect([idsOf(spans?.nodes), spans?.pageInfo.hasNextPage]).toEqual([[1, 2, 3, 4], false]);
  });

  it('are the spans of all owners that the caller may read, or of the owner in a trace ref', async () => {
    await graph.ingest(OTHER_TEAM_KEY, aSpan(spanAt(2)), aSpan({ ...spanAt(5), startNs: nsAt(START_MS + 1) }));
    const first = (await page({ first: 3 })).spans;
    const second = (await page({ first: 3, after: first?.pageInfo.endCursor ?? null })).spans;
    expect([idsOf(first?.nodes), idsOf(second?.nodes), second?.pageInfo.hasNextPage]).toEqual([
      [1, 5, 2],
      [3, 4],
      false,
    ]);
    expect(idsOf((await page({}, 'sk-team-a')).spans?.nodes)).toEqual([1, 2, 3, 4]);
    expect(idsOf((await page({ traceRef: traceRefOf(OTHER_TEAM_KEY, traceId(1)) })).spans?.nodes)).toEqual([5, 2]);
  });

  it('are null for a trace that does not exist or that the caller may not read', async () => {
    for (const answer of [await page({}, 'sk-team-b'), await page({ traceRef: 'A'.repeat(64) })])
      expect(answer).toEqual({ spans: null, errors: undefined });
  });

  it('refuse a cursor from before the trace changed, a malformed cursor and invalid page sizes', async () => {
    const cursorBeforeChange = (await page({ first: 1 })).spans?.pageInfo.endCursor ?? '';
    await graph.ingest(TEAM_KEY, aSpan(spanAt(9)));
    expect((await page({ after: cursorBeforeChange })).errors).toMatchObject(
      failure('The trace has changed since this cursor was given. Read it from its start.', 'CONFLICT'),
    );
    expect((await page({ after: 'nonsense' })).errors).toMatchObject(failure('Invalid cursor.', 'INVALID_INPUT'));
    for (const first of [0, 501, -1])
      expect((await page({ first })).errors).toMatchObject(
        failure('`first` must be between 1 and 500.', 'INVALID_INPUT'),
      );
  });
});

describe('Span.parent and Span.children', () => {
  it('follow the edges of the tree with one read of the spans, and page the children', async () => {
    const childSpan = (number: number, parent: number) =>
      aSpan({ ...spanAt(number), traceId: traceId(2), parentSpanId: spanId(parent) });
    // Span 4 is its own parent, and the parent of span 5 does not exist.
    await graph.ingest(
      TEAM_KEY,
      aSpan({ ...spanAt(1), traceId: traceId(2) }),
      childSpan(2, 1),
      childSpan(3, 1),
      childSpan(4, 4),
      childSpan(5, 9),
    );
    const { data } = await graph.call(SpanTreeDocument, { id: traceId(2), children: 1 });
    const nodes = data.trace?.spans?.nodes ?? [];
    expect(nodes.map(({ parent }) => parent?.spanId ?? null)).toEqual([null, spanId(1), spanId(1), null, null]);
    expect(nodes.map(({ children }) => [children.totalCount, idsOf(children.nodes)])).toEqual([
      [2, [2]],
      [0, []],
      [0, []],
      [0, []],
      [0, []],
    ]);
    expect(nodes[0]?.children.pageInfo.hasNextPage).toBe(true);
    expect(graph.reads.listSpans).toBe(1);
  });

  it('are refused when nested pages exceed the cost limit', async () => {
    const nested = (depth: number): string =>
      depth === 0 ? '{ nodes { spanId } }' : `{ nodes { children(first: 50) ${nested(depth - 1)} } }`;
    const query = `{ trace(id: "${traceId(1)}") { spans(first: 50) ${nested(3)} } }`;
    const answer = await graph.post(JSON.stringify({ query }), { authorization: 'Bearer sk-admin' });
    expect(await answer.json()).toMatchObject({ errors: [{ extensions: { code: 'TOO_LARGE' } }] });
  });
});

it('traces.totalCount counts the traces of all pages that the caller may read', async () => {
  await graph.ingest(OTHER_TEAM_KEY, aSpan({ ...spanAt(5), traceId: traceId(3), name: 'other' }));
  const count = async (variables: object, key?: string) =>
    (await graph.call(TraceCountDocument, { first: 1, ...variables }, key)).data.traces.totalCount;
  expect(await count({})).toBe(2);
  expect(await count({}, 'sk-team-a')).toBe(1);
  expect(await count({ filter: { text: 'other' } })).toBe(1);
});
