import { once } from 'node:events';
import type { Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, describe, expect, it } from 'vitest';
import { readBody, RequestAborted } from '../../../rest-shims/helpers/http/body.ts';
import type { Incoming, Outgoing } from '../../../rest-shims/helpers/http/outgoing.ts';
import { createHttpServer } from '../../../src/http/server.ts';

const TIMEOUTS = {
  keepAliveTimeout: 72_000,
  headersTimeout: 75_000,
  requestTimeout: 300_000,
  smallBodyTimeout: 30_000,
  connectionsCheckingInterval: 20,
};

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** Server that hands each request to the test. */
async function openServer(timeouts: Partial<typeof TIMEOUTS> = {}) {
  const waiting: ((exchange: Exchange) => void)[] = [];
  const serve = (request: Incoming, response: Outgoing): void => waiting.shift()?.({ request, response });
  const server = createHttpServer(serve, { timeouts: { ...TIMEOUTS, ...timeouts }, hotPaths: new Set(['/hot']) });
  servers.push(server.listen(0, '127.0.0.1'));
  await once(server, 'listening');
  return {
    server,
    next: () => new Promise<Exchange>((resolve) => void waiting.push(resolve)),
    open() {
      const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').setNoDelay(true);
      return socket.on('error', () => {});
    },
  };
}

interface Exchange {
  readonly request: Incoming;
  readonly response: Outgoing;
}

const head = (length: number, path = '/hot'): string =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\n`;

function answer(response: Outgoing, text: string): void {
  response.writeHead(200, ['content-length', String(text.length)]);
  response.end(text, 'latin1');
}

const answerPattern = (text: string, connection: string): RegExp =>
  new RegExp(
    `^HTTP/1\\.1 200 OK\\r\\ncontent-length: ${text.length}\\r\\nDate: [^\\r]*\\r\\n${connection}\\r\\n\\r\\n${text}$`,
  );
const CLOSE = 'Connection: close';
const KEEP_ALIVE = 'Connection: keep-alive\\r\\nKeep-Alive: timeout=72';

/** All bytes until the server closes the connection. */
async function allOf(socket: Socket): Promise<string> {
  let receivedText = '';
  for await (const chunk of socket) receivedText += (chunk as Buffer).toString('latin1');
  return receivedText;
}

describe('a body that arrives after its head', () => {
  it('is read on demand; then its connection serves the next request', async () => {
    const { next, open } = await openServer();
    const first = next();
    const socket = open();
    socket.write(`${head(6)}abc`);
    const { request, response } = await first;
    const body = readBody(request, 100);
    socket.write('def');
    expect(Buffer.from(await body).toString()).toBe('abcdef');
    answer(response, 'one');
    expect(String((await once(socket, 'data'))[0])).toMatch(answerPattern('one', KEEP_ALIVE));
    const second = next();
    socket.write(`${head(3)}ghi`);
    const secondExchange = await second;
    expect(Buffer.from(await readBody(secondExchange.request, 100)).toString()).toBe('ghi');
    answer(secondExchange.response, 'two');
    expect(String((await once(socket, 'data'))[0])).toMatch(answerPattern('two', KEEP_ALIVE));
    socket.destroy();
  });

  it('is buffered in the socket until it is read, except for one chunk', async () => {
    const { server, next, open } = await openServer();
    const connected = once(server, 'connection') as Promise<[Socket]>;
    const exchange = next();
    const socket = open();
    socket.write(head(131_072));
    const [[serverSide], { request, response }] = await Promise.all([connected, exchange]);
    const bytesReadBefore = serverSide.bytesRead;
    await new Promise((resolve) => void socket.write('x'.repeat(131_072), resolve));
    for (let round = 0; round < 20; round += 1) await turn();
    expect(serverSide.isPaused()).toBe(true);
    expect(serverSide.bytesRead - bytesReadBefore).toBeLessThanOrEqual(65_536);
    expect((await readBody(request, 200_000)).length).toBe(131_072);
    answer(response, 'ok');
    expect(String((await once(socket, 'data'))[0])).toMatch(answerPattern('ok', KEEP_ALIVE));
    socket.destroy();
  });

  it('does not delay an early answer, after which the connection closes', async () => {
    const { next, open } = await openServer();
    const exchange = next();
    const socket = open();
    const received = allOf(socket);
    socket.write(`${head(1_000)}abc`);
    const { request, response } = await exchange;
    answer(response, 'no');
    expect(await received).toMatch(answerPattern('no', CLOSE));
    await expect(readBody(request, 2_000)).rejects.toBeInstanceOf(RequestAborted);
  });

  it('over the limit is refused before it is read', async () => {
    const { next, open } = await openServer();
    const exchange = next();
    const socket = open();
    socket.write(`${head(1_000)}abc`);
    const { request } = await exchange;
    expect(() => readBody(request, 999)).toThrow(/^Request size is too large/);
    socket.destroy();
  });

  it.each([
    ['destroys the connection', (socket: Socket) => socket.destroy()],
    ['half-closes the connection', (socket: Socket) => socket.end()],
  ])('ends with RequestAborted when the client %s', async (_how, disconnect) => {
    const { next, open } = await openServer();
    const exchange = next();
    const socket = open();
    socket.write(`${head(6)}abc`);
    const { request, response } = await exchange;
    const body = Promise.resolve(readBody(request, 100));
    disconnect(socket);
    await expect(body).rejects.toBeInstanceOf(RequestAborted);
    expect(response.destroyed).toBe(true);
  });

  it.each([true, false])('that is too slow gets 408 and is aborted (reading has begun: %s)', async (isRead) => {
    const { next, open } = await openServer({ smallBodyTimeout: 50 });
    const exchange = next();
    const socket = open();
    const received = allOf(socket);
    socket.write(`${head(6)}abc`);
    const { request, response } = await exchange;
    const closed = new Promise<void>((resolve) => void response.once('close', resolve));
    const pendingBody = isRead ? Promise.resolve(readBody(request, 100)) : null;
    pendingBody?.catch(() => {});
    expect(await received).toBe('HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n');
    await closed;
    await expect(pendingBody ?? readBody(request, 100)).rejects.toBeInstanceOf(RequestAborted);
    answer(response, 'late');
    expect(response.destroyed).toBe(true);
  });

  it.each([
    ['on the fast path', '/hot', 'body'],
    ['on Node’s parser', '/cold', 'body'],
    ['pipelined on the fast path', '/hot', 'next requests'],
  ])('that arrives in single bytes uses little memory, %s', async (_what, path, bytesBelongTo) => {
    const { next, open } = await openServer();
    const sockets = Array.from({ length: 20 }, () => open());
    const bodies = [];
    for (const socket of sockets) {
      const exchange = next();
      // Bytes after a head without a body belong to the next requests.
      socket.write(head(bytesBelongTo === 'body' ? 120_000 : 0, path));
      bodies.push(Promise.resolve(readBody((await exchange).request, 200_000)).catch(() => null));
    }
    const usedBytesBefore = usedBytes();
    for (let nth = 0; nth < 1_500; nth += 1) {
      for (const socket of sockets) socket.write('x');
      await turn();
    }
    // 20 sockets received 30,000 bytes. One Buffer for each byte would need more than 3 MB.
    expect(usedBytes() - usedBytesBefore).toBeLessThan(1_000_000);
    for (const socket of sockets) socket.destroy();
    await Promise.all(bodies);
  });
});

/** Used bytes of the heap and of buffers after a garbage collection. */
function usedBytes(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
