import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  answerWith,
  aResponse,
  eventText,
  openResponses,
  type ResponseSetup,
  type ResponseSocket,
  startResponseSetup,
  streamOf,
} from '../../support/response-socket.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { newTrace, spansIn } from '../inference/trace-spans.ts';

const MEGABYTE = 1024 * 1024;

let setup: ResponseSetup;
beforeAll(async () => {
  setup = await startResponseSetup();
});
afterAll(() => setup.stop());

async function openTracedSocket(): Promise<{ client: ResponseSocket; traceId: string }> {
  const { traceId, headers } = newTrace();
  const authorization = `Bearer ${setup.app.adminKey}`;
  return { client: await openResponses(setup.app, { headers: { ...headers, authorization } }), traceId };
}

/** Status and error code of each spend row of a trace. */
async function endsOf(traceId: string, app: TestApp = setup.app): Promise<unknown> {
  const rows = (await spansIn(app, traceId)) as { spendRow: { status: string; errorCode: string | null } }[];
  return rows.map(({ spendRow }) => [spendRow.status, spendRow.errorCode]);
}

/** Makes the upstream begin a response and send nothing more. */
function stall(): void {
  setup.upstream.answer((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(eventText({ type: 'response.created', sequence_number: 0, response: aResponse() }));
  });
}

/** Number of TCP sockets of this process: clients, server and upstream. */
const openSocketCount = (): number =>
  process.getActiveResourcesInfo().filter((kind) => kind === 'TCPSocketWrap').length;

describe('a client that disconnects', () => {
  it.each([
    ['with a close frame', (client: ResponseSocket) => client.socket.close(1000)],
    ['without a close frame', (client: ResponseSocket) => client.socket.terminate()],
  ])(
    '%s cancels its calls: the streaming one, the one that waits for an answer, and the queued one',
    async (_how, disconnect) => {
      stall();
      const { client, traceId } = await openTracedSocket();
      client.sendEvent({ type: 'response.create', model: 'thinker', input: 'begun', stream_id: 'a' });
      expect((await client.frame()).type).toBe('response.created');
      const calls = setup.hold();
      client.sendEvent({ type: 'response.create', model: 'thinker', input: 'asked', stream_id: 'b' });
      await calls.next();
      client.sendEvent({ type: 'response.create', model: 'thinker', input: 'never', stream_id: 'b' });
      disconnect(client);
      await setup.upstream.nextDisconnect();
      await setup.upstream.nextDisconnect();
      expect(setup.upstream.received.at(-1)?.body).toContain('asked');
      // The queued call has no row, because it has not started.
      await expect
        .poll(() => endsOf(traceId))
        .toEqual([
          ['FAILURE', 'CLIENT_GONE'],
          ['FAILURE', 'CLIENT_GONE'],
        ]);
    },
  );

  it('leaves no connection open, idle or active, with or without a close frame', async () => {
    const before = openSocketCount();
    stall();
    const clients = await Promise.all(Array.from({ length: 30 }, openTracedSocket));
    await Promise.all(
      clients.map(async ({ client }, index) => {
        if (index % 3 === 0) return;
        client.sendEvent({ type: 'response.create', model: 'thinker', input: 'x' });
        await client.frame();
      }),
    );
    // Each of the 30 connections has two sockets in this process: one of the client, one of the server.
    expect(openSocketCount()).toBeGreaterThanOrEqual(before + 60);
    for (const [index, { client }] of clients.entries()) {
      if (index % 2 === 0) client.socket.terminate();
      else client.socket.close();
    }
    await expect.poll(() => setup.upstream.connections()).toBe(0);
    await expect.poll(openSocketCount).toBeLessThanOrEqual(before);
  });
});

it('a fast upstream is read only as fast as the client reads', async () => {
  const { client } = await openTracedSocket();
  client.socket.pause();
  const event = eventText({ type: 'response.output_text.delta', delta: 'A'.repeat(64 * 1024) });
  let sentCount = 0;
  const stopped = Promise.withResolvers<{ end(): void }>();
  setup.upstream.answer((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(eventText({ type: 'response.created', sequence_number: 0, response: aResponse() }));
    let unsentBytes = -1;
    let stableChecks = 0;
    // The gateway has stopped reading when more than 1 MiB stays unsent, unchanged in five checks.
    const timer = setInterval(() => {
      const before = unsentBytes;
      unsentBytes = response.writableLength;
      stableChecks = unsentBytes > MEGABYTE && unsentBytes === before ? stableChecks + 1 : 0;
      if (stableChecks === 5) {
        clearInterval(timer);
        const last = eventText({ type: 'response.completed', sequence_number: 1, response: aResponse() });
        stopped.resolve({ end: () => void response.end(last) });
      }
      if (unsentBytes > 2 * MEGABYTE) return;
      for (let events = 0; events < 32; events += 1, sentCount += 1) response.write(event);
    }, 50);
  });
  client.sendEvent({ type: 'response.create', model: 'thinker', input: 'x' });
  const upstream = await stopped.promise;
  client.socket.resume();
  upstream.end();
  const frames = await client.answer();
  // The deltas, and `response.created` and `response.completed`.
  expect(frames.length).toBe(sentCount + 2);
  client.socket.close();
});

describe('a process that stops', () => {
  it('closes idle connections while active responses are completed, and refuses other requests', async () => {
    const stoppingSetup = await startResponseSetup();
    const calls = stoppingSetup.hold();
    const idle = await openResponses(stoppingSetup.app);
    const busy = await openResponses(stoppingSetup.app);
    busy.sendEvent({ type: 'response.create', model: 'thinker', input: 'x' });
    busy.sendEvent({ type: 'response.create', model: 'thinker', input: 'waits' });
    const { response } = await calls.next();
    const stopped = stoppingSetup.app.stop();
    expect((await idle.closed).code).toBe(1001);
    const refused = {
      type: 'error',
      status: 503,
      error: {
        type: 'service_unavailable',
        code: '503',
        message: 'The process is shutting down.',
        param: null,
        headers: expect.objectContaining({ 'retry-after': '2' }),
      },
    };
    expect(await busy.frame()).toEqual(refused);
    expect(await busy.ask({ model: 'thinker', input: 'too late' })).toEqual([refused]);
    answerWith(response, streamOf());
    expect((await busy.answer()).map(({ type }) => type)).toEqual(['response.created', 'response.completed']);
    expect((await busy.closed).code).toBe(1001);
    await stopped;
    expect(stoppingSetup.upstream.received.length).toBe(1);
    await stoppingSetup.upstream.stop();
  });

  it('responses.connect 503: refuses a late handshake, and ends a slow response with an error event', async () => {
    const stoppingSetup = await startResponseSetup();
    stoppingSetup.upstream.answer((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(eventText({ type: 'response.created', sequence_number: 0, response: aResponse() }));
    });
    const { traceId, headers } = newTrace();
    const authorization = `Bearer ${stoppingSetup.app.adminKey}`;
    const client = await openResponses(stoppingSetup.app, { headers: { ...headers, authorization } });
    client.sendEvent({ type: 'response.create', model: 'thinker', input: 'x', stream_id: 'main' });
    expect((await client.frame()).type).toBe('response.created');
    // The request on this connection is still incomplete when the process stops.
    const lateSocket = connect(Number(new URL(stoppingSetup.app.url).port), '127.0.0.1');
    await once(lateSocket, 'connect');
    lateSocket.write('GET /v1/responses HTTP/1.1\r\nhost: x\r\n');
    const liveness = await stoppingSetup.app.call('GET', '/health/liveness');
    expect(liveness.status).toBe(200);

    const stopped = stoppingSetup.app.stop({ keepData: true });
    lateSocket.write(
      `authorization: ${authorization}\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n` +
        'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
    );
    expect(await text(lateSocket)).toMatch(/^HTTP\/1\.1 503 [^]*"message":"The process is shutting down\."/);
    expect(await client.frame()).toMatchObject({
      type: 'error',
      status: 503,
      stream_id: 'main',
      sequence_number: 1,
      error: { type: 'service_unavailable', message: 'The process is shutting down.' },
    });
    expect((await client.closed).code).toBe(1001);
    await stopped;
    await stoppingSetup.upstream.nextDisconnect();
    const restarted = await startApp({ dataDir: stoppingSetup.app.dataDir });
    try {
      expect(await endsOf(traceId, restarted)).toEqual([['FAILURE', 'UNAVAILABLE']]);
    } finally {
      await restarted.stop();
      await stoppingSetup.upstream.stop();
    }
  });
});
