import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { stringify } from 'yaml';
import { type FaultServer, startFaultServer } from '../support/fault-server.ts';
import { spawnServer, type ServerProcess } from '../support/spawn-server.ts';
import { POLLING } from '../support/polling.ts';

const MESSAGES = [{ role: 'user', content: 'Hello' }];
const MESSAGE = 'The process is shutting down.';
const PROXY_ERROR = { error: { message: MESSAGE, type: 'service_unavailable', param: null, code: '503' } };
const ANTHROPIC_ERROR = { type: 'error', error: { type: 'api_error', message: MESSAGE } };
const GOOGLE_ERROR = { error: { code: 503, message: MESSAGE, status: 'UNAVAILABLE' } };
const GRAPH_ERROR = { errors: [{ message: MESSAGE, extensions: { code: 'UNAVAILABLE', retryAfterSeconds: 2 } }] };
const data = (value: object): string => `data: ${JSON.stringify(value)}`;

/** A stream that is open at the end of the grace period. `last` is its last event, null for a stream that is cut. */
interface OpenStream {
  readonly what: string;
  readonly path: string;
  readonly body: object;
  readonly last: string | null;
}

const chat = { model: 'held', messages: MESSAGES, stream: true };
const google = { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] };
const STREAMS: readonly OpenStream[] = [
  { what: 'chat completion', path: '/v1/chat/completions', body: chat, last: data(PROXY_ERROR) },
  { what: 'chat completion of an IDE', path: '/ide/chat/completions', body: chat, last: data(PROXY_ERROR) },
  {
    what: 'completion',
    path: '/v1/completions',
    body: { model: 'held', prompt: 'Hello', stream: true },
    last: data(PROXY_ERROR),
  },
  {
    what: 'message',
    path: '/v1/messages',
    body: { ...chat, max_tokens: 9 },
    last: `event: error\n${data(ANTHROPIC_ERROR)}`,
  },
  {
    what: 'response',
    path: '/v1/responses',
    body: { model: 'held', input: 'Hello', stream: true },
    // Events 0 to 4 are the begun answer.
    last: `event: error\n${data({ type: 'error', sequence_number: 5, code: '503', message: MESSAGE, param: null })}`,
  },
  {
    what: 'content as events',
    path: '/v1beta/models/held:streamGenerateContent?alt=sse',
    body: google,
    last: data(GOOGLE_ERROR),
  },
  {
    what: 'content as an array',
    path: '/v1beta/models/held:streamGenerateContent',
    body: google,
    last: `${JSON.stringify(GOOGLE_ERROR)}]`,
  },
  { what: 'sound', path: '/v1/audio/speech', body: { model: 'held', input: 'Hello', voice: 'alloy' }, last: null },
];

/** Calls that have no answer at the end of the grace period. */
const CALLS = [
  { what: 'chat completion', path: '/v1/chat/completions', body: { ...chat, stream: false }, answer: PROXY_ERROR },
  {
    what: 'chat completion whose stream has not begun',
    path: '/v1/chat/completions',
    body: { ...chat, messages: [{ role: 'user', content: 'late' }] },
    answer: PROXY_ERROR,
  },
  {
    what: 'message',
    path: '/v1/messages',
    body: { ...chat, stream: false, max_tokens: 9 },
    answer: ANTHROPIC_ERROR,
  },
  { what: 'content', path: '/v1beta/models/held:generateContent', body: google, answer: GOOGLE_ERROR },
  { what: 'embedding', path: '/v1/embeddings', body: { model: 'held', input: 'x' }, answer: PROXY_ERROR },
] as const;

const traceOf = (nth: number): string => (nth + 1).toString(16).padStart(32, '7');

let folder: string;
let upstream: FaultServer;
let server: ServerProcess;
let key: string;
const answers: { status: number; connection: string | null; text: string }[] = [];
let answersOnOpenConnections: readonly string[] = [];
let ended: unknown;
let restarted: ServerProcess | undefined;

/** All text until the server closes the connection. */
async function allOf(socket: Socket): Promise<string> {
  let all = '';
  for await (const chunk of socket) all += String(chunk);
  return all;
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lensgate-shutdown-'));
  upstream = await startFaultServer();
  // `chat_completions/` translates calls of /v1/responses to chat completions, which this upstream streams.
  const litellm_params = { model: 'openai/chat_completions/held', api_base: `${upstream.url}/v1`, api_key: 'sk-up' };
  const config = join(folder, 'config.yaml');
  writeFileSync(config, stringify({ model_list: [{ model_name: 'held', litellm_params }] }));
  server = await spawnServer(join(folder, 'data'), { args: ['--config', config] });
  key = readFileSync(join(folder, 'data', 'admin-key'), 'utf8').trim();

  const piece = { id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'held' };
  upstream.answer((response, _socket, { path, body }) => {
    if (path.endsWith('/audio/speech')) {
      response.writeHead(200, { 'content-type': 'audio/mpeg' });
      return void response.write('sound');
    }
    if (!body.includes('"stream":true') || body.includes('late')) return;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const text = path.endsWith('/chat/completions')
      ? { delta: { role: 'assistant', content: 'one' } }
      : { text: 'one' };
    response.write(`data: ${JSON.stringify({ ...piece, choices: [{ index: 0, ...text, finish_reason: null }] })}\n\n`);
  });
  const begun = STREAMS.map(({ path, body }, nth) => send(path, body, nth));
  const streaming = await Promise.all(begun);
  const waiting = CALLS.map(({ path, body }, nth) => send(path, body, STREAMS.length + nth));
  await vi.waitUntil(() => upstream.received.length === STREAMS.length + CALLS.length, POLLING);

  // These requests have begun, but their heads are not complete.
  const halfSent = ['/v1/models', '/health/liveness', '/health/readiness', '/graphql?query={__typename}'].map(
    (path) => {
      const socket = connect(Number(new URL(server.url).port), '127.0.0.1').setNoDelay(true);
      socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\n`);
      return { socket, received: allOf(socket) };
    },
  );
  await Promise.all(halfSent.map(({ socket }) => once(socket, 'connect')));
  await waitForConnections(halfSent.length);
  const ending = server.end('SIGTERM');
  // Waits until the server refuses new connections.
  await vi.waitUntil(
    async () =>
      await fetch(`${server.url}/health/liveness`).then(
        () => false,
        () => true,
      ),
    POLLING,
  );
  for (const { socket } of halfSent) socket.write(`authorization: Bearer ${key}\r\n\r\n`);
  answersOnOpenConnections = await Promise.all(halfSent.map(({ received }) => received));

  for (const answer of [...streaming, ...(await Promise.all(waiting))]) {
    const text = await answer.text().catch(() => 'cut');
    answers.push({ status: answer.status, connection: answer.headers.get('connection'), text });
  }
  ended = await ending;
  restarted = await spawnServer(join(folder, 'data'), { args: ['--config', config] });
});

afterAll(async () => {
  await server.end('SIGKILL');
  await restarted?.end('SIGKILL');
  await upstream.stop();
  rmSync(folder, { recursive: true, force: true });
});

const send = (path: string, body: object, nth: number): Promise<Response> =>
  fetch(`${server.url}${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      traceparent: `00-${traceOf(nth)}-6666666666666666-01`,
    },
    body: JSON.stringify(body),
  });

/** Waits until the server has at least `more` connections in addition to those of the calls. */
async function waitForConnections(more: number): Promise<void> {
  await vi.waitUntil(async () => {
    const text = await (await fetch(`${server.url}/metrics`)).text();
    const open = Number(/^lensgate_connections_open (\d+)$/m.exec(text)?.[1]);
    return open >= STREAMS.length + CALLS.length + more;
  }, POLLING);
}

async function spendRowOf(nth: number): Promise<unknown> {
  const authorized = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const read = await fetch(`${restarted?.url}/v1/traces/${traceOf(nth)}`, { headers: authorized });
  const { spans } = (await read.json()) as { spans: { span_id: string }[] };
  const query = `query ($traceId: ID!, $spanId: ID!) { span(traceId: $traceId, spanId: $spanId) { spendRow { status errorCode } } }`;
  const variables = { traceId: traceOf(nth), spanId: spans[0]?.span_id };
  const answer = await fetch(`${restarted?.url}/graphql`, {
    method: 'POST',
    headers: authorized,
    body: JSON.stringify({ query, variables }),
  });
  const { data: found } = (await answer.json()) as { data: { span: { spendRow: unknown } } };
  return found.span.spendRow;
}

describe('a server at the end of the grace period after SIGTERM', () => {
  it.each(STREAMS.map((stream, nth) => [stream.what, stream, nth] as const))(
    'ends an open stream: %s',
    async (_what, { last, path }, nth) => {
      const { status, text } = answers[nth] ?? { status: 0, text: '' };
      const separator = path.endsWith(':streamGenerateContent') ? ',\r\n' : '\n\n';
      const events = text.split(separator).filter((event) => event !== '');
      expect([status, last === null ? text : events.at(-1)]).toEqual([200, last ?? 'cut']);
      expect(events.length).toBeGreaterThan(last === null ? 0 : 1);
      expect(await spendRowOf(nth)).toEqual({ status: 'FAILURE', errorCode: 'UNAVAILABLE' });
    },
  );

  it.each(CALLS.map((call, nth) => [call.what, call, STREAMS.length + nth] as const))(
    'answers 503 to a call that still waits for its answer: %s',
    async (_what, { answer }, nth) => {
      const { status, connection, text } = answers[nth] ?? { status: 0, connection: null, text: '{}' };
      expect({ status, connection, body: JSON.parse(text) }).toEqual({
        status: 503,
        connection: 'close',
        body: answer,
      });
      expect(await spendRowOf(nth)).toEqual({ status: 'FAILURE', errorCode: 'UNAVAILABLE' });
    },
  );

  it('exits cleanly and leaves no upstream call open', async () => {
    expect(ended).toEqual({ code: 0, signal: null });
    for (let nth = 0; nth < STREAMS.length + CALLS.length; nth += 1) await upstream.nextDisconnect();
    expect(await upstream.connections()).toBe(0);
  });
});

describe('a server during the grace period after SIGTERM', () => {
  it('refuses requests on open connections, except the liveness probe, and closes these connections', () => {
    const shown = answersOnOpenConnections.map((text) => {
      const [head = '', body = ''] = text.split('\r\n\r\n');
      return [
        head.split('\r\n', 1)[0],
        /\r\nconnection: close\b/i.test(head),
        // A chunked body has the size of its chunk before it, and the size 0 of the last chunk after it.
        JSON.parse(body.replace(/^[\da-f]+\r\n|\r\n0$/g, '')),
      ];
    });
    expect(shown).toEqual([
      ['HTTP/1.1 503 Service Unavailable', true, PROXY_ERROR],
      ['HTTP/1.1 200 OK', true, "I'm alive!"],
      ['HTTP/1.1 503 Service Unavailable', true, { status: 'shutting_down' }],
      ['HTTP/1.1 503 Service Unavailable', true, GRAPH_ERROR],
    ]);
  });
});
