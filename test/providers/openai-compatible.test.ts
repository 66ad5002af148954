import { LLMock } from '@copilotkit/aimock';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { collect } from '../../src/domain/bytes.ts';
import type { ChatDelta, Exchange } from '../../src/domain/chat/chat.ts';
import type { Deployment } from '../../src/domain/chat/provider.ts';
import { UpstreamFailed } from '../../src/domain/errors.ts';
import { Secret } from '../../src/domain/secret.ts';
import { createHttpProvider } from '../../src/providers/http-provider.ts';
import { openAiCompatible } from '../../src/providers/openai-compatible/openai-compatible.ts';
import { createHttpClient } from '../../src/runtime/http-client/client.ts';
import { gather } from '../support/byte-streams.ts';
import { aModelRequest, aDeployment } from '../support/chat.ts';
import { type FaultServer, startFaultServer } from '../support/fault-server.ts';

const CREDENTIAL = 'sk-upstream-credential-0123456789';
const http = createHttpClient({ silenceLimitMs: 600 });
const provider = createHttpProvider(http, openAiCompatible);
const NEVER = new AbortController().signal;

let mock: LLMock;
let faults: FaultServer;
let deployment: Deployment;

beforeAll(async () => {
  mock = new LLMock({ port: 0 });
  mock.onMessage('hello', { content: 'Hello, Zoë 😀', usage: { prompt_tokens: 5, completion_tokens: 4 } });
  mock.onMessage('think', { content: 'Done', reasoning: 'Let me see' });
  mock.onMessage('weather', { toolCalls: [{ name: 'get_weather', arguments: '{"city":"Oslo"}', id: 'call_1' }] });
  await mock.start();
  faults = await startFaultServer();
  deployment = aDeployment({ apiBase: `${faults.url}/v1`, apiKey: new Secret(CREDENTIAL) });
});

afterAll(async () => {
  await http.close();
  await Promise.all([mock.stop(), faults.stop()]);
});

const ask = (content: string, more: object = {}) =>
  aModelRequest({ model: 'm', messages: [{ role: 'user', content }], ...more });
const STREAM = { stream: true, stream_options: { include_usage: true } };

async function deltasOf(exchange: Exchange): Promise<readonly ChatDelta[]> {
  const deltas: ChatDelta[] = [];
  for await (const delta of exchange.deltas()) deltas.push(delta);
  return deltas;
}

const joined = (deltas: readonly ChatDelta[], kind: 'text' | 'reasoning'): string =>
  deltas.map((delta) => (delta.kind === kind ? delta.text : '')).join('');

async function failureOf(sending: Promise<Exchange>): Promise<UpstreamFailed> {
  const failure = await sending.then(
    () => new Error('it did not fail'),
    (error: unknown) => error,
  );
  if (failure instanceof UpstreamFailed) return failure;
  throw failure;
}

describe('a third-party implementation of the API', () => {
  const atMock = (): Deployment => aDeployment({ apiBase: `${mock.url}/v1` });

  it('returns a whole answer with the requested model name, and its typed deltas', async () => {
    const exchange = await provider.send(atMock(), ask('hello'), NEVER);
    const body: unknown = JSON.parse(Buffer.from((await collect(exchange.bytes, 1e6)) ?? []).toString());
    expect(body).toMatchObject({ model: 'm', choices: [{ message: { content: 'Hello, Zoë 😀' } }] });
    expect(await deltasOf(exchange)).toEqual([
      { kind: 'text', text: 'Hello, Zoë 😀' },
      { kind: 'finish', reason: 'stop' },
      {
        kind: 'usage',
        usage: { inputTokens: 5, outputTokens: 4, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 },
      },
    ]);
    expect(exchange.outcome()).toMatchObject({ responseModel: 'up-1', finishReason: 'stop' });
  });

  it('streams text, reasoning and tool calls', async () => {
    const hello = await deltasOf(await provider.send(atMock(), ask('hello', STREAM), NEVER));
    expect(joined(hello, 'text')).toBe('Hello, Zoë 😀');
    expect(hello.slice(-2)).toMatchObject([
      { kind: 'finish', reason: 'stop' },
      { kind: 'usage', usage: { inputTokens: 5, outputTokens: 4 } },
    ]);

    const thought = await deltasOf(await provider.send(atMock(), ask('think', STREAM), NEVER));
    expect([joined(thought, 'reasoning'), joined(thought, 'text')]).toEqual(['Let me see', 'Done']);

    const calls = (await deltasOf(await provider.send(atMock(), ask('weather', STREAM), NEVER))).filter(
      (delta) => delta.kind === 'toolCall',
    );
    expect(calls[0]).toMatchObject({ index: 0, id: 'call_1', name: 'get_weather' });
    expect(calls.map((call) => call.arguments).join('')).toBe('{"city":"Oslo"}');
  });
});

describe('the request to the upstream', () => {
  it('has the credential of the deployment, and goes to its address', async () => {
    faults.answer((response) => response.end('{"choices":[]}'));
    await provider.send(deployment, ask('x'), NEVER);
    const received = faults.received.at(-1);
    expect(received?.path).toBe('/v1/chat/completions');
    expect(received?.headers.authorization).toBe(`Bearer ${CREDENTIAL}`);
    expect(received?.headers['content-length']).toBe(String(received?.body.length));
    await provider.send({ ...deployment, apiKey: null }, ask('x'), NEVER);
    expect(faults.received.at(-1)?.headers.authorization).toBeUndefined();
  });
});

describe('an upstream that answers with an error', () => {
  it.each([
    [400, 'BadRequestError'],
    [401, 'AuthenticationError'],
    [403, 'PermissionDeniedError'],
    [404, 'NotFoundError'],
    [422, 'UnprocessableEntityError'],
    [429, 'RateLimitError'],
    [500, 'InternalServerError'],
    [503, 'ServiceUnavailableError'],
  ])('with status %i causes a %s with its message', async (status, name) => {
    faults.answer((response) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(`{"error":{"message":"no ${CREDENTIAL} here","type":"t","param":"p","code":"c"}}`);
    });
    const failure = await failureOf(provider.send(deployment, ask('x'), NEVER));
    const message = `litellm.${name}: ${name}: OpenAIException - no <secret> here`;
    const { upstreamStatus, upstreamType, upstreamCode, upstreamParam, provider: providerName } = failure;
    expect([failure.message, providerName, upstreamStatus, upstreamType, upstreamCode, upstreamParam]).toEqual([
      message,
      'openai',
      status,
      't',
      'c',
      'p',
    ]);
  });

  it.each([
    ['{"error":"plain words"}', 'plain words'],
    ['{"detail":"not here"}', 'not here'],
    ['{"message":"m"}', 'm'],
    ['<html>Bad gateway</html>', '<html>Bad gateway</html>'],
    ['', 'The upstream gave no reason.'],
    ['{"error":{"code":7}}', '{"code":7}'],
  ])('with the body %j causes the message %j', async (body, upstreamMessage) => {
    faults.answer((response) => {
      response.writeHead(502);
      response.end(body);
    });
    const failure = await failureOf(provider.send({ ...deployment, provider: 'groq' }, ask('x', STREAM), NEVER));
    expect(failure.message).toBe(`litellm.BadGatewayError: BadGatewayError: GroqException - ${upstreamMessage}`);
  });

  it.each([{}, STREAM])('in the body of a 200 fails with the status of that error (%j)', async (more) => {
    faults.answer((response) => response.end('{"error":{"message":"slow down","code":429}}'));
    const failure = await failureOf(provider.send(deployment, ask('x', more), NEVER));
    expect([failure.upstreamStatus, failure.message]).toEqual([
      429,
      'litellm.RateLimitError: RateLimitError: OpenAIException - slow down',
    ]);
  });

  it.each([
    ['text/event-stream', 'data: {"error":{"message":"slow down","code":"429"}}\n\n', 429],
    // The code is not a status.
    ['application/json', '{"error":{"message":"slow down","code":"rate_limit"}}', 500],
    ['text/plain', 'slow down', null],
    ['text/html', '<p>slow down</p>', null],
  ])('in the first event, or instead of a stream, fails the call (%s)', async (type, body, status) => {
    faults.answer((response) => {
      response.setHeader('content-type', type);
      response.end(body);
    });
    const failure = await failureOf(provider.send(deployment, ask('x', STREAM), NEVER));
    expect([failure.upstreamStatus, failure.message]).toEqual([
      status,
      expect.stringContaining(status === null ? 'cannot be used' : 'slow down'),
    ]);
  });
});

describe('an unreliable upstream', () => {
  const chunk = 'data: {"id":"1","model":"m","choices":[{"index":0,"delta":{"content":"é"},"finish_reason":null}]}\n\n';

  it('that cannot be reached fails the call', async () => {
    const gone = await startFaultServer();
    await gone.stop();
    const failure = await failureOf(provider.send({ ...deployment, apiBase: gone.url }, ask('x'), NEVER));
    expect([failure.upstreamStatus, failure.message]).toEqual([
      null,
      'litellm.APIConnectionError: APIConnectionError: OpenAIException - The upstream could not be reached (ECONNREFUSED).',
    ]);
  });

  it('that does not answer in time fails the call with a timeout', async () => {
    faults.answer(() => {});
    const failure = await failureOf(provider.send({ ...deployment, timeoutSeconds: 0.05 }, ask('x'), NEVER));
    expect(failure.message).toMatch(
      /^litellm\.Timeout: Timeout: OpenAIException - The upstream did not answer in time/,
    );
    await faults.nextDisconnect();
  });

  it.each([
    ['not JSON', 'it is not a chat completion'],
    ['[]', 'it is not a chat completion'],
    ['{"hello":1}', 'it is not a chat completion'],
  ])('that answers %j fails the call', async (body, fault) => {
    faults.answer((response) => response.end(body));
    const failure = await failureOf(provider.send(deployment, ask('x'), NEVER));
    expect(failure.message).toBe(
      `litellm.APIError: APIError: OpenAIException - The upstream's answer cannot be used: ${fault}.`,
    );
  });

  it('that closes the connection during an answer without streaming fails the call', async () => {
    faults.answer((response, socket) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('{"choices":', () => socket.destroy());
    });
    const failure = await failureOf(provider.send(deployment, ask('x'), NEVER));
    expect(failure.message).toContain('closed the connection before its answer was complete');
  });

  it('that answers in a protocol other than HTTP fails the call', async () => {
    faults.answer((_response, socket) => socket.end('SSH-2.0-OpenSSH_9.9\r\n'));
    const failure = await failureOf(provider.send(deployment, ask('x'), NEVER));
    expect(failure.message).toContain('sent what is not HTTP');
  });

  it('that closes the connection inside a character fails the stream after its last complete event', async () => {
    faults.answer((response, socket) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(chunk);
      const bytes = Buffer.from(chunk);
      // 0xc3 is the first of the two bytes of `é`.
      response.write(bytes.subarray(0, bytes.indexOf(0xc3) + 1), () => setImmediate(() => socket.destroy()));
    });
    const exchange = await provider.send(deployment, ask('x', STREAM), NEVER);
    const gathered = gather(exchange.bytes);
    await expect.poll(() => gathered.end).toBeInstanceOf(UpstreamFailed);
    expect(gathered.text()).toBe(chunk);
    expect(exchange.outcome()).toMatchObject({ responseId: '1', finishReason: null });
  });

  it('that stops sending during a stream fails the stream with a timeout', async () => {
    faults.answer((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(chunk);
    });
    const exchange = await provider.send(deployment, ask('x', STREAM), NEVER);
    const gathered = gather(exchange.bytes);
    await expect
      .poll(() => gathered.end)
      .toMatchObject({
        message: expect.stringMatching(/^litellm\.Timeout: /),
      });
    await faults.nextDisconnect();
  });

  it('that splits a stream inside characters and events changes none of its bytes', async () => {
    const whole = `${chunk}${chunk.replace('null', '"stop"')}data: [DONE]\n\n`;
    faults.answer((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const bytes = Buffer.from(whole);
      const writeFrom = (offset: number): void => {
        if (offset >= bytes.length) return void response.end();
        response.write(bytes.subarray(offset, offset + 7));
        setImmediate(writeFrom, offset + 7);
      };
      writeFrom(0);
    });
    const exchange = await provider.send(deployment, ask('x', STREAM), NEVER);
    const gathered = gather(exchange.bytes);
    await expect.poll(() => gathered.end).toBe('done');
    expect(gathered.text()).toBe(whole);
  });

  it('that sends an empty stream causes no failure', async () => {
    faults.answer((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end();
    });
    const exchange = await provider.send(deployment, ask('x', STREAM), NEVER);
    const gathered = gather(exchange.bytes);
    expect([gathered.text(), gathered.end]).toEqual(['', 'done']);
  });
});
