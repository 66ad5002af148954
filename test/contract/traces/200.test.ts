import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encodeExport } from '../../support/otlp-oracle.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import {
  statusAndBody,
  statusTypeAndBody,
  as,
  makeKey,
  otlpExport,
  otlpSpan,
  refFor,
  send,
  sendBytes,
  TRACE_ID,
  WINDOW,
  workedExample,
} from './trace-client.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
  await send(app, workedExample);
});
afterAll(() => app.stop());

const protobufExport = (spanId: string) =>
  encodeExport({
    resourceSpans: [
      {
        scopeSpans: [
          {
            spans: [
              {
                traceId: Buffer.from('11'.repeat(16), 'hex'),
                spanId: Buffer.from(spanId, 'hex'),
                startTimeUnixNano: '1',
                endTimeUnixNano: '2',
              },
            ],
          },
        ],
      },
    ],
  });

describe('traces.ingest 200', () => {
  it('answers JSON with an empty object', async () => {
    expect(await statusTypeAndBody(send(app, workedExample))).toEqual([200, 'application/json', '{}']);
    expect(await statusTypeAndBody(send(app, {}))).toEqual([200, 'application/json', '{}']);
  });

  it.each([
    ['application/x-protobuf', undefined],
    ['Application/Protobuf; v=1', 'identity'],
    [undefined, 'GZIP'],
  ])('answers protobuf with an empty body: content type %s, encoding %s', async (contentType, encoding) => {
    const body = protobufExport('22'.repeat(8));
    const headers = {
      ...(contentType === undefined ? {} : { 'content-type': contentType }),
      ...(encoding === undefined ? {} : { 'content-encoding': encoding }),
    };
    const response = sendBytes(app, encoding === 'GZIP' ? gzipSync(body) : body, headers);
    expect(await statusTypeAndBody(response)).toEqual([200, 'application/x-protobuf', '']);
  });

  it('ignores the spans of a repeated export, and adds later spans', async () => {
    const key = await makeKey(app);
    const one = otlpExport(otlpSpan('1', 0, 10));
    const both = otlpExport(otlpSpan('1', 0, 10), otlpSpan('2', 5, 10, {}, { parentSpanId: '1'.repeat(16) }));
    for (const body of [one, one, both, both]) expect((await send(app, body, as(key))).status).toBe(200);
    const [, list] = await statusAndBody(app.call('GET', `/v1/traces?${WINDOW}`, undefined, as(key)));
    expect(list).toMatchObject({ data: [{ span_count: 2, duration_ms: 15 }] });
  });
});

const summary = {
  trace_id: TRACE_ID,
  trace_ref: '<ref>',
  name: 'triage',
  service: 'support',
  // The preview is the input of the model call, because the root span has no input.
  input_preview: 'Where is my order?',
  start_time: '2026-01-01T00:00:00+00:00',
  duration_ms: 2_000,
  status: 'unset',
  span_count: 3,
  agent_count: 1,
  agent_invocations: 1,
  llm_calls: 1,
  tool_calls: 1,
  error_count: 1,
  input_tokens: 100,
  output_tokens: 20,
  models: ['m1'],
  agent_names: ['triage'],
  frameworks: [],
  source: null,
  spend: null,
  priced_calls: 0,
  estimated_calls: 0,
};

describe('traces.list 200', () => {
  it('returns a page of summaries', async () => {
    expect(await statusAndBody(app.call('GET', `/v1/traces?${WINDOW}&unknown=1`))).toEqual([
      200,
      {
        // The test of repeated exports uses another owner, whose traces an administrator sees, too.
        data: expect.arrayContaining([{ ...summary, trace_ref: refFor(app.adminKey) }]),
        next_cursor: null,
      },
    ]);
  });

  it('has start times with six decimal digits, and durations in whole milliseconds; traces.get has exact ones', async () => {
    const key = await makeKey(app);
    const span = otlpSpan('1', 0, 1, {}, { traceId: '9'.repeat(32) });
    await send(
      app,
      otlpExport({ ...span, startTimeUnixNano: '1767225600001234999', endTimeUnixNano: '1767225600002834999' }),
      as(key),
    );
    const [, list] = await statusAndBody(app.call('GET', `/v1/traces?${WINDOW}`, undefined, as(key)));
    expect(list).toMatchObject({ data: [{ start_time: '2026-01-01T00:00:00.001234+00:00', duration_ms: 2 }] });
    const [, trace] = await statusAndBody(app.call('GET', `/v1/traces/${'9'.repeat(32)}`, undefined, as(key)));
    expect(trace).toMatchObject({ summary: { duration_ms: 1.6 } });
  });

  it('returns the traces of the last 24 hours by default', async () => {
    const key = await makeKey(app);
    const hour = 3_600_000;
    const spanAt = (ms: number, digit: string) => {
      const ns = String(BigInt(Math.round(ms)) * 1_000_000n);
      return otlpSpan('1', 0, 0, {}, { traceId: digit.repeat(32), startTimeUnixNano: ns, endTimeUnixNano: ns });
    };
    const now = Date.now();
    await send(
      app,
      otlpExport(spanAt(now - hour, '1'), spanAt(now - 23 * hour, '2'), spanAt(now - 25 * hour, '3')),
      as(key),
    );
    const [, list] = await statusAndBody(app.call('GET', '/v1/traces', undefined, as(key)));
    expect(list).toMatchObject({ data: [{ trace_id: '1'.repeat(32) }, { trace_id: '2'.repeat(32) }] });
  });
});

const spans = [
  {
    span_id: 'a'.repeat(16),
    parent_span_id: null,
    name: 'triage',
    type: 'agent',
    agent: 'triage',
    start_offset_ms: 0,
    duration_ms: 2_000,
    status: 'unset',
    error: null,
    error_truncated: false,
    input_preview: '',
    model: null,
    framework: '',
    input_tokens: 0,
    output_tokens: 0,
    litellm_request_id: null,
    spend: null,
    cost_source: null,
    spend_match: null,
    spend_log_request_id: null,
  },
  {
    span_id: 'b'.repeat(16),
    parent_span_id: 'a'.repeat(16),
    name: 'chat m1',
    type: 'llm',
    agent: 'triage',
    start_offset_ms: 100,
    duration_ms: 500.25,
    status: 'ok',
    error: null,
    error_truncated: false,
    input_preview: 'Where is my order?',
    model: 'm1',
    framework: '',
    input_tokens: 100,
    output_tokens: 20,
    litellm_request_id: 'r-1',
    spend: null,
    cost_source: null,
    spend_match: 'no_spend_log',
    spend_log_request_id: null,
  },
  {
    span_id: 'c'.repeat(16),
    parent_span_id: 'a'.repeat(16),
    name: 'execute_tool lookup',
    type: 'tool',
    agent: '',
    start_offset_ms: 700,
    duration_ms: 300,
    status: 'error',
    error: 'no such order',
    error_truncated: false,
    input_preview: '',
    model: null,
    framework: '',
    input_tokens: 0,
    output_tokens: 0,
    litellm_request_id: null,
    spend: null,
    cost_source: null,
    spend_match: null,
    spend_log_request_id: null,
  },
];
const agents = [
  {
    name: 'triage',
    parent_agent: null,
    invocations: 1,
    llm_calls: 1,
    tool_calls: 0,
    duration_ms: 2_000,
    spend: null,
    priced_calls: 0,
    estimated_calls: 0,
  },
];

describe('traces.get 200', () => {
  it('returns the trace of one owner by its ref', async () => {
    const ref = refFor(app.adminKey);
    expect(await statusAndBody(app.call('GET', `/v1/traces/${TRACE_ID}?trace_ref=${ref}`))).toEqual([
      200,
      { summary: { ...summary, trace_ref: ref }, agents, spans, next_cursor: null, gateway_spend_pending: false },
    ]);
  });

  it('without a ref, merges all visible traces of the id, with each span id once', async () => {
    const team = await makeKey(app, { team_id: 'team-1' });
    await send(app, workedExample, as(team));
    const asTeam = await statusAndBody(app.call('GET', `/v1/traces/${TRACE_ID}`, undefined, as(team)));
    expect(asTeam).toEqual([
      200,
      { summary: { ...summary, trace_ref: '' }, agents, spans, next_cursor: null, gateway_spend_pending: false },
    ]);
    const [status, merged] = await statusAndBody(app.call('GET', `/v1/traces/${TRACE_ID.toUpperCase()}?trace_ref=`));
    expect(status).toBe(200);
    // The test of repeated exports adds two spans of this trace id.
    expect(merged).toMatchObject({ summary: { trace_ref: '', span_count: 5 }, spans: { length: 5 } });
  });
});

describe('traces.span 200', () => {
  it('has input, output and all other attributes', async () => {
    const ref = refFor(app.adminKey);
    expect(
      await statusAndBody(app.call('GET', `/v1/traces/${TRACE_ID}/spans/${'b'.repeat(16)}?trace_ref=${ref}`)),
    ).toEqual([
      200,
      {
        span_id: 'b'.repeat(16),
        input: '[{"role":"user","content":"Where is my order?"}]',
        output: '[{"role":"assistant","content":"On its way."}]',
        attributes: {
          'gen_ai.operation.name': 'chat',
          'gen_ai.agent.name': 'triage',
          'gen_ai.request.model': 'm1',
          'gen_ai.usage.input_tokens': '100',
          'gen_ai.usage.output_tokens': '20',
          'gen_ai.response.id': 'r-1',
        },
        input_ui: { kind: 'messages', messages: [{ role: 'user', content: 'Where is my order?' }] },
        output_ui: { kind: 'messages', messages: [{ role: 'assistant', content: 'On its way.' }] },
      },
    ]);
  });

  it('has input and output as messages, as fields or as text', async () => {
    const key = await makeKey(app);
    const id = '7'.repeat(32);
    const tool = {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.call.arguments': '{"order":7,"by":"mail"}',
      'gen_ai.tool.call.result': 'sent',
    };
    const call =
      '[{"role":"assistant","parts":[{"type":"tool_call","id":"c1","name":"find","arguments":{"order":7}}]}]';
    const result = '[{"role":"tool","name":"find","parts":[{"type":"tool_call_response","response":"found"}]}]';
    const chat = { 'gen_ai.operation.name': 'chat', 'gen_ai.input.messages': result, 'gen_ai.output.messages': call };
    await send(
      app,
      otlpExport(otlpSpan('1', 0, 1, tool, { traceId: id }), otlpSpan('2', 0, 1, chat, { traceId: id })),
      as(key),
    );
    const read = async (digit: string) =>
      statusAndBody(app.call('GET', `/v1/traces/${id}/spans/${digit.repeat(16)}`, undefined, as(key)));
    expect(await read('1')).toEqual([
      200,
      {
        span_id: '1'.repeat(16),
        input: '{"order":7,"by":"mail"}',
        output: 'sent',
        attributes: { 'gen_ai.operation.name': 'execute_tool' },
        input_ui: {
          kind: 'fields',
          fields: [
            { key: 'order', value: '7' },
            { key: 'by', value: 'mail' },
          ],
        },
        output_ui: { kind: 'text', text: 'sent' },
      },
    ]);
    expect(await read('2')).toEqual([
      200,
      {
        span_id: '2'.repeat(16),
        input: '[{"role":"tool","content":"found","name":"find"}]',
        output:
          '[{"role":"assistant","content":"","tool_calls":[{"name":"find","arguments":"{\\"order\\":7}","id":"c1"}]}]',
        attributes: { 'gen_ai.operation.name': 'chat' },
        input_ui: { kind: 'messages', messages: [{ role: 'tool', content: 'found', name: 'find' }] },
        output_ui: {
          kind: 'messages',
          messages: [{ role: 'assistant', content: '', tool_calls: [{ name: 'find', arguments: '{"order":7}' }] }],
        },
      },
    ]);
  });
});

describe('traces.get 200: an error longer than the stored maximum', () => {
  it('is truncated, and marked as truncated', async () => {
    const key = await makeKey(app);
    const id = '6'.repeat(32);
    const long = otlpSpan('1', 0, 1, {}, { traceId: id, status: { code: 2, message: 'x'.repeat(65_537) } });
    const short = otlpSpan('2', 0, 1, {}, { traceId: id, status: { code: 2, message: 'no' } });
    await send(app, otlpExport(long, short), as(key));
    const [status, trace] = await statusAndBody(app.call('GET', `/v1/traces/${id}`, undefined, as(key)));
    expect(status).toBe(200);
    expect(trace).toMatchObject({
      spans: [
        { error: `${'x'.repeat(65_536)}…[truncated 1 bytes]`, error_truncated: true },
        { error: 'no', error_truncated: false },
      ],
    });
  });
});
