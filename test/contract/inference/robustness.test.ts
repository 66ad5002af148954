import { once } from 'node:events';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { upstreamErrorType } from '../../support/error-bodies.ts';
import { converseEvent } from '../../support/event-message.ts';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { UPSTREAM_WIRES, type UpstreamWire } from '../../support/upstream-wires.ts';
import { newTrace, spansIn } from './trace-spans.ts';

/**
 * Public model, provider, and provider name in errors. Answers of `openai` are forwarded, answers of `bedrock`
 * translated.
 */
const UPSTREAMS = [
  ['forwarded', 'openai', 'OpenAI'],
  ['translated', 'bedrock', 'Bedrock'],
] as const;

let upstream: FaultServer;
let app: TestApp;

beforeAll(async () => {
  upstream = await startFaultServer();
  const deployment = (model_name: string, provider: string, overrides: object = {}) => ({
    model_name,
    litellm_params: { model: `${provider}/up-1`, api_base: upstream.url, api_key: 'sk-upstream', ...overrides },
  });
  app = await startApp({
    config: {
      model_list: UPSTREAMS.flatMap(([model, provider]) => [
        deployment(model, provider),
        deployment(`${model}-hasty`, provider, { timeout: 0.2 }),
      ]),
    },
  });
});

afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

const MESSAGES = [{ role: 'user', content: 'x' }];
const PATH = '/v1/chat/completions';

/**
 * Sets the handler of the next requests. Resolves when the response to one of them is closed. `nextDisconnect` of the
 * upstream would also resolve because of a disconnect that an earlier test did not wait for.
 */
function answerUntilClosed(handle: Parameters<FaultServer['answer']>[0]): Promise<void> {
  const closed = Promise.withResolvers<void>();
  upstream.answer((response, socket, call) => {
    response.once('close', closed.resolve);
    handle(response, socket, call);
  });
  return closed.promise;
}

/** Sends a call. Returns the answer and the spend row. */
async function ask(body: object) {
  const { traceId, headers } = newTrace();
  const response = await app.call('POST', PATH, { messages: MESSAGES, ...body }, headers);
  const text = await response.text();
  await expect.poll(async () => (await app.call('GET', `/v1/traces/${traceId}`)).status).toBe(200);
  const [call] = (await spansIn(app, traceId)) as { spendRow: { status: string; errorCode: string | null } }[];
  return { status: response.status, text, spendRow: [call?.spendRow.status, call?.spendRow.errorCode] };
}

const FAILED = ['FAILURE', 'UPSTREAM_FAILED'];

const refusal = (status: number, message: unknown): object => ({
  error: { message, type: upstreamErrorType(status), param: null, code: String(status) },
});

const wireOf = (provider: string): UpstreamWire => {
  const wire = UPSTREAM_WIRES.find((candidate) => candidate.provider === provider);
  if (!wire) throw new Error(`no wire for provider ${provider}`);
  return wire;
};

describe.each(UPSTREAMS)('an upstream whose answers are %s', (model, provider, name) => {
  const wire = wireOf(provider);

  it.each([false, true])('times out: 408, and the upstream connection is closed (stream: %s)', async (stream) => {
    const closed = answerUntilClosed(() => {});
    const { status, text, spendRow } = await ask({ model: `${model}-hasty`, stream });
    const message = expect.stringMatching(
      new RegExp(`^litellm\\.Timeout: Timeout: ${name}Exception - The upstream did not answer in time`),
    );
    expect({ status, body: JSON.parse(text), spendRow }).toEqual({
      status: 408,
      body: refusal(408, message),
      spendRow: FAILED,
    });
    await closed;
  });

  it('closes the connection before the head of its answer: 500', async () => {
    const closed = answerUntilClosed((_response, socket) => socket.destroy());
    const { status, text, spendRow } = await ask({ model });
    const message = expect.stringMatching(
      new RegExp(`^litellm\\.APIConnectionError: APIConnectionError: ${name}Exception - `),
    );
    expect({ status, body: JSON.parse(text), spendRow }).toEqual({
      status: 500,
      body: refusal(500, message),
      spendRow: FAILED,
    });
    await closed;
  });

  it('closes the connection in the middle of its answer: 500', async () => {
    const closed = answerUntilClosed((response, socket) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
      response.write('{"choices":', () => socket.destroy());
    });
    const { status, text, spendRow } = await ask({ model });
    const message = expect.stringContaining('closed the connection before its answer was complete');
    expect({ status, body: JSON.parse(text), spendRow }).toEqual({
      status: 500,
      body: refusal(500, message),
      spendRow: FAILED,
    });
    await closed;
  });

  it.each([
    ['bytes that are not JSON', '\u0000\u0001 no JSON'],
    ['JSON of another shape', '{"hello":1}'],
    ['an HTML page', '<html>busy</html>'],
  ])('answers %s: 500', async (_answer, body) => {
    upstream.answer((response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(body);
    });
    const { status, text, spendRow } = await ask({ model });
    const message = expect.stringMatching(
      new RegExp(`^litellm\\.APIError: APIError: ${name}Exception - The upstream's answer cannot be used: it is not `),
    );
    expect({ status, body: JSON.parse(text), spendRow }).toEqual({
      status: 500,
      body: refusal(500, message),
      spendRow: FAILED,
    });
  });

  it('answers an error with status 200: the call fails', async () => {
    upstream.answer((response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(wire.refusal));
    });
    const { status, text, spendRow } = await ask({ model });
    expect(text).toContain(`${name}Exception - slow down`);
    expect({ isError: status >= 400, spendRow }).toEqual({ isError: true, spendRow: FAILED });
  });

  it.each([
    ['a closed connection', null, 'closed the connection before its answer was complete'],
    ['an invalid event', Buffer.from('data: \u0000 nonsense\n\nand more of it, without an end'), 'cannot be '],
    ['a failure', wire.failure, 'slow down'],
  ])('ends a stream with %s: the last event is an error', async (_ending, lastBytes, messagePart) => {
    upstream.answer((response, socket) => {
      response.writeHead(200, { 'content-type': wire.streams });
      response.write(wire.pieces('words')[0], () => {
        if (lastBytes === null) socket.destroy();
        else response.end(lastBytes);
      });
    });
    const { status, text, spendRow } = await ask({ model, stream: true });
    const events = text.split('\n\n').filter((event) => event !== '');
    const last = JSON.parse(events.at(-1)?.replace(/^data: /, '') ?? '') as { error: object };
    // The text of the first piece.
    expect(text).toContain('"content":"Grüß "');
    expect(last.error).toEqual({
      message: expect.stringContaining(messagePart),
      type: expect.toSatisfy((type) => type === null || typeof type === 'string'),
      param: null,
      code: expect.stringMatching(/^\d{3}$/),
    });
    expect({ status, spendRow }).toEqual({ status: 200, spendRow: FAILED });
  });

  it('never ends a stream: the upstream connection is closed when the client disconnects', async () => {
    const closed = answerUntilClosed((response) => {
      response.writeHead(200, { 'content-type': wire.streams });
      response.write(wire.pieces('words')[0]);
    });
    const { traceId, headers } = newTrace();
    const controller = new AbortController();
    const response = await fetch(`${app.url}${PATH}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${app.adminKey}`, ...headers },
      body: JSON.stringify({ model, messages: MESSAGES, stream: true }),
      signal: controller.signal,
    });
    const reader = response.body?.getReader();
    expect((await reader?.read())?.done).toBe(false);
    controller.abort();
    await closed;
    await expect.poll(async () => (await app.call('GET', `/v1/traces/${traceId}`)).status).toBe(200);
    expect(await spansIn(app, traceId)).toMatchObject([{ spendRow: { status: 'FAILURE', errorCode: 'CLIENT_GONE' } }]);
  });

  it('receives all of the ten thousand messages of a request', async () => {
    upstream.answer((response) => response.end(JSON.stringify(wire.whole('words'))));
    const messages = Array.from({ length: 10_000 }, (_, index) => ({
      role: index % 2 === 0 ? 'user' : 'assistant',
      content: `message ${index}`,
    }));
    const { status, spendRow } = await ask({ model, messages });
    expect({ status, spendRow }).toEqual({ status: 200, spendRow: ['SUCCESS', null] });
    const forwarded = JSON.parse(upstream.received.at(-1)?.body ?? '') as { messages: unknown[] };
    expect(forwarded.messages).toHaveLength(10_000);
  });
});

describe('a body of 100 MiB', () => {
  const SIZE = 100 * 1024 * 1024;
  const PIECE = Buffer.alloc(1024 * 1024, 0x20);

  /** Sends the body until the answer arrives. `sentBytes` is the number of bytes written until then. */
  async function send(headers: Record<string, string>) {
    const outgoing = httpRequest(`${app.url}${PATH}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${app.adminKey}`, ...headers },
    });
    // An early refusal may close the connection during the send.
    outgoing.on('error', () => {});
    let sentBytes = 0;
    const answered = once(outgoing, 'response') as Promise<[IncomingMessage]>;
    const next = (): void => {
      if (sentBytes >= SIZE || outgoing.destroyed) return;
      sentBytes += PIECE.length;
      outgoing.write(PIECE, next);
    };
    next();
    const [response] = await answered;
    let text = '';
    for await (const chunk of response) text += String(chunk);
    outgoing.destroy();
    return { status: response.statusCode, body: JSON.parse(text) as unknown, sentBytes };
  }

  it.each([
    ['declared', { 'content-length': String(SIZE) }],
    ['undeclared', { 'transfer-encoding': 'chunked' }],
  ])('is refused before the client has sent it completely, if its length is %s', async (_length, headers) => {
    const before = upstream.received.length;
    const { status, body, sentBytes } = await send(headers);
    expect({ status, body }).toEqual({
      status: 400,
      body: {
        error: {
          message: expect.stringMatching(/^Request size is too large\./),
          type: 'bad_request_error',
          param: 'content-length',
          code: '400',
        },
      },
    });
    expect(sentBytes).toBeLessThan(SIZE);
    expect(upstream.received.length).toBe(before);
  });
});

it('a message of Bedrock with a wrong prelude checksum ends the stream with an error', async () => {
  const head = converseEvent('messageStart', { role: 'assistant' });
  const corrupt = Buffer.from(head);
  // The prelude begins with the length of the message. The checksum does not match the new length.
  corrupt.writeUInt32BE(0x7fffffff, 0);
  const closed = answerUntilClosed((response) => {
    response.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream' });
    response.write(Buffer.concat([head, corrupt]));
  });
  const { text, spendRow } = await ask({ model: 'translated', stream: true });
  expect(text).toContain('checksum');
  expect(spendRow).toEqual(FAILED);
  await closed;
});

it('no test leaves a connection open', async () => {
  // Idle connections are kept for a short time.
  await expect.poll(() => upstream.connections()).toBe(0);
});
