import { once } from 'node:events';
import type { Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { writeAnswer } from '../../../rest-shims/helpers/http/answer-writer.ts';
import { readBody } from '../../../rest-shims/helpers/http/body.ts';
import type { Incoming, Outgoing } from '../../../rest-shims/helpers/http/outgoing.ts';
import type { ByteSink } from '../../../src/domain/bytes.ts';
import { createHttpServer } from '../../../src/http/server.ts';
import { readRequestHead } from '../../../src/http/fast-path/request-head.ts';
import { randomFrom } from '../../support/random.ts';

/** Paths that the fast path serves. */
const HOT = new Set(['/hot', '/v1/hot']);
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

async function openServer(
  serve: (request: Incoming, response: Outgoing) => void,
  { hot = HOT, timeouts = TIMEOUTS } = {},
): Promise<Server> {
  const server = createHttpServer(serve, { timeouts, hotPaths: hot });
  servers.push(server.listen(0, '127.0.0.1'));
  await once(server, 'listening');
  return server;
}

function openSocket(server: Server): Socket {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  return socket.setNoDelay(true).on('error', () => {});
}

/** Answers with the received method, path, header `x-n` and body. */
const echo = (request: Incoming, response: Outgoing): void => {
  void (async () => {
    const body = Buffer.from(await readBody(request, 4e6)).toString('latin1');
    const answerBody = Buffer.from(JSON.stringify([request.method, request.url, request.headers['x-n'] ?? null, body]));
    response.writeHead(200, ['content-type', 'application/json', 'content-length', String(answerBody.length)]);
    response.end(answerBody.toString('latin1'), 'latin1');
  })().catch(() => response.destroy());
};

const post = (path: string, body: string, headerLines = ''): string =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${Buffer.byteLength(body)}\r\n${headerLines}\r\n${body}`;
const LAST_REQUEST = 'GET /last HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n';

/** All bytes until the server closes the connection, without dates. */
async function allOf(socket: Socket): Promise<string> {
  let receivedText = '';
  for await (const chunk of socket) receivedText += (chunk as Buffer).toString('latin1');
  return receivedText.replaceAll(/Date: [^\r]*/g, 'Date: then');
}

async function send(server: Server, pieces: readonly Buffer[]): Promise<string> {
  const socket = openSocket(server);
  const answer = allOf(socket);
  await once(socket, 'connect');
  for (const piece of pieces) {
    socket.write(piece);
    await new Promise(setImmediate);
  }
  return answer;
}

describe('the fast path', () => {
  /** Requests. The test appends a last one, which is answered unless the connection closes first. */
  const REQUEST_TEXTS: readonly string[] = [
    post('/hot', 'abc'),
    post('/hot', 'abc') + post('/v1/hot', 'def', 'X-N: 2\r\n') + post('/hot', ''),
    post('/hot', 'abc') + post('/cold', 'def') + post('/hot', 'ghi'),
    post('/hot', 'abc', 'Connection: keep-alive\r\n') + post('/hot', 'x'.repeat(200_000)) + post('/hot', 'y'),
    post('/hot', 'abc', 'connection: close\r\n'),
    post('/hot', 'x'.repeat(1_200_000)) + post('/hot', 'y'),
    // The largest body of the fast path, then one byte more.
    post('/hot', 'x'.repeat(131_072)) + post('/hot', 'x'.repeat(131_073)) + post('/hot', 'y'),
    post('/hot', 'abc', 'Expect: 100-continue\r\n'),
    post('/hot', 'abc', 'Origin: https://app.example\r\n'),
    post('/hot?x=1', 'abc'),
    post('http://x/hot', 'abc'),
    post('/hot', 'abc', 'X-N: a\r\nX-N: b\r\n'),
    post('/hot', 'abc', 'x-n: \t spaced \t\r\n'),
    post('/hot', 'abc', 'x-n: Zo\xeb\r\n'),
    'POST /hot HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n',
    'POST /hot HTTP/1.0\r\nhost: x\r\ncontent-length: 3\r\n\r\nabc',
    'POST /hot HTTP/1.1\r\nhost: x\r\n\r\n',
    '\r\nPOST /hot HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\n\r\nabc',
    'GET /hot HTTP/1.1\r\nhost: x\r\n\r\n',
    // Ambiguous or invalid requests.
    post('/hot', 'abc', 'Content-Length: 3\r\n'),
    post('/hot', 'abc', 'Content-Length: 30\r\n'),
    post('/hot', 'abc', 'Transfer-Encoding: chunked\r\n'),
    post('/hot', 'abc', 'Host: y\r\n'),
    'POST /hot HTTP/1.1\r\ncontent-length: 3\r\n\r\nabc',
    'POST /hot HTTP/1.1\r\nhost: x\r\ncontent-length: +3\r\n\r\nabc',
    'POST /hot HTTP/1.1\r\nhost: x\r\ncontent-length: 3, 3\r\n\r\nabc',
    'POST /hot HTTP/1.1\r\nhost: x\r\ncontent-length: 03\r\n\r\nabc',
    'POST /hot HTTP/1.1\r\nhost: x\r\ncontent-length : 3\r\n\r\nabc',
    'POST /hot HTTP/1.1\r\nhost: x\r\ncontent-length:\r\n 3\r\n\r\nabc',
    'POST /hot HTTP/1.1\nhost: x\ncontent-length: 3\n\nabc',
    'POST /hot HTTP/1.1\r\nhost: x\r\nx-n: a\nb: c\r\ncontent-length: 3\r\n\r\nabc',
    'POST /hot HTTP/1.1\r\nhost: x\r\nx-n: a\0\r\ncontent-length: 3\r\n\r\nabc',
    'post /hot HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\n\r\nabc',
    'POST  /hot HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\n\r\nabc',
    'nonsense\r\n\r\n',
    `POST /hot HTTP/1.1\r\nhost: x\r\nx-n: ${'a'.repeat(20_000)}\r\ncontent-length: 3\r\n\r\nabc`,
  ];

  it.each(REQUEST_TEXTS.map((requestText) => [requestText.slice(0, 90), requestText]))(
    'has the same answer as Node’s server: %j',
    async (_start, requestText) => {
      const [withFastPath, nodeAlone] = [await openServer(echo), await openServer(echo, { hot: new Set() })];
      const whole = [Buffer.from(requestText + LAST_REQUEST, 'latin1')];
      const expected = await send(nodeAlone, whole);
      expect(expected).not.toBe('');
      expect(await send(withFastPath, whole)).toBe(expected);
    },
  );

  it.each([204, 304])('sends no body with the status %i, as Node’s server does', async (status) => {
    const serve = (request: Incoming, response: Outgoing): void => {
      if (request.method === 'GET') return echo(request, response);
      response.writeHead(status, ['x-n', '1']);
      if (request.url === '/hot') response.write(Buffer.from('abc'));
      response.end(Buffer.from('def'));
    };
    const [withFastPath, nodeAlone] = [await openServer(serve), await openServer(serve, { hot: new Set() })];
    const requests = [Buffer.from(post('/hot', '') + post('/v1/hot', '') + LAST_REQUEST)];
    expect(await send(withFastPath, requests)).toBe(await send(nodeAlone, requests));
  });

  it('answers in order, for random splits of the requests into pieces', async () => {
    const [withFastPath, nodeAlone] = [await openServer(echo), await openServer(echo, { hot: new Set() })];
    const random = randomFrom(22);
    for (let round = 0; round < 60; round += 1) {
      const paths = ['/hot', '/v1/hot', random(4) === 0 ? '/cold' : '/hot'];
      const requests = Array.from({ length: 1 + random(5) }, (_, n) =>
        post(paths[random(3)] ?? '/hot', 'b'.repeat(random(60)), random(2) === 0 ? `x-n: ${n}\r\n` : ''),
      );
      const bytes = Buffer.from(requests.join('') + LAST_REQUEST);
      const pieces: Buffer[] = [];
      for (let offset = 0; offset < bytes.length;) {
        const size = 1 + random(random(2) === 0 ? 30 : 300);
        pieces.push(bytes.subarray(offset, offset + size));
        offset += size;
      }
      expect(await send(withFastPath, pieces)).toBe(await send(nodeAlone, [bytes]));
    }
  });

  it('reads a body that arrives with its head, and parses equal heads once', async () => {
    const incoming: Incoming[] = [];
    const server = await openServer((request, response) => {
      incoming.push(request);
      echo(request, response);
    });
    await send(server, [Buffer.from(post('/hot', 'abc') + post('/hot', 'def') + LAST_REQUEST)]);
    const [first, second, last] = incoming;
    // `whole` is the body of a request that arrived completely. Node's server serves the last request, without `whole`.
    const areWhole = [first, second, last].map((request) => request !== undefined && 'whole' in request);
    expect(areWhole).toEqual([true, true, false]);
    expect(first?.headers).toBe(second?.headers);
    expect(Object.isFrozen(first?.headers)).toBe(true);
  });

  it('streams in chunks, and resumes the source when the client reads again', async () => {
    const piped = Promise.withResolvers<ByteSink>();
    const resumed = Promise.withResolvers<void>();
    const written = Promise.withResolvers<void>();
    const server = await openServer((_request, response) => {
      const writing = writeAnswer(response, {
        body: {
          kind: 'stream',
          stream: { pipe: piped.resolve, resume: resumed.resolve, cancel() {} },
          contentType: 'text/event-stream',
          failureEvent: () => null,
        },
      });
      void Promise.resolve(writing).then(written.resolve);
    });
    const socket = openSocket(server);
    socket.pause();
    socket.write(post('/hot', 'abc'));
    const sink = await piped.promise;
    const chunks = [Buffer.alloc(3, 'a'), Buffer.alloc(0), Buffer.alloc(40_000, 'b')];
    for (const chunk of chunks) sink.chunk(chunk);
    let sentBytes = Buffer.concat(chunks).length;
    // `chunk` returns false for the chunk that fills the buffers. This chunk is sent, too.
    while (sink.chunk(Buffer.alloc(60_000, 'c'))) sentBytes += 60_000;
    sentBytes += 60_000;
    let received = '';
    socket.on('data', (data) => {
      received += data.toString('latin1');
    });
    socket.resume();
    await resumed.promise;
    sink.done();
    await written.promise;
    await expect.poll(() => received.endsWith('\r\n0\r\n\r\n')).toBe(true);
    // Without the sizes of the chunks.
    const body = received.slice(received.indexOf('\r\n\r\n') + 4).replaceAll(/(?:^|\r\n)[0-9a-f]+\r\n/g, '');
    expect(body.replace(/\r\n$/, '').length).toBe(sentBytes);
    socket.destroy();
  });

  it('emits close on an open answer when the client closes or half-closes', async () => {
    for (const disconnect of [(socket: Socket) => socket.destroy(), (socket: Socket) => socket.end()]) {
      const arrived = Promise.withResolvers<Outgoing>();
      const server = await openServer((_request, response) => arrived.resolve(response));
      const socket = openSocket(server);
      socket.write(post('/hot', 'abc'));
      const response = await arrived.promise;
      const closed = new Promise<void>((resolve) => void response.once('close', resolve));
      disconnect(socket);
      await closed;
      expect([response.writableFinished, response.destroyed]).toEqual([false, true]);
      response.writeHead(200, ['content-length', '2']);
      response.end('ok', 'latin1');
    }
  });

  it.each<[string, (response: Outgoing) => unknown]>([
    ['headers as a list', (response) => response.writeHead(200, ['x-a', 'b\r\nx-c: d', 'content-length', '0'])],
    ['headers as a record', (response) => response.writeHead(200, { 'x-a': 'b\r\nx-c: d', 'content-length': 0 })],
    ['a header name', (response) => response.writeHead(200, ['x-a: b\r\nx-c', 'd', 'content-length', '0'])],
    ['setHeader', (response) => response.setHeader('x-a', 'b\r\nx-c: d')],
    [
      'writeAnswer',
      (response) => writeAnswer(response, { headers: { 'x-a': 'b\r\nx-c: d' }, body: { kind: 'json', value: 1 } }),
    ],
  ])('refuses invalid characters in headers: %s', async (_what, write) => {
    const failed = Promise.withResolvers<unknown>();
    const server = await openServer((_request, response) => {
      try {
        write(response);
      } catch (error) {
        failed.resolve(error);
        response.destroy();
      }
    });
    await send(server, [Buffer.from(post('/hot', 'abc'))]);
    expect(await failed.promise).toBeInstanceOf(TypeError);
  });

  it('keeps an answer open, and its connection busy, until a slow client has the whole answer', async () => {
    const answerBody = Buffer.alloc(20_000_000, 'x');
    const arrived = Promise.withResolvers<Outgoing>();
    const server = await openServer((_request, response) => arrived.resolve(response));
    const socket = openSocket(server).pause();
    socket.write(post('/hot', 'abc'));
    const response = await arrived.promise;
    let isClosed = false;
    response.once('close', () => {
      isClosed = true;
    });
    response.writeHead(200, ['content-length', String(answerBody.length)]);
    response.end(answerBody);
    await new Promise(setImmediate);
    expect(isClosed).toBe(false);
    server.closeIdleConnections();
    let received = 0;
    socket.on('data', (data) => {
      received += data.length;
    });
    socket.resume();
    await expect.poll(() => received).toBeGreaterThan(answerBody.length);
    await expect.poll(() => isClosed).toBe(true);
    socket.destroy();
  });

  it('closes idle connections with closeIdleConnections, and the others with closeAllConnections', async () => {
    const arrived = Promise.withResolvers<Outgoing>();
    const server = await openServer((request, response) =>
      request.headers['x-n'] === 'held' ? arrived.resolve(response) : echo(request, response),
    );
    const [fresh, idle, busy] = [openSocket(server), openSocket(server), openSocket(server)];
    idle.write(post('/hot', 'abc'));
    await once(idle, 'data');
    busy.write(post('/hot', 'abc', 'x-n: held\r\n'));
    const response = await arrived.promise;
    await expect.poll(() => fresh.readyState).toBe('open');
    server.closeIdleConnections();
    await Promise.all([once(fresh, 'close'), once(idle, 'close')]);
    response.writeHead(200, ['content-length', '2']);
    response.end('ok', 'latin1');
    expect(String((await once(busy, 'data'))[0])).toMatch(/ok$/);
    server.closeAllConnections();
    await once(busy, 'close');
  });
});

describe('a slow client of the fast path', () => {
  it.each([
    ['that stops in its body: 408', { smallBodyTimeout: 50 }, post('/hot', 'abc').slice(0, -1), /^HTTP\/1\.1 408 /],
    ['that sends no first request is disconnected', { headersTimeout: 50 }, '', /^$/],
    [
      'that stops in its head: 408',
      { requestTimeout: 50, headersTimeout: 50 },
      post('/hot', 'abc').slice(0, 40),
      /^HTTP\/1\.1 408 /,
    ],
    [
      'that stops in the head of its next request: 408',
      { requestTimeout: 50, headersTimeout: 50 },
      post('/hot', 'abc') + post('/hot', 'abc').slice(0, 40),
      /^HTTP\/1\.1 200 [^]*HTTP\/1\.1 408 /,
    ],
    ['that sends no next request is disconnected', { keepAliveTimeout: 50 }, post('/hot', 'abc'), /^HTTP\/1\.1 200 /],
  ])('%s', async (_what, shortTimeouts, text, expected) => {
    const timeouts = { ...TIMEOUTS };
    const server = await openServer(echo, { timeouts });
    const connected = once(server, 'connection') as Promise<[Socket]>;
    const answer = send(server, [Buffer.from(text)]);
    const [socket] = await connected;
    await expect.poll(() => socket.bytesRead, { timeout: 60_000 }).toBe(text.length);
    // Shorten the timeouts only when the server has read the bytes: a loaded machine may read late.
    Object.assign(timeouts, shortTimeouts);
    Object.assign(server, shortTimeouts);
    expect(await answer).toMatch(expected);
  });
});

describe('a head that the fast path does not serve', () => {
  it.each([
    'POST /hot HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\nte: trailers\r\n\r\n',
    'POST /hot HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\nconstructor: x\r\n\r\n',
    'POST /hot HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\n__proto__: x\r\n\r\n',
    'POST /hot HTTP/1.1\r\nhost: x\r\ncontent-length: 9999999999999\r\n\r\n',
    'POST /hot HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\nconnection: keep-alive, close\r\n\r\n',
    'POST /hot HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\n\tfolded: x\r\n\r\n',
    'POST /HOT HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\n\r\n',
    `POST /hot HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\n${Array.from({ length: 120 }, (_, n) => `x-${n}: y\r\n`).join('')}\r\n`,
    '\r\n\r\n',
  ])('is left to Node’s server: %j', (text) => {
    expect(readRequestHead(text, HOT)).toBeNull();
  });
});
