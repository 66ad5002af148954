import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { statusAndBody, otlpExport, otlpSpan, send, TRACE_ID } from './trace-client.ts';

interface ReadTrace {
  readonly summary: { readonly span_count: number; readonly spend: number | null; readonly priced_calls: number };
  readonly agents: readonly object[];
  readonly spans: readonly { readonly span_id: string; readonly spend_log_request_id: string | null }[];
  readonly next_cursor: string | null;
}

let app: TestApp;
beforeAll(async () => {
  app = await startApp({
    config: {
      model_list: [
        {
          model_name: 'priced',
          litellm_params: { model: 'demo', input_cost_per_token: 0.001, output_cost_per_token: 0.002 },
        },
      ],
    },
  });
});
afterAll(() => app.stop());

const read = (path: string): Promise<readonly [number, unknown]> => statusAndBody(app.call('GET', path));
const spanDigits = (trace: ReadTrace): string => trace.spans.map(({ span_id: id }) => id[0]).join('');

describe('the spans of a trace, page by page', () => {
  beforeAll(async () => {
    const spans = ['1', '2', '3', '4', '5'].map((digit, place) =>
      otlpSpan(digit, place, 1, {}, { parentSpanId: '9'.repeat(16) }),
    );
    await send(app, otlpExport(...spans));
  });
  const page = async (query: string): Promise<ReadTrace> => (await read(`/v1/traces/${TRACE_ID}?${query}`))[1] as never;

  it('traces.get 200: each page has its own spans and the whole summary', async () => {
    const first = await page('page_size=2');
    const second = await page(`page_size=2&cursor=${first.next_cursor}`);
    const third = await page(`page_size=2&cursor=${second.next_cursor}`);
    expect([first, second, third].map(spanDigits)).toEqual(['12', '34', '5']);
    expect([first, second, third].map(({ summary }) => summary.span_count)).toEqual([5, 5, 5]);
    expect(third.next_cursor).toBeNull();
    expect(spanDigits(await page(`cursor=${first.next_cursor}`))).toBe('345');
    expect([spanDigits(await page('page_size=5')), spanDigits(await page('cursor='))]).toEqual(['12345', '12345']);
    expect((await page('page_size=5')).next_cursor).toBeNull();
  });

  // A valid cursor has the number of spans, a start from 0 to 2⁶³ − 1 ns, and a span id in lower case.
  it.each([
    ['nonsense', 'Invalid cursor.'],
    [Buffer.from('[5,"1"]').toString('base64url'), 'Invalid cursor.'],
    [Buffer.from('[5,"-1","a"]').toString('base64url'), 'Invalid cursor.'],
    [Buffer.from('[5.5,"1","a"]').toString('base64url'), 'Invalid cursor.'],
    [Buffer.from('[5,"9223372036854775808","a"]').toString('base64url'), 'Invalid cursor.'],
    [Buffer.from('[5,"1","A"]').toString('base64url'), 'Invalid cursor.'],
  ])('traces.get 400: an invalid cursor: %s', async (cursor, message) => {
    expect(await read(`/v1/traces/${TRACE_ID}?cursor=${cursor}`)).toEqual([
      400,
      { detail: { code: 'invalid_request', message } },
    ]);
  });

  it.each([
    ['page_size=0', 'page_size', 'greater_than_equal', 'Input should be greater than or equal to 1'],
    ['page_size=501', 'page_size', 'less_than_equal', 'Input should be less than or equal to 500'],
    [`cursor=${'x'.repeat(513)}`, 'cursor', 'string_too_long', 'String should have at most 512 characters'],
  ])('traces.get 422: an invalid parameter: %s', async (query, name, type, msg) => {
    expect(await read(`/v1/traces/${TRACE_ID}?${query}`)).toEqual([
      422,
      { detail: [{ type, loc: ['query', name], msg }] },
    ]);
  });

  it('traces.get 409: a cursor from before further spans arrived', async () => {
    const { next_cursor: cursor } = await page('page_size=2');
    await send(app, otlpExport(otlpSpan('6', 6, 1, {}, { parentSpanId: '9'.repeat(16) })));
    expect(await read(`/v1/traces/${TRACE_ID}?cursor=${cursor}`)).toEqual([
      409,
      {
        detail: {
          code: 'trace_changed',
          message: 'The trace has changed since this cursor was given. Read it from its start.',
        },
      },
    ]);
  });
});

it('traces.get 200: a call that its client also traces has the price of the gateway once', async () => {
  const traceId = 'd'.repeat(32);
  const [agent, call, withoutSpendRow, withoutCallId] = ['a', 'b', 'c', 'e'].map((digit) => digit.repeat(16));
  const answer = await app.call(
    'POST',
    '/v1/chat/completions',
    { model: 'priced', messages: [{ role: 'user', content: 'Hello' }] },
    { traceparent: `00-${traceId}-${call}-01` },
  );
  const { id, usage } = (await answer.json()) as {
    id: string;
    usage: { prompt_tokens: number; completion_tokens: number };
  };
  const cost = (usage.prompt_tokens + 2 * usage.completion_tokens) / 1_000;
  const chat = { 'gen_ai.operation.name': 'chat', 'gen_ai.agent.name': 'triage' };
  const times = { traceId, startTimeUnixNano: '1', endTimeUnixNano: '2' };
  await send(
    app,
    otlpExport(
      otlpSpan('a', 0, 0, { 'gen_ai.operation.name': 'invoke_agent' }, { ...times, name: 'triage' }),
      otlpSpan('b', 0, 0, { ...chat, 'gen_ai.response.id': id }, { ...times, parentSpanId: agent }),
      otlpSpan('c', 0, 0, { ...chat, 'gen_ai.response.id': 'elsewhere' }, { ...times, parentSpanId: agent }),
      otlpSpan('e', 0, 0, chat, { ...times, parentSpanId: agent }),
    ),
  );
  const [, trace] = (await read(`/v1/traces/${traceId}`)) as [number, ReadTrace];
  expect(trace.summary).toMatchObject({ spend: cost, priced_calls: 1, estimated_calls: 0 });
  expect(trace.agents).toMatchObject([{ name: 'triage', spend: cost, priced_calls: 1, estimated_calls: 0 }]);
  const gatewaySpan = trace.spans.find(
    ({ span_id: spanId }) => ![agent, call, withoutSpendRow, withoutCallId].includes(spanId),
  );
  const rowId = gatewaySpan?.spend_log_request_id;
  const matched = { spend_match: 'matched', spend: cost, cost_source: 'gateway', spend_log_request_id: rowId };
  const unpriced = { spend: null, cost_source: null, spend_log_request_id: null };
  expect(rowId).toMatch(/^[\da-f-]{36}$/);
  expect(Object.fromEntries(trace.spans.map((span) => [span.span_id, span]))).toMatchObject({
    [agent ?? '']: { spend_match: null, ...unpriced },
    [call ?? '']: matched,
    [withoutSpendRow ?? '']: { spend_match: 'no_spend_log', ...unpriced },
    [withoutCallId ?? '']: { spend_match: 'no_call_id', ...unpriced },
    [gatewaySpan?.span_id ?? '']: matched,
  });
});
