import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/start-app.ts';

let app: TestApp;
let upstream: Server;
/** Makes the upstream answer the request that it holds. */
let release: () => void = () => {};
/** Is called when a request that the upstream holds has arrived. */
let arrived: () => void = () => {};

beforeAll(async () => {
  const answer = JSON.stringify({
    id: 'a',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 },
  });
  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (Buffer.concat(chunks).includes('hold')) {
      const released = Promise.withResolvers<void>();
      release = released.resolve;
      arrived();
      await released.promise;
    }
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(answer);
  }
  upstream = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  const base = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/v1`;
  const deployment = (name: string) => ({
    model_name: name,
    litellm_params: { model: 'openai/tiny-1', api_base: base, api_key: 'k' },
  });
  app = await startApp({ config: { model_list: [deployment('oa'), deployment('other')] } });
});
afterAll(async () => {
  await app.stop();
  upstream.close();
});

async function newKey(draft: object): Promise<{ key: string; token: string }> {
  const answer = await app.call('POST', '/key/generate', draft);
  return (await answer.json()) as { key: string; token: string };
}

async function chat(key: string, model = 'oa', content = 'hi') {
  const body = { model, messages: [{ role: 'user', content }] };
  const answer = await app.call('POST', '/v1/chat/completions', body, { authorization: `Bearer ${key}` });
  return { status: answer.status, headers: answer.headers, body: await answer.json() };
}

const RESET = String.raw`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC`;
const refused = (subject: string, type: string, limit: number) => ({
  error: {
    message: expect.stringMatching(
      new RegExp(
        `^Rate limit exceeded for ${subject}. Limit type: ${type}. Current limit: ${limit}, Remaining: 0. Limit resets at: ${RESET}$`,
      ),
    ) as string,
    type: 'throttling_error',
    param: null,
    code: '429',
  },
});

describe('the limits of a key', () => {
  it('refuse a request above the maximum of requests per minute', async () => {
    const { key, token } = await newKey({ rpm_limit: 1 });
    const first = await chat(key);
    expect(first.status).toBe(200);
    expect(Object.fromEntries(first.headers)).toMatchObject({
      'x-litellm-key-rpm-limit': '1',
      'x-ratelimit-limit-requests': '1',
      'x-ratelimit-remaining-requests': '0',
      'x-ratelimit-api_key-limit-requests': '1',
      'x-ratelimit-api_key-remaining-requests': '0',
    });
    const second = await chat(key);
    expect([second.status, second.body]).toEqual([429, refused(`api_key: ${token}`, 'requests', 1)]);
    expect(Object.fromEntries(second.headers)).toMatchObject({
      'retry-after': '60',
      rate_limit_type: 'requests',
      reset_at: expect.stringMatching(new RegExp(`^${RESET}$`)) as string,
      'x-litellm-key-rpm-limit': '1',
    });
    expect((await chat((await newKey({ rpm_limit: 1 })).key)).status).toBe(200);
  });

  it('refuse a request after earlier calls have used the tokens of the minute', async () => {
    const { key, token } = await newKey({ tpm_limit: 5 });
    expect((await chat(key)).status).toBe(200);
    const second = await chat(key);
    expect([second.status, second.body]).toEqual([429, refused(`api_key: ${token}`, 'tokens', 5)]);
    expect(second.headers.get('rate_limit_type')).toBe('tokens');
  });

  it('subtract the expected tokens of the call from the remaining tokens in the header', async () => {
    const { key } = await newKey({ tpm_limit: 1_000 });
    // A call is expected to use 1 input token and 250 output tokens, a quarter of the limit. The first call used 11.
    expect((await chat(key)).headers.get('x-ratelimit-remaining-tokens')).toBe('749');
    expect((await chat(key)).headers.get('x-ratelimit-remaining-tokens')).toBe('738');
  });

  it('refuse a call above the maximum of parallel requests', async () => {
    const { key, token } = await newKey({ max_parallel_requests: 1 });
    const heldCallArrival = Promise.withResolvers<void>();
    arrived = heldCallArrival.resolve;
    const heldCall = chat(key, 'oa', 'hold');
    await heldCallArrival.promise;
    const second = await chat(key);
    expect([second.status, second.body]).toEqual([429, refused(`api_key: ${token}`, 'max_parallel_requests', 1)]);
    release();
    expect((await heldCall).status).toBe(200);
    expect((await chat(key)).status).toBe(200);
  });

  it('count each model separately', async () => {
    const { key, token } = await newKey({ model_rpm_limit: { oa: 1 } });
    const first = await chat(key);
    expect(first.headers.get('x-litellm-key-remaining-requests-oa')).toBe('0');
    const second = await chat(key);
    expect([second.status, second.body]).toEqual([429, refused(`model_per_key: ${token}:oa`, 'requests', 1)]);
    expect((await chat(key, 'other')).status).toBe(200);
  });

  it('count an alias as its model', async () => {
    const { key } = await newKey({ model_rpm_limit: { oa: 1 }, aliases: { fast: 'oa' } });
    expect((await chat(key, 'fast')).status).toBe(200);
    expect((await chat(key)).status).toBe(429);
  });
});
