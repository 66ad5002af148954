import { context, SpanStatusCode, trace } from '@opentelemetry/api';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, type SpanExporter, TracerProvider } from '@opentelemetry/sdk-trace';
import { expect } from 'vitest';

/** Prompt of the model call of the run. */
export const QUESTION = 'Wo ist meine Bestellung? 🌍';

/** Exports an agent run of three spans in one request. Returns its trace id and the span id of the model call. */
export async function exportRun(exporter: SpanExporter): Promise<{ traceId: string; callId: string }> {
  const results: unknown[] = [];
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'support' }),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: {
          export: (spans, done) =>
            exporter.export(spans, (result) => {
              results.push(result);
              done(result);
            }),
          shutdown: () => exporter.shutdown(),
        },
      }),
    ],
  });
  const tracer = provider.getTracer('agent', '1.0.0');
  // Starts differ by a millisecond, so that the order does not depend on random ids.
  const start = Date.now();
  const root = tracer.startSpan('triage', {
    startTime: start,
    attributes: { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'triage' },
  });
  const inside = trace.setSpan(context.active(), root);
  const call = tracer.startSpan(
    'chat m1',
    {
      startTime: start + 1,
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.agent.name': 'triage',
        'gen_ai.request.model': 'm1',
        'gen_ai.request.temperature': 0.5,
        'gen_ai.response.finish_reasons': ['stop'],
        'gen_ai.usage.input_tokens': 100,
        'gen_ai.usage.output_tokens': 20,
        'gen_ai.response.id': 'r-1',
        'gen_ai.input.messages': JSON.stringify([{ role: 'user', parts: [{ type: 'text', content: QUESTION }] }]),
      },
    },
    inside,
  );
  call.end(start + 3);
  const tool = tracer.startSpan(
    'execute_tool lookup',
    { startTime: start + 2, attributes: { 'gen_ai.operation.name': 'execute_tool' } },
    inside,
  );
  tool.recordException(new RangeError('no such order'));
  tool.setStatus({ code: SpanStatusCode.ERROR });
  tool.end(start + 3);
  root.end(start + 4);
  await provider.forceFlush();
  // One export, which has succeeded.
  expect(results).toEqual([{ code: 0 }]);
  const { traceId, spanId: callId } = call.spanContext();
  await provider.shutdown();
  return { traceId, callId };
}
