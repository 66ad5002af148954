import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/start-app.ts';
import {
  statusAndBody,
  as,
  makeKey,
  otlpExport,
  otlpSpan,
  refFor,
  send,
  START_MS,
  TRACE_ID,
  WINDOW,
  workedExample,
} from './trace-client.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());

const list = (key: string) => statusAndBody(app.call('GET', `/v1/traces?${WINDOW}`, undefined, as(key)));
const read = (key: string, traceId = TRACE_ID, ref = '') =>
  statusAndBody(app.call('GET', `/v1/traces/${traceId}?trace_ref=${ref}`, undefined, as(key)));

const summary = (ref: string) => ({
  trace_id: TRACE_ID,
  trace_ref: ref,
  name: 'triage',
  service: 'support',
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
});

it('traces.list and traces.get 200: two teams that send the worked example twice each see their own trace once', async () => {
  const [firstKey, secondKey] = [await makeKey(app, { team_id: 'team-1' }), await makeKey(app, { team_id: 'team-2' })];
  const [firstRef, secondRef] = [refFor(firstKey, 'team-1'), refFor(secondKey, 'team-2')];
  for (const key of [firstKey, secondKey, firstKey, secondKey])
    expect(await statusAndBody(send(app, workedExample, as(key)))).toEqual([200, {}]);

  // Traces with the same start are sorted by ref, highest first.
  const all = [firstRef, secondRef].toSorted().toReversed().map(summary);
  expect(await list(app.adminKey)).toEqual([200, { data: all, next_cursor: null }]);
  expect(await list(firstKey)).toEqual([200, { data: [summary(firstRef)], next_cursor: null }]);
  expect(await list(secondKey)).toEqual([200, { data: [summary(secondRef)], next_cursor: null }]);

  const agents = [
    { name: 'triage', parent_agent: null, invocations: 1, llm_calls: 1, tool_calls: 0, duration_ms: 2_000 },
  ];
  const spans = [
    { span_id: 'a'.repeat(16), parent_span_id: null, litellm_request_id: null, error: null },
    { span_id: 'b'.repeat(16), parent_span_id: 'a'.repeat(16), litellm_request_id: 'r-1', error: null },
    { span_id: 'c'.repeat(16), parent_span_id: 'a'.repeat(16), litellm_request_id: null, error: 'no such order' },
  ];
  const trace = { agents, spans, next_cursor: null };
  expect(await read(firstKey)).toMatchObject([200, { ...trace, summary: summary('') }]);
  expect(await read(secondKey, TRACE_ID, secondRef)).toMatchObject([200, { ...trace, summary: summary(secondRef) }]);
  // An administrator sees one merged trace, with each span once.
  expect(await read(app.adminKey)).toMatchObject([200, { ...trace, summary: summary('') }]);
  const missing = [404, { detail: `Trace ${TRACE_ID} not found` }];
  expect(await read(firstKey, TRACE_ID, secondRef)).toEqual(missing);
});

it('traces.get 200: a tool call counts for the agent in its attributes', async () => {
  const key = await makeKey(app);
  const trace = { traceId: '1'.repeat(32) };
  const child = { ...trace, parentSpanId: 'a'.repeat(16) };
  const agentName = { 'gen_ai.agent.name': 'triage' };
  await send(
    app,
    otlpExport(
      otlpSpan('a', 0, 9, { 'gen_ai.operation.name': 'invoke_agent', ...agentName }, { ...trace, name: 'triage' }),
      otlpSpan('b', 1, 1, { 'gen_ai.operation.name': 'execute_tool', ...agentName }, child),
      otlpSpan('c', 2, 1, { 'gen_ai.operation.name': 'execute_tool' }, child),
    ),
    as(key),
  );
  expect(await read(key, trace.traceId)).toMatchObject([
    200,
    { summary: { tool_calls: 2 }, agents: [{ name: 'triage', llm_calls: 0, tool_calls: 1 }] },
  ]);
});

it('traces.list and traces.get 200: each model is listed once, sorted, independent of the order of the spans', async () => {
  const key = await makeKey(app);
  const traceId = '2'.repeat(32);
  const call = (digit: string, from: number, model: string) =>
    otlpSpan(digit, from, 1, { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': model }, { traceId });
  await send(app, otlpExport(call('1', 0, 'm-c'), call('2', 1, 'm-a'), call('3', 2, '')), as(key));
  await send(app, otlpExport(call('4', 3, 'm-b'), call('5', 4, 'm-a')), as(key));
  const models = ['m-a', 'm-b', 'm-c'];
  expect([await list(key), await read(key, traceId)]).toMatchObject([
    [200, { data: [{ models }] }],
    [200, { summary: { models } }],
  ]);
});

it.each([
  ['0', '2026-01-01T00:00:00+00:00'],
  ['999', '2026-01-01T00:00:00+00:00'],
  ['1000', '2026-01-01T00:00:00.000001+00:00'],
  ['500000000', '2026-01-01T00:00:00.500000+00:00'],
  ['999999999', '2026-01-01T00:00:00.999999+00:00'],
])('traces.list and traces.get 200: a start of %s ns after the second is shown as %s', async (ns, time) => {
  const key = await makeKey(app);
  const traceId = '3'.repeat(32);
  const startNs = String(BigInt(START_MS) * 1_000_000n + BigInt(ns));
  await send(
    app,
    otlpExport(otlpSpan('1', 0, 0, {}, { traceId, startTimeUnixNano: startNs, endTimeUnixNano: startNs })),
    as(key),
  );
  expect([await list(key), await read(key, traceId)]).toMatchObject([
    [200, { data: [{ start_time: time }] }],
    [200, { summary: { start_time: time } }],
  ]);
});

it.each([
  ['400000', 0, 0.4],
  ['1499999', 1, 1.499999],
  ['1600000', 2, 1.6],
])(
  'traces.list and traces.get 200: a duration of %s ns is %s ms in the list and %s ms in the trace',
  async (ns, whole, exact) => {
    const key = await makeKey(app);
    const traceId = '4'.repeat(32);
    const end = String(BigInt(START_MS) * 1_000_000n + BigInt(ns));
    await send(app, otlpExport(otlpSpan('1', 0, 0, {}, { traceId, endTimeUnixNano: end })), as(key));
    expect([await list(key), await read(key, traceId)]).toMatchObject([
      [200, { data: [{ duration_ms: whole }] }],
      [200, { summary: { duration_ms: exact }, spans: [{ duration_ms: exact }] }],
    ]);
  },
);

it('traces.list and traces.get 200: the preview is the input of the model call below the request span, in any order of arrival', async () => {
  const traceId = '7'.repeat(32);
  const root = otlpSpan('a', 0, 9, { 'http.request.method': 'POST' }, { traceId, name: 'POST /ask', kind: 2 });
  const call = otlpSpan(
    'b',
    1,
    5,
    { 'gen_ai.operation.name': 'chat', 'gen_ai.prompt': 'Where is it?' },
    { traceId, name: 'chat m1', parentSpanId: 'a'.repeat(16) },
  );
  for (const spans of [
    [root, call],
    [call, root],
  ]) {
    const key = await makeKey(app);
    for (const span of spans) expect((await send(app, otlpExport(span), as(key))).status).toBe(200);
    const expected = { name: 'POST /ask', input_preview: 'Where is it?', span_count: 2 };
    expect([await list(key), await read(key, traceId)]).toMatchObject([
      [200, { data: [expected] }],
      [200, { summary: expected }],
    ]);
  }
});

it('traces.list 200: a trace without its root span has no name; traces.get 200: it has the name and status of its earliest span', async () => {
  const key = await makeKey(app);
  const traceId = '6'.repeat(32);
  const below = { traceId, parentSpanId: 'f'.repeat(16) };
  const [late, early] = [
    otlpSpan('1', 5, 1, {}, { ...below, name: 'late', status: { code: 2 } }),
    otlpSpan('2', 1, 1, {}, { ...below, name: 'early', status: { code: 1 } }),
  ];
  await send(app, otlpExport(late, early), as(key));
  expect(await list(key)).toMatchObject([
    200,
    { data: [{ name: '', status: 'unset', error_count: 1, span_count: 2 }] },
  ]);
  expect(await read(key, traceId)).toMatchObject([200, { summary: { name: 'early', status: 'ok' } }]);
  const root = otlpSpan('f', 0, 10, {}, { traceId, name: 'run', status: { code: 2 } });
  await send(app, otlpExport(root), as(key));
  const whole = { name: 'run', status: 'error', error_count: 2, span_count: 3, duration_ms: 10 };
  expect([await list(key), await read(key, traceId)]).toMatchObject([
    [200, { data: [whole] }],
    [200, { summary: whole }],
  ]);
});
