import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import { startApp } from '../../support/start-app.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).toReversed()) await clean();
});

const BODY = JSON.stringify({ model: 'demo', messages: [{ role: 'user', content: 'Hi' }] });
const OK = 'HTTP/1.1 200 OK';
const LIVENESS = 'GET /health/liveness HTTP/1.1\r\nhost: x\r\n\r\n';
const chat = (key: string): string =>
  `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\ncontent-length: ${BODY.length}\r\n\r\n${BODY}`;

/** App with a limit, and one open connection with a known key, which reads the counts and is counted itself. */
async function startWithLimit(maxConnections: number, env: Record<string, string> = {}) {
  const app = await startApp({ config: { general_settings: { max_connections: maxConnections } }, env });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  cleanups.push(
    () => app.stop(),
    () => agent.destroy(),
  );
  const readBody = async (method: string, path: string, body: string): Promise<string> => {
    const headers = { authorization: `Bearer ${app.adminKey}`, 'content-length': body.length };
    const sentRequest = request(`${app.url}${path}`, { agent, method, headers }).end(body);
    const [answer] = (await once(sentRequest, 'response')) as [IncomingMessage];
    return await text(answer);
  };
  await readBody('POST', '/v1/chat/completions', BODY);
  return {
    app,
    async counts() {
      const lines = (await readBody('GET', '/metrics', '')).matchAll(/^lensgate_connections_(\S+) (\d+)$/gm);
      return Object.fromEntries(Array.from(lines, ([, name, count]) => [name, Number(count)]));
    },
  };
}

type Setup = Awaited<ReturnType<typeof startWithLimit>>;
const expectedCounts = (now: number, total: number, network: number) => ({
  open: now,
  'refused_total{limit="total"}': total,
  'refused_total{limit="network"}': network,
});

function openSocket({ app }: Setup, from = '127.0.0.1'): Socket {
  const socket = connect({ port: Number(new URL(app.url).port), host: '127.0.0.1', localAddress: from });
  cleanups.push(() => socket.destroy());
  return socket.setNoDelay(true).on('error', () => {});
}

/** Sends a request. Returns the status line of its answer. */
async function ask(socket: Socket, requestText: string): Promise<string> {
  socket.write(requestText);
  const [bytes] = (await once(socket, 'data')) as [Buffer];
  return bytes.toString().split('\r\n', 1)[0] ?? '';
}

/** All bytes until the server closes the connection. */
async function allOf(socket: Socket): Promise<string> {
  let receivedText = '';
  for await (const chunk of socket) receivedText += (chunk as Buffer).toString('latin1');
  return receivedText;
}

const REFUSED = [
  'HTTP/1.1 503 Service Unavailable',
  'retry-after: 1',
  'content-type: application/json',
  'content-length: 100',
  'connection: close',
  '',
  '{"error":{"message":"Too many connections.","type":"service_unavailable","param":null,"code":"503"}}',
].join('\r\n');

describe('max_connections', () => {
  it('answers a connection above the limit with 503, and accepts another one after a close', async () => {
    const server = await startWithLimit(3);
    const first = openSocket(server);
    expect(await ask(first, chat(server.app.adminKey))).toBe(OK);
    const second = openSocket(server);
    expect(await ask(second, chat(server.app.adminKey))).toBe(OK);
    const refused = openSocket(server);
    refused.write(chat(server.app.adminKey));
    expect(await allOf(refused)).toBe(REFUSED);
    expect(await server.counts()).toEqual(expectedCounts(3, 1, 0));
    first.destroy();
    await expect.poll(async () => (await server.counts())['open']).toBe(2);
    expect(await ask(openSocket(server), LIVENESS)).toBe(OK);
    expect(await ask(second, chat(server.app.adminKey))).toBe(OK);
  });

  it('once half of the limit is used, allows each address a quarter of the limit in connections without a known key', async () => {
    const server = await startWithLimit(16);
    // Seven connections and the one that reads the counts are half of the limit.
    // Below half, an address may have more than a quarter.
    for (let nth = 0; nth < 7; nth += 1) expect(await ask(openSocket(server), LIVENESS)).toBe(OK);
    expect(await allOf(openSocket(server))).toBe(REFUSED);
    expect(await server.counts()).toEqual(expectedCounts(8, 0, 1));
    const socketsOfSecondAddress = [];
    for (let nth = 0; nth < 4; nth += 1) {
      const socket = openSocket(server, '127.0.0.2');
      socketsOfSecondAddress.push(socket);
      expect(await ask(socket, LIVENESS)).toBe(OK);
    }
    expect(await allOf(openSocket(server, '127.0.0.2'))).toBe(REFUSED);
    // A connection with a known key does not count in the quarter: on the fast path, in Koa and in the graph.
    const [onFastPath, inKoa, inGraph] = socketsOfSecondAddress;
    if (!onFastPath || !inKoa || !inGraph) throw new TypeError('Fewer than three connections are open.');
    const authorized = `authorization: Bearer ${server.app.adminKey}\r\n`;
    expect(await ask(onFastPath, chat(server.app.adminKey))).toBe(OK);
    expect(await ask(inKoa, `GET /v1/models HTTP/1.1\r\nhost: x\r\n${authorized}\r\n`)).toBe(OK);
    expect(await ask(inGraph, `GET /graphql?query={__typename} HTTP/1.1\r\nhost: x\r\n${authorized}\r\n`)).toBe(OK);
    for (let nth = 0; nth < 3; nth += 1) expect(await ask(openSocket(server, '127.0.0.2'), LIVENESS)).toBe(OK);
    expect(await allOf(openSocket(server, '127.0.0.2'))).toBe(REFUSED);
    expect(await server.counts()).toEqual(expectedCounts(15, 0, 3));
  });

  it('does not limit a trusted proxy to a quarter, and 0 means no limit', async () => {
    const behindProxy = await startWithLimit(8, { LENSGATE_TRUSTED_PROXIES: '127.0.0.1' });
    for (let nth = 0; nth < 7; nth += 1) expect(await ask(openSocket(behindProxy), LIVENESS)).toBe(OK);
    expect(await allOf(openSocket(behindProxy))).toBe(REFUSED);
    expect(await behindProxy.counts()).toEqual(expectedCounts(8, 1, 0));

    // The environment variable takes precedence over the limit of 8 in the file.
    const unlimited = await startWithLimit(8, { LENSGATE_MAX_CONNECTIONS: '0' });
    for (let nth = 0; nth < 20; nth += 1) expect(await ask(openSocket(unlimited), LIVENESS)).toBe(OK);
    expect(await unlimited.counts()).toEqual(expectedCounts(21, 0, 0));
  });

  it('refuses a flood of connections, some without an answer, and serves open ones', async () => {
    const server = await startWithLimit(2);
    const inside = openSocket(server);
    expect(await ask(inside, chat(server.app.adminKey))).toBe(OK);
    const flood = Array.from({ length: 300 }, () => allOf(openSocket(server)).catch(() => ''));
    const answers = await Promise.all(flood);
    expect(new Set(answers).isSubsetOf(new Set([REFUSED, '']))).toBe(true);
    expect(answers.filter((answer) => answer === REFUSED).length).toBeGreaterThanOrEqual(100);
    expect(await ask(inside, chat(server.app.adminKey))).toBe(OK);
    expect(await server.counts()).toEqual(expectedCounts(2, 300, 0));
  });
});

describe('a key is checked before the body', () => {
  const MESSAGE =
    'Authentication Error, Malformed API Key passed in. Ensure Key has `Bearer ` prefix, followed by a key that starts with `sk-`.';
  const ENVELOPE = { error: { message: MESSAGE, type: 'auth_error', param: 'None', code: '401' } };

  /** Body lengths in bytes. The fast path passes requests with bodies of more than 128 KiB to Node's server. */
  const ON_FAST_PATH = 100_000;
  const ON_NODE = 10_000_000;

  async function refusal(path: string, length: number) {
    const socket = openSocket(await startWithLimit(0));
    const received = once(socket, 'data') as Promise<[Buffer]>;
    socket.write(
      `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer unknown\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n{"model":`,
    );
    const [head = '', body = ''] = String((await received)[0]).split('\r\n\r\n');
    return { socket, status: head.split('\r\n', 1)[0], head, body: JSON.parse(body) as unknown };
  }

  it.each([
    ['/v1/chat/completions', ON_NODE, ENVELOPE],
    ['/v1/traces', ON_NODE, { message: MESSAGE.slice('Authentication Error, '.length) }],
    ['/v1/files', ON_NODE, ENVELOPE],
  ])('at %s, for a body of %i bytes that has not arrived', async (path, length, expected) => {
    const { status, body } = await refusal(path, length);
    expect({ status, body }).toEqual({ status: 'HTTP/1.1 401 Unauthorized', body: expected });
  });

  it('on the fast path, where the connection closes after the answer', async () => {
    const { socket, status, head, body } = await refusal('/v1/chat/completions', ON_FAST_PATH);
    expect({ status, body }).toEqual({ status: 'HTTP/1.1 401 Unauthorized', body: ENVELOPE });
    expect(head).toMatch(/\r\nConnection: close$/);
    await once(socket.resume(), 'end');
  });
});
