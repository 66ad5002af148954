import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TraceUpdatesDocument } from '../../graph/generated/graphql.ts';
import { overEventStream } from '../../graph/subscribers.ts';
import { changeInOtherProcess } from '../../support/other-process-sql.ts';
import { POLLING } from '../../support/polling.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { otlpExport, otlpSpan, send, TRACE_ID } from '../traces/trace-client.ts';

/** Settings that replace code of the gateway by a library or a simple implementation, with the value that does so. */
const SWITCHES: Readonly<Record<string, string>> = {
  LENSGATE_CALL_LOG: 'off',
  LENSGATE_CALL_NOTES: 'off',
  LENSGATE_FAST_PATH: 'off',
  LENSGATE_GRAPH_PLANS: 'off',
  LENSGATE_HTTP_CLIENT: 'undici',
  LENSGATE_JSON_SCAN: 'off',
  LENSGATE_PACKED_ROWS: 'off',
  LENSGATE_PLAIN_YAML: 'off',
  LENSGATE_SHARED_SUBSCRIPTIONS: 'off',
  LENSGATE_SPAN_BLOCKS: 'off',
  LENSGATE_WRITE_COALESCING: 'off',
};
const CASES: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
  ['nothing', {}],
  ...Object.entries(SWITCHES).map(([name, value]) => [name, { [name]: value }] as const),
  ['all optimizations', SWITCHES],
];

/** Larger than the minimum size of bodies that are scanned. */
const PROMPT = 'Say "hello", \\ and é. '.repeat(1_000);
const MESSAGES = [{ role: 'user', content: PROMPT }];
const ANSWER = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 },
};
const QUERY = `query Recent($first: Int!) {
  traces(first: $first, from: "2025-12-31T00:00:00Z") { nodes { name status llmCalls inputTokens spans { nodes { name status } } } }
}`;

let upstream: Server;
const prompts: unknown[] = [];
beforeAll(async () => {
  upstream = createServer((request, response) => {
    void text(request).then((body) => {
      prompts.push(JSON.parse(body));
      response.setHeader('content-type', 'application/json').end(JSON.stringify(ANSWER));
    });
  }).listen(0, '127.0.0.1');
  await once(upstream, 'listening');
});
afterAll(() => {
  upstream.closeAllConnections();
  upstream.close();
});

interface TraceEvent {
  readonly data: {
    readonly traceUpdates: { readonly trace: { readonly traceId: string; readonly spanCount: number } };
  };
}

/** Opens two subscriptions of one operation. Sends exports until each subscription has received an event. */
async function openFeeds(app: TestApp) {
  const feeds = [1, 2].map(() => overEventStream(`${app.url}/graphql`, TraceUpdatesDocument, {}, app.adminKey));
  let exportCount = 0;
  await expect
    .poll(async () => {
      exportCount += 1;
      const traceId = String(exportCount).padStart(32, '0');
      await (await send(app, otlpExport(otlpSpan('c', -5_000, 1, {}, { traceId })))).arrayBuffer();
      return feeds.every(({ received }) => received.length > 0);
    }, POLLING)
    .toBe(true);
  const updates = (isWanted: (traceId: string) => boolean) =>
    feeds.map(({ received }) =>
      received
        .map((event) => (event as TraceEvent).data.traceUpdates.trace)
        .filter(({ traceId }) => isWanted(traceId))
        .map(({ spanCount }) => spanCount),
    );
  return { exportCount: () => exportCount, updates, leave: () => Promise.all(feeds.map((feed) => feed.leave())) };
}

describe.each(CASES)('switched off: %s;', (_name, env) => {
  let app: TestApp;
  beforeAll(async () => {
    const address = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
    const litellm_params = { model: 'openai/m', api_base: address, api_key: 'sk-up' };
    app = await startApp({ env, config: { model_list: [{ model_name: 'served', litellm_params }] } });
  });
  afterAll(() => app.stop());

  async function recentTraces(): Promise<unknown> {
    const answer = await app.call('POST', '/graphql', { query: QUERY, variables: { first: 2 } });
    return answer.json();
  }

  it('calls, exports, queries and subscriptions have the expected answers', async () => {
    const feeds = await openFeeds(app);
    const exported = await send(app, otlpExport(otlpSpan('a', 0, 5), otlpSpan('b', 1, 2)));
    expect([exported.status, await exported.json()]).toEqual([200, {}]);
    const chat = await app.call('POST', '/v1/chat/completions', { model: 'served', messages: MESSAGES });
    expect([chat.status, await chat.json()]).toEqual([200, { ...ANSWER, model: 'served' }]);
    expect(prompts.splice(0)).toEqual([{ model: 'm', messages: MESSAGES }]);
    const traces = {
      data: {
        traces: {
          nodes: [
            {
              name: 'chat served',
              status: 'OK',
              llmCalls: 1,
              inputTokens: 5,
              spans: { nodes: [{ name: 'chat served', status: 'OK' }] },
            },
            {
              name: 'step',
              status: 'UNSET',
              llmCalls: 0,
              inputTokens: 0,
              spans: {
                nodes: [
                  { name: 'step', status: 'UNSET' },
                  { name: 'step', status: 'UNSET' },
                ],
              },
            },
          ],
        },
      },
    };
    // If query plans are on, the second and third answers use the plan of the first.
    for (let times = 0; times < 3; times += 1) expect(await recentTraces()).toEqual(traces);
    await expect.poll(() => feeds.updates((traceId) => traceId === TRACE_ID), POLLING).toEqual([[2], [2]]);
    /** Whether a trace is the trace of the chat, not of the export above or of an export of `openFeeds`. */
    const isOfCall = (traceId: string): boolean => traceId !== TRACE_ID && !traceId.startsWith('0000');
    await expect.poll(() => feeds.updates(isOfCall), POLLING).toEqual([[1], [1]]);
    const logs = await app.call('GET', '/spend/logs');
    expect(await logs.json()).toMatchObject([
      { model: 'openai/m', model_group: 'served', prompt_tokens: 5, completion_tokens: 2 },
    ]);
    await feeds.leave();
    // The spans of an export are stored in a block, unless blocks are off. The statement changes nothing: its result is
    // the number of traces in blocks. Each export of `openFeeds` has one trace, and so has the export of this test.
    const tracesInBlocks = await changeInOtherProcess(
      app.dataDir,
      'update sheet_trace set spans = spans where spans > 0',
    );
    expect(tracesInBlocks).toBe(env['LENSGATE_SPAN_BLOCKS'] === 'off' ? 0 : feeds.exportCount() + 1);
  });
});
