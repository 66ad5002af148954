import { afterEach, describe, expect, it } from 'vitest';
import { startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';

/** Each answer costs 1 USD. */
const ANSWER = JSON.stringify({
  id: 'a',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});

let cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(cleanups.map((end) => end()));
  cleanups = [];
});

interface Model {
  readonly name: string;
  readonly provider: string;
  readonly params?: object;
}

async function serve(models: readonly Model[], router: object, settings: object = {}) {
  const upstream = await startFaultServer();
  const failing = new Set<string>();
  upstream.answer((response, _socket, { body }) => {
    const { model } = JSON.parse(body) as { readonly model: string };
    response.writeHead(failing.has(model) ? 500 : 200, { 'content-type': 'application/json' });
    response.end(failing.has(model) ? '{"error":{"message":"broken"}}' : ANSWER);
  });
  const app: TestApp = await startApp({
    config: {
      router_settings: router,
      ...settings,
      model_list: models.map(({ name, provider, params }) => ({
        model_name: name,
        litellm_params: {
          model: `${provider}/${provider}-up`,
          api_base: `${upstream.url}/v1`,
          api_key: 'k',
          input_cost_per_token: 0,
          output_cost_per_token: 1,
          ...params,
        },
        model_info: { id: `${name}-${provider}` },
      })),
    },
  });
  cleanups.push(
    () => app.stop(),
    () => upstream.stop(),
  );
  /** Sends a call. Returns the id of the deployment that answers, or the refusal. */
  const ask = async (fields: object = {}, key = app.adminKey) => {
    const body = { model: 'm', messages: [{ role: 'user', content: 'hi' }], max_tokens: 1, ...fields };
    const answer = await app.call('POST', '/v1/chat/completions', body, { authorization: `Bearer ${key}` });
    const { error } = (await answer.json()) as { readonly error?: { readonly message: string } };
    return error === undefined ? answer.headers.get('x-litellm-model-id') : { status: answer.status, error };
  };
  return { app, upstream, failing, ask };
}

const RESET = /Budget window: 1d\. Budget resets at: \d{4}-\d\d-\d\d 00:00:00 UTC/;

describe('budgets of providers', () => {
  it('exclude a provider if its budget is used up; if all are used up, the refusal has provider, window and reset time', async () => {
    const { ask } = await serve(
      [
        { name: 'm', provider: 'openai' },
        { name: 'm', provider: 'groq' },
      ],
      {
        provider_budget_config: {
          openai: { budget_limit: 2, time_period: '1d' },
          groq: { max_budget: 1, budget_duration: '1d' },
        },
      },
    );
    const answered = [await ask(), await ask(), await ask()];
    expect(answered.filter((id) => id === 'm-openai')).toHaveLength(2);
    expect(answered.filter((id) => id === 'm-groq')).toHaveLength(1);
    const refused = await ask();
    expect(refused).toMatchObject({
      status: 429,
      error: { type: 'budget_exceeded', param: null, code: '429' },
    });
    const { message } = (refused as { readonly error: { readonly message: string } }).error;
    expect(message).toContain('No deployments available - crossed budget for provider: Exceeded budget for provider ');
    expect(message).toContain('Exceeded budget for provider openai: 2.0 >= 2.0. ');
    expect(message).toContain('Exceeded budget for provider groq: 1.0 >= 1.0. ');
    expect(message).toMatch(RESET);
  });

  it('cause a fallback if the budget of the only provider of the first model is used up', async () => {
    const { ask } = await serve(
      [
        { name: 'm', provider: 'openai' },
        { name: 'spare', provider: 'groq' },
        { name: 'spare', provider: 'mistral' },
      ],
      {
        provider_budget_config: {
          openai: { budget_limit: 0, time_period: '1d' },
          groq: { budget_limit: 0, time_period: '1d' },
        },
      },
    );
    expect(await ask({ fallbacks: ['spare'] })).toBe('spare-mistral');
    expect(await ask({ fallbacks: ['spare'] })).toBe('spare-mistral');
    expect(await ask()).toMatchObject({ status: 429 });
  });

  it('apply to retries, and count for the provider that answered', async () => {
    const { ask, app, failing } = await serve(
      [
        { name: 'm', provider: 'openai' },
        { name: 'm', provider: 'groq' },
        { name: 'm', provider: 'mistral' },
      ],
      {
        num_retries: 3,
        disable_cooldowns: true,
        provider_budget_config: {
          openai: { budget_limit: 5 },
          groq: { budget_limit: 0 },
          mistral: { budget_limit: 5 },
        },
      },
    );
    failing.add('openai-up');
    expect([await ask(), await ask(), await ask()]).toEqual(['m-mistral', 'm-mistral', 'm-mistral']);
    const listed = await app.call('GET', '/provider/budgets');
    expect(await listed.json()).toEqual({
      providers: {
        openai: { budget_limit: 5, time_period: null, spend: 0, budget_reset_at: null },
        groq: { budget_limit: 0, time_period: null, spend: 0, budget_reset_at: null },
        mistral: { budget_limit: 5, time_period: null, spend: 3, budget_reset_at: null },
      },
    });
  });

  it('do not apply to free models or to providers without a budget', async () => {
    const { ask } = await serve(
      [
        { name: 'm', provider: 'openai', params: { output_cost_per_token: 0 } },
        { name: 'other', provider: 'groq' },
      ],
      { provider_budget_config: { openai: { budget_limit: 0, time_period: '1d' } } },
    );
    expect([await ask(), await ask()]).toEqual(['m-openai', 'm-openai']);
    expect([await ask({ model: 'other' }), await ask({ model: 'other' })]).toEqual(['other-groq', 'other-groq']);
  });

  it('count the reservations of active calls', async () => {
    const { ask } = await serve([{ name: 'm', provider: 'openai' }], {
      provider_budget_config: { openai: { budget_limit: 3, time_period: '1d' } },
    });
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask()));
    expect(answers.filter((answer) => answer === 'm-openai')).toHaveLength(3);
  });

  it('can be set at run time', async () => {
    const { ask, app } = await serve(
      [{ name: 'm', provider: 'openai' }],
      {},
      {
        general_settings: { store_model_in_db: true },
      },
    );
    expect(await ask()).toBe('m-openai');
    const changed = await app.call('POST', '/config/update', {
      router_settings: { provider_budget_config: { openai: { budget_limit: 1, time_period: '1d' } } },
    });
    expect(changed.status).toBe(200);
    expect([await ask(), await ask()]).toEqual(['m-openai', expect.objectContaining({ status: 429 })]);
  });

  it('make the start fail if they are malformed', async () => {
    await expect(
      serve([{ name: 'm', provider: 'openai' }], { provider_budget_config: { openai: { budget_limit: -1 } } }),
    ).rejects.toThrow(/budget_limit.*is not an amount in USD from 0/s);
    await expect(
      serve([{ name: 'm', provider: 'openai' }], { provider_budget_config: { openai: { time_period: 'soon' } } }),
    ).rejects.toThrow(/time_period.*is not a duration/s);
  });
});

describe('budgets of deployments', () => {
  it('exclude a deployment if its budget is used up; if all are used up, the refusal has deployment and amounts', async () => {
    const { ask } = await serve(
      [
        { name: 'm', provider: 'openai', params: { max_budget: 1, budget_duration: '1d' } },
        { name: 'm', provider: 'groq', params: { max_budget: 1, budget_duration: '1d' } },
      ],
      {},
    );
    expect(new Set([await ask(), await ask()])).toEqual(new Set(['m-groq', 'm-openai']));
    const refused = (await ask()) as { readonly status: number; readonly error: { readonly message: string } };
    expect(refused.status).toBe(429);
    expect(refused.error.message).toContain(
      'No deployments available - crossed budget: Exceeded budget for deployment',
    );
    expect(refused.error.message).toContain(
      'model_name: m, litellm_params.model: groq/groq-up, model_id: m-groq: 1.0 >= 1.0',
    );
  });
});

describe('GET /provider/budgets', () => {
  it('providerBudgets.list 200: limit, period, spend and end of the window; the graph has the same', async () => {
    const { ask, app } = await serve([{ name: 'm', provider: 'openai' }], {
      provider_budget_config: { openai: { budget_limit: 2.5, time_period: '1d' } },
    });
    await ask();
    const nextMidnight = new Date(new Date().setUTCHours(24, 0, 0, 0)).toISOString();
    const answer = await app.call('GET', '/provider/budgets');
    expect([answer.status, await answer.json()]).toEqual([
      200,
      { providers: { openai: { budget_limit: 2.5, time_period: '1d', spend: 1, budget_reset_at: nextMidnight } } },
    ]);
    const query = '{ providerBudgets { provider limitUsd duration spentUsd resetAt } }';
    const graph = await app.call('POST', '/graphql', { query });
    expect(await graph.json()).toEqual({
      data: {
        providerBudgets: [
          { provider: 'openai', limitUsd: '2.5', duration: '1d', spentUsd: '1', resetAt: nextMidnight },
        ],
      },
    });
  });

  it('providerBudgets.list 200: no budgets are configured', async () => {
    const { app } = await serve([{ name: 'm', provider: 'openai' }], {});
    const answer = await app.call('GET', '/provider/budgets');
    expect([answer.status, await answer.json()]).toEqual([200, { providers: {} }]);
  });

  it('providerBudgets.list 401: without a key, and with the key of a user', async () => {
    const { app } = await serve([{ name: 'm', provider: 'openai' }], {});
    const anonymous = await app.call('GET', '/provider/budgets', undefined, { authorization: '' });
    expect(anonymous.status).toBe(401);
    await app.call('POST', '/user/new', { user_id: 'u', auto_create_key: false });
    const created = await app.call('POST', '/key/generate', { user_id: 'u' });
    const { key } = (await created.json()) as { readonly key: string };
    const ofUser = await app.call('GET', '/provider/budgets', undefined, { authorization: `Bearer ${key}` });
    expect([ofUser.status, await ofUser.json()]).toEqual([
      401,
      { error: expect.objectContaining({ type: 'auth_error', param: 'None', code: '401' }) },
    ]);
  });
});
