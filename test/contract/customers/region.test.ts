import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';

const ANSWER = JSON.stringify({
  id: 'a',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});

let app: TestApp;
let upstream: FaultServer;

beforeAll(async () => {
  upstream = await startFaultServer();
  upstream.answer((response, _socket, { body }) => {
    const { model } = JSON.parse(body) as { readonly model: string };
    response.writeHead(model === 'broken' ? 500 : 200, { 'content-type': 'application/json' });
    response.end(model === 'broken' ? '{"error":{"message":"broken"}}' : ANSWER);
  });
  const deployment = (name: string, id: string, params: object = {}, model = 'up') => ({
    model_name: name,
    litellm_params: { model: `openai/${model}`, api_base: `${upstream.url}/v1`, api_key: 'k', ...params },
    model_info: { id },
  });
  app = await startApp({
    config: {
      model_list: [
        deployment('both', 'both-us', { region_name: 'us-east-1' }),
        deployment('both', 'both-eu', { region_name: 'eu-central-1' }),
        deployment('american', 'american-us', { region_name: 'us' }),
        deployment('anywhere', 'anywhere'),
        deployment('broken', 'broken-eu', { region_name: 'eu' }, 'broken'),
      ],
    },
  });
  await app.call('POST', '/customer/new', { user_id: 'strict', allowed_model_region: 'eu' });
  await app.call('POST', '/customer/new', {
    user_id: 'with-default',
    allowed_model_region: 'eu',
    default_model: 'both',
  });
  await app.call('POST', '/customer/new', { user_id: 'any-region' });
});
afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

/** Makes a chat call. Returns the id of the deployment that answered, or status and error of a refusal. */
async function ask(user: string, model: string, members: object = {}) {
  const body = { model, user, messages: [{ role: 'user', content: 'hi' }], ...members };
  const answer = await app.call('POST', '/v1/chat/completions', body);
  const { error } = (await answer.json()) as { readonly error?: object };
  return error === undefined ? answer.headers.get('x-litellm-model-id') : { status: answer.status, error };
}

describe('a customer with allowed_model_region', () => {
  it('is served by deployments of the region only', async () => {
    const ids = await Promise.all(Array.from({ length: 4 }, () => ask('strict', 'both')));
    expect(new Set(ids)).toEqual(new Set(['both-eu']));
    const others = await Promise.all(Array.from({ length: 4 }, () => ask('any-region', 'both')));
    expect(new Set(others)).toEqual(new Set(['both-eu', 'both-us']));
  });

  it.each(['american', 'anywhere'])('is refused if the model has no deployment of the region: %s', async (model) => {
    expect(await ask('strict', model)).toMatchObject({
      status: 403,
      error: {
        message: `No deployment of the model ${model} is in the region eu, which the customer's calls may not leave.`,
      },
    });
    expect(await ask('any-region', model)).toMatch(new RegExp(`^${model}`));
  });

  it('gets the default model if the requested model has no deployment of the region', async () => {
    expect([await ask('with-default', 'american'), await ask('with-default', 'american')]).toEqual([
      'both-eu',
      'both-eu',
    ]);
    expect(await ask('with-default', 'both')).toBe('both-eu');
  });

  it('is not served outside the region by a fallback', async () => {
    expect(await ask('strict', 'broken', { fallbacks: ['american'] })).toMatchObject({ status: 500 });
    expect(await ask('strict', 'broken', { fallbacks: ['american', 'both'] })).toBe('both-eu');
  });

  it('is refused with 400 for an unknown model', async () => {
    expect(await ask('strict', 'unknown')).toMatchObject({ status: 400 });
  });
});
