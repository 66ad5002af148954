import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';

let app: TestApp;
let upstream: FaultServer;
let key: string;
let upstreamCalls = 0;

beforeAll(async () => {
  upstream = await startFaultServer();
  const model = (model_name: string, provider: string, price: number) => ({
    model_name,
    litellm_params: {
      model: `${provider}/up-1`,
      api_base: `${upstream.url}/v1`,
      api_key: 'k',
      input_cost_per_token: price,
      output_cost_per_token: price,
    },
  });
  app = await startApp({
    config: {
      model_list: [model('priced', 'openai', 0.1), model('free', 'openai', 0), model('decider', 'perplexity', 0.1)],
      general_settings: { pass_through_endpoints: [{ path: '/passed', target: `${upstream.url}/passed` }] },
    },
  });
  key = await newKey({});
  await app.call('POST', '/customer/new', { user_id: 'born-blocked', blocked: true });
  await app.call('POST', '/customer/block', { user_ids: ['refused'] });
});
beforeEach(() => {
  upstreamCalls = 0;
  upstream.answer((response) => {
    upstreamCalls += 1;
    response.writeHead(200, { 'content-type': 'application/json' });
    const message = { role: 'assistant', content: 'hello' };
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    const choices = [{ index: 0, message, finish_reason: 'stop' }];
    response.end(JSON.stringify({ id: 'a', object: 'chat.completion', created: 1, model: 'm', choices, usage }));
  });
});
afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

async function newKey(draft: object): Promise<string> {
  const answer = await app.call('POST', '/key/generate', draft);
  return ((await answer.json()) as { readonly key: string }).key;
}

const blockedMessage = (id: string) =>
  `End user=${id} is blocked. Update via \`/customer/unblock\` if you're an admin.`;
const refusal = (id: string) => ({
  error: { message: blockedMessage(id), type: 'permission_error', param: null, code: '403' },
});

const messages = [{ role: 'user', content: 'hi' }];
/** `noul` is the wire name of a yes-or-no question. */
const questions = { late: { type: 'noul', instructions: 'Is it late?' } };

async function send(path: string, body: object, headers: Record<string, string> = {}) {
  const answer = await app.call('POST', path, body, { authorization: `Bearer ${key}`, ...headers });
  return { status: answer.status, body: (await answer.json()) as unknown };
}
const chat = (user: string, members: object = {}) =>
  send('/v1/chat/completions', { model: 'priced', messages, user, max_tokens: 1, ...members });

describe('a call that names a blocked customer', () => {
  it.each<readonly [string, string, object]>([
    ['a chat', '/v1/chat/completions', { model: 'priced', messages }],
    ['a streamed chat', '/v1/chat/completions', { model: 'priced', messages, stream: true }],
    ['a chat of a free model', '/v1/chat/completions', { model: 'free', messages }],
    ['a completion', '/v1/completions', { model: 'priced', prompt: 'hi' }],
    ['a response', '/v1/responses', { model: 'priced', input: 'hi' }],
    ['an embedding', '/v1/embeddings', { model: 'priced', input: 'hi' }],
    ['an image', '/v1/images/generations', { model: 'priced', prompt: 'hi' }],
    ['speech', '/v1/audio/speech', { model: 'priced', input: 'hi', voice: 'alloy' }],
    ['a decision', '/v1/systemone', { model: 'decider', state: 'a', questions }],
    ['a pass-through call', '/passed', { a: 1 }],
  ])('is refused without an upstream call: %s', async (_kind, path, body) => {
    const headers = { 'x-litellm-customer-id': 'refused' };
    expect(await send(path, body, headers)).toEqual({ status: 403, body: refusal('refused') });
    expect(upstreamCalls).toBe(0);
  });

  it('is refused with an error in the format of Anthropic', async () => {
    const body = { model: 'priced', max_tokens: 1, messages, metadata: { user_id: 'refused' } };
    expect(await send('/v1/messages', body)).toMatchObject({
      status: 403,
      body: { error: { type: 'permission_error', message: blockedMessage('refused') } },
    });
    expect(upstreamCalls).toBe(0);
  });

  it('is refused with the admin key, and for a customer that was created blocked', async () => {
    const body = { model: 'priced', messages, user: 'born-blocked' };
    const answer = await app.call('POST', '/v1/chat/completions', body);
    expect([answer.status, await answer.json()]).toEqual([403, refusal('born-blocked')]);
    expect(upstreamCalls).toBe(0);
  });

  it('is admitted after the customer is unblocked, and refused again after the customer is blocked', async () => {
    expect((await chat('toggled')).status).toBe(200);
    const change = (action: 'block' | 'unblock') => app.call('POST', `/customer/${action}`, { user_ids: ['toggled'] });
    expect((await change('block')).status).toBe(200);
    expect((await chat('toggled')).status).toBe(403);
    expect((await change('unblock')).status).toBe(200);
    expect((await chat('toggled')).status).toBe(200);
    expect((await app.call('POST', '/customer/update', { user_id: 'toggled', blocked: true })).status).toBe(200);
    expect((await chat('toggled')).status).toBe(403);
    expect((await chat('another')).status).toBe(200);
    expect(upstreamCalls).toBe(3);
  });

  it('is refused without a cost', async () => {
    // A call costs 0.2 USD, so three charged calls would use up the budget.
    const limited = await newKey({ max_budget: 0.25 });
    const headers = { authorization: `Bearer ${limited}` };
    for (let call = 0; call < 3; call += 1)
      expect((await send('/v1/chat/completions', { model: 'priced', messages, user: 'refused' }, headers)).status).toBe(
        403,
      );
    // `max_tokens` keeps the reserved cost of the call below the budget.
    const admitted = { model: 'priced', messages, max_tokens: 1 };
    expect((await send('/v1/chat/completions', admitted, headers)).status).toBe(200);
  });
});
