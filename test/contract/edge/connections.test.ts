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

/** The product with a limit, and one connection with a known key that tells what is counted. */
async function start(maxConnections: number, env: Record<string, string> = {}) {
  const app = await startApp({ config: { general_settings: { max_connections: maxConnections } }, env });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  cleanups.push(
    () => app.stop(),
    () => agent.destroy(),
  );
  const told = async (method: string, path: string, body: string): Promise<string> => {
    const headers = { authorization: `Bearer ${app.adminKey}`, 'content-length': body.length };
    const asked = request(`${app.url}${path}`, { agent, method, headers }).end(body);
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    return await text(answer);
  };
  await told('POST', '/v1/chat/completions', BODY);
  return {
    app,
    async counts() {
      const lines = (await told('GET', '/metrics', '')).matchAll(/^lensgate_connections_(\S+) (\d+)$/gm);
      return Object.fromEntries(Array.from(lines, ([, name, count]) => [name, Number(count)]));
    },
  };
}

type House = Awaited<ReturnType<typeof start>>;
const counts = (now: number, total: number, network: number) => ({
  open: now,
  'refused_total{limit="total"}': total,
  'refused_total{limit="network"}': network,
});

function open({ app }: House, from = '127.0.0.1'): Socket {
  const socket = connect({ port: Number(new URL(app.url).port), host: '127.0.0.1', localAddress: from });
  cleanups.push(() => socket.destroy());
  return socket.setNoDelay(true).on('error', () => {});
}

/** Sends a request and gives the status line of its answer. */
async function ask(socket: Socket, said: string): Promise<string> {
  socket.write(said);
  const [bytes] = (await once(socket, 'data')) as [Buffer];
  return bytes.toString().split('\r\n', 1)[0] ?? '';
}

/** Everything that comes until the server closes. */
async function allOf(socket: Socket): Promise<string> {
  let all = '';
  for await (const chunk of socket) all += (chunk as Buffer).toString('latin1');
  return all;
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
  it('answers one connection more with 503, and takes another when one has closed', async () => {
    const house = await start(3);
    const first = open(house);
    expect(await ask(first, chat(house.app.adminKey))).toBe(OK);
    const second = open(house);
    expect(await ask(second, chat(house.app.adminKey))).toBe(OK);
    const refused = open(house);
    refused.write(chat(house.app.adminKey));
    expect(await allOf(refused)).toBe(REFUSED);
    expect(await house.counts()).toEqual(counts(3, 1, 0));
    first.destroy();
    await expect.poll(async () => (await house.counts())['open']).toBe(2);
    expect(await ask(open(house), LIVENESS)).toBe(OK);
    expect(await ask(second, chat(house.app.adminKey))).toBe(OK);
  });

  it('leaves an address without a known key a quarter of them once half are open', async () => {
    const house = await start(16);
    for (let nth = 0; nth < 7; nth += 1) expect(await ask(open(house), LIVENESS)).toBe(OK);
    expect(await allOf(open(house))).toBe(REFUSED);
    expect(await house.counts()).toEqual(counts(8, 0, 1));
    const others = [];
    for (let nth = 0; nth < 4; nth += 1) {
      const socket = open(house, '127.0.0.2');
      others.push(socket);
      expect(await ask(socket, LIVENESS)).toBe(OK);
    }
    expect(await allOf(open(house, '127.0.0.2'))).toBe(REFUSED);
    // With a known key a connection leaves the share: on the hot lane, on Node's, and by the graph.
    const [onHotLane, onNode, inGraph] = others;
    if (!onHotLane || !onNode || !inGraph) throw new TypeError('Three connections are open.');
    const authorized = `authorization: Bearer ${house.app.adminKey}\r\n`;
    expect(await ask(onHotLane, chat(house.app.adminKey))).toBe(OK);
    expect(await ask(onNode, `GET /v1/models HTTP/1.1\r\nhost: x\r\n${authorized}\r\n`)).toBe(OK);
    expect(await ask(inGraph, `GET /graphql?query={__typename} HTTP/1.1\r\nhost: x\r\n${authorized}\r\n`)).toBe(OK);
    for (let nth = 0; nth < 3; nth += 1) expect(await ask(open(house, '127.0.0.2'), LIVENESS)).toBe(OK);
    expect(await allOf(open(house, '127.0.0.2'))).toBe(REFUSED);
    expect(await house.counts()).toEqual(counts(15, 0, 3));
  });

  it('counts a trusted proxy as many clients, and 0 sets no limit', async () => {
    const behind = await start(8, { LENSGATE_TRUSTED_PROXIES: '127.0.0.1' });
    for (let nth = 0; nth < 7; nth += 1) expect(await ask(open(behind), LIVENESS)).toBe(OK);
    expect(await allOf(open(behind))).toBe(REFUSED);
    expect(await behind.counts()).toEqual(counts(8, 1, 0));

    const unlimited = await start(8, { LENSGATE_MAX_CONNECTIONS: '0' });
    for (let nth = 0; nth < 20; nth += 1) expect(await ask(open(unlimited), LIVENESS)).toBe(OK);
    expect(await unlimited.counts()).toEqual(counts(21, 0, 0));
  });

  it('closes what floods it without an answer, and serves who is inside', async () => {
    const house = await start(2);
    const inside = open(house);
    expect(await ask(inside, chat(house.app.adminKey))).toBe(OK);
    const flood = Array.from({ length: 300 }, () => allOf(open(house)).catch(() => ''));
    const answers = await Promise.all(flood);
    expect(new Set(answers).isSubsetOf(new Set([REFUSED, '']))).toBe(true);
    expect(answers.filter((came) => came === REFUSED).length).toBeGreaterThanOrEqual(100);
    expect(await ask(inside, chat(house.app.adminKey))).toBe(OK);
    expect(await house.counts()).toEqual(counts(2, 300, 0));
  });
});

describe('a key is checked before the body', () => {
  const WORDS =
    'Authentication Error, Malformed API Key passed in. Ensure Key has `Bearer ` prefix, followed by a key that starts with `sk-`.';
  const CODED = { error: { message: WORDS, type: 'auth_error', param: 'None', code: '401' } };

  async function refusal(path: string, length: number) {
    const socket = open(await start(0));
    const came = once(socket, 'data') as Promise<[Buffer]>;
    socket.write(
      `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer nobody\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n{"model":`,
    );
    const [head = '', body = ''] = String((await came)[0]).split('\r\n\r\n');
    return { socket, status: head.split('\r\n', 1)[0], head, body: JSON.parse(body) as unknown };
  }

  it.each([
    ['/v1/chat/completions', 10_000_000, CODED],
    ['/v1/traces', 10_000_000, { message: WORDS.slice('Authentication Error, '.length) }],
    ['/v1/files', 10_000_000, CODED],
  ])('at %s, with %i bytes of it to come', async (path, length, expected) => {
    const { status, body } = await refusal(path, length);
    expect({ status, body }).toEqual({ status: 'HTTP/1.1 401 Unauthorized', body: expected });
  });

  it('on the hot lane, whose connection closes behind the answer', async () => {
    const { socket, status, head, body } = await refusal('/v1/chat/completions', 100_000);
    expect({ status, body }).toEqual({ status: 'HTTP/1.1 401 Unauthorized', body: CODED });
    expect(head).toMatch(/\r\nConnection: close$/);
    await once(socket.resume(), 'end');
  });
});
