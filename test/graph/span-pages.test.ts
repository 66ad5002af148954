import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { traceRefOf } from '../support/memory-trace-store.ts';
import { aSpan, nsAt, OTHER_TEAM_KEY, spanId, START_MS, TEAM_KEY, traceId } from '../ports/samples.ts';
import { SpanPageDocument } from './generated/graphql.ts';
import { openGraph } from './graph-house.ts';

let house: Awaited<ReturnType<typeof openGraph>>;
const at = (number: number) => ({ spanId: spanId(number), startNs: nsAt(START_MS + number) });
beforeEach(async () => {
  house = await openGraph();
  // The last two begin together, so that their ids decide.
  await house.ingest(
    TEAM_KEY,
    aSpan(at(3)),
    aSpan(at(1)),
    aSpan(at(2)),
    aSpan({ ...at(4), startNs: nsAt(START_MS + 3) }),
  );
});
afterEach(() => house.close());

const idsOf = (nodes: readonly { readonly spanId: string }[] = []) =>
  nodes.map((span) => Number.parseInt(span.spanId, 16));
const page = async (
  asked: { readonly first?: number; readonly after?: string | null; readonly ref?: string },
  key?: string,
) => {
  const { data, errors } = await house.call(SpanPageDocument, { traceId: traceId(1), ...asked }, key);
  return { spans: data?.spans ?? null, errors };
};
const failure = (message: string, code: string, more: object = {}) => [{ message, extensions: { code, ...more } }];

describe('the spans of a trace in the graph', () => {
  it('come by start, page by page, and no more are read than are told', async () => {
    const seen: number[][] = [];
    let after: string | null = null;
    do {
      const { spans } = await page({ first: 2, after });
      expect(spans?.edges.map(({ cursor }) => cursor)).toEqual([
        spans?.pageInfo.startCursor,
        spans?.pageInfo.endCursor,
      ]);
      expect(spans?.pageInfo.hasPreviousPage).toBe(false);
      seen.push(idsOf(spans?.nodes));
      after = spans?.pageInfo.hasNextPage ? (spans.pageInfo.endCursor ?? null) : null;
    } while (after !== null);
    expect(seen).toEqual([
      [1, 2],
      [3, 4],
    ]);
    expect(house.reads.listSpans).toBe(0);
    const { spans } = await page({});
    expect([idsOf(spans?.nodes), spans?.pageInfo.hasNextPage]).toEqual([[1, 2, 3, 4], false]);
  });

  it('are those of every owner the caller may see, each id once, or of one by its ref', async () => {
    await house.ingest(OTHER_TEAM_KEY, aSpan(at(2)), aSpan({ ...at(5), startNs: nsAt(START_MS + 1) }));
    const first = (await page({ first: 3 })).spans;
    const second = (await page({ first: 3, after: first?.pageInfo.endCursor ?? null })).spans;
    expect([idsOf(first?.nodes), idsOf(second?.nodes), second?.pageInfo.hasNextPage]).toEqual([
      [1, 5, 2],
      [3, 4],
      false,
    ]);
    expect(idsOf((await page({}, 'sk-team-a')).spans?.nodes)).toEqual([1, 2, 3, 4]);
    expect(idsOf((await page({ ref: traceRefOf(OTHER_TEAM_KEY, traceId(1)) })).spans?.nodes)).toEqual([5, 2]);
  });

  it('are none of a trace that is not there, or not for the caller', async () => {
    const missing = failure(`Trace ${traceId(1)} not found`, 'NOT_FOUND', { kind: 'Trace', id: traceId(1) });
    for (const answer of [await page({}, 'sk-team-b'), await page({ ref: 'A'.repeat(64) })])
      expect(answer).toMatchObject({ spans: null, errors: missing });
  });

  it('are refused a cursor from before the trace grew, one that is none, and sizes no page has', async () => {
    const before = (await page({ first: 1 })).spans?.pageInfo.endCursor ?? '';
    await house.ingest(TEAM_KEY, aSpan(at(9)));
    expect((await page({ after: before })).errors).toMatchObject(
      failure('The trace has changed since this cursor was given. Read it from its start.', 'CONFLICT'),
    );
    expect((await page({ after: 'nonsense' })).errors).toMatchObject(failure('Invalid cursor.', 'INVALID_INPUT'));
    for (const first of [0, 501, -1])
      expect((await page({ first })).errors).toMatchObject(failure('A page holds 1 to 500 spans.', 'INVALID_INPUT'));
  });
});
