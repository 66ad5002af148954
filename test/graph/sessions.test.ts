import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { aSpan, nsAt, OTHER_TEAM_KEY, picos, spanId, START_MS, TEAM_KEY, traceId } from '../ports/samples.ts';
import { SessionsDocument } from './generated/graphql.ts';
import { openGraph } from './graph-server.ts';

let graph: Awaited<ReturnType<typeof openGraph>>;
beforeEach(async () => {
  graph = await openGraph();
  const timesAt = (second: number, durationMs: number) => ({
    startNs: nsAt(START_MS + second * 1_000),
    endNs: nsAt(START_MS + second * 1_000 + durationMs),
  });
  const labels = { sessionId: 'chat', userId: 'ann', tags: ['prod'] };
  await graph.ingest(
    TEAM_KEY,
    aSpan({ ...timesAt(0, 30), cost: picos(2_500_000_000n), labels }),
    aSpan({ ...timesAt(9, 10), traceId: traceId(2), status: 'error', labels: { ...labels, tags: ['test'] } }),
    aSpan({ ...timesAt(3, 20), traceId: traceId(3), labels: { ...labels, sessionId: 'other' } }),
    aSpan({ ...timesAt(4, 20), traceId: traceId(4) }),
  );
  await graph.ingest(OTHER_TEAM_KEY, aSpan({ ...timesAt(3, 40), traceId: traceId(5), spanId: spanId(5), labels }));
});
afterEach(() => graph.close());

const time = (ms: number): string => new Date(START_MS + ms).toISOString();

describe('sessions', () => {
  it('have the sums of their traces, and the latest session comes first', async () => {
    const { sessions } = (await graph.call(SessionsDocument, { tracesFirst: 2 })).data;
    expect(sessions.totalCount).toBe(2);
    const [chat, other] = sessions.nodes;
    expect(chat).toEqual({
      sessionId: 'chat',
      userId: 'ann',
      traceCount: 3,
      failedTraceCount: 1,
      // Each of the three traces has one span, with 3 input and 5 output tokens.
      llmCalls: 3,
      inputTokens: 9,
      outputTokens: 15,
      costUsd: '0.0025',
      estimatedCostUsd: null,
      firstSeenAt: time(0),
      lastSeenAt: time(9_010),
      durationMs: 9_010,
      traces: {
        pageInfo: { hasNextPage: true, endCursor: expect.any(String) },
        nodes: [
          { traceId: traceId(2), sessionId: 'chat', userId: 'ann', tags: ['test'] },
          { traceId: traceId(5), sessionId: 'chat', userId: 'ann', tags: ['prod'] },
        ],
      },
    });
    expect([other?.sessionId, other?.traceCount]).toEqual(['other', 1]);
    const tracesAfter = chat?.traces?.pageInfo.endCursor ?? null;
    const allTraces = (await graph.call(SessionsDocument, { filter: { sessionId: 'chat' } })).data.sessions;
    expect(allTraces.nodes.map(({ traces }) => traces?.nodes.length)).toEqual([3]);
    const nextTraces = await graph.call(SessionsDocument, { first: 1, tracesAfter });
    expect(nextTraces.data.sessions.nodes[0]?.traces?.nodes.map((trace) => trace.traceId)).toEqual([traceId(1)]);
  });

  it('are paged, and match filters of traces', async () => {
    const first = (await graph.call(SessionsDocument, { first: 1 })).data.sessions;
    expect([first.nodes.map(({ sessionId }) => sessionId), first.pageInfo.hasNextPage]).toEqual([['chat'], true]);
    const after = first.pageInfo.endCursor;
    const second = (await graph.call(SessionsDocument, { first: 1, after })).data.sessions;
    // The last page is full and has no next page.
    expect([second.nodes.map(({ sessionId }) => sessionId), second.pageInfo.hasNextPage]).toEqual([['other'], false]);
    const tagged = (await graph.call(SessionsDocument, { filter: { tag: 'test', userId: 'ann' } })).data.sessions;
    expect(tagged.nodes.map(({ sessionId, traceCount }) => [sessionId, traceCount])).toEqual([['chat', 1]]);
    expect((await graph.call(SessionsDocument, { filter: { tag: 'none' } })).data.sessions.nodes).toEqual([]);
  });

  it('refuse a cursor of other filters, a malformed cursor, and a page size out of range', async () => {
    const { pageInfo } = (await graph.call(SessionsDocument, { first: 1 })).data.sessions;
    for (const variables of [
      { after: pageInfo.endCursor, filter: { tag: 'prod' } },
      { after: 'nonsense' },
      { first: 0 },
      { first: 101 },
    ]) {
      const { errors } = await graph.call(SessionsDocument, variables);
      expect(errors?.map(({ extensions }) => extensions?.['code'])).toEqual(['INVALID_INPUT']);
    }
  });
});
