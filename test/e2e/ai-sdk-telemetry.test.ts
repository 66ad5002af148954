import { OpenTelemetry } from '@ai-sdk/otel';
import { createOpenAI } from '@ai-sdk/openai';
import { context, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { generateText, isStepCount, jsonSchema, registerTelemetry, tool } from 'ai';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/start-app.ts';

let app: TestApp;
let provider: TracerProvider;

beforeAll(async () => {
  app = await startApp();
  const headers = { authorization: `Bearer ${app.adminKey}` };
  provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'forecasts' }),
    spanProcessors: [
      new BatchSpanProcessor({ exporter: new OTLPTraceExporter({ url: `${app.url}/v1/traces`, headers }) }),
    ],
  });
  trace.setGlobalTracerProvider(provider);
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  registerTelemetry(new OpenTelemetry());
});

afterAll(async () => {
  await provider.shutdown();
  context.disable();
  trace.disable();
  await app.stop();
});

/** A `fetch` that sends the active span as `traceparent`, as instrumentations of HTTP clients do. */
const tracedFetch: typeof fetch = (input, init) => {
  const activeSpan = trace.getActiveSpan()?.spanContext();
  const headers = new Headers(init?.headers);
  if (activeSpan) headers.set('traceparent', `00-${activeSpan.traceId}-${activeSpan.spanId}-01`);
  return fetch(input, { ...init, headers });
};

interface ReadSpan {
  readonly span_id: string;
  readonly parent_span_id: string | null;
  readonly name: string;
  readonly type: string;
  readonly spend_log_request_id: string | null;
  readonly input_tokens: number;
}

it('an agent of the AI SDK and its calls through the gateway are one trace', async () => {
  const openai = createOpenAI({ apiKey: app.adminKey, baseURL: `${app.url}/v1`, fetch: tracedFetch });
  const generated = await generateText({
    model: openai.chat('demo'),
    prompt: 'Ask get_weather about Wien.',
    tools: {
      get_weather: tool({
        description: 'Tells the weather of a city.',
        inputSchema: jsonSchema<{ city: string }>({ type: 'object', properties: { city: { type: 'string' } } }),
        execute: () => 'grey',
      }),
    },
    stopWhen: isStepCount(2),
    telemetry: { isEnabled: true, functionId: 'forecaster' },
  });
  await provider.forceFlush();

  const list = (await (await app.call('GET', '/v1/traces')).json()) as { data: { trace_id: string }[] };
  expect(list.data).toHaveLength(1);
  const traceAnswer = (await (await app.call('GET', `/v1/traces/${list.data[0]?.trace_id}`)).json()) as {
    summary: Record<string, unknown>;
    spans: ReadSpan[];
  };
  const byId = new Map(traceAnswer.spans.map((span) => [span.span_id, span]));
  const roots = traceAnswer.spans.filter(({ parent_span_id: parent }) => parent === null || !byId.has(parent));
  expect(roots).toMatchObject([{ type: 'agent' }]);

  // Two steps: the tool call, then the text after its result. Each step is one call of the gateway.
  expect(generated.steps).toHaveLength(2);
  expect(traceAnswer.spans.filter(({ type }) => type === 'tool')).toHaveLength(1);
  const calls = traceAnswer.spans.filter(({ type }) => type === 'llm');
  const gatewayCalls = calls.filter(({ parent_span_id: parent }) => byId.get(parent ?? '')?.type === 'llm');
  expect(gatewayCalls).toHaveLength(2);
  expect(calls).toHaveLength(4);
  // Two spans report each call, one of the SDK and one of the gateway. The call is counted once.
  const tokenSum = gatewayCalls.reduce((sum, span) => sum + span.input_tokens, 0);
  expect(traceAnswer.summary).toMatchObject({ llm_calls: 2, input_tokens: tokenSum });
  for (const span of gatewayCalls) {
    const sdkSpan = byId.get(span.parent_span_id ?? '');
    expect(span.spend_log_request_id).toBeTypeOf('string');
    expect(sdkSpan).toMatchObject({
      spend_log_request_id: span.spend_log_request_id,
      input_tokens: span.input_tokens,
    });
  }
});
