import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  aSpan,
  aSpendRow,
  nsAt,
  OTHER_TEAM_KEY,
  picos,
  spanId,
  START_MS,
  TEAM_KEY,
  traceId,
} from '../ports/samples.ts';
import { traceRefOf } from '../support/memory-trace-store.ts';
import { TraceDocument, TraceSearchDocument, TracesDocument, TracesWithSpansDocument } from './generated/graphql.ts';
import { openGraph } from './graph-server.ts';

const SPEND = [aSpendRow({ traceId: traceId(1), spanId: spanId(1), cost: picos(1_250_000n) })];

let graph: Awaited<ReturnType<typeof openGraph>>;
beforeEach(async () => {
  graph = await openGraph({ spend: SPEND });
});
afterEach(() => graph.close());

/** Stores traces 1 to `count`, each with one model call, one second apart. */
const ingestTraces = (count: number) =>
  graph.ingest(
    TEAM_KEY,
    ...Array.from({ length: count }, (_, index) =>
      aSpan({
        traceId: traceId(index + 1),
        startNs: nsAt(START_MS + index * 1_000),
        endNs: nsAt(START_MS + index * 1_000 + 5),
      }),
    ),
  );

describe('traces', () => {
  it('are listed newest first, in pages up to the last trace', async () => {
    await ingestTraces(5);
    const first = (await graph.call(TracesDocument, { first: 2 })).data.traces;
    const second = (await graph.call(TracesDocument, { first: 2, after: first.pageInfo.endCursor })).data.traces;
    const third = (await graph.call(TracesDocument, { first: 2, after: second.pageInfo.endCursor })).data.traces;
    expect(
      [first, second, third].map(({ nodes, pageInfo }) => [
        nodes.map((trace) => Number.parseInt(trace.traceId, 16)),
        pageInfo.hasNextPage,
      ]),
    ).toEqual([
      [[5, 4], true],
      [[3, 2], true],
      [[1], false],
    ]);
  });

  it('have no next page after a full page with the last trace', async () => {
    await ingestTraces(2);
    const withoutFilter = (await graph.call(TracesDocument, { first: 2 })).data.traces;
    const withFilter = (await graph.call(TraceSearchDocument, { first: 2, filter: { minErrors: 0 } })).data.traces;
    for (const { nodes, pageInfo } of [withoutFilter, withFilter])
      expect([nodes.length, pageInfo.hasNextPage]).toEqual([2, false]);
  });

  it('continue after the cursor of any row', async () => {
    await ingestTraces(5);
    const { edges } = (await graph.call(TracesDocument, { first: 4 })).data.traces;
    const { data } = await graph.call(TracesDocument, { after: edges[1]?.cursor ?? '' });
    expect(data.traces.nodes.map((trace) => Number.parseInt(trace.traceId, 16))).toEqual([3, 2, 1]);
  });

  it('are the traces that start within the window', async () => {
    await ingestTraces(5);
    const window = { from: new Date(START_MS + 1_000).toISOString(), to: new Date(START_MS + 3_000).toISOString() };
    const { data } = await graph.call(TracesDocument, window);
    expect(data.traces).toMatchInlineSnapshot(`
      {
        "edges": [
          {
            "cursor": "WzE3MDAwMDAwMDEwMDAsMTcwMDAwMDAwMzAwMCwxNzAwMDAwMDAyMDAwLCJDQUE1QkU1QjY3MDMxMTZDM0MyODRDQTQ2NDQyMjkzQTEyNUM1NTkwMEJDMDRCQTg3NzY3M0EzQkRCREIwMzdFIl0",
          },
          {
            "cursor": "WzE3MDAwMDAwMDEwMDAsMTcwMDAwMDAwMzAwMCwxNzAwMDAwMDAxMDAwLCJCRjE3NjU5Q0NEMzcxODZBRUI4QjNCQjQzMUE3Q0U5MTMzQTdDMURBNjhDQUE5QTQ2NDE1NDEyNTQwODdGRDEyIl0",
          },
        ],
        "nodes": [
          {
            "costUsd": null,
            "durationMs": 5,
            "name": "chat demo",
            "startedAt": "2023-11-14T22:13:22.000Z",
            "traceId": "00000000000000000000000000000003",
            "traceRef": "CAA5BE5B6703116C3C284CA46442293A125C55900BC04BA877673A3BDBDB037E",
          },
          {
            "costUsd": null,
            "durationMs": 5,
            "name": "chat demo",
            "startedAt": "2023-11-14T22:13:21.000Z",
            "traceId": "00000000000000000000000000000002",
            "traceRef": "BF17659CCD37186AEB8B3BB431A7CE9133A7C1DA68CAA9A4641541254087FD12",
          },
        ],
        "pageInfo": {
          "endCursor": "WzE3MDAwMDAwMDEwMDAsMTcwMDAwMDAwMzAwMCwxNzAwMDAwMDAxMDAwLCJCRjE3NjU5Q0NEMzcxODZBRUI4QjNCQjQzMUE3Q0U5MTMzQTdDMURBNjhDQUE5QTQ2NDE1NDEyNTQwODdGRDEyIl0",
          "hasNextPage": false,
          "hasPreviousPage": false,
          "startCursor": "WzE3MDAwMDAwMDEwMDAsMTcwMDAwMDAwMzAwMCwxNzAwMDAwMDAyMDAwLCJDQUE1QkU1QjY3MDMxMTZDM0MyODRDQTQ2NDQyMjkzQTEyNUM1NTkwMEJDMDRCQTg3NzY3M0EzQkRCREIwMzdFIl0",
        },
      }
    `);
  });

  it.each([
    [{ first: 51 }, '`first` must be between 1 and 50.'],
    [{ first: 0 }, '`first` must be between 1 and 50.'],
    [{ after: 'rubbish' }, 'Invalid cursor.'],
    [
      { from: '2026-01-02T00:00:00Z', to: '2026-01-01T00:00:00Z' },
      'The window is empty: its start must be before its end.',
    ],
  ])('refuse %j', async (variables, message) => {
    const { errors } = await graph.call(TracesDocument, variables);
    expect(errors?.map((error) => [error.message, error.extensions?.['code']])).toEqual([[message, 'INVALID_INPUT']]);
  });

  it('need one read of all their spans and one read of all their spend rows', async () => {
    await ingestTraces(50);
    const { data } = await graph.call(TracesWithSpansDocument, {});
    expect([data.traces.nodes.length, data.traces.nodes.every(({ spans }) => spans?.nodes.length === 1)]).toEqual([
      50,
      true,
    ]);
    // The oldest trace is trace 1, the only one with a spend row.
    expect(data.traces.nodes.at(-1)?.spans?.nodes[0]?.spendRow).toEqual({ costUsd: '0.00000125' });
    expect(graph.reads).toMatchObject({ listSpans: 1, findBySpans: 1 });
  });

  it('are listed for their own team and for administrators, not for other teams', async () => {
    await ingestTraces(1);
    await graph.ingest(OTHER_TEAM_KEY, aSpan({ traceId: traceId(9) }));
    const traceNumbersFor = async (key: string) =>
      (await graph.call(TracesDocument, {}, key)).data.traces.nodes.map((trace) => Number.parseInt(trace.traceId, 16));
    expect(await Promise.all(['sk-team-a', 'sk-team-b', 'sk-admin'].map(traceNumbersFor))).toEqual([[1], [9], [9, 1]]);
  });
});

describe('trace', () => {
  it('has every field', async () => {
    await graph.ingest(
      TEAM_KEY,
      aSpan({ spanId: spanId(1), type: 'agent', name: 'triage', agent: 'triage', model: null, cost: null }),
      aSpan({
        spanId: spanId(2),
        parentSpanId: spanId(1),
        agent: 'triage',
        startNs: nsAt(START_MS) + 1n,
        status: 'error',
        error: 'overloaded',
        cost: picos(1_250_000n),
      }),
    );
    const { data } = await graph.call(TraceDocument, { id: traceId(1) });
    expect(data).toMatchInlineSnapshot(`
      {
        "trace": {
          "agentInvocations": 1,
          "agentNames": [
            "triage",
          ],
          "agents": [
            {
              "durationMs": 5.000001,
              "invocations": 1,
              "llmCalls": 1,
              "name": "triage",
              "parentAgent": null,
              "toolCalls": 0,
            },
          ],
          "costUsd": "0.00000125",
          "durationMs": 5.000001,
          "endedAt": "2023-11-14T22:13:20.005Z",
          "errorCount": 1,
          "estimatedCalls": 0,
          "estimatedCostUsd": null,
          "frameworks": [],
          "inputPreview": "hello",
          "inputTokens": 3,
          "llmCalls": 1,
          "models": [
            "demo",
          ],
          "name": "triage",
          "outputTokens": 5,
          "pricedCalls": 1,
          "service": "tests",
          "source": null,
          "spanCount": 2,
          "spans": {
            "nodes": [
              {
                "agent": "triage",
                "costUsd": null,
                "durationMs": 5.000001,
                "error": null,
                "errorTruncated": false,
                "estimatedCostUsd": null,
                "framework": null,
                "inputPreview": "hello",
                "inputTokens": 3,
                "kind": "CLIENT",
                "model": null,
                "name": "triage",
                "outputTokens": 5,
                "parentSpanId": null,
                "provider": "demo",
                "responseId": null,
                "service": "tests",
                "spanId": "0000000000000001",
                "startNs": "1700000000000000000",
                "startedAt": "2023-11-14T22:13:20.000Z",
                "status": "OK",
                "traceId": "00000000000000000000000000000001",
                "type": "AGENT",
              },
              {
                "agent": "triage",
                "costUsd": "0.00000125",
                "durationMs": 5,
                "error": "overloaded",
                "errorTruncated": false,
                "estimatedCostUsd": null,
                "framework": null,
                "inputPreview": "hello",
                "inputTokens": 3,
                "kind": "CLIENT",
                "model": "demo",
                "name": "chat demo",
                "outputTokens": 5,
                "parentSpanId": "0000000000000001",
                "provider": "demo",
                "responseId": null,
                "service": "tests",
                "spanId": "0000000000000002",
                "startNs": "1700000000000000001",
                "startedAt": "2023-11-14T22:13:20.000Z",
                "status": "ERROR",
                "traceId": "00000000000000000000000000000001",
                "type": "LLM",
              },
            ],
          },
          "startedAt": "2023-11-14T22:13:20.000Z",
          "status": "OK",
          "teamId": "team-a",
          "toolCalls": 0,
          "traceId": "00000000000000000000000000000001",
          "traceRef": "68B1C9E2445A6C8618E4F0F0E8B99C2D0205F4AC317AB13E2ABDDAC118F26AA8",
        },
      }
    `);
  });

  it('sent by two keys is merged for callers that may read both; with a trace ref, only one of the two is returned', async () => {
    await graph.ingest(TEAM_KEY, aSpan({ spanId: spanId(1) }));
    await graph.ingest(OTHER_TEAM_KEY, aSpan({ spanId: spanId(2) }));
    const traceRef = traceRefOf(OTHER_TEAM_KEY, traceId(1));
    const spansOf = async (variables: { id: string; traceRef?: string }) =>
      (await graph.call(TraceDocument, variables)).data.trace?.spans?.nodes.map((span) =>
        Number.parseInt(span.spanId, 16),
      );
    expect([await spansOf({ id: traceId(1) }), await spansOf({ id: traceId(1), traceRef })]).toEqual([[1, 2], [2]]);
  });

  it.each([
    ['an unknown id', 'sk-admin', traceId(7)],
    ['a trace of another team', 'sk-team-b', traceId(1)],
    ['a malformed id', 'sk-admin', 'rubbish'],
  ])('is null for %s', async (_case, key, id) => {
    await graph.ingest(TEAM_KEY, aSpan());
    expect(await graph.call(TraceDocument, { id }, key)).toEqual({ data: { trace: null } });
  });

  it('is refused without a key', async () => {
    const { data, errors } = await graph.call(TraceDocument, { id: traceId(1) }, null);
    expect({ data, error: errors?.[0] }).toMatchObject({
      data: { trace: null },
      error: {
        message: 'A key is needed: send it as `Authorization: Bearer sk-...`.',
        extensions: { code: 'UNAUTHENTICATED' },
      },
    });
  });

  it('is refused with an unknown key', async () => {
    const answer = await graph.call(TraceDocument, { id: traceId(1) }, 'sk-unknown');
    expect(answer).toEqual({
      errors: [{ message: 'The key is not known.', extensions: { code: 'UNAUTHENTICATED' } }],
    });
  });
});
