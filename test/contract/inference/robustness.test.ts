import { once } from 'node:events';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { upstreamErrorType } from '../../support/error-bodies.ts';
import { converseEvent } from '../../support/event-message.ts';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { UPSTREAM_WIRES, type UpstreamWire } from '../../support/upstream-wires.ts';
import { newTrace, spansIn } from './trace-spans.ts';

/** Public model, provider, and provider name in errors. Answers of `openai` are forwarded, answers of `bedrock` translated. */
const UPSTREAMS = [
  ['forwarded', 'openai', 'OpenAI'],
  ['translated', 'bedrock', 'Bedrock'],
] as const;

let upstream: FaultServer;
let app: TestApp;

beforeAll(async () => {
  upstream = await startFaultServer();
  const deployment = (model_name: string, provider: string, more: object = {}) => ({
    model_name,
    litellm_params: { model: `${provider}/up-1`, api_base: upstream.url, api_key: 'sk-upstream', ...more },
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

/** Sends a call. Returns the answer and the spend row. */
async function ask(body: object) {
  const { traceId, headers } = newTrace();
  const response = await app.call('POST', PATH, { messages: MESSAGES, ...body }, headers);
  const text = await response.text();
  await expect.poll(async () => (await app.call('GET', `/v1/traces/${traceId}`)).status).toBe(200);
  const [call] = (await spansIn(app, traceId)) as { spendRow: { status: string; errorCode: string | null } }[];
  return { status: response.status, text, row: [call?.spendRow.status, call?.spendRow.errorCode] };
}

const FAILED = ['FAILURE', 'UPSTREAM_FAILED'];

const refusal = (status: number, message: unknown): object => ({
  error: { message, type: upstreamErrorType(status), param: null, code: String(status) },
});

const wireOf = (provider: string): UpstreamWire => {
  const wire = UPSTREAM_WIRES.find((one) => one.provider === provider);
  if (!wire) throw new Error(`no wire for provider ${provider}`);
  return wire;
};

describe.each(UPSTREAMS)('an answer that is %s', (model, provider, name) => {
  const wire = wireOf(provider);

  it.each([false, true])('and times out (stream: %s)', async (stream) => {
    upstream.answer(() => {});
    const { status, text, row } = await ask({ model: `${model}-hasty`, stream });
    const message = expect.stringMatching(
      new RegExp(`^litellm\\.Timeout: Timeout: ${name}Exception - The upstream did not answer in time`),
    );
    expect({ status, body: JSON.parse(text), row }).toEqual({ status: 408, body: refusal(408, message), row: FAILED });
    await upstream.nextDisconnect();
  });

  it('and ends before its head', async () => {
    upstream.answer((_response, socket) => socket.destroy());
    const { status, text, row } = await ask({ model });
    const message = expect.stringMatching(
      new RegExp(`^litellm\\.APIConnectionError: APIConnectionError: ${name}Exception - `),
    );
    expect({ status, body: JSON.parse(text), row }).toEqual({ status: 500, body: refusal(500, message), row: FAILED });
    await upstream.nextDisconnect();
  });

  it('and ends in the middle', async () => {
    upstream.answer((response, socket) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
      response.write('{"choices":', () => socket.destroy());
    });
    const { status, text, row } = await ask({ model });
    const message = expect.stringContaining('closed the connection before its answer was complete');
    expect({ status, body: JSON.parse(text), row }).toEqual({ status: 500, body: refusal(500, message), row: FAILED });
    await upstream.nextDisconnect();
  });

  it.each([
    ['garbage', '\u0000\u0001 no JSON'],
    ['JSON of another shape', '{"hello":1}'],
    ['an HTML page', '<html>busy</html>'],
  ])('and is %s', async (_what, body) => {
    upstream.answer((response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(body);
    });
    const { status, text, row } = await ask({ model });
    const message = expect.stringMatching(
      new RegExp(`^litellm\\.APIError: APIError: ${name}Exception - The upstream's answer cannot be used: it is not `),
    );
    expect({ status, body: JSON.parse(text), row }).toEqual({ status: 500, body: refusal(500, message), row: FAILED });
  });

  it('and is an error with status 200', async () => {
    upstream.answer((response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(wire.refusal));
    });
    const { status, text, row } = await ask({ model });
    expect(text).toContain(`${name}Exception - slow down`);
    expect({ status: status >= 400, row }).toEqual({ status: true, row: FAILED });
  });

  it.each([
    ['a closed connection', null, 'closed the connection before its answer was complete'],
    ['garbage', Buffer.from('data: \u0000 nonsense\n\nand more of it, without an end'), 'cannot be '],
    ['a failure', wire.failure, 'slow down'],
  ])('and is a stream that ends with %s', async (_what, rest, words) => {
    upstream.answer((response, socket) => {
      response.writeHead(200, { 'content-type': wire.streams });
      response.write(wire.pieces('words')[0], () => {
        if (rest === null) socket.destroy();
        else response.end(rest);
      });
    });
    const { status, text, row } = await ask({ model, stream: true });
    const events = text.split('\n\n').filter((event) => event !== '');
    const last = JSON.parse(events.at(-1)?.replace(/^data: /, '') ?? '') as { error: object };
    expect(text).toContain('"content":"Grüß "');
    expect(last.error).toEqual({
      message: expect.stringContaining(words),
      type: expect.toSatisfy((type) => type === null || typeof type === 'string'),
      param: null,
      code: expect.stringMatching(/^\d{3}$/),
    });
    expect({ status, row }).toEqual({ status: 200, row: FAILED });
  });

  it('and never ends is cancelled when the client disconnects', async () => {
    upstream.answer((response) => {
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
    await upstream.nextDisconnect();
    await expect.poll(async () => (await app.call('GET', `/v1/traces/${traceId}`)).status).toBe(200);
    expect(await spansIn(app, traceId)).toMatchObject([{ spendRow: { status: 'FAILURE', errorCode: 'CLIENT_GONE' } }]);
  });

  it('and whose request has ten thousand messages is complete', async () => {
    upstream.answer((response) => response.end(JSON.stringify(wire.whole('words'))));
    const messages = Array.from({ length: 10_000 }, (_, index) => ({
      role: index % 2 === 0 ? 'user' : 'assistant',
      content: `message ${index}`,
    }));
    const { status, row } = await ask({ model, messages });
    expect({ status, row }).toEqual({ status: 200, row: ['SUCCESS', null] });
    const sent = JSON.parse(upstream.received.at(-1)?.body ?? '') as { messages: unknown[] };
    expect(sent.messages).toHaveLength(10_000);
  });
});

describe('a body of 100 MiB', () => {
  const SIZE = 100 * 1024 * 1024;
  const PIECE = Buffer.alloc(1024 * 1024, 0x20);

  /** Sends the body until the answer arrives. `sent` is the number of bytes written until then. */
  async function send(headers: Record<string, string>) {
    const outgoing = httpRequest(`${app.url}${PATH}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${app.adminKey}`, ...headers },
    });
    // An early refusal may close the connection during the send.
    outgoing.on('error', () => {});
    let sent = 0;
    const answered = once(outgoing, 'response') as Promise<[IncomingMessage]>;
    const next = (): void => {
      if (sent >= SIZE || outgoing.destroyed) return;
      sent += PIECE.length;
      outgoing.write(PIECE, next);
    };
    next();
    const [response] = await answered;
    let text = '';
    for await (const chunk of response) text += String(chunk);
    outgoing.destroy();
    return { status: response.statusCode, body: JSON.parse(text) as unknown, sent };
  }

  it.each([
    ['declared', { 'content-length': String(SIZE) }],
    ['undeclared', { 'transfer-encoding': 'chunked' }],
  ])('is refused before all of it is sent, if its length is %s', async (_how, headers) => {
    const before = upstream.received.length;
    const { status, body, sent } = await send(headers);
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
    expect(sent).toBeLessThan(SIZE);
    expect(upstream.received.length).toBe(before);
  });
});

it('a message of Bedrock with a wrong prelude checksum ends the stream', async () => {
  const head = converseEvent('messageStart', { role: 'assistant' });
  const corrupt = Buffer.from(head);
  corrupt.writeUInt32BE(0x7fffffff, 0);
  upstream.answer((response) => {
    response.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream' });
    response.write(Buffer.concat([head, corrupt]));
  });
  const { text, row } = await ask({ model: 'translated', stream: true });
  expect(text).toContain('checksum');
  expect(row).toEqual(FAILED);
  await upstream.nextDisconnect();
});

it('no test leaves a connection open', async () => {
  // Idle connections are kept for a short time.
  await expect.poll(() => upstream.connections()).toBe(0);
});
