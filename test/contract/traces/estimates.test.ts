import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rateFrom, attoCost, type Usd, usdFrom, usdFromAtto, usdNumber } from '../../../src/domain/money.ts';
import { loadEmbeddedSnapshot } from '../../../src/runtime/catalog/snapshot.ts';
import { keyGenerator } from '../../../src/runtime/identifiers.ts';
import { traceRefOf } from '../../support/memory-trace-store.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { statusAndBody, as, makeKey, otlpExport, otlpSpan, send, START_MS } from './trace-client.ts';

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

const MODEL = 'gpt-4o';
/** A call with 1,000 input tokens, of which 200 are cached, and 100 output tokens. */
const CHAT = {
  'gen_ai.operation.name': 'chat',
  'gen_ai.agent.name': 'triage',
  'gen_ai.provider.name': 'openai',
  'gen_ai.request.model': MODEL,
  'gen_ai.usage.input_tokens': 1_000,
  'gen_ai.usage.output_tokens': 100,
  'gen_ai.usage.cache_read.input_tokens': 200,
};

/** Cost of `CHAT` by the embedded catalog. */
function costOfChat(): number {
  const row = loadEmbeddedSnapshot().find(MODEL)?.row ?? {};
  const sum = (
    [
      ['input_cost_per_token', 800],
      ['cache_read_input_token_cost', 200],
      ['output_cost_per_token', 100],
    ] as const
  ).reduce((total, [price, tokens]) => {
    const rate = rateFrom(row[price]);
    if (rate === null || rate === 0n) throw new Error(`The catalog has no ${price} of ${MODEL}.`);
    return total + attoCost(rate, tokens);
  }, 0n);
  return usdNumber(usdFromAtto(sum));
}

interface TraceAnswer {
  readonly summary: object;
  readonly agents: readonly object[];
  readonly spans: readonly { readonly span_id: string }[];
}
const SPEND_FIELDS = ['spend', 'priced_calls', 'estimated_calls'];
const CALL_FIELDS = ['llm_calls', 'input_tokens', 'output_tokens'];
const SPAN_SPEND_FIELDS = ['spend', 'cost_source', 'spend_match'];
const pick = (row: object | undefined, names: readonly string[]): unknown =>
  Object.fromEntries(Object.entries(row ?? {}).filter(([name]) => names.includes(name)));

async function read(traceId: string): Promise<{ readonly traceAnswer: TraceAnswer; readonly listed: unknown }> {
  const [, traceAnswer] = await statusAndBody(app.call('GET', `/v1/traces/${traceId}`));
  const window = `start_ms=${START_MS - 1}&end_ms=${START_MS + 60_000}`;
  const [, list] = await statusAndBody(app.call('GET', `/v1/traces?${window}`));
  const { data } = list as { data: readonly { readonly trace_id: string }[] };
  const listed = pick(
    data.find(({ trace_id: id }) => id === traceId),
    SPEND_FIELDS,
  );
  return { traceAnswer: traceAnswer as TraceAnswer, listed };
}
const spanOf = (traceAnswer: TraceAnswer, digit: string): unknown =>
  pick(
    traceAnswer.spans.find(({ span_id: id }) => id === digit.repeat(16)),
    SPAN_SPEND_FIELDS,
  );

describe('traces.get 200: a model call in the trace of a client', () => {
  it('has a cost estimate from the catalog in its span, in its agent and in the summary of the trace', async () => {
    const traceId = '1'.repeat(32);
    const child = { traceId, parentSpanId: 'a'.repeat(16) };
    await send(
      app,
      otlpExport(
        otlpSpan('a', 0, 9, { 'gen_ai.operation.name': 'invoke_agent' }, { traceId, name: 'triage' }),
        otlpSpan('b', 1, 1, CHAT, child),
        otlpSpan('c', 2, 1, { ...CHAT, 'gen_ai.request.model': 'unknown-model' }, child),
        // The usage of a successful chat without output tokens is incomplete, so it has no estimate.
        otlpSpan('d', 3, 1, { ...CHAT, 'gen_ai.usage.output_tokens': 0 }, child),
        otlpSpan('e', 4, 1, { ...CHAT, 'gen_ai.response.id': 'elsewhere' }, child),
      ),
    );
    const { traceAnswer, listed } = await read(traceId);
    const spend = { spend: 2 * costOfChat(), priced_calls: 2, estimated_calls: 2 };
    expect([pick(traceAnswer.summary, SPEND_FIELDS), listed, pick(traceAnswer.agents[0], SPEND_FIELDS)]).toEqual([
      spend,
      spend,
      spend,
    ]);
    const estimated = { spend: costOfChat(), cost_source: 'estimated' };
    const unpriced = { spend: null, cost_source: null };
    expect(['a', 'b', 'c', 'd', 'e'].map((digit) => spanOf(traceAnswer, digit))).toEqual([
      { ...unpriced, spend_match: null },
      { ...estimated, spend_match: 'no_call_id' },
      { ...unpriced, spend_match: 'no_call_id' },
      { ...unpriced, spend_match: 'no_call_id' },
      { ...estimated, spend_match: 'no_spend_log' },
    ]);
  });

  it('without cache details has the full input price, which is marked as an upper bound', async () => {
    const traceId = '0f'.repeat(16);
    const { 'gen_ai.usage.cache_read.input_tokens': _cached, ...withoutCache } = CHAT;
    const embedding = {
      'gen_ai.operation.name': 'embeddings',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'text-embedding-3-small',
      'gen_ai.usage.input_tokens': 1_000,
    };
    await send(
      app,
      otlpExport(
        otlpSpan('a', 0, 1, withoutCache, { traceId }),
        otlpSpan('b', 1, 1, CHAT, { traceId }),
        otlpSpan('c', 2, 1, embedding, { traceId }),
        otlpSpan('d', 3, 1, { ...CHAT, 'gen_ai.request.model': 'no such model' }, { traceId }),
      ),
    );
    const query = `{ trace(id: "${traceId}") { costReason spans { nodes { spendMatch { costUsd costSource } } } } }`;
    const [, graph] = await statusAndBody(app.call('POST', '/graphql', { query }));
    const nodes = [
      { spendMatch: { costUsd: '0.0035', costSource: 'ESTIMATED_UPPER' } },
      { spendMatch: { costUsd: String(costOfChat()), costSource: 'ESTIMATED' } },
      { spendMatch: { costUsd: '0.00002', costSource: 'ESTIMATED' } },
      { spendMatch: { costUsd: null, costSource: null } },
    ];
    expect(graph).toEqual({ data: { trace: { costReason: 'UNKNOWN_MODEL', spans: { nodes } } } });
    const { traceAnswer } = await read(traceId);
    expect(['a', 'b'].map((digit) => spanOf(traceAnswer, digit))).toMatchObject([
      { spend: 0.0035, cost_source: 'estimated' },
      { spend: costOfChat(), cost_source: 'estimated' },
    ]);
  });

  it('is stored with any reported usage, and has no estimate for an implausible cost', async () => {
    const traceId = '9'.repeat(32);
    const maxTokens = { 'gen_ai.usage.input_tokens': 4_294_967_295, 'gen_ai.usage.output_tokens': 4_294_967_295 };
    const spans = ['a', 'b', 'c', 'd', 'e', 'f'].map((digit, index) =>
      otlpSpan(digit, index, 1, { ...CHAT, ...maxTokens, 'gen_ai.request.model': 'o1-pro' }, { traceId }),
    );
    expect(await statusAndBody(send(app, otlpExport(...spans)))).toEqual([200, {}]);
    const { traceAnswer, listed } = await read(traceId);
    expect([listed, pick(traceAnswer.summary, SPEND_FIELDS)]).toEqual(
      Array.from({ length: 2 }, () => ({ spend: null, priced_calls: 0, estimated_calls: 0 })),
    );
    expect(spanOf(traceAnswer, 'a')).toEqual({ spend: null, cost_source: null, spend_match: 'no_call_id' });
    expect(loadEmbeddedSnapshot().find('o1-pro')?.row).toMatchObject({ output_cost_per_token: expect.any(Number) });
  });

  it('is stored with thousands of others; their total is capped at the stored maximum', async () => {
    const traceId = '8'.repeat(32);
    const price = Number(loadEmbeddedSnapshot().find('o1-pro')?.row['output_cost_per_token']);
    const expensive = { 'gen_ai.request.model': 'o1-pro', 'gen_ai.usage.output_tokens': Math.floor(990 / price) };
    const spans = Array.from({ length: 9_600 }, (_, index) => {
      const spanId = (index + 1).toString(16).padStart(16, '0');
      return otlpSpan('1', 0, 1, { ...CHAT, ...expensive }, { traceId, spanId });
    });
    for (let from = 0; from < spans.length; from += 1_000)
      expect(await statusAndBody(send(app, otlpExport(...spans.slice(from, from + 1_000))))).toEqual([200, {}]);
    const { traceAnswer, listed } = await read(traceId);
    // Each call costs almost 990 USD, so that the sum is above the stored maximum: 2⁶³ − 1 picodollars.
    const totals = { spend: 9_223_372.036_854_776, priced_calls: 9_600, estimated_calls: 9_600 };
    expect([listed, pick(traceAnswer.summary, SPEND_FIELDS)]).toEqual([totals, totals]);
  });

  /** Calls the gateway within the client's span. Returns the cost. */
  async function callGateway(traceId: string): Promise<number> {
    const answer = await app.call(
      'POST',
      '/v1/chat/completions',
      { model: 'priced', messages: [{ role: 'user', content: 'Hello' }] },
      { traceparent: `00-${traceId}-${'b'.repeat(16)}-01` },
    );
    const { usage } = (await answer.json()) as { usage: { prompt_tokens: number; completion_tokens: number } };
    return (usage.prompt_tokens + 2 * usage.completion_tokens) / 1_000;
  }

  /** Expects the gateway's price in the answers about the trace and the client's span. */
  async function expectGatewayPrice(traceId: string, cost: number): Promise<void> {
    const { traceAnswer, listed } = await read(traceId);
    const spend = { spend: cost, priced_calls: 1, estimated_calls: 0 };
    expect([pick(traceAnswer.summary, SPEND_FIELDS), listed]).toEqual([spend, spend]);
    expect(spanOf(traceAnswer, 'b')).toEqual({ spend: cost, cost_source: 'gateway', spend_match: 'matched' });
  }

  it('is priced once if the gateway records it before its span arrives', async () => {
    const traceId = '2'.repeat(32);
    const cost = await callGateway(traceId);
    expect((await read(traceId)).traceAnswer.spans).toHaveLength(1);
    await send(app, otlpExport(otlpSpan('b', 0, 1, CHAT, { traceId })));
    await expectGatewayPrice(traceId, cost);
  });

  it('is priced once if the gateway records it after its span arrives', async () => {
    const traceId = '3'.repeat(32);
    await send(app, otlpExport(otlpSpan('b', 0, 1, CHAT, { traceId })));
    expect((await read(traceId)).listed).toEqual({ spend: costOfChat(), priced_calls: 1, estimated_calls: 1 });
    await expectGatewayPrice(traceId, await callGateway(traceId));
  });

  it('is not estimated if the gateway recorded it in another trace, found by answer id or call id', async () => {
    const answer = await app.call(
      'POST',
      '/v1/chat/completions',
      { model: 'priced', messages: [{ role: 'user', content: 'Hello' }] },
      { 'x-litellm-call-id': 'call-of-mine' },
    );
    const { id, usage } = (await answer.json()) as { id: string; usage: Record<string, number> };
    const cost = ((usage['prompt_tokens'] ?? 0) + 2 * (usage['completion_tokens'] ?? 0)) / 1_000;
    const now = BigInt(Date.now()) * 1_000_000n;
    const times = { startTimeUnixNano: String(now), endTimeUnixNano: String(now + 1n) };
    const traceId = '7'.repeat(32);
    const callIds = [
      { 'gen_ai.response.id': id },
      { 'litellm.call_id': 'call-of-mine' },
      { 'gen_ai.response.id': 'no' },
    ];
    const spans = callIds.map((name, place) =>
      otlpSpan('bcd'.charAt(place), 0, 0, { ...CHAT, ...name }, { traceId, ...times }),
    );
    // Another key sends the same answer id, but does not own that call.
    const stranger = await makeKey(app);
    expect((await send(app, otlpExport(...spans))).status).toBe(200);
    expect((await send(app, otlpExport(...spans.slice(0, 1)), as(stranger))).status).toBe(200);
    const traceFor = async (key: string) => {
      const [, traceAnswer] = await statusAndBody(
        app.call('GET', `/v1/traces/${traceId}?trace_ref=`, undefined, as(key)),
      );
      return traceAnswer as TraceAnswer;
    };
    const [, list] = await statusAndBody(app.call('GET', '/v1/traces', undefined, as(app.adminKey)));
    const listed = (list as { data: readonly { readonly trace_id: string }[] }).data.filter(
      ({ trace_id: listedId }) => listedId === traceId,
    );
    // In the list, only the gateway's own trace has the gateway's cost: sums over traces count the cost once.
    expect(listed.map((summary) => pick(summary, SPEND_FIELDS))).toEqual(
      [costOfChat(), costOfChat()].map((spend) => ({ spend, priced_calls: 1, estimated_calls: 1 })),
    );
    const estimated = { spend: costOfChat(), cost_source: 'estimated', spend_match: 'no_spend_log' };
    const strangersTrace = await traceFor(stranger);
    expect([pick(strangersTrace.summary, SPEND_FIELDS), spanOf(strangersTrace, 'b')]).toEqual([
      { spend: costOfChat(), priced_calls: 1, estimated_calls: 1 },
      estimated,
    ]);
    const ref = `?trace_ref=${traceRefOf({ teamId: null, keyHash: keyGenerator.hash(app.adminKey) }, traceId)}`;
    const [, traceAnswer] = await statusAndBody(app.call('GET', `/v1/traces/${traceId}${ref}`));
    const matched = { spend: cost, cost_source: 'gateway', spend_match: 'matched' };
    expect(['b', 'c', 'd'].map((digit) => spanOf(traceAnswer as TraceAnswer, digit))).toEqual([
      matched,
      matched,
      estimated,
    ]);
    const total = usdFrom(cost) ?? 0n;
    expect(pick((traceAnswer as TraceAnswer).summary, SPEND_FIELDS)).toEqual({
      spend: usdNumber((total + (usdFrom(costOfChat()) ?? 0n)) as Usd),
      priced_calls: 2,
      estimated_calls: 1,
    });
  });

  it('is not estimated if an OpenInference span has an answer id of the gateway in its output', async () => {
    const body = { model: 'priced', messages: [{ role: 'user', content: 'Hello' }] };
    const answer = await (await app.call('POST', '/v1/chat/completions', body)).text();
    const traceId = '2f'.repeat(16);
    const now = BigInt(Date.now()) * 1_000_000n;
    const times = { startTimeUnixNano: String(now), endTimeUnixNano: String(now + 1n) };
    const call = {
      'openinference.span.kind': 'LLM',
      'llm.provider': 'openai',
      'llm.model_name': MODEL,
      'llm.token_count.prompt': 1_000,
      'llm.token_count.completion': 100,
      'output.value': answer,
    };
    await send(app, otlpExport(otlpSpan('b', 0, 0, call, { traceId, ...times })));
    const [, traceAnswer] = await statusAndBody(app.call('GET', `/v1/traces/${traceId}`));
    expect(spanOf(traceAnswer as TraceAnswer, 'b')).toMatchObject({ cost_source: 'gateway', spend_match: 'matched' });
    expect(pick((traceAnswer as TraceAnswer).summary, SPEND_FIELDS)).toMatchObject({
      priced_calls: 1,
      estimated_calls: 0,
    });
    const [, list] = await statusAndBody(app.call('GET', '/v1/traces'));
    const listed = (list as { data: readonly { readonly trace_id: string }[] }).data.find(
      ({ trace_id: id }) => id === traceId,
    );
    expect(pick(listed, SPEND_FIELDS)).toEqual({ spend: null, priced_calls: 0, estimated_calls: 0 });
  });

  it('is counted once if two instrumentations report it, in one export or in two', async () => {
    for (const [digit, together] of [
      ['4', true],
      ['5', false],
    ] as const) {
      const traceId = digit.repeat(32);
      const outer = otlpSpan('b', 0, 5, CHAT, { traceId });
      const inner = otlpSpan('c', 1, 1, CHAT, { traceId, parentSpanId: 'b'.repeat(16) });
      if (together) await send(app, otlpExport(outer, inner));
      else for (const span of [inner, outer]) await send(app, otlpExport(span));
      const { traceAnswer, listed } = await read(traceId);
      expect(listed).toEqual({ spend: costOfChat(), priced_calls: 1, estimated_calls: 1 });
      expect(pick(traceAnswer.summary, CALL_FIELDS)).toEqual({ llm_calls: 1, input_tokens: 1_000, output_tokens: 100 });
      expect([spanOf(traceAnswer, 'b'), spanOf(traceAnswer, 'c')]).toEqual([
        { spend: null, cost_source: null, spend_match: 'no_call_id' },
        { spend: costOfChat(), cost_source: 'estimated', spend_match: 'no_call_id' },
      ]);
    }
  });
});

it('traces.get 200: a trace has the frameworks of its spans and the source of the run', async () => {
  const traceId = '6'.repeat(32);
  const attributes = { 'litellm.source.type': 'slack', 'litellm.source.url': 'https://example.slack.com/archives/1' };
  const exported = {
    resourceSpans: [
      {
        scopeSpans: [
          { scope: { name: 'ai' }, spans: [otlpSpan('a', 0, 1, attributes, { traceId })] },
          {
            scope: { name: 'openinference.instrumentation.openai_agents' },
            spans: [otlpSpan('b', 0, 1, {}, { traceId, parentSpanId: 'a'.repeat(16) })],
          },
        ],
      },
    ],
  };
  await send(app, exported);
  const { traceAnswer } = await read(traceId);
  expect(traceAnswer).toMatchObject({
    summary: {
      frameworks: ['openai-agents', 'vercel-ai-sdk'],
      source: { type: 'slack', url: 'https://example.slack.com/archives/1', title: '' },
    },
    spans: [{ framework: 'vercel-ai-sdk' }, { framework: 'openai-agents' }],
  });
  expect(traceAnswer.summary).not.toHaveProperty('source.user');
});
