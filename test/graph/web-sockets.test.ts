import { createClient } from 'graphql-ws';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import type { ChatDelta } from '../../src/domain/chat/chat.ts';
import { MAX_VARIABLE_VALUES } from '../../schema/base/limits.ts';
import { aSpan, TEAM_KEY, traceId } from '../ports/samples.ts';
import { ChatStreamDocument, TraceUpdatesDocument } from './generated/graphql.ts';
import { eventually, openGraph, scriptedGateway } from './graph-server.ts';
import { overWebSocket } from './subscribers.ts';

let graph: Awaited<ReturnType<typeof openGraph>>;
const opened: WebSocket[] = [];
afterEach(async () => {
  for (const socket of opened.splice(0)) socket.terminate();
  await graph.close();
});

const address = (): string => graph.url.replace('http', 'ws');
const QUERY = '{ catalogEntries { totalCount } }';
const WATCH = TraceUpdatesDocument.toString();

interface RawSocket {
  readonly socket: WebSocket;
  readonly messages: Record<string, unknown>[];
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
  send(message: object): void;
}

/** A WebSocket without a protocol client. */
async function connect(headers: Record<string, string> = { authorization: 'Bearer sk-admin' }): Promise<RawSocket> {
  const socket = new WebSocket(address(), 'graphql-transport-ws', { headers });
  opened.push(socket);
  const messages: Record<string, unknown>[] = [];
  socket.on('message', (data: Buffer) => messages.push(JSON.parse(data.toString()) as Record<string, unknown>));
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.on('close', (code, reason) => resolve({ code, reason: reason.toString() }));
  });
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  return { socket, messages, closed, send: (message) => socket.send(JSON.stringify(message)) };
}

/** A WebSocket without a protocol client, after `connection_ack`. */
async function connectAndInit(): Promise<RawSocket> {
  const raw = await connect();
  raw.send({ type: 'connection_init' });
  await eventually(() => raw.messages.length === 1, 'connection_ack');
  expect(raw.messages.splice(0)).toEqual([{ type: 'connection_ack' }]);
  return raw;
}

const subscribe = (id: string, query: string, variables: object = {}) => ({
  id,
  type: 'subscribe',
  payload: { query, variables },
});

describe('the key of a WebSocket', () => {
  it.each([
    ['authorization of connection_init', { authorization: 'Bearer sk-team-a' }],
    ['Authorization of connection_init', { Authorization: 'Bearer sk-team-a' }],
    ['apiKey of connection_init', { apiKey: 'sk-team-a' }],
  ])('is read from %s', async (_name, connectionParams) => {
    graph = await openGraph();
    const client = createClient({ url: address(), webSocketImpl: WebSocket, connectionParams, retryAttempts: 0 });
    const updates = client.iterate({ query: WATCH });
    const first = updates.next();
    await eventually(() => graph.bus.subscriberCount() === 1, 'the subscription');
    await graph.ingest(TEAM_KEY, aSpan());
    expect((await first).value).toMatchObject({ data: { traceUpdates: { trace: { traceId: traceId(1) } } } });
    await client.dispose();
    await eventually(() => graph.bus.subscriberCount() === 0, 'the end of the subscription');
  });

  it('is optional for operations that need no key', async () => {
    graph = await openGraph();
    const client = createClient({ url: address(), webSocketImpl: WebSocket, retryAttempts: 0 });
    const answers = await Array.fromAsync(client.iterate({ query: QUERY }));
    expect(answers).toEqual([{ data: { catalogEntries: { totalCount: 0 } } }]);
    const refused = await Array.fromAsync(client.iterate({ query: WATCH }));
    expect(refused).toMatchObject([{ errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] }]);
    await client.dispose();
  });

  it.each([
    ['a key of connection_init', {}, { apiKey: 'sk-unknown' }, 4403, 'The key is not known.'],
    ['a key of the handshake', { authorization: 'Bearer sk-unknown' }, {}, 4403, 'The key is not known.'],
    [
      'a key that is not a text',
      {},
      { apiKey: 1 },
      4400,
      '`authorization` and `apiKey` of connection_init must be strings.',
    ],
  ])('closes the connection when it is invalid: %s', async (_name, headers, payload, code, reason) => {
    graph = await openGraph();
    const { closed, messages, send } = await connect(headers);
    send({ type: 'connection_init', payload });
    expect(await closed).toEqual({ code, reason });
    expect(messages).toEqual([]);
  });
});

describe('a WebSocket client that breaks the protocol', () => {
  it('is closed when it sends no connection_init in time', async () => {
    graph = await openGraph({ socketLimits: { initMs: 50 } });
    const { closed } = await connect();
    expect(await closed).toEqual({ code: 4408, reason: 'Connection initialisation timeout' });
  });

  it('is refused with 400 when it does not offer the subprotocol', async () => {
    graph = await openGraph();
    const socket = new WebSocket(address(), 'graphql-ws');
    const status = await new Promise((resolve) => {
      socket.on('error', () => {});
      socket.on('unexpected-response', (_request, { statusCode }) => resolve(statusCode));
    });
    expect(status).toBe(400);
  });

  it.each([
    ['operations before connection_init', JSON.stringify(subscribe('1', QUERY)), 4401, 'Unauthorized'],
    ['invalid JSON', '{', 4400, 'Invalid message received'],
    ['messages of the server', '{"type":"connection_ack"}', 4400, 'Unexpected message of type connection_ack received'],
    ['binary messages', Buffer.from('{}'), 1003, 'Send text messages.'],
    ['more than 1 MiB', `"${'x'.repeat(1024 * 1024)}"`, 1009, ''],
    // The count before the message is parsed is inexact, and refuses only more than twice the limit.
    [
      'too many values',
      JSON.stringify(subscribe('1', QUERY, { list: Array.from({ length: 3 * MAX_VARIABLE_VALUES }, () => 100) })),
      1009,
      `The request holds more than ${MAX_VARIABLE_VALUES} values.`,
    ],
  ])('is closed after %s', async (_name, message, code, reason) => {
    graph = await openGraph();
    const { socket, closed } = await connect();
    socket.send(message);
    expect(await closed).toEqual({ code, reason });
  });

  it('is closed when it uses a long id twice', async () => {
    graph = await openGraph();
    const { closed, send } = await connectAndInit();
    const id = 'ä'.repeat(1_000);
    send(subscribe(id, WATCH));
    send(subscribe(id, WATCH));
    const { code, reason } = await closed;
    expect(code).toBe(4409);
    // The reason has the beginning of the id: a close frame holds at most 123 bytes of reason.
    expect(reason).toMatch(/^Subscriber for ä+$/);
    await eventually(() => graph.bus.subscriberCount() === 0, 'the end of the subscription');
  });

  it('is closed when it answers no pings, which ends its subscriptions', async () => {
    graph = await openGraph({ socketLimits: { pingMs: 10, heartbeatTimeoutMs: 1_000 } });
    const { send, socket } = await connectAndInit();
    send(subscribe('1', WATCH));
    await eventually(() => graph.bus.subscriberCount() === 1, 'the subscription');
    const checks = setInterval(() => graph.transport.sockets.runChecks(), 5);
    try {
      await new Promise((resolve) => socket.once('ping', resolve));
      expect(graph.bus.subscriberCount()).toBe(1);
      socket.pause();
      await eventually(() => graph.bus.subscriberCount() === 0, 'the end of the subscription');
    } finally {
      clearInterval(checks);
    }
  });
});

describe('operations of one WebSocket', () => {
  it('are refused above the limit of concurrent operations', async () => {
    graph = await openGraph({ socketLimits: { operations: 3 } });
    const { messages, send } = await connectAndInit();
    for (const id of ['a', 'b', 'c', 'd']) send(subscribe(id, WATCH));
    await eventually(() => messages.length === 1, 'the refusal');
    expect(messages.splice(0)).toEqual([
      {
        id: 'd',
        type: 'error',
        payload: [{ message: 'This connection already runs 3 operations.', extensions: { code: 'TOO_LARGE' } }],
      },
    ]);
    send({ id: 'a', type: 'complete' });
    await eventually(() => graph.bus.subscriberCount() === 2, 'the end of one operation');
    let asked = 0;
    async function ask(): Promise<readonly Record<string, unknown>[]> {
      asked += 1;
      send(subscribe(`e${asked}`, QUERY));
      await eventually(() => messages.some(({ type }) => type !== 'next'), 'the end of the operation');
      return messages.splice(0);
    }
    // The slot is free shortly after the subscriber has left. Until then, operations are refused.
    const id: unknown = expect.stringMatching(/^e\d+$/);
    await expect.poll(ask).toEqual([
      { id, type: 'next', payload: { data: { catalogEntries: { totalCount: 0 } } } },
      { id, type: 'complete' },
    ]);
  });

  it('report invalid documents as errors of their id', async () => {
    graph = await openGraph();
    const { messages, send } = await connectAndInit();
    for (const [id, query] of [
      ['syntax', '{'],
      ['field', '{ nope }'],
    ] as const)
      send(subscribe(id, query));
    await eventually(() => messages.length === 2, 'both errors');
    expect(messages).toMatchObject([
      { id: 'syntax', type: 'error', payload: [{ message: expect.stringContaining('Syntax Error') }] },
      {
        id: 'field',
        type: 'error',
        payload: [{ message: expect.stringContaining('Cannot query field "nope" on type "Query".') }],
      },
    ]);
  });

  it('cancel the upstream call when the client completes them', async () => {
    let cancelled = 0;
    const chatWithoutOutput = (): AsyncIterableIterator<ChatDelta> => ({
      [Symbol.asyncIterator]() {
        return this;
      },
      next: () => new Promise(() => {}),
      async return() {
        cancelled += 1;
        return { done: true, value: undefined };
      },
    });
    let calls = 0;
    graph = await openGraph({
      gateway: scriptedGateway(() => {
        calls += 1;
        return chatWithoutOutput();
      }),
    });
    const input = { model: 'demo', messages: [{ role: 'USER', content: 'Hello' }] };
    const { send } = await connectAndInit();
    send(subscribe('1', ChatStreamDocument.toString(), { input }));
    await eventually(() => calls === 1, 'the call');
    send({ id: '1', type: 'complete' });
    await eventually(() => cancelled > 0, 'the cancelled call');
    expect([calls, cancelled]).toEqual([1, 1]);
  });

  it('end with a reason and then close the connection with 1012 at shutdown', async () => {
    graph = await openGraph();
    const idle = await connectAndInit();
    const { messages, send, closed } = await connectAndInit();
    send(subscribe('1', WATCH));
    await eventually(() => graph.bus.subscriberCount() === 1, 'the subscription');
    graph.transport.close();
    const shutdownClose = { code: 1012, reason: 'The process is shutting down.' };
    expect(await Promise.all([idle.closed, closed])).toEqual([shutdownClose, shutdownClose]);
    expect(messages).toEqual([
      {
        id: '1',
        type: 'next',
        payload: {
          errors: [
            { message: 'The process is shutting down.', extensions: { code: 'UNAVAILABLE', retryAfterSeconds: 2 } },
          ],
        },
      },
      { id: '1', type: 'complete' },
    ]);
    await graph.transport.sockets.ended();
  });
});

describe('a WebSocket client that does not read', () => {
  it('gets no more than its socket buffers hold, delays no other client, and is closed', async () => {
    graph = await openGraph({ socketLimits: { stalledMs: 100 } });
    const { socket, send } = await connectAndInit();
    for (const id of ['1', '2', '3']) send(subscribe(id, WATCH.replace('spanCount', 'spanCount name')));
    await eventually(() => graph.bus.subscriberCount() === 3, 'the subscriptions');
    const reader = overWebSocket(graph.url, TraceUpdatesDocument, {});
    await eventually(() => graph.bus.subscriberCount() === 4, 'the reader');
    socket.pause();
    const [summary] = await graph.ingest(TEAM_KEY, aSpan({ name: 'x'.repeat(64 * 1024) }));
    if (!summary) throw new Error('Nothing was stored.');
    const memoryBefore = process.memoryUsage();
    for (let published = 2; published <= 1_000; published += 1) {
      graph.bus.publish('trace', { summary });
      await eventually(() => reader.received.length === published, `event ${published}`);
    }
    // 3 subscriptions of 1,000 events of 64 KiB are almost 200 MB.
    const memoryAfter = process.memoryUsage();
    expect(memoryAfter.external - memoryBefore.external).toBeLessThan(32 * 1024 * 1024);
    expect(graph.bus.subscriberCount()).toBe(4);
    await new Promise((resolve) => setTimeout(resolve, 150));
    graph.transport.sockets.runChecks();
    await eventually(() => graph.bus.subscriberCount() === 1, 'the end of its subscriptions');
    await reader.leave();
  });
});
