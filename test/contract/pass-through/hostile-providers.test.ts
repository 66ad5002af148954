import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp } from '../../support/start-app.ts';
import { newTrace, spansIn } from '../inference/trace-spans.ts';
import { newKey, sendAs } from './targets.ts';

const MODEL = 'anthropic.claude-haiku-4-5-20251001-v1:0';
const PATHS = [
  ['openai', '/openai/v1/chat/completions', '{"model":"gpt-4o","messages":[]}'],
  ['bedrock', `/bedrock/model/${MODEL}/converse-stream`, '{"messages":[]}'],
  ['tinyfish', '/tinyfish/v1/automation/run', '{}'],
] as const;

/** An app whose providers are all one target. Calls have 2 s for the beginning of an answer. */
async function openProviders() {
  const target = await startFaultServer();
  const app = await startApp({
    env: {
      OPENAI_API_BASE: target.url,
      OPENAI_API_KEY: 'provider-secret',
      AWS_BEDROCK_RUNTIME_ENDPOINT: target.url,
      AWS_BEARER_TOKEN_BEDROCK: 'provider-secret',
      TINYFISH_API_BASE: target.url,
      TINYFISH_API_KEY: 'provider-secret',
    },
    config: { general_settings: { pass_through_request_timeout: 2 } },
  });
  const key = await newKey(app);
  // The first query builds the graph, which is slow. No test has to wait for that.
  await (await app.call('POST', '/graphql', { query: '{ __typename }' })).text();
  return {
    app,
    target,
    send: (path: string, body: string, headers: Record<string, string> = {}) =>
      sendAs(app, key, { method: 'POST', path, body, headers: { 'content-type': 'application/json', ...headers } }),
    async stop(): Promise<void> {
      await app.stop();
      await target.stop();
    },
  };
}

let providers: Awaited<ReturnType<typeof openProviders>>;
let target: FaultServer;
let elsewhere: FaultServer;

beforeAll(async () => {
  elsewhere = await startFaultServer();
  providers = await openProviders();
  ({ target } = providers);
});

afterAll(async () => {
  await providers.stop();
  await elsewhere.stop();
});

describe.each(PATHS)('a provider behind /%s', (_name, path, body) => {
  const send = () => providers.send(path, body);

  it('that redirects to another origin is not followed, and its cookies are not relayed', async () => {
    const location = `${elsewhere.url}/stolen`;
    target.answer((response) => response.writeHead(307, { location, 'set-cookie': 'session=1' }).end());
    const response = await send();
    expect([response.status, response.headers.get('location'), response.headers.get('set-cookie')]).toEqual([
      307,
      location,
      null,
    ]);
    expect(elsewhere.received).toEqual([]);
  });

  it('that announces an answer of 10 GB makes the call fail', async () => {
    target.answer((response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': String(10 * 1024 ** 3) });
      response.write('{');
    });
    expect((await send()).status).toBe(500);
    await target.nextDisconnect();
  });

  it('that closes before the announced end gives the caller an incomplete answer', async () => {
    target.answer((response, socket) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
      response.write('{"usage":', () => socket.destroy());
    });
    await expect(send().then((response) => response.text())).rejects.toThrow(/terminated|fetch failed/);
  });

  it.each([
    [
      'text/event-stream',
      Buffer.from(`data: ${'x'.repeat(5 * 1024 * 1024)}\n\ndata: {"usage":{"prompt_tokens":-1}}\n\n`),
    ],
    ['application/vnd.amazon.eventstream', Buffer.alloc(64, 0xff)],
    ['application/x-ndjson', Buffer.from(`${'['.repeat(100_000)}\n{"usage`)],
    ['application/json', Buffer.from('{"usage":{"prompt_tokens":1e999,"total_tokens":"many"}}')],
    ['application/json', Buffer.from('[[[{"usage":null}]]]')],
  ])(
    'gets its answer of type %s relayed unchanged, also with an invalid format or invalid usage',
    async (type, bytes) => {
      target.answer((response) => response.writeHead(200, { 'content-type': type }).end(bytes));
      const response = await send();
      expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).toBe(true);
    },
  );

  it('that sends a compression bomb has it relayed without inflation', async () => {
    const bomb = gzipSync(Buffer.alloc(8 * 1024 * 1024));
    target.answer((response) =>
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(bomb),
    );
    const response = await send();
    expect(response.headers.get('content-encoding')).toBe('gzip');
    // Only the client of this test inflates the answer.
    expect((await response.arrayBuffer()).byteLength).toBe(8 * 1024 * 1024);
  });
});

describe('a slow provider', () => {
  // These tests wait for timeouts, so they run at the same time, each with its own app.

  it.concurrent('that does not answer in time makes the call fail with 408', async () => {
    const silent = await openProviders();
    try {
      silent.target.answer(() => undefined);
      const calls = PATHS.map(async ([name, path, body]) => [name, (await silent.send(path, body)).status]);
      expect(await Promise.all(calls)).toEqual(PATHS.map(([name]) => [name, 408]));
      for (let ended = 0; ended < PATHS.length; ended += 1) await silent.target.nextDisconnect();
    } finally {
      await silent.stop();
    }
  });

  it.concurrent('that answers endlessly is ended after six times the timeout, and the call is recorded as failed', async () => {
    const endless = await openProviders();
    try {
      endless.target.answer((response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        const drip = setInterval(() => response.write('data: {"choices":[]}\n\n'), 20);
        response.once('close', () => clearInterval(drip));
      });
      const records = await Promise.all(
        PATHS.map(async ([name, path, body]) => {
          const { traceId, headers } = newTrace();
          const began = performance.now();
          const response = await endless.send(path, body, headers);
          expect(response.status).toBe(200);
          await expect(response.text()).rejects.toThrow('terminated');
          // The timeout is 2 s. One second of the 12 is tolerance.
          expect(performance.now() - began).toBeGreaterThan(11_000);
          return [name, await spansIn(endless.app, traceId)];
        }),
      );
      for (let ended = 0; ended < PATHS.length; ended += 1) await endless.target.nextDisconnect();
      const row = { spendRow: { status: 'FAILURE', errorCode: 'UPSTREAM_FAILED' } };
      expect(records).toMatchObject(PATHS.map(([name]) => [name, [row]]));
    } finally {
      await endless.stop();
    }
  });
});
