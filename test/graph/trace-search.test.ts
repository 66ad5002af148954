import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { aSpan, nsAt, OTHER_TEAM_KEY, picos, spanId, START_MS, TEAM_KEY, traceId } from '../ports/samples.ts';
import {
  TraceAgentsDocument,
  TraceSearchDocument,
  TraceSeriesDocument,
  TraceUpdatesFilteredDocument,
} from './generated/graphql.ts';
import { eventually, openGraph } from './graph-server.ts';
import { overEventStream } from './subscribers.ts';

let graph: Awaited<ReturnType<typeof openGraph>>;
beforeEach(async () => {
  graph = await openGraph();
  const timesAt = (second: number, durationMs: number) => ({
    startNs: nsAt(START_MS + second * 1_000),
    endNs: nsAt(START_MS + second * 1_000 + durationMs),
  });
  await graph.ingest(
    TEAM_KEY,
    aSpan({ ...timesAt(0, 30), name: 'Refund', cost: picos(2_500_000_000n) }),
    aSpan({ ...timesAt(1, 10), traceId: traceId(2), status: 'error', service: 'billing' }),
    aSpan({ ...timesAt(2, 20), traceId: traceId(3), cost: picos(1_000_000_000_000n) }),
  );
  await graph.ingest(OTHER_TEAM_KEY, aSpan({ ...timesAt(3, 40), traceId: traceId(4), name: 'refund' }));
});
afterEach(() => graph.close());

const numbersOf = (nodes: readonly { readonly traceId: string }[]): readonly number[] =>
  nodes.map((trace) => Number.parseInt(trace.traceId, 16));

describe('a search of traces', () => {
  it.each([
    [{ text: 'refund' }, [4, 1]],
    [{ status: 'ERROR' }, [2]],
    [{ service: 'billing' }, [2]],
    [{ minErrors: 1 }, [2]],
    [{ minCostUsd: '0.0025' }, [3, 1]],
    [{ minCostUsd: '0.0026' }, [3]],
    [{ minDurationMs: 20 }, [4, 3, 1]],
    [{ teamId: TEAM_KEY.teamId, text: 'refund' }, [1]],
    [{ keyHash: OTHER_TEAM_KEY.keyHash }, [4]],
    [{ model: 'demo', agent: 'nobody' }, []],
    [{ sessionId: 'chat' }, []],
    [{ userId: 'ann' }, []],
    [{ tag: 'prod' }, []],
  ] as const)('%j finds %j', async (filter, found) => {
    expect(numbersOf((await graph.call(TraceSearchDocument, { filter })).data.traces.nodes)).toEqual(found);
  });

  it.each([
    ['STARTED_AT', [4, 3, 2, 1]],
    ['DURATION', [4, 1, 3, 2]],
    ['COST', [3, 1]],
    ['ERRORS', [2]],
  ] as const)('ordered by %s has %j first', async (field, first) => {
    const { nodes } = (await graph.call(TraceSearchDocument, { orderBy: { field } })).data.traces;
    expect(nodes).toHaveLength(4);
    expect(numbersOf(nodes).slice(0, first.length)).toEqual(first);
  });

  it('continues from page to page, and shows each caller only traces that the caller may read', async () => {
    const search = { orderBy: { field: 'DURATION' }, filter: { minDurationMs: 20 }, first: 2 } as const;
    const first = (await graph.call(TraceSearchDocument, search)).data.traces;
    const second = (await graph.call(TraceSearchDocument, { ...search, after: first.pageInfo.endCursor })).data.traces;
    expect([numbersOf(first.nodes), numbersOf(second.nodes), second.pageInfo.hasNextPage]).toEqual([
      [4, 1],
      [3],
      false,
    ]);
    const { nodes } = (await graph.call(TraceSearchDocument, search, 'sk-team-a')).data.traces;
    expect(numbersOf(nodes)).toEqual([1, 3]);
  });

  it('continues with the filter and order of the cursor when only the cursor is given', async () => {
    const filter = { minDurationMs: 10, minErrors: 0, text: 'e', teamId: TEAM_KEY.teamId };
    for (const [search, found] of [
      [{ filter: { ...filter, minCostUsd: '0.001' }, orderBy: { field: 'COST' } }, [3, 1]],
      [{ orderBy: { field: 'DURATION' } }, [4, 1, 3, 2]],
      [{ filter }, [3, 2, 1]],
      [{ filter: { status: 'ERROR', service: 'billing' } }, [2]],
    ] as const) {
      const traceNumbers: number[] = [];
      let page: object = { ...search, first: 1 };
      for (;;) {
        const { nodes, pageInfo } = (await graph.call(TraceSearchDocument, page)).data.traces;
        if (nodes.length === 0) break;
        traceNumbers.push(...numbersOf(nodes));
        page = { first: 1, after: pageInfo.endCursor };
      }
      expect(traceNumbers).toEqual(found);
    }
  });

  it('refuses a forged cursor', async () => {
    // A cursor has the start and end of the window, the order, the filters as JSON, a rank and a trace ref. Filters are
    // 15 values: position 6 is the minimum cost as text, and position 8 the minimum number of errors.
    const emptyFilter: readonly unknown[] = Array.from({ length: 15 }, () => null);
    const state = (searched: unknown, rank: unknown = '1', order: unknown = 'start'): unknown => [
      0,
      1,
      order,
      typeof searched === 'string' ? searched : JSON.stringify(searched),
      rank,
      'A',
    ];
    const forgedStates: readonly unknown[] = [
      null,
      state('no list'),
      state(7),
      state([]),
      state(emptyFilter.with(0, 'broken')),
      state(emptyFilter.slice(1)),
      ...[1, 9, 10, 11, 12, 13, 14].map((position) => state(emptyFilter.with(position, 7))),
      state(emptyFilter.with(6, 7)),
      state(emptyFilter.with(6, '9223372036854775808')),
      state(emptyFilter.with(8, 1.5)),
      state(emptyFilter.with(8, 2 ** 31)),
      state(emptyFilter, '9223372036854775808'),
      state(emptyFilter, 1),
      state(emptyFilter, '1', 'size'),
    ];
    for (const forgedState of forgedStates) {
      const after = Buffer.from(JSON.stringify(forgedState)).toString('base64url');
      const { errors } = await graph.call(TraceSearchDocument, { after });
      expect(errors).toMatchObject([{ message: 'Invalid cursor.', extensions: { code: 'INVALID_INPUT' } }]);
    }
    const after = Buffer.from(JSON.stringify(state(emptyFilter))).toString('base64url');
    expect((await graph.call(TraceSearchDocument, { after })).data.traces.nodes).toEqual([]);
  });

  it('refuses a cursor of another search, and invalid amounts', async () => {
    const search = { orderBy: { field: 'DURATION' }, first: 1 } as const;
    const { endCursor } = (await graph.call(TraceSearchDocument, search)).data.traces.pageInfo;
    const otherCursor = (await graph.call(TraceSearchDocument, { first: 1 })).data.traces.pageInfo.endCursor;
    const refusals = [
      { ...search, after: otherCursor },
      { ...search, after: endCursor, orderBy: { field: 'COST' } },
      { ...search, after: endCursor, filter: { text: 'x' } },
      { ...search, after: endCursor, from: new Date(START_MS).toISOString() },
      { ...search, after: 'nonsense' },
      { orderBy: { field: 'DURATION' }, first: 51 },
      { filter: { minCostUsd: '99999999999999' } },
      { filter: { minDurationMs: 1e300 } },
    ] as const;
    const answers = await Promise.all(refusals.map((variables) => graph.call(TraceSearchDocument, variables)));
    expect(
      answers.map(({ errors }) => errors?.map(({ message, extensions }) => [message, extensions?.['code']])),
    ).toEqual(
      [
        'The cursor belongs to another search.',
        'The cursor belongs to another search.',
        'The cursor belongs to another search.',
        'The cursor belongs to another window.',
        'Invalid cursor.',
        '`first` must be between 1 and 50.',
        '`minCostUsd` is out of range.',
        '`minDurationMs` is out of range.',
      ].map((message) => [[message, 'INVALID_INPUT']]),
    );
  });
});

describe('a series of traces', () => {
  const window = { from: new Date(START_MS).toISOString(), to: new Date(START_MS + 6_000).toISOString() };

  it('sums traces by start time, and includes empty buckets', async () => {
    const { traceSeries } = (await graph.call(TraceSeriesDocument, { ...window, buckets: 3 })).data;
    const empty = { failedTraceCount: 0, spanCount: 0, llmCalls: 0, inputTokens: 0, outputTokens: 0, costUsd: null };
    expect(traceSeries).toEqual([
      {
        from: new Date(START_MS).toISOString(),
        traceCount: 2,
        failedTraceCount: 1,
        spanCount: 2,
        llmCalls: 2,
        inputTokens: 6,
        outputTokens: 10,
        costUsd: '0.0025',
        // One trace lasts 10 ms, the other one 30 ms.
        latencyP50Ms: 10,
        latencyP90Ms: 30,
        latencyP99Ms: 30,
      },
      {
        from: new Date(START_MS + 2_000).toISOString(),
        traceCount: 2,
        failedTraceCount: 0,
        spanCount: 2,
        llmCalls: 2,
        inputTokens: 6,
        outputTokens: 10,
        costUsd: '1',
        latencyP50Ms: 20,
        latencyP90Ms: 40,
        latencyP99Ms: 40,
      },
      {
        from: new Date(START_MS + 4_000).toISOString(),
        traceCount: 0,
        ...empty,
        latencyP50Ms: null,
        latencyP90Ms: null,
        latencyP99Ms: null,
      },
    ]);
  });

  it('counts only traces that the caller may see and the filter matches', async () => {
    const counts = async (filter: { readonly text?: string }, key: string) =>
      (await graph.call(TraceSeriesDocument, { ...window, buckets: 2, filter }, key)).data.traceSeries.map(
        ({ traceCount }) => traceCount,
      );
    expect([await counts({}, 'sk-team-a'), await counts({ text: 'refund' }, 'sk-admin')]).toEqual([
      [3, 0],
      [1, 1],
    ]);
  });

  it.each([0, 501])('is refused with %i buckets', async (buckets) => {
    const { errors } = await graph.call(TraceSeriesDocument, { ...window, buckets });
    expect(errors).toMatchObject([{ message: 'A series has 1 to 500 buckets.' }]);
  });

  it('is refused for an empty window', async () => {
    const { errors } = await graph.call(TraceSeriesDocument, { from: window.to, to: window.from });
    expect(errors).toMatchObject([{ message: 'The window is empty: its start must be before its end.' }]);
  });
});

describe('the agents of a window', () => {
  const from = new Date(START_MS).toISOString();
  const timesAt = (second: number) => ({
    startNs: nsAt(START_MS + second * 1_000),
    endNs: nsAt(START_MS + second * 1_000),
  });

  it('are the agents of the traces that the caller may read', async () => {
    await graph.ingest(TEAM_KEY, aSpan({ ...timesAt(4), traceId: traceId(5), agent: 'planner', status: 'error' }));
    await graph.ingest(OTHER_TEAM_KEY, aSpan({ ...timesAt(5), traceId: traceId(6), agent: 'scout' }));
    const planner = {
      name: 'planner',
      traceCount: 1,
      failedTraceCount: 1,
      lastTraceAt: new Date(START_MS + 4_000).toISOString(),
      frameworks: [],
    };
    const scout = {
      name: 'scout',
      traceCount: 1,
      failedTraceCount: 0,
      lastTraceAt: new Date(START_MS + 5_000).toISOString(),
      frameworks: [],
    };
    const search = { from, filter: { text: 's' } };
    expect((await graph.call(TraceAgentsDocument, search)).data.agents.slice(0, 2)).toEqual([scout, planner]);
    expect((await graph.call(TraceAgentsDocument, search, 'sk-team-a')).data.agents[0]).toEqual(planner);
    const failed = { from, filter: { minErrors: 1, agent: 'planner' } };
    expect((await graph.call(TraceAgentsDocument, failed)).data.agents).toEqual([planner]);
    expect((await graph.call(TraceAgentsDocument, { from, first: 1 })).data.agents).toEqual([scout]);
  });

  it.each([0, 501])('are refused for a page size of %i', async (first) => {
    const { errors } = await graph.call(TraceAgentsDocument, { from, first });
    expect(errors).toMatchObject([
      { message: '`first` must be between 1 and 500.', extensions: { code: 'INVALID_INPUT' } },
    ]);
  });
});

it('a subscription sends a trace from the first update that matches the filter', async () => {
  const subscriber = overEventStream(graph.url, TraceUpdatesFilteredDocument, { filter: { minErrors: 1 } });
  await eventually(() => graph.bus.subscriberCount() === 1, 'the subscriber');
  await graph.ingest(TEAM_KEY, aSpan({ traceId: traceId(7) }));
  await graph.ingest(TEAM_KEY, aSpan({ traceId: traceId(7), spanId: spanId(2), status: 'error' }));
  await eventually(() => subscriber.received.length === 1, 'the update');
  expect(subscriber.received).toEqual([{ data: { traceUpdates: { trace: { traceId: traceId(7), errorCount: 1 } } } }]);
  await subscriber.leave();
});
