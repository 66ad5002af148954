import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { exportRun } from '../support/agent-run.ts';
import { startApp, type TestApp } from '../support/start-app.ts';
import { POLLING } from '../support/polling.ts';

/** Path of a Python interpreter that has OpenTelemetry's packages. */
const python = process.env['LENSGATE_TEST_PYTHON'] ?? '';
/** Path of the collector `rotel`. */
const collector = process.env['LENSGATE_TEST_COLLECTOR'] ?? '';
// oxlint-disable-next-line no-console -- A test that did not run must say so.
if (python === '') console.warn('SKIPPED: LENSGATE_TEST_PYTHON is not set: no exporter for Python is tested.');
// oxlint-disable-next-line no-console -- As above.
if (collector === '') console.warn('SKIPPED: LENSGATE_TEST_COLLECTOR is not set: no collector is tested.');

const SCRIPT = fileURLToPath(new URL('otlp-python.py', import.meta.url));
const execute = promisify(execFile);

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());

const traceOf = async (traceId: string): Promise<unknown> => (await app.call('GET', `/v1/traces/${traceId}`)).json();

const AGENT_RUN = {
  agents: [{ name: 'triage', invocations: 1, llm_calls: 1 }],
  spans: [
    { type: 'agent', parent_span_id: null },
    { name: 'chat m1', type: 'llm', model: 'm1', input_tokens: 100, output_tokens: 20 },
    { name: 'execute_tool lookup', type: 'tool', status: 'error' },
  ],
};

describe.skipIf(python === '')('the OpenTelemetry SDK for Python', () => {
  it.each(['none', 'gzip'])('exports spans with compression %s, which are read back', async (compression) => {
    const { stdout } = await execute(python, [SCRIPT, app.url, app.adminKey, compression]);
    expect(await traceOf(stdout.trim())).toMatchObject(AGENT_RUN);
  });
});

describe.skipIf(collector === '')('a collector between an exporter and the server', () => {
  it('forwards received spans', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'lensgate-collector-'));
    const [httpPort, grpcPort] = [await freePort(), await freePort()];
    const collectorProcess = spawn(
      collector,
      [
        'start',
        '--pid-file',
        join(folder, 'pid'),
        '--log-file',
        join(folder, 'log'),
        '--otlp-http-endpoint',
        `127.0.0.1:${httpPort}`,
        '--otlp-grpc-endpoint',
        `127.0.0.1:${grpcPort}`,
        '--exporter',
        'otlp',
        '--otlp-exporter-protocol',
        'http',
        '--otlp-exporter-endpoint',
        app.url,
        '--otlp-exporter-custom-headers',
        `Authorization=Bearer ${app.adminKey}`,
      ],
      { stdio: 'ignore' },
    );
    try {
      await listening(httpPort);
      const { traceId } = await exportRun(new OTLPTraceExporter({ url: `http://127.0.0.1:${httpPort}/v1/traces` }));
      await vi.waitFor(async () => expect(await traceOf(traceId)).toMatchObject(AGENT_RUN), POLLING);
    } finally {
      collectorProcess.kill();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new TypeError('The server has no port.');
  return address.port;
}

/** Resolves when a server answers at the port. */
const listening = (port: number): Promise<unknown> => vi.waitFor(() => fetch(`http://127.0.0.1:${port}/`), POLLING);
