import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TRACE_ID, WINDOW, START_MS, workedExample } from '../contract/traces/trace-client.ts';
import {
  CatalogEntryDocument,
  ChatDocument,
  CreateCheckoutDocument,
  GenerateKeyDocument,
  SpanDocument,
  SpanPageDocument,
  type SpanQuery,
  TraceDocument,
  TracesDocument,
} from '../graph/generated/graphql.ts';
import { startApp, type TestApp } from '../support/start-app.ts';
import { asNumber, transportsOf, inSnakeCase } from './transports.ts';

let app: TestApp;
let transports: ReturnType<typeof transportsOf>;
beforeAll(async () => {
  app = await startApp();
  transports = transportsOf(app);
  await app.call('POST', '/v1/traces', workedExample);
});
afterAll(() => app.stop());

/** Converts a view of the graph, where absent members are null, to the form of the HTTP answer. */
function httpViewOf(view: NonNullable<SpanQuery['span']>['inputView'] | undefined): unknown {
  if (view === undefined || view === null || 'text' in view) return { kind: 'text', text: view?.text ?? '' };
  if ('fields' in view) return { kind: 'fields', fields: view.fields };
  const messages = view.messages.map(({ role, content, name, toolCalls }) => ({
    role: role.toLowerCase(),
    content: content ?? '',
    ...(name == null ? {} : { name }),
    ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls }),
  }));
  return { kind: 'messages', messages };
}

describe('a catalog entry', () => {
  const PRICES = [
    'input_cost_per_token',
    'output_cost_per_token',
    'cache_read_input_token_cost',
    'input_cost_per_audio_token',
    'output_cost_per_reasoning_token',
  ];

  it('has the same values over both transports, also for ids with a slash', async () => {
    const { body } = await transports.rest('/model_catalog?page_size=500&page=2');
    const entries = body['data'] as readonly { readonly id: string; readonly [field: string]: unknown }[];
    const every25th = entries.filter((_entry, index) => index % 25 === 0);
    expect(every25th.some(({ id }) => id.includes('/'))).toBe(true);
    for (const { object: _object, ...entry } of every25th) {
      const { data } = await transports.graph(CatalogEntryDocument, { id: entry.id });
      const { extraFields, ...declared } = data.catalogEntry ?? {};
      const { entry_id: id, ...fields } = inSnakeCase(declared);
      for (const price of PRICES) fields[price] = asNumber(fields[price]);
      expect({ id, ...fields, ...(extraFields as object) }).toEqual(entry);
    }
  });

  it('that does not exist is absent over both transports', async () => {
    const rest = await transports.rest('/model_catalog/no/such/model');
    const { data } = await transports.graph(CatalogEntryDocument, { id: 'no/such/model' });
    expect([rest.status, data]).toEqual([404, { catalogEntry: null }]);
  });
});

describe('a trace', () => {
  it('has the same summary, agents and spans', async () => {
    const rest = await transports.rest(`/v1/traces/${TRACE_ID}`);
    const { data } = await transports.graph(TraceDocument, { id: TRACE_ID });
    if (!data.trace) throw new Error('The graph has no such trace.');
    const { spans, agents, ...summary } = data.trace;
    // These fields differ in the graph: an instant, an enum value, a list instead of a count, and a ref that is never
    // null.
    const {
      start_time: _start,
      agent_count: agentCount,
      trace_ref: _ref,
      status,
      ...sameFields
    } = rest.body['summary'] as {
      readonly [field: string]: unknown;
      readonly status: string;
    };
    expect(inSnakeCase({ ...summary, spend: asNumber(summary.costUsd) })).toMatchObject({
      ...sameFields,
      started_at: new Date(START_MS).toISOString(),
      status: status.toUpperCase(),
    });
    expect(agentCount).toBe(summary.agentNames.length);
    // Only the HTTP answer repeats spend facts of calls and agents; the graph links to the spend row.
    const withoutSpendRow = (fields: object): object => {
      const { spend_match: _match, spend_log_request_id: _row, ...others } = fields as Record<string, unknown>;
      return others;
    };
    const withoutSpend = (fields: object): object => {
      const {
        spend: _spend,
        priced_calls: _priced,
        estimated_calls: _estimated,
        ...others
      } = fields as Record<string, unknown>;
      return others;
    };
    const listed = (name: 'agents' | 'spans') => rest.body[name] as readonly object[];
    // HTTP counts tool calls with the name of the agent, as the reference does. The graph counts tool calls in the
    // agent's subtree.
    const withoutTools = (fields: object): object => {
      const { tool_calls: _tools, ...others } = fields as Record<string, unknown>;
      return others;
    };
    const agentRows = listed('agents').map(withoutSpend).map(withoutTools);
    expect(agents?.map(inSnakeCase).map(withoutTools)).toEqual(agentRows);
    expect(agents?.map(({ toolCalls }) => toolCalls)).toEqual([1]);
    expect(listed('agents').map((agent) => (agent as { readonly tool_calls: number }).tool_calls)).toEqual([0]);
    const graphSpans = spans?.nodes.map((span) => ({
      span_id: span.spanId,
      parent_span_id: span.parentSpanId,
      name: span.name,
      type: span.type.toLowerCase(),
      agent: span.agent ?? '',
      start_offset_ms: Number(BigInt(span.startNs) - BigInt(START_MS) * 1_000_000n) / 1e6,
      duration_ms: span.durationMs,
      status: span.status.toLowerCase(),
      error: span.error,
      error_truncated: span.errorTruncated,
      input_preview: span.inputPreview ?? '',
      model: span.model,
      framework: span.framework ?? '',
      input_tokens: span.inputTokens,
      output_tokens: span.outputTokens,
      litellm_request_id: span.responseId,
      spend: asNumber(span.costUsd),
      cost_source: null,
    }));
    expect(graphSpans).toEqual(listed('spans').map(withoutSpendRow));
  });

  it('is in the lists of both transports, and the cursor of the graph continues the HTTP list', async () => {
    const rest = await transports.rest(`/v1/traces?${WINDOW}`);
    const window = {
      from: new Date(START_MS - 1_000).toISOString(),
      to: new Date(START_MS + 86_400_000).toISOString(),
    };
    const { data } = await transports.graph(TracesDocument, window);
    expect(data.traces.nodes.map((trace) => trace.traceRef)).toEqual(
      (rest.body['data'] as readonly { trace_ref: string }[]).map((trace) => trace.trace_ref),
    );
    const afterLast = await transports.rest(`/v1/traces?cursor=${data.traces.pageInfo.endCursor}`);
    expect(afterLast).toEqual({ status: 200, body: { data: [], next_cursor: null } });
  });

  it('has pages of spans that the cursor of either transport continues', async () => {
    const idsIn = (body: Readonly<Record<string, unknown>>) =>
      (body['spans'] as readonly { readonly span_id: string }[]).map((span) => span.span_id);
    const first = await transports.rest(`/v1/traces/${TRACE_ID}?page_size=1`);
    const after = String(first.body['next_cursor']);
    const spans = (await transports.graph(SpanPageDocument, { id: TRACE_ID, first: 1, after })).data.trace?.spans;
    const last = await transports.rest(`/v1/traces/${TRACE_ID}?cursor=${spans?.pageInfo.endCursor}`);
    expect([idsIn(first.body), spans?.nodes.map((span) => span.spanId), idsIn(last.body)]).toEqual(
      ['a', 'b', 'c'].map((digit) => [digit.repeat(16)]),
    );
  });

  it('has the same content in a span', async () => {
    const rest = await transports.rest(`/v1/traces/${TRACE_ID}/spans/${'b'.repeat(16)}`);
    const { data } = await transports.graph(SpanDocument, { traceId: TRACE_ID, spanId: 'b'.repeat(16) });
    expect({
      span_id: 'b'.repeat(16),
      ...pick(data.span, ['input', 'output', 'attributes']),
      input_ui: httpViewOf(data.span?.inputView),
      output_ui: httpViewOf(data.span?.outputView),
    }).toEqual(rest.body);
  });

  it.each([
    ['span', `/v1/traces/${TRACE_ID}/spans/${'9'.repeat(16)}`, { traceId: TRACE_ID, spanId: '9'.repeat(16) }],
    [
      'trace',
      `/v1/traces/${'9'.repeat(32)}/spans/${'a'.repeat(16)}`,
      { traceId: '9'.repeat(32), spanId: 'a'.repeat(16) },
    ],
  ])('gives the same error message when the %s does not exist', async (_what, path, variables) => {
    const rest = await transports.rest(path);
    const { errors } = await transports.graph(SpanDocument, variables);
    expect([rest.status, rest.body['detail']]).toEqual([404, errors?.[0]?.message]);
    expect(errors?.[0]?.extensions['code']).toBe('NOT_FOUND');
  });

  it('gives the same error message for an invalid cursor', async () => {
    const rest = await transports.rest('/v1/traces?cursor=rubbish');
    const { errors } = await transports.graph(TracesDocument, { after: 'rubbish' });
    expect([rest.status, rest.body['detail']]).toEqual([
      400,
      { code: 'invalid_request', message: errors?.[0]?.message },
    ]);
    expect(errors?.[0]?.extensions['code']).toBe('INVALID_INPUT');
  });
});

describe('a chat', () => {
  const chat = (model: string) => ({ model, messages: [{ role: 'user', content: 'Hello' }] });
  const ask = (model: string) =>
    transports.graph(ChatDocument, { input: { model, messages: [{ role: 'USER', content: 'Hello' }] } });

  it('has the same answer', async () => {
    const rest = await transports.rest('/v1/chat/completions', chat('demo'));
    const { data } = await ask('demo');
    const { choices, usage } = rest.body as {
      readonly choices: readonly { readonly message: { readonly content: string }; readonly finish_reason: string }[];
      readonly usage: { readonly prompt_tokens: number; readonly completion_tokens: number };
    };
    expect(data.chat).toMatchObject({
      __typename: 'ChatCompletion',
      text: choices[0]?.message.content,
      finishReason: choices[0]?.finish_reason,
      usage: { inputTokens: usage.prompt_tokens, outputTokens: usage.completion_tokens },
    });
  });

  it('gives the same error message for an unknown model', async () => {
    const rest = await transports.rest('/v1/chat/completions', chat('nope'));
    const { data } = await ask('nope');
    const { message } = rest.body['error'] as { readonly message: string };
    expect([rest.status, data.chat]).toMatchObject([400, { __typename: 'NotFoundError', code: 'NOT_FOUND', message }]);
  });
});

describe('a key', () => {
  it('with an existing alias gives the same error message', async () => {
    const generated = await transports.graph(GenerateKeyDocument, { input: { alias: 'ci' } });
    expect(generated.data.generateKey).toMatchObject({ __typename: 'GeneratedKey' });
    const rest = await transports.rest('/key/generate', { key_alias: 'ci' });
    const { data } = await transports.graph(GenerateKeyDocument, { input: { alias: 'ci' } });
    const { message } = rest.body['error'] as { readonly message: string };
    expect([rest.status, data.generateKey]).toEqual([400, { __typename: 'ConflictError', code: 'CONFLICT', message }]);
  });
});

describe('a checkout', () => {
  it('gives the same error message where nothing is for sale', async () => {
    const rest = await (await fetch(`${app.url}/billing/checkout`, { method: 'POST' })).json();
    const { errors } = await transports.graph(CreateCheckoutDocument, {});
    const { detail } = rest as { readonly detail: string };
    expect(errors).toMatchObject([{ message: detail, extensions: { code: 'UNAVAILABLE' } }]);
    expect(detail).toContain('STRIPE_SECRET_KEY');
  });
});

function pick(value: object | null, names: readonly string[]): object {
  return Object.fromEntries(Object.entries(value ?? {}).filter(([name]) => names.includes(name)));
}
