import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import type { SpanExporter } from '@opentelemetry/sdk-trace';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { exportRun, QUESTION } from '../support/agent-run.ts';
import { spawnServer } from '../support/spawn-server.ts';
import { startApp, type TestApp } from '../support/start-app.ts';

const COMPRESSION = 'OTEL_EXPORTER_OTLP_COMPRESSION';
const ADMIN_KEY = 'sk-exporters-e2e-0123456789abcdef';

type MakeExporter = (settings: { url: string; headers: Record<string, string> }) => SpanExporter;
const EXPORTERS: readonly (readonly [string, string | null, MakeExporter])[] = [
  ['protobuf', null, (settings) => new ProtobufExporter(settings)],
  ['protobuf, gzip', 'gzip', (settings) => new ProtobufExporter(settings)],
  ['JSON', null, (settings) => new JsonExporter(settings)],
  ['JSON, gzip', 'gzip', (settings) => new JsonExporter(settings)],
];

/** Makes an exporter with or without compression, which exporters read from the environment. */
function exporterTo(url: string, key: string, compression: string | null, makeExporter: MakeExporter): SpanExporter {
  if (compression === null) delete process.env[COMPRESSION];
  else process.env[COMPRESSION] = compression;
  return makeExporter({ url: `${url}/v1/traces`, headers: { authorization: `Bearer ${key}` } });
}

const readJson = async (url: string, key: string, path: string): Promise<unknown> =>
  (await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${key}` } })).json();

afterEach(() => {
  delete process.env[COMPRESSION];
});

describe('the OpenTelemetry exporters', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp();
  });
  afterAll(() => app.stop());

  it.each(EXPORTERS)('%s: exported spans are read back', async (_name, compression, makeExporter) => {
    const { traceId, callId } = await exportRun(exporterTo(app.url, app.adminKey, compression, makeExporter));
    const list = await readJson(app.url, app.adminKey, '/v1/traces');
    expect(list).toMatchObject({
      data: expect.arrayContaining([
        expect.objectContaining({
          trace_id: traceId,
          name: 'triage',
          service: 'support',
          span_count: 3,
          agent_count: 1,
          llm_calls: 1,
          tool_calls: 1,
          error_count: 1,
          input_tokens: 100,
          output_tokens: 20,
          models: ['m1'],
        }),
      ]),
    });
    const run = await readJson(app.url, app.adminKey, `/v1/traces/${traceId}`);
    expect(run).toMatchObject({
      agents: [{ name: 'triage', invocations: 1, llm_calls: 1 }],
      spans: [
        { name: 'triage', type: 'agent', parent_span_id: null },
        { name: 'chat m1', type: 'llm', model: 'm1', litellm_request_id: 'r-1', input_preview: QUESTION },
        { name: 'execute_tool lookup', type: 'tool', status: 'error', error: 'no such order' },
      ],
    });
    expect(await readJson(app.url, app.adminKey, `/v1/traces/${traceId}/spans/${callId}`)).toEqual({
      span_id: callId,
      input: JSON.stringify([{ role: 'user', content: QUESTION }]),
      output: '',
      input_ui: { kind: 'messages', messages: [{ role: 'user', content: QUESTION }] },
      output_ui: { kind: 'text', text: '' },
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.agent.name': 'triage',
        'gen_ai.request.model': 'm1',
        'gen_ai.request.temperature': '0.5',
        'gen_ai.response.finish_reasons': '["stop"]',
        'gen_ai.usage.input_tokens': '100',
        'gen_ai.usage.output_tokens': '20',
        'gen_ai.response.id': 'r-1',
      },
    });
  });
});

describe('a process that is killed', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'lensgate-otlp-'));
  afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

  it('stores every acknowledged span', async () => {
    const env = { LITELLM_MASTER_KEY: ADMIN_KEY };
    const first = await spawnServer(dataDir, { env });
    const [, , makeExporter] = EXPORTERS[0] ?? [];
    if (makeExporter === undefined) throw new Error('no exporter');
    const runs = await Promise.all(
      Array.from({ length: 8 }, () => exportRun(exporterTo(first.url, ADMIN_KEY, 'gzip', makeExporter))),
    );
    await first.end('SIGKILL');
    const second = await spawnServer(dataDir, { env });
    try {
      for (const { traceId } of runs)
        expect(await readJson(second.url, ADMIN_KEY, `/v1/traces/${traceId}`)).toMatchObject({ spans: { length: 3 } });
    } finally {
      await second.end('SIGTERM');
    }
  });
});
