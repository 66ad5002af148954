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

let upstream: FaultServer;
let app: TestApp;

/** A model whose calls cost 0.02 each. */
const modelList = () => [
  {
    model_name: 'priced',
    litellm_params: {
      model: 'openai/tiny-1',
      api_base: `${upstream.url}/v1`,
      api_key: 'k',
      input_cost_per_token: 0.01,
      output_cost_per_token: 0.01,
    },
  },
];

beforeAll(async () => {
  upstream = await startFaultServer();
  upstream.answer((response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(ANSWER);
  });
  app = await startApp({
    config: { litellm_settings: { budget_exceeded_throttle_percentage: 0.1 }, model_list: modelList() },
  });
});
afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

async function newKey(draft: object, server = app): Promise<{ key: string; token: string; name: string }> {
  const answer = await server.call('POST', '/key/generate', draft);
  expect(answer.status).toBe(200);
  const { key, token, key_name: name } = (await answer.json()) as Record<'key' | 'token' | 'key_name', string>;
  return { key, token, name };
}

async function chat(key: string, server = app) {
  const body = { model: 'priced', messages: [{ role: 'user', content: 'hi' }], max_tokens: 1 };
  const answer = await server.call('POST', '/v1/chat/completions', body, { authorization: `Bearer ${key}` });
  return { status: answer.status, headers: answer.headers, body: (await answer.json()) as unknown };
}

const overBudget = { max_budget: 1, spend: 1, throttle_on_budget_exceeded: true };
const budgetError = (message: unknown) => ({ error: { message, type: 'budget_exceeded', param: null, code: '422' } });
const keyBudgetError = (name: string) =>
  budgetError(`Budget has been exceeded! Key=None (${name}) Current cost: 1.0, Max budget: 1.0`);

describe('a key beyond its budget', () => {
  it('has a tenth of its request and token limits, also in rate limit headers and refusals', async () => {
    const { key, token } = await newKey({ ...overBudget, rpm_limit: 20, tpm_limit: 10_000 });
    const first = await chat(key);
    expect([first.status, Object.fromEntries(first.headers)]).toMatchObject([
      200,
      {
        'x-ratelimit-limit-requests': '2',
        'x-ratelimit-remaining-requests': '1',
        'x-ratelimit-limit-tokens': '1000',
        'x-ratelimit-api_key-limit-requests': '2',
        'x-litellm-key-rpm-limit': '20',
      },
    ]);
    expect((await chat(key)).status).toBe(200);
    const third = await chat(key);
    const reset = String.raw`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC`;
    expect([third.status, third.body]).toEqual([
      429,
      {
        error: {
          message: expect.stringMatching(
            new RegExp(
              `^Rate limit exceeded for api_key: ${token}. Limit type: requests. Current limit: 2, Remaining: 0. Limit resets at: ${reset}$`,
            ),
          ) as string,
          type: 'throttling_error',
          param: null,
          code: '429',
        },
      },
    ]);
    expect(Object.fromEntries(third.headers)).toMatchObject({ 'retry-after': '60', rate_limit_type: 'requests' });
  });

  it('keeps at least one request and one token', async () => {
    const { key, token } = await newKey({ ...overBudget, rpm_limit: 3, tpm_limit: 3 });
    const refusal = await chat(key);
    expect([refusal.status, refusal.headers.get('rate_limit_type')]).toEqual([429, 'tokens']);
    expect(refusal.body).toMatchObject({
      error: { message: expect.stringContaining(`api_key: ${token}. Limit type: tokens. Current limit: 1,`) as string },
    });
  });

  it('has its full limits before the budget is used up, and again after the budget is raised', async () => {
    const { key } = await newKey({ max_budget: 0.01, throttle_on_budget_exceeded: true, rpm_limit: 30 });
    expect((await chat(key)).headers.get('x-ratelimit-limit-requests')).toBe('30');
    const second = await chat(key);
    expect([second.status, second.headers.get('x-ratelimit-limit-requests')]).toEqual([200, '3']);
    await app.call('POST', '/key/update', { key, max_budget: 100 });
    const third = await chat(key);
    expect([third.status, third.headers.get('x-ratelimit-limit-requests')]).toEqual([200, '30']);
  });

  it('counts its calls in the budget of its team', async () => {
    const team = (await (await app.call('POST', '/team/new', { max_budget: 0.02 })).json()) as { team_id: string };
    const { key } = await newKey({ ...overBudget, rpm_limit: 90, team_id: team.team_id });
    expect((await chat(key)).status).toBe(200);
    const second = await chat(key);
    // The budget of a team refuses a spend above it, not one that equals it.
    expect(second.status).toBe(200);
    const third = await chat(key);
    expect([third.status, third.body]).toEqual([
      422,
      budgetError(`Budget has been exceeded! Team=${team.team_id} Current cost: 0.04, Max budget: 0.02`),
    ]);
    expect(third.headers.get('retry-after')).toBeNull();
  });

  it.each([
    ['throttle_on_budget_exceeded is false', { throttle_on_budget_exceeded: false, rpm_limit: 20 }],
    ['it has no request or token limit', { max_parallel_requests: 5 }],
  ])('is refused when %s', async (_reason, fields) => {
    const { key, name } = await newKey({ ...overBudget, ...fields });
    const answer = await chat(key);
    expect([answer.status, answer.body]).toEqual([422, keyBudgetError(name)]);
  });

  it('is refused when a budget window is used up', async () => {
    const budgetLimits = [{ budget_duration: '1d', max_budget: 0.00001 }];
    const { key } = await newKey({ ...overBudget, rpm_limit: 90, budget_limits: budgetLimits });
    expect((await chat(key)).status).toBe(200);
    const answer = await chat(key);
    expect([answer.status, answer.body]).toEqual([
      422,
      budgetError(expect.stringContaining('ExceededBudget: Key over 1d budget.')),
    ]);
  });
});

describe('budget_exceeded_throttle_percentage', () => {
  it('applies only while it is stored, and a value above 1 is refused', async () => {
    const appWithStoredSetting = await startApp({ config: { model_list: modelList() } });
    try {
      const { key, name } = await newKey({ ...overBudget, rpm_limit: 10 }, appWithStoredSetting);
      const before = await chat(key, appWithStoredSetting);
      expect([before.status, before.body]).toEqual([422, keyBudgetError(name)]);
      const field = { field_name: 'budget_exceeded_throttle_percentage', config_type: 'general_settings' };
      const withInvalidValue = await appWithStoredSetting.call('POST', '/config/field/update', {
        ...field,
        field_value: 1.5,
      });
      expect([withInvalidValue.status, await withInvalidValue.json()]).toEqual([
        400,
        { detail: { error: 'budget_exceeded_throttle_percentage must be a number in (0, 1] or empty.' } },
      ]);
      const withValidValue = await appWithStoredSetting.call('POST', '/config/field/update', {
        ...field,
        field_value: 0.5,
      });
      expect(withValidValue.status).toBe(200);
      const after = await chat(key, appWithStoredSetting);
      expect([after.status, after.headers.get('x-ratelimit-limit-requests')]).toEqual([200, '5']);
      await appWithStoredSetting.call('POST', '/config/field/delete', field);
      expect((await chat(key, appWithStoredSetting)).status).toBe(422);
    } finally {
      await appWithStoredSetting.stop();
    }
  });
});
