import { afterEach, expect, it } from 'vitest';
import type { Owner } from '../../src/domain/caller.ts';
import { aKey, aSpan, aSpendRow, nsAt, picos, spanId, START_MS, TEAM_KEY, traceId } from '../ports/samples.ts';
import { OneTraceEdgesDocument, TraceEdgesDocument } from './generated/graphql.ts';
import { anEntry, openGraph } from './graph-server.ts';

let graph: Awaited<ReturnType<typeof openGraph>>;
afterEach(() => graph.close());

/** Owner of the traces of the key `sk-team-a` of the test server. */
const TEAM_A_KEY: Owner = { teamId: 'team-a', keyHash: 'internal_user-team-a' };
const ENTRIES = [anEntry('gpt-4o', { litellm_provider: 'openai' })];
const childOfRoot = { parentSpanId: spanId(1) };

/**
 * Spans of an agent run (1). A call through the gateway has the client's span (2) and the gateway's span (3). Another
 * call has an estimated cost (4).
 */
const runOf = (trace: number) => {
  const common = { traceId: traceId(trace), model: 'gpt-4o', provider: 'openai', startNs: nsAt(START_MS + trace) };
  return [
    aSpan({ ...common, type: 'agent', name: 'triage', agent: 'triage', model: null }),
    aSpan({ ...common, ...childOfRoot, spanId: spanId(2), agent: 'triage' }),
    aSpan({
      ...common,
      spanId: spanId(3),
      parentSpanId: spanId(2),
      gateway: true,
      cost: picos(5n),
      provider: 'nobody',
    }),
    aSpan({
      ...common,
      ...childOfRoot,
      spanId: spanId(4),
      agent: 'triage',
      estimate: picos(7n),
      requestId: 'elsewhere',
    }),
  ];
};
const rowOf = (trace: number) =>
  aSpendRow({ id: `row-${trace}`, traceId: traceId(trace), spanId: spanId(3), cost: picos(5n), responseId: null });

const unmatched = { match: 'NO_CALL_ID', costUsd: null, costSource: null, spendRow: null };
const edgesOf = (trace: number) => {
  const matched = {
    match: 'MATCHED',
    costUsd: '0.000000000005',
    costSource: 'GATEWAY',
    spendRow: { gatewayCallId: `row-${trace}` },
  };
  const entry = { entryId: 'gpt-4o' };
  return [
    { spanId: spanId(1), catalogEntry: null, spendMatch: null },
    { spanId: spanId(2), catalogEntry: entry, spendMatch: matched },
    { spanId: spanId(3), catalogEntry: null, spendMatch: matched },
    {
      spanId: spanId(4),
      catalogEntry: entry,
      spendMatch: { ...unmatched, match: 'NO_SPEND_LOG', costUsd: '0.000000000007', costSource: 'ESTIMATED' },
    },
  ];
};
/** Expected edges of a trace. `newest` is the trace with which the list of its team begins. */
const traceOf = (trace: number, newest = trace) => ({
  traceId: traceId(trace),
  keyHash: TEAM_KEY.keyHash,
  key: { alias: 'first' },
  team: { teamId: 'team-a', traces: { nodes: [{ traceId: traceId(newest) }] } },
  catalogEntries: [{ entryId: 'gpt-4o' }],
  spendRows: [{ gatewayCallId: `row-${trace}` }],
  agents: [
    {
      name: 'triage',
      // Sums of the two calls: twice 3 input and 5 output tokens, and 5 and 7 picodollars.
      inputTokens: 6,
      outputTokens: 10,
      costUsd: '0.000000000012',
      pricedCalls: 2,
      estimatedCalls: 1,
    },
  ],
  spans: { nodes: edgesOf(trace) },
});

it('each edge of a page of 20 traces costs one read for the whole page', async () => {
  graph = await openGraph({ entries: ENTRIES, spend: Array.from({ length: 20 }, (_, index) => rowOf(index + 1)) });
  await graph.addKey(aKey({ hash: TEAM_KEY.keyHash }));
  await graph.ingest(TEAM_KEY, ...Array.from({ length: 20 }, (_, index) => runOf(index + 1)).flat());
  const { data, errors } = await graph.call(TraceEdgesDocument, { first: 20 }, 'sk-admin');
  expect(errors).toBeUndefined();
  expect(data.traces.nodes).toEqual(Array.from({ length: 20 }, (_, index) => traceOf(20 - index, 20)));
  expect(graph.reads).toEqual({ listSpans: 1, findBySpans: 1, findElsewhere: 1, findKeys: 1 });
});

it('a trace and a span that are read alone have the same edges as in a page', async () => {
  graph = await openGraph({ entries: ENTRIES, spend: [rowOf(1)] });
  await graph.addKey(aKey({ hash: TEAM_KEY.keyHash }));
  await graph.ingest(TEAM_KEY, ...runOf(1));
  const { data } = await graph.call(OneTraceEdgesDocument, { id: traceId(1), spanId: spanId(2) }, 'sk-admin');
  expect(data).toEqual({ trace: traceOf(1), span: edgesOf(1)[1] });
});

it('an edge to an object that the caller may not read is null', async () => {
  const foreign = aSpendRow({
    id: 'foreign',
    traceId: traceId(1),
    spanId: spanId(3),
    teamId: 'team-b',
    cost: picos(5n),
  });
  graph = await openGraph({ entries: ENTRIES, spend: [foreign] });
  await graph.addKey(aKey({ hash: TEAM_A_KEY.keyHash }));
  await graph.ingest(TEAM_A_KEY, ...runOf(1));
  const { data } = await graph.call(TraceEdgesDocument, { first: 10 }, 'sk-team-a');
  const [trace] = data.traces.nodes;
  expect([trace?.key, trace?.spendRows, trace?.team?.teamId]).toEqual([null, [], 'team-a']);
  const matches = trace?.spans?.nodes.map(({ spendMatch }) => spendMatch);
  // The cost of the span itself is shown. The spend row of another team is not.
  expect(matches).toEqual([
    null,
    unmatched,
    { ...unmatched, costUsd: '0.000000000005', costSource: 'GATEWAY' },
    { ...unmatched, match: 'NO_SPEND_LOG', costUsd: '0.000000000007', costSource: 'ESTIMATED' },
  ]);
  expect((await graph.call(OneTraceEdgesDocument, { id: traceId(1), spanId: spanId(2) }, 'sk-team-b')).data).toEqual({
    trace: null,
    span: null,
  });
});

it('a call has the spend row with its response id, also when the row belongs to another trace', async () => {
  const rowOfOtherTrace = aSpendRow({
    id: 'far',
    traceId: traceId(9),
    keyHash: TEAM_KEY.keyHash,
    responseId: 'elsewhere',
  });
  graph = await openGraph({ entries: ENTRIES, spend: [rowOfOtherTrace] });
  await graph.ingest(TEAM_KEY, ...runOf(1));
  const { data } = await graph.call(TraceEdgesDocument, { first: 10 }, 'sk-admin');
  const [trace] = data.traces.nodes;
  expect(trace?.spendRows).toEqual([{ gatewayCallId: 'far' }]);
  expect(trace?.spans?.nodes[3]?.spendMatch).toMatchObject({
    match: 'MATCHED',
    costSource: 'GATEWAY',
    spendRow: { gatewayCallId: 'far' },
  });
  // The agent costs 0.000125 USD of the row `far`, the default of a sample row, and 5 picodollars of the gateway call
  // below the agent. The span of that call has no agent name.
  expect(trace?.agents?.[0]).toMatchObject({ costUsd: '0.000125000005', pricedCalls: 2, estimatedCalls: 0 });
});
