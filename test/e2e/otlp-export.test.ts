import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { spawnServer, type ServerProcess } from '../support/spawn-server.ts';
import { startApp, type TestApp } from '../support/start-app.ts';
import { POLLING } from '../support/polling.ts';

const COLLECTOR_KEY = 'sk-collector-0123456789';
/** Span id that every call names as its parent in `traceparent`. No span with this id is ever exported. */
const PARENT_ID = '00f067aa0ba902b7';

let folder: string;
let collector: ServerProcess;
let gateways: TestApp[] = [];
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lensgate-export-'));
  collector = await startCollector();
});
afterEach(async () => {
  await Promise.all(gateways.map((gateway) => gateway.stop()));
  gateways = [];
});
afterAll(async () => {
  await collector.end('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

/**
 * A collector: the product's own ingest in another process. `port` is the port of an earlier collector that it
 * replaces.
 */
const startCollector = (port = '0'): Promise<ServerProcess> =>
  spawnServer(join(folder, 'collector'), { args: ['--port', port], env: { LITELLM_MASTER_KEY: COLLECTOR_KEY } });

async function startGateway(options: Parameters<typeof startApp>[0]): Promise<TestApp> {
  const gateway = await startApp(options);
  gateways.push(gateway);
  return gateway;
}

const aTraceId = (): string => randomBytes(16).toHex();

const chat = (gateway: TestApp, traceId: string): Promise<Response> =>
  gateway.call(
    'POST',
    '/v1/chat/completions',
    { model: 'demo', messages: [{ role: 'user', content: 'Where is my order?' }] },
    { traceparent: `00-${traceId}-${PARENT_ID}-01` },
  );

async function collected(path: string): Promise<unknown> {
  const answer = await fetch(`${collector.url}${path}`, { headers: { authorization: `Bearer ${COLLECTOR_KEY}` } });
  return answer.status === 200 ? answer.json() : answer.status;
}

async function exportMetricsOf(gateway: TestApp): Promise<readonly string[]> {
  const text = await (await fetch(`${gateway.url}/metrics`)).text();
  return text.split('\n').filter((line) => line.startsWith('lensgate_otlp_'));
}

it.each(['http/protobuf', 'http/json'])('a call is a span in an external collector, over %s', async (protocol) => {
  const gateway = await startGateway({
    config: { general_settings: { store_prompts_in_spend_logs: true } },
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20${COLLECTOR_KEY}`,
      OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
      OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
    },
  });
  const traceId = aTraceId();
  const answer = await chat(gateway, traceId);
  expect(answer.status).toBe(200);
  const own: { readonly spans: readonly { readonly span_id: string; readonly duration_ms: number }[] } = await (
    await gateway.call('GET', `/v1/traces/${traceId}`)
  ).json();
  const [span] = own.spans;
  await expect
    .poll(() => collected(`/v1/traces/${traceId}`), POLLING)
    .toMatchObject({
      summary: { service: 'lensgate', span_count: 1, llm_calls: 1 },
      spans: [
        {
          span_id: span?.span_id,
          parent_span_id: PARENT_ID,
          name: 'chat demo',
          type: 'llm',
          status: 'ok',
          duration_ms: span?.duration_ms,
          input_preview: 'Where is my order?',
        },
      ],
    });
  expect(await collected(`/v1/traces/${traceId}/spans/${span?.span_id}`)).toMatchObject({
    input_ui: { kind: 'messages', messages: [{ role: 'user', content: 'Where is my order?' }] },
    output_ui: { kind: 'messages', messages: [{ role: 'assistant' }] },
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': 'demo',
      'gen_ai.response.finish_reasons': '["stop"]',
      'gen_ai.usage.input_tokens': expect.stringMatching(/^\d+$/),
    },
  });
  expect(await exportMetricsOf(gateway)).toEqual([
    // The number includes the spans of duties.
    expect.stringMatching(/^lensgate_otlp_exported_spans_total\{outcome="sent"\} [1-9]\d*$/),
    'lensgate_otlp_exported_spans_total{outcome="dropped"} 0',
    'lensgate_otlp_exported_spans_total{outcome="failed"} 0',
    expect.stringMatching(/^lensgate_otlp_export_waiting_spans \d+$/),
  ]);
});

it('each run of a duty is a trace in the collector, and none in the gateway itself', async () => {
  const gateway = await startGateway({
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20${COLLECTOR_KEY}`,
    },
  });
  const named = (name: string) => expect.objectContaining({ name, service: 'lensgate', span_count: 1, llm_calls: 0 });
  await expect
    .poll(() => collected('/v1/traces?page_size=100'), POLLING)
    .toMatchObject({
      data: expect.arrayContaining(['lens-retention', 'budget-windows'].map((duty) => named(`duty:${duty}`))),
    });
  expect(await (await gateway.call('GET', '/v1/traces')).json()).toMatchObject({ data: [] });
});

it('prompts that are not stored are not exported; the configuration file enables the export', async () => {
  const gateway = await startGateway({
    config: {
      general_settings: {
        otlp_endpoint: collector.url,
        otlp_headers: { authorization: 'os.environ/COLLECTOR_HEADER' },
      },
    },
    env: { COLLECTOR_HEADER: `Bearer ${COLLECTOR_KEY}` },
  });
  const traceId = aTraceId();
  await chat(gateway, traceId);
  await expect.poll(() => collected(`/v1/traces/${traceId}`), POLLING).toMatchObject({ summary: { span_count: 1 } });
  const trace = (await collected(`/v1/traces/${traceId}`)) as { spans: readonly { span_id: string }[] };
  const span = await collected(`/v1/traces/${traceId}/spans/${trace.spans[0]?.span_id}`);
  expect(span).toMatchObject({ input: '', output: '' });
  expect(JSON.stringify(span)).not.toContain('order');
});

it('calls succeed while the collector is unreachable, and their spans arrive later', async () => {
  const gateway = await startGateway({
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20${COLLECTOR_KEY}`,
    },
  });
  const traceId = aTraceId();
  const { port } = new URL(collector.url);
  await collector.end('SIGKILL');
  for (let call = 0; call < 20; call++) expect((await chat(gateway, traceId)).status).toBe(200);
  collector = await startCollector(port);
  await expect.poll(() => collected(`/v1/traces/${traceId}`), POLLING).toMatchObject({ summary: { span_count: 20 } });
});

/** The trace of a call, read from the collector after its gateway has stopped. */
async function collectedAfterStop(): Promise<unknown> {
  const gateway = await startGateway({
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20${COLLECTOR_KEY}`,
    },
  });
  const traceId = aTraceId();
  await chat(gateway, traceId);
  await gateway.stop();
  return collected(`/v1/traces/${traceId}`);
}

it('spans that have just ended are exported before the process exits', async () => {
  // The last export has a deadline of 1.5 seconds, which a busy machine may exceed. Each poll starts another gateway.
  await expect.poll(collectedAfterStop).toMatchObject({ summary: { span_count: 1 } });
});
