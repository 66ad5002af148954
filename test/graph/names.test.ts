import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { exportOf, syntheticRuns } from '../../bench/lens/runs.ts';
import { startApp, type TestApp } from '../support/start-app.ts';
import { POLLING } from '../support/polling.ts';

// Scripts of users rely on the fields and filters below. The queries are texts of this file, so that a renamed field
// fails these tests.

// The second argument is the seed.
const [AGENT_RUN] = syntheticRuns(1, 71);
const traceId = AGENT_RUN?.traceId ?? '';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
  await app.call('POST', '/v1/traces', exportOf(AGENT_RUN === undefined ? [] : [AGENT_RUN], Date.now() - 3_600_000));
  const chat = {
    model: 'demo',
    messages: [{ role: 'user', content: 'Hi' }],
    user: 'ann',
    metadata: { tags: ['prod'] },
  };
  await app.call('POST', '/v1/chat/completions', chat, { 'x-litellm-session-id': 'chat-1' });
  // The trace of the call can be found by its session once the call is stored.
  const labelledTraces = '{ traces(filter: { sessionId: "chat-1" }) { totalCount } }';
  await vi.waitUntil(async () => JSON.stringify(await ask(labelledTraces)).includes(':1}'), POLLING);
});
afterAll(() => app.stop());

async function ask(query: string, variables: object = {}): Promise<unknown> {
  return (await app.call('POST', '/graphql', { query, variables })).json();
}

const FACTS = 'id costUsd estimatedCostUsd costReason sessionId userId tags';

describe('names that scripts rely on', () => {
  it('Trace, traces { totalCount nodes } and node(id)', async () => {
    const list = (await ask(`{ traces { totalCount nodes { ${FACTS} traceId } } }`)) as {
      readonly data: { readonly traces: { readonly totalCount: number; readonly nodes: readonly Facts[] } };
    };
    expect(list).not.toHaveProperty('errors');
    const { totalCount, nodes } = list.data.traces;
    expect([totalCount, nodes.length]).toEqual([2, 2]);
    const chat = nodes.find(({ sessionId }) => sessionId === 'chat-1');
    expect(chat).toMatchObject({ costUsd: '0', estimatedCostUsd: null, userId: 'ann', tags: ['prod'] });
    const exported = nodes.find((node) => node.traceId === traceId);
    expect(exported).toMatchObject({ sessionId: null, costUsd: null, costReason: expect.any(String) });
    expect(await ask(`query ($id: ID!) { node(id: $id) { ... on Trace { ${FACTS} traceId } } }`, exported)).toEqual({
      data: { node: exported },
    });
  });

  it.each([
    ['sessionId', 'chat-1'],
    ['userId', 'ann'],
    ['tag', 'prod'],
  ])('TraceFilter.%s', async (name, value) => {
    const query = `{ own: traces(filter: { ${name}: "${value}" }) { totalCount }
      other: traces(filter: { ${name}: "none" }) { totalCount } }`;
    expect(await ask(query)).toEqual({ data: { own: { totalCount: 1 }, other: { totalCount: 0 } } });
  });

  it('Trace.agents and Trace.spans with parents, children and a cursor', async () => {
    const query = `query ($id: ID!, $first: Int, $after: String) { trace(id: $id) {
      agents { name llmCalls inputTokens outputTokens costUsd }
      spans(first: $first, after: $after) {
        nodes { id spanId parent { spanId } children(first: 1) { nodes { spanId } } }
        pageInfo { endCursor hasNextPage }
      } } }`;
    interface Page {
      readonly data: {
        readonly trace: {
          readonly agents: readonly object[];
          readonly spans: {
            readonly nodes: readonly { readonly spanId: string; readonly parent: { readonly spanId: string } | null }[];
            readonly pageInfo: { readonly endCursor: string; readonly hasNextPage: boolean };
          };
        };
      };
    }
    const { agents, spans } = ((await ask(query, { id: traceId, first: 1 })) as Page).data.trace;
    expect(agents).toEqual([
      {
        name: 'shop',
        llmCalls: expect.any(Number),
        inputTokens: expect.any(Number),
        outputTokens: expect.any(Number),
        costUsd: null,
      },
    ]);
    const [root] = spans.nodes;
    expect(spans).toMatchObject({
      nodes: [{ parent: null, children: { nodes: [{ spanId: expect.any(String) }] } }],
      pageInfo: { hasNextPage: true },
    });
    const next = ((await ask(query, { id: traceId, first: 1, after: spans.pageInfo.endCursor })) as Page).data.trace;
    expect(next.spans.nodes).toMatchObject([{ parent: { spanId: root?.spanId } }]);
  });
});

interface Facts {
  readonly id: string;
  readonly traceId: string;
  readonly sessionId: string | null;
}
