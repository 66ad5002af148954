import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/start-app.ts';

let app: TestApp;
let upstream: Server;
/** Unfinished answers of the upstream. */
const unfinishedAnswers: ServerResponse[] = [];

const USAGE = { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 };
const chunk = (content: string): string =>
  `data: ${JSON.stringify({ id: 'a', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`;
const ANSWER = JSON.stringify({
  id: 'a',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
  usage: USAGE,
});

beforeAll(async () => {
  upstream = createServer((request, response) => {
    let text = '';
    request.on('data', (part: Buffer) => {
      text += part.toString();
    });
    request.on('end', () => {
      // The text of a call selects the fault. A stream sends one chunk and does not end.
      if (text.includes('silent')) return void unfinishedAnswers.push(response);
      if (text.includes('broken')) return void response.writeHead(500).end('{"error":{"message":"no"}}');
      if (text.includes('cut')) return void response.destroy();
      if (!text.includes('"stream":true'))
        return void response.writeHead(200, { 'content-type': 'application/json' }).end(ANSWER);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(chunk('hel'));
      unfinishedAnswers.push(response);
    });
  });
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  const base = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/v1`;
  const deployment = (name: string, overrides: object) => ({
    model_name: name,
    litellm_params: { model: 'openai/tiny-1', api_base: base, api_key: 'k', ...overrides },
  });
  app = await startApp({
    config: {
      model_list: [
        deployment('oa', {}),
        deployment('closed', { api_base: 'http://127.0.0.1:1/v1' }),
        deployment('late', { timeout: 0.3 }),
        { model_name: 'keyless', litellm_params: { model: 'groq/x' } },
      ],
    },
  });
});
afterAll(async () => {
  for (const response of unfinishedAnswers) response.destroy();
  await app.stop();
  upstream.close();
});

/**
 * Creates a key for one call at a time. Each call reserves a quarter of the token limit for its answer, and a few
 * tokens for its prompt. If three calls do not release their tokens, a fourth call is refused.
 */
async function newKeyForOneCall(): Promise<string> {
  const draft = { max_parallel_requests: 1, tpm_limit: 300, rpm_limit: 100 };
  const { key } = (await (await app.call('POST', '/key/generate', draft)).json()) as { key: string };
  return key;
}

function send(key: string, body: object, path = '/v1/chat/completions', signal?: AbortSignal): Promise<Response> {
  return fetch(`${app.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  });
}
const chat = (content: string, overrides: object = {}) => ({
  model: 'oa',
  messages: [{ role: 'user', content }],
  ...overrides,
});
const statusOf = async (answer: Promise<Response>): Promise<number> => {
  const { status, body } = await answer;
  await body?.cancel();
  return status;
};

describe('a failing call', () => {
  it.each<[string, object, string, number]>([
    ['of an unknown model', chat('hi', { model: 'unknown' }), '/v1/chat/completions', 400],
    ['without messages', { model: 'oa' }, '/v1/chat/completions', 400],
    ['of a misconfigured model', chat('hi', { model: 'keyless' }), '/v1/chat/completions', 503],
    ['of an upstream that refuses connections', chat('hi', { model: 'closed' }), '/v1/chat/completions', 500],
    ['of an upstream that answers 500', chat('broken'), '/v1/chat/completions', 500],
    ['of an upstream that closes the connection', chat('cut'), '/v1/chat/completions', 500],
    ['of an upstream that times out', chat('silent', { model: 'late' }), '/v1/chat/completions', 408],
    ['as a stream that fails before its first chunk', chat('broken', { stream: true }), '/v1/chat/completions', 500],
    ['to /v1/messages without max_tokens', chat('hi'), '/v1/messages', 400],
  ])('%s: releases its slot and its expected tokens', async (_case, body, path, status) => {
    const key = await newKeyForOneCall();
    for (let round = 0; round < 3; round += 1)
      // oxlint-disable-next-line no-await-in-loop -- one call at a time is allowed
      expect(await statusOf(send(key, body, path))).toBe(status);
    expect(await statusOf(send(key, chat('hi')))).toBe(200);
  });
});

describe('a call that its caller aborts', () => {
  it.each<[string, object]>([
    ['in the middle of a stream', chat('hi', { stream: true })],
    ['before the head of the answer', chat('silent')],
    ['before the first chunk', chat('silent', { stream: true })],
  ])('%s: releases its slot and its expected tokens', async (_case, body) => {
    const key = await newKeyForOneCall();
    const before = unfinishedAnswers.length;
    const abort = new AbortController();
    const pendingAnswer = send(key, body, '/v1/chat/completions', abort.signal).then(
      (answer) => answer,
      () => null,
    );
    await expect.poll(() => unfinishedAnswers.length).toBe(before + 1);
    // A stream has begun when its first chunk arrives.
    if (!JSON.stringify(body).includes('silent')) await (await pendingAnswer)?.body?.getReader().read();
    expect(await statusOf(send(key, chat('hi')))).toBe(429);
    abort.abort();
    await expect.poll(() => statusOf(send(key, chat('hi'))), { timeout: 10_000 }).toBe(200);
    await expect.poll(() => unfinishedAnswers.at(-1)?.destroyed, { timeout: 10_000 }).toBe(true);
  });

  it('counts as a request, as does a failed call', async () => {
    const draft = { rpm_limit: 3 };
    const { key } = (await (await app.call('POST', '/key/generate', draft)).json()) as { key: string };
    expect(await statusOf(send(key, chat('broken')))).toBe(500);
    const abort = new AbortController();
    const streamed = await send(key, chat('hi', { stream: true }), '/v1/chat/completions', abort.signal);
    await streamed.body?.getReader().read();
    abort.abort();
    expect(await statusOf(send(key, chat('hi')))).toBe(200);
    expect(await statusOf(send(key, chat('hi')))).toBe(429);
  });
});
