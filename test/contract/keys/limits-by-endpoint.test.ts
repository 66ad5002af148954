import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/start-app.ts';

let app: TestApp;

/** Address without a server. The limits refuse each call before it is forwarded. */
const UPSTREAM = 'http://127.0.0.1:9/v1';

beforeAll(async () => {
  const model = (model_name: string, mode: string) => ({
    model_name,
    litellm_params: { model: 'openai/m', api_base: UPSTREAM, api_key: 'k', input_cost_per_token: 1 },
    model_info: { mode },
  });
  app = await startApp({
    config: {
      model_list: [
        model('chat', 'chat'),
        model('embedding', 'embedding'),
        model('image', 'image_generation'),
        model('speech', 'audio_speech'),
        model('decider', 'evaluation'),
      ],
      general_settings: {
        pass_through_endpoints: [{ path: '/forwarded', target: UPSTREAM, auth: true }],
      },
    },
  });
});
afterAll(() => app.stop());

const messages = [{ role: 'user', content: 'hi' }];
const CALLS = {
  chat: ['/v1/chat/completions', { model: 'chat', messages }],
  completions: ['/v1/completions', { model: 'chat', prompt: 'hi' }],
  messages: ['/v1/messages', { model: 'chat', messages, max_tokens: 1 }],
  responses: ['/v1/responses', { model: 'chat', input: 'hi' }],
  embeddings: ['/v1/embeddings', { model: 'embedding', input: 'hi' }],
  images: ['/v1/images/generations', { model: 'image', prompt: 'hi' }],
  speech: ['/v1/audio/speech', { model: 'speech', input: 'hi', voice: 'x' }],
  moderations: ['/v1/moderations', { model: 'chat', input: 'hi' }],
  rerank: ['/v1/rerank', { model: 'chat', query: 'q', documents: ['d'] }],
  ide: ['/ide/chat/completions', { model: 'chat', input: messages }],
  decisions: [
    '/v1/decisions',
    { model: 'decider', input: 'x', questions: [{ type: 'predicate', name: 'a', instructions: 'Is it?' }] },
  ],
  'pass-through': ['/forwarded', { model: 'chat' }],
} as const;

/** Creates a key with these limits, and sends one call with it. */
async function callWithLimits(name: keyof typeof CALLS, limits: object) {
  const created = await app.call('POST', '/key/generate', {
    key_alias: `${name} ${JSON.stringify(limits)}`,
    ...limits,
  });
  const { key } = (await created.json()) as { key: string };
  const [path, body] = CALLS[name];
  const answer = await app.call('POST', path, body, { authorization: `Bearer ${key}` });
  return { status: answer.status, headers: Object.fromEntries(answer.headers), body: await answer.json() };
}

/** Error message of a body, in every dialect. */
const messageOf = ({ error }: { readonly error?: { readonly message?: unknown } }): unknown => error?.message;

describe.each(Object.keys(CALLS) as (keyof typeof CALLS)[])('a call of %s', (name) => {
  it('above the request limit of its key is refused with 429 and a retry time', async () => {
    const { status, headers, body } = await callWithLimits(name, { rpm_limit: 0 });
    const reset = String.raw`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC`;
    const message = `^Rate limit exceeded for api_key: [0-9a-f]{64}. Limit type: requests. Current limit: 0, Remaining: 0. Limit resets at: ${reset}$`;
    expect([status, messageOf(body as object)]).toEqual([429, expect.stringMatching(new RegExp(message))]);
    expect(headers).toMatchObject({
      'retry-after': '60',
      rate_limit_type: 'requests',
      reset_at: expect.stringMatching(new RegExp(`^${reset}$`)) as string,
      'x-litellm-key-rpm-limit': '0',
    });
  });

  it('above the budget of its key is refused with 422, with window and reset time', async () => {
    const { status, headers, body } = await callWithLimits(name, { max_budget: 0, budget_duration: '1d' });
    const message =
      /^Budget has been exceeded! Key=\S+ {.+} \(sk-...\S{4}\) Current cost: 0.0, Max budget: 0.0. Budget window: 1d. Budget resets at: \d{4}-\d\d-\d\d 00:00:00 UTC$/;
    expect([status, messageOf(body as object)]).toEqual([422, expect.stringMatching(message)]);
    expect(headers['retry-after']).toBeUndefined();
  });
});
