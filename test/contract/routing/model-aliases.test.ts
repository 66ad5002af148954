import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contentFilter } from '../guardrails/guarded-app.ts';
import { type RoutedApp, startRouted } from './routed.ts';

let setup: RoutedApp;

beforeAll(async () => {
  setup = await startRouted(
    [
      { name: 'big', up: 'up-big', info: { access_groups: ['large'] } },
      { name: 'small', up: 'up-small' },
      { name: 'failing', up: 'up-failing' },
      { name: 'any/*', up: 'wild-*' },
      { name: 'priced', up: 'up-priced', params: { input_cost_per_token: 1, output_cost_per_token: 1 } },
    ],
    {
      guardrails: [contentFilter('words', { blocked_words: [{ keyword: 'forbidden', action: 'BLOCK' }] })],
      router_settings: {
        num_retries: 0,
        disable_cooldowns: true,
        model_group_alias: {
          latest: 'big',
          // Takes precedence over the model with this name.
          small: 'big',
          secret: { model: 'big', hidden: true },
          shown: { model: 'any/one', hidden: false },
          chained: 'latest',
          nothing: 'missing',
          costly: 'priced',
        },
        fallbacks: [{ failing: ['latest'] }],
      },
    },
    { 'up-failing': { status: 500 } },
  );
});
afterAll(() => setup.stop());

const denied = (model: string) => ({
  status: 403,
  deployment: null,
  retryAfter: null,
  body: {
    error: {
      message: `The requested model '${model}' is not available for this API key, or the model name is invalid. Check the models available to you and try again.`,
      type: 'key_model_access_denied',
      param: 'model',
      code: '403',
    },
  },
});

async function listed(headers: Record<string, string> = {}): Promise<readonly string[]> {
  const response = await setup.app.call('GET', '/v1/models', undefined, headers);
  return ((await response.json()) as { data: { id: string }[] }).data.map(({ id }) => id);
}

describe('an alias of `model_group_alias`', () => {
  it.each([
    ['latest', 'up-big'],
    ['small', 'up-big'],
    ['secret', 'up-big'],
    ['shown', 'wild-*'],
  ])('%s is served by the deployment %s, and the answer has its name', async (alias, deployment) => {
    const { status, deployment: called, body } = await setup.ask({ model: alias });
    expect({ status, called, body }).toMatchObject({ status: 200, called: deployment, body: { model: alias } });
  });

  it.each([
    ['of an alias', 'chained'],
    ['of an unknown model', 'nothing'],
  ])('%s is an unknown model', async (_what, model) => {
    const message = `/chat/completions: Invalid model name passed in model=${model}. Call \`/v1/models\` to view available models for your key.`;
    expect(await setup.ask({ model })).toMatchObject({
      status: 400,
      body: { error: { message, type: 'invalid_request_error', param: null, code: '400' } },
    });
  });

  it('works as a fallback and in a stream', async () => {
    expect(await setup.deploymentsOf(1, { model: 'failing' })).toEqual(['up-big']);
    const openai = new OpenAI({ baseURL: `${setup.app.url}/v1`, apiKey: setup.app.adminKey });
    const stream = await openai.chat.completions.create({
      model: 'latest',
      messages: [{ role: 'user', content: 'x' }],
      stream: true,
    });
    const models = new Set<string>();
    for await (const chunk of stream) models.add(chunk.model);
    expect([...models]).toEqual(['latest']);
  });
});

it.each([
  ['/ide/chat/completions', { input: [{ role: 'user', content: 'x' }] }],
  ['/v1/responses', { input: 'x' }],
  ['/v1/messages', { messages: [{ role: 'user', content: 'x' }], max_tokens: 5 }],
  ['/v1beta/interactions', { input: 'x' }],
])('an alias is the model of the answer of %s, also with a guardrail', async (path, members) => {
  for (const guardrails of [[], ['words']]) {
    const response = await setup.app.call('POST', path, { model: 'latest', ...members, guardrails });
    expect([response.status, ((await response.json()) as { model: string }).model]).toEqual([200, 'latest']);
  }
});

describe('a key may call an alias', () => {
  it.each([
    ['that it lists', { models: ['latest'] }, 'latest'],
    ['of a model that it lists', { models: ['big'] }, 'latest'],
    ['of a model of its access group', { models: ['large'] }, 'latest'],
    ['behind an alias of its own', { models: ['latest'], aliases: { mine: 'latest' } }, 'mine'],
    ['that only the key has', { models: ['big'], aliases: { own: 'big' } }, 'own'],
  ])('%s; the answer has the name that it sent', async (_what, body, model) => {
    const answer = await setup.ask({ model }, await setup.keyWith(body));
    expect(answer).toMatchObject({ status: 200, deployment: 'up-big', body: { model } });
  });

  it('only', async () => {
    const alias = await setup.keyWith({ models: ['latest'] });
    expect(await setup.ask({ model: 'big' }, alias)).toEqual(denied('big'));
    const other = await setup.keyWith({ models: ['failing'] });
    expect(await setup.ask({ model: 'latest' }, other)).toEqual(denied('latest'));
  });
});

describe('limits and spend of an alias are those of its model:', () => {
  it('the budget and the calls per minute of a model', async () => {
    const limited = await setup.keyWith({ model_rpm_limit: { big: 1 } });
    const statuses = [];
    for (const model of ['big', 'latest', 'small']) statuses.push((await setup.ask({ model }, limited)).status);
    expect(statuses).toEqual([200, 429, 429]);
    const empty = await setup.keyWith({ model_max_budget: { priced: { budget_limit: 0, time_period: '1d' } } });
    for (const model of ['priced', 'costly']) expect((await setup.ask({ model }, empty)).status).toBe(422);
  });

  it('`x-litellm-model-group`', async () => {
    const response = await setup.app.call('POST', '/v1/chat/completions', {
      model: 'latest',
      messages: [{ role: 'user', content: 'x' }],
    });
    expect([response.status, response.headers.get('x-litellm-model-group')]).toEqual([200, 'big']);
    await response.text();
  });
});

describe('/v1/models', () => {
  it('lists aliases that are not hidden and that the key may call', async () => {
    expect(await listed()).toEqual(['big', 'small', 'failing', 'any/*', 'priced', 'demo', 'latest', 'shown', 'costly']);
    expect(await listed(await setup.keyWith({ models: ['latest'] }))).toEqual(['latest']);
  });

  it('has each alias, hidden ones too', async () => {
    for (const id of ['latest', 'secret'])
      expect(await (await setup.app.call('GET', `/v1/models/${id}`)).json()).toEqual({
        id,
        object: 'model',
        created: 1677610602,
        owned_by: 'openai',
      });
    expect((await setup.app.call('GET', '/v1/models/nothing')).status).toBe(404);
  });
});

describe('router settings', () => {
  it('of a key do not change aliases', async () => {
    const headers = await setup.keyWith({ router_settings: { model_group_alias: { latest: 'failing' } } });
    expect(await setup.deploymentsOf(1, { model: 'latest' }, headers)).toEqual(['up-big']);
  });
});
