import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/start-app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());

async function readMetrics(): Promise<{
  status: number;
  type: string | null;
  values: Map<string, number>;
  text: string;
}> {
  const answer = await fetch(`${app.url}/metrics`);
  const text = await answer.text();
  const samples = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const values = new Map(samples.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]));
  return { status: answer.status, type: answer.headers.get('content-type'), values, text };
}

it('metrics.read 200: the text format of Prometheus, without a key', async () => {
  const { status, type, values, text } = await readMetrics();
  expect([status, type]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
  const ownMetrics = [...values].filter(([name]) => name.startsWith('lensgate_'));
  expect(ownMetrics).toEqual([
    ['lensgate_catalog_age_seconds', expect.any(Number)],
    ['lensgate_calls_waiting', 0],
    ['lensgate_calls_to_unfold', 0],
    ['lensgate_connections_open', 1],
    ['lensgate_connections_refused_total{limit="total"}', 0],
    ['lensgate_connections_refused_total{limit="network"}', 0],
    ['lensgate_budget_reservations', 0],
    ['lensgate_catalog_entries', expect.any(Number)],
    // Prices of the built-in price map that look like unit mistakes.
    ['lensgate_catalog_quarantined_prices', 3],
    ['lensgate_upstream_calls_waiting', 0],
    ['lensgate_upstream_connections_limit', 256],
    ['lensgate_upstream_connections{state="active"}', 0],
    ['lensgate_upstream_connections{state="idle"}', 0],
    ['lensgate_store_write_failures_total', 0],
    ['lensgate_catalog_refreshes_total{outcome="taken"}', 0],
    ['lensgate_catalog_refreshes_total{outcome="unchanged"}', 0],
    ['lensgate_catalog_refreshes_total{outcome="refused"}', 0],
    ['lensgate_catalog_refreshes_total{outcome="failed"}', 0],
    ['lensgate_budget_reservations_expired_total', 0],
    ['lensgate_response_cache_total{result="hit"}', 0],
    ['lensgate_response_cache_total{result="miss"}', 0],
    ['lensgate_response_cache_total{result="stored"}', 0],
    ['lensgate_response_cache_total{result="dropped"}', 0],
    ['lensgate_response_cache_total{result="failed"}', 0],
    ['lensgate_response_cache_bytes_total{direction="read"}', 0],
    ['lensgate_response_cache_bytes_total{direction="stored"}', 0],
    ['lensgate_response_cache_memory_bytes', 0],
    ['lensgate_response_cache_entries', 0],
    ['lensgate_team_exported_spans_total{outcome="sent"}', 0],
    ['lensgate_team_exported_spans_total{outcome="dropped"}', 0],
    ['lensgate_team_exported_spans_total{outcome="failed"}', 0],
    ['lensgate_team_export_waiting_spans', 0],
  ]);
  expect([(values.get('lensgate_catalog_entries') ?? 0) >= 4_000, values.has('process_resident_memory_bytes')]).toEqual(
    [true, true],
  );
  expect(text).toContain('# TYPE lensgate_catalog_refreshes_total counter');
});

it('metrics.read 200: the CPU of the process counts from its start', async () => {
  const { user, system } = process.cpuUsage();
  const { values } = await readMetrics();
  expect(values.get('process_cpu_user_seconds_total')).toBeGreaterThanOrEqual(user / 1e6);
  expect(values.get('process_cpu_system_seconds_total')).toBeGreaterThanOrEqual(system / 1e6);
  expect(values.get('process_cpu_seconds_total')).toBeGreaterThanOrEqual((user + system) / 1e6);
});

it('metrics.read 200: a counter occurs once, also in a later read', async () => {
  await readMetrics();
  const { text } = await readMetrics();
  expect(text.match(/^lensgate_catalog_refreshes_total\{outcome="taken"\}/gm)).toHaveLength(1);
});

it('metrics.read 200: calls by model, if LENSGATE_MODEL_METRICS is set', async () => {
  const chat = { model: 'demo', messages: [{ role: 'user', content: 'Hello' }] };
  const appWithMetrics = await startApp({ env: { LENSGATE_MODEL_METRICS: 'true' } });
  const labels = 'gen_ai_operation_name="chat",gen_ai_provider_name="demo",gen_ai_request_model="demo"';
  for (const server of [app, appWithMetrics]) await (await server.call('POST', '/v1/chat/completions', chat)).text();
  const textOf = async ({ url }: TestApp): Promise<string> => (await fetch(`${url}/metrics`)).text();
  expect(await textOf(appWithMetrics)).toContain(`gen_ai_client_operation_duration_seconds_count{${labels}} 1\n`);
  expect(await textOf(app)).not.toContain('gen_ai_');
  await appWithMetrics.stop();
});
