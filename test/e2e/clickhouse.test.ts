import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { CLICKHOUSE, type ClickHouseScratch } from '../ports/clickhouse-engine.ts';
import { startHoldingProxy } from '../support/holding-proxy.ts';
import { startApp, type TestApp } from '../support/start-app.ts';

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const anExport = {
  resourceSpans: [
    {
      scopeSpans: [
        {
          spans: [
            {
              traceId: TRACE_ID,
              spanId: 'b7ad6b7169203331',
              name: 'triage',
              startTimeUnixNano: '1700000000000000000',
              endTimeUnixNano: '1700000002000000000',
              attributes: [{ key: 'gen_ai.prompt', value: { stringValue: 'where is it?' } }],
            },
          ],
        },
      ],
    },
  ],
};
const aChat = { model: 'demo', messages: [{ role: 'user', content: 'hello' }] };
const PERIOD = '?start_ms=1699999999000&end_ms=1700000003000';

/** An address on which nothing listens. */
async function nowhere(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return `http://127.0.0.1:${port}`;
}

it('serves models while ClickHouse is unavailable, and answers 503 for traces', async () => {
  const app = await startApp({ env: { CLICKHOUSE_URL: await nowhere() } });
  const away = 'The trace store cannot be used at the moment.';
  expect((await app.call('GET', '/health/readiness')).status).toBe(200);
  expect((await app.call('POST', '/v1/chat/completions', aChat)).status).toBe(200);
  const exported = await app.call('POST', '/v1/traces', anExport);
  expect([exported.status, exported.headers.get('retry-after'), await exported.json()]).toEqual([
    503,
    '2',
    { message: away },
  ]);
  for (const path of ['/v1/traces', `/v1/traces/${TRACE_ID}`, `/v1/traces/${TRACE_ID}/spans/b7ad6b7169203331`]) {
    const answer = await app.call('GET', path);
    expect([answer.status, answer.headers.get('retry-after'), await answer.json()]).toEqual([
      503,
      '2',
      { detail: { code: 'unavailable', message: away } },
    ]);
  }
  await app.stop();
});

describe.skipIf(CLICKHOUSE.skipReason !== null)('the product with its traces in ClickHouse', () => {
  async function startOn({ proxy, options }: ClickHouseScratch, env: Record<string, string> = {}): Promise<TestApp> {
    const database = options.traces?.database ?? '';
    return startApp({ env: { CLICKHOUSE_URL: proxy.url, CLICKHOUSE_DATABASE: database, ...env } });
  }
  const read = async (app: TestApp, path: string): Promise<Record<string, unknown>> =>
    (await (await app.call('GET', path)).json()) as Record<string, unknown>;

  it('stores exported spans and its own calls, with their cost', async () => {
    const scratch = await CLICKHOUSE.create();
    const app = await startOn(scratch);
    expect((await app.call('POST', '/v1/traces', anExport)).status).toBe(200);
    expect(await read(app, `/v1/traces${PERIOD}`)).toMatchObject({
      data: [{ trace_id: TRACE_ID, name: 'triage', duration_ms: 2_000, span_count: 1 }],
    });
    expect(await read(app, `/v1/traces/${TRACE_ID}/spans/b7ad6b7169203331`)).toMatchObject({
      span_id: 'b7ad6b7169203331',
      input: 'where is it?',
    });
    const called = await app.call('POST', '/v1/chat/completions', aChat);
    expect(called.status).toBe(200);
    await called.text();
    // Without a period the list has recent traces only, and the exported trace is from 2023.
    const { data } = (await read(app, '/v1/traces')) as {
      data: readonly { trace_id: string; llm_calls: number }[];
    };
    expect(data.map(({ llm_calls: calls }) => calls)).toEqual([1]);
    expect(await read(app, `/v1/traces/${data[0]?.trace_id}`)).toMatchObject({
      spans: [{ type: 'llm', spend_match: 'matched' }],
    });
    await app.stop();
    await scratch.remove();
  });

  it('refuses an export with 413 when a span or the body exceeds the insert limit', async () => {
    const scratch = await CLICKHOUSE.create();
    const app = await startOn(scratch, { CLICKHOUSE_TRACE_MAX_INSERT_BYTES: '300' });
    const exported = await app.call('POST', '/v1/traces', anExport);
    expect([exported.status, await exported.json()]).toEqual([
      413,
      { message: 'A span or the body of the export is larger than the 300 bytes that the store takes at once.' },
    ]);
    expect(await read(app, `/v1/traces${PERIOD}`)).toMatchObject({ data: [] });
    await app.stop();
    await scratch.remove();
  });

  it('answers 503 after the insert timeout, and stores the resent export', async () => {
    const scratch = await CLICKHOUSE.create();
    const app = await startOn(scratch, { CLICKHOUSE_INSERT_TIMEOUT_SECONDS: '1' });
    const release = scratch.proxy.hold('insert+into+span');
    const exported = await app.call('POST', '/v1/traces', anExport);
    expect([exported.status, exported.headers.get('retry-after'), await exported.json()]).toEqual([
      503,
      '2',
      { message: 'The trace store cannot be used at the moment.' },
    ]);
    release();
    expect((await app.call('POST', '/v1/traces', anExport)).status).toBe(200);
    expect(await read(app, `/v1/traces${PERIOD}`)).toMatchObject({ data: [{ trace_id: TRACE_ID, span_count: 1 }] });
    await app.stop();
    await scratch.remove();
  });

  it('reads traces at a separate address', async () => {
    const scratch = await CLICKHOUSE.create();
    const reader = await startHoldingProxy(scratch.url);
    const app = await startOn(scratch, { CLICKHOUSE_READER_URL: reader.url });
    expect((await app.call('POST', '/v1/traces', anExport)).status).toBe(200);
    // `passed('')` has every request.
    expect(reader.passed('')).toEqual([]);
    expect(await read(app, `/v1/traces${PERIOD}`)).toMatchObject({ data: [{ trace_id: TRACE_ID }] });
    expect(reader.passed('').length).toBe(1);
    await app.stop();
    await reader.close();
    await scratch.remove();
  });
});
