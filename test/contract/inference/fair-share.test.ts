import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';

const CHUNK = `data: {"id":"c","choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":null}]}\n\n`;
const COMPLETION = { id: 'c', object: 'chat.completion', created: 1, model: 'm', choices: [] };
const PATH = '/v1/chat/completions';
const MESSAGES = [{ role: 'user', content: 'x' }];

let upstream: FaultServer;
// Each test has its own upstream, so that it counts no connections of another test.
beforeEach(async () => {
  upstream = await startFaultServer();
});
afterEach(() => upstream.stop());

async function start(general: object = {}): Promise<TestApp> {
  const params = { model: 'openai/m', api_base: `${upstream.url}/v1`, api_key: 'sk-upstream' };
  return await startApp({
    config: { general_settings: general, model_list: [{ model_name: 'm', litellm_params: params }] },
  });
}

async function keyOf(app: TestApp): Promise<string> {
  return ((await (await app.call('POST', '/key/generate', {})).json()) as { key: string }).key;
}

async function metric(app: TestApp, name: string): Promise<number> {
  const text = await (await fetch(`${app.url}/metrics`)).text();
  return Number(
    text
      .split('\n')
      .find((line) => line.startsWith(`${name} `))
      ?.split(' ')
      .at(-1),
  );
}

/** Opens a stream and does not read it. */
function openUnreadStream(app: TestApp, key: string): Socket {
  const { port } = new URL(app.url);
  const socket = connect(Number(port), '127.0.0.1');
  socket.on('error', () => {});
  const body = JSON.stringify({ model: 'm', messages: MESSAGES, stream: true });
  socket.write(
    `POST ${PATH} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
  return socket.pause();
}

/** The upstream answers a streamed call with a stream that does not end, and other calls completely. */
function answerCalls(): void {
  upstream.answer((response, _socket, { body }) => {
    if (!body.includes('"stream":true'))
      return void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(COMPLETION));
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(CHUNK);
  });
}

const WAITING = 'lensgate_upstream_calls_waiting';
const ACTIVE = 'lensgate_upstream_connections{state="active"}';

it('260 unread streams of one key leave connections for another key; waiting calls time out', async () => {
  const app = await start();
  const [greedyKey, secondKey, thirdKey] = [await keyOf(app), await keyOf(app), await keyOf(app)];
  answerCalls();
  const sockets = Array.from({ length: 260 }, () => openUnreadStream(app, greedyKey));
  try {
    // One key has at most three quarters of the 256 connections: 192. So 68 of its 260 streams wait.
    await expect.poll(() => metric(app, WAITING)).toBe(68);
    expect(await metric(app, ACTIVE)).toBe(192);
    const headers = { authorization: `Bearer ${secondKey}` };
    const answered = await app.call('POST', PATH, { model: 'm', messages: MESSAGES, timeout: 5 }, headers);
    expect([answered.status, await answered.json()]).toEqual([200, COMPLETION]);

    const greedyHeaders = { authorization: `Bearer ${greedyKey}` };
    const refused = await app.call('POST', PATH, { model: 'm', messages: MESSAGES, timeout: 0.3 }, greedyHeaders);
    expect([refused.status, await refused.json()]).toEqual([
      408,
      {
        error: {
          message: 'litellm.Timeout: Timeout: OpenAIException - The upstream did not answer in time (QUEUE_TIMEOUT).',
          type: 'invalid_request_error',
          param: null,
          code: '408',
        },
      },
    ]);

    // The second key gets at most three quarters of the remaining 64 connections. So some of its 60 streams wait.
    sockets.push(...Array.from({ length: 60 }, () => openUnreadStream(app, secondKey)));
    await expect.poll(() => metric(app, WAITING)).toBeGreaterThan(68);
    const thirdHeaders = { authorization: `Bearer ${thirdKey}` };
    expect((await app.call('POST', PATH, { model: 'm', messages: MESSAGES, timeout: 5 }, thirdHeaders)).status).toBe(
      200,
    );
  } finally {
    for (const socket of sockets) socket.destroy();
    await app.stop();
  }
});

it('a client that does not read its stream is disconnected, and its upstream connection is closed', async () => {
  const app = await start({ stalled_reader_seconds: 0.3, upstream_connections: 4 });
  expect(await metric(app, 'lensgate_upstream_connections_limit')).toBe(4);
  const key = await keyOf(app);
  const event = `data: {"id":"c","choices":[{"index":0,"delta":{"content":"${'x'.repeat(16_000)}"},"finish_reason":null}]}\n\n`;
  upstream.answer((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const writeMore = (): void => {
      while (!response.destroyed && response.write(event));
    };
    response.on('drain', writeMore);
    writeMore();
  });
  const socket = openUnreadStream(app, key);
  try {
    await expect.poll(() => metric(app, ACTIVE)).toBe(1);
    await upstream.nextDisconnect();
    await expect.poll(() => metric(app, ACTIVE)).toBe(0);
    const closed = once(socket, 'close');
    socket.resume();
    await closed;
  } finally {
    socket.destroy();
    await app.stop();
  }
});
