import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Usd, usdFrom, usdNumber } from '../../../src/domain/money.ts';
import { openResponses } from '../../support/response-socket.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { otlpExport, otlpSpan, send, TRACE_ID } from './trace-client.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp({
    config: {
      model_list: [
        {
          model_name: 'priced',
          // Prices whose sums a double cannot represent.
          litellm_params: { model: 'demo', input_cost_per_token: 1.234567e-7, output_cost_per_token: 9.87654321e-7 },
        },
        {
          model_name: 'away',
          // No server listens at this port.
          litellm_params: { model: 'openai/away', api_base: 'http://127.0.0.1:1/v1', api_key: 'sk-away' },
        },
      ],
    },
  });
});
afterAll(() => app.stop());

it('traces.list 200: an answered call is immediately in the list', async () => {
  for (let calls = 1; calls <= 3; calls += 1) {
    const chat = await app.call('POST', '/v1/chat/completions', {
      model: 'demo',
      messages: [{ role: 'user', content: 'Hello' }],
    });
    expect(chat.status).toBe(200);
    await chat.arrayBuffer();
    const list = await app.call('GET', '/v1/traces');
    const { data } = (await list.json()) as { data: { trace_id: string; name: string; llm_calls: number }[] };
    expect(data.map(({ name, llm_calls }) => [name, llm_calls])).toEqual(
      Array.from({ length: calls }, () => ['chat demo', 1]),
    );
    const read = await app.call('GET', `/v1/traces/${data[0]?.trace_id}`);
    expect(read.status).toBe(200);
    await read.arrayBuffer();
  }
});

const TRACED = { traceparent: `00-${TRACE_ID}-${'b'.repeat(16)}-01` };
const MESSAGES = [{ role: 'user', content: 'Hello' }];

/** Calls within a client's span, with the expected HTTP status and span status. */
const CALLS: readonly (readonly [path: string, body: object, status: number, spanStatus: 'ok' | 'error'])[] = [
  ['/v1/chat/completions', { model: 'priced', messages: MESSAGES }, 200, 'ok'],
  ['/v1/chat/completions', { model: 'priced', messages: MESSAGES, stream: true }, 200, 'ok'],
  ['/v1/messages', { model: 'priced', messages: MESSAGES, max_tokens: 50 }, 200, 'ok'],
  ['/v1/responses', { model: 'priced', input: 'Hello' }, 200, 'ok'],
  ['/v1/responses', { model: 'priced', input: 'Hello', stream: true }, 200, 'ok'],
  ['/v1/chat/completions', { model: 'away', messages: MESSAGES }, 500, 'error'],
  ['/v1/chat/completions', { model: 'away', messages: MESSAGES, fallbacks: ['priced'] }, 200, 'ok'],
];

it('each call within a span of a client is one child span; spans and spend rows have the same exact total', async () => {
  for (const [path, body, status] of CALLS) {
    const answer = await app.call('POST', path, body, TRACED);
    await answer.arrayBuffer();
    expect([path, answer.status]).toEqual([path, status]);
  }
  const headers = { authorization: `Bearer ${app.adminKey}`, ...TRACED };
  const client = await openResponses(app, { headers });
  for (const input of ['Hello', 'Hello again']) {
    const frames = await client.ask({ model: 'priced', input });
    expect(frames.at(-1)?.type).toBe('response.completed');
  }
  client.socket.close();
  const agent = { 'gen_ai.operation.name': 'invoke_agent' };
  const step = otlpSpan('b', 1, 1, { 'gen_ai.operation.name': 'invoke_workflow' }, { parentSpanId: 'a'.repeat(16) });
  expect((await send(app, otlpExport(otlpSpan('a', 0, 2, agent), step))).status).toBe(200);

  const read = (await (await app.call('GET', `/v1/traces/${TRACE_ID}`)).json()) as {
    summary: object;
    spans: { parent_span_id: string | null; status: string; type: string; spend: number | null }[];
  };
  const callSpans = read.spans.filter(({ type }) => type === 'llm');
  // The last two are the calls on the WebSocket.
  const statuses = [...CALLS.map(([, , , spanStatus]) => spanStatus), 'ok', 'ok'];
  expect(callSpans.map(({ parent_span_id: parent, status }) => [parent, status])).toEqual(
    statuses.map((status) => ['b'.repeat(16), status]),
  );
  // Only the failed call has no cost.
  expect(callSpans.every(({ spend, status }) => (spend === null) === (status === 'error'))).toBe(true);

  const query = `{ trace(id: "${TRACE_ID}") { costUsd spendRows { costUsd } spans { nodes { costUsd } } } }`;
  const { data } = (await (await app.call('POST', '/graphql', { query })).json()) as {
    data: {
      trace: {
        costUsd: string;
        spendRows: { costUsd: string | null }[];
        spans: { nodes: { costUsd: string | null }[] };
      };
    };
  };
  const sumOf = (rows: readonly { readonly costUsd: string | null }[]): bigint =>
    rows.reduce((sum, { costUsd }) => sum + (costUsd === null ? 0n : (usdFrom(costUsd) ?? 0n)), 0n);
  const { costUsd: traceCost, spendRows, spans } = data.trace;
  expect(spendRows).toHaveLength(statuses.length);
  const total = usdFrom(traceCost);
  expect([sumOf(spendRows), sumOf(spans.nodes)]).toEqual([total, total]);
  // Two spans of the client are no calls.
  const calls = { llm_calls: statuses.length, error_count: 1, priced_calls: statuses.length - 1, estimated_calls: 0 };
  expect(read.summary).toMatchObject({ ...calls, spend: usdNumber(total as Usd), span_count: statuses.length + 2 });
});
