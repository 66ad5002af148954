import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { POLLING } from '../../support/polling.ts';

let app: TestApp;
let upstream: FaultServer;

/** Budget in USD below the cost of one call: the first call is admitted, and the second is not. */
const BUDGET_FOR_ONE_CALL = 0.00001;

const ANSWER = JSON.stringify({
  id: 'a',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});

beforeAll(async () => {
  upstream = await startFaultServer();
  upstream.answer((response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(ANSWER);
  });
  app = await startApp({
    config: {
      model_list: [
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
      ],
    },
  });
});
afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

async function newKey(draft: object): Promise<string> {
  const answer = await app.call('POST', '/key/generate', draft);
  return ((await answer.json()) as { key: string }).key;
}

async function chat(key: string) {
  const body = { model: 'priced', messages: [{ role: 'user', content: 'hi' }], max_tokens: 1 };
  const answer = await app.call('POST', '/v1/chat/completions', body, { authorization: `Bearer ${key}` });
  const { error } = (await answer.json()) as { error?: { message: string } };
  return { status: answer.status, message: error?.message ?? null };
}

async function infoOf(key: string): Promise<Readonly<Record<string, unknown>>> {
  const answer = await app.call('GET', `/key/info?key=${key}`);
  return ((await answer.json()) as { info: Readonly<Record<string, unknown>> }).info;
}

describe('the spend of a key', () => {
  it('starts at the value that a reset or an update sets, and a temporary increase raises the budget', async () => {
    const key = await newKey({ max_budget: 2, spend: 2 });
    expect(await chat(key)).toMatchObject({
      status: 422,
      message: expect.stringContaining('Current cost: 2.0, Max budget: 2.0') as string,
    });
    await app.call('POST', `/key/${key}/reset_spend`, { reset_to: 0 });
    expect((await chat(key)).status).toBe(200);
    await app.call('POST', '/key/update', { key, spend: 3 });
    expect((await chat(key)).status).toBe(422);
    await app.call('POST', '/key/update', {
      key,
      temp_budget_increase: 5,
      temp_budget_expiry: '2999-01-01T00:00:00Z',
    });
    expect((await chat(key)).status).toBe(200);
  });

  it('is compared with the budget that budget_id names, which a temporary increase raises until it expires', async () => {
    const response = await app.call('POST', '/budget/new', { max_budget: 0 });
    const { budget_id } = (await response.json()) as { readonly budget_id: string };
    const key = await newKey({ budget_id });
    expect(await chat(key)).toMatchObject({
      status: 422,
      message: expect.stringContaining('Current cost: 0.0, Max budget: 0.0') as string,
    });
    const setTemporaryIncrease = (until: string) =>
      app.call('POST', '/key/update', { key, temp_budget_increase: 5, temp_budget_expiry: until });
    await setTemporaryIncrease('2999-01-01T00:00:00Z');
    expect((await chat(key)).status).toBe(200);
    await setTemporaryIncrease('2020-01-01T00:00:00Z');
    expect((await chat(key)).status).toBe(422);
  });

  it('blocks the list of models after it reaches the budget', async () => {
    const key = await newKey({ max_budget: BUDGET_FOR_ONE_CALL });
    const listStatus = async (): Promise<number> =>
      (await app.call('GET', '/v1/models', undefined, { authorization: `Bearer ${key}` })).status;
    expect([await listStatus(), (await chat(key)).status, await listStatus()]).toEqual([200, 200, 422]);
  });

  it('counts in a budget window; the refusal names the window', async () => {
    const key = await newKey({
      max_budget: 100,
      budget_limits: [{ budget_duration: '1d', max_budget: BUDGET_FOR_ONE_CALL }],
    });
    expect((await chat(key)).status).toBe(200);
    expect(await chat(key)).toMatchObject({
      status: 422,
      message: expect.stringMatching(
        /^ExceededBudget: Key over 1d budget. Spend=\$0\.\d{4}, Limit=\$0\.00\. Key=None \(sk-\.\.\.\S{4}\)\. Budget window: 1d\. /,
      ) as string,
    });
  });

  it('counts in the budget of the called model only', async () => {
    const budget = { budget_limit: BUDGET_FOR_ONE_CALL, time_period: '1d' };
    const key = await newKey({ model_max_budget: { priced: budget } });
    expect((await chat(key)).status).toBe(200);
    expect(await chat(key)).toMatchObject({
      status: 422,
      message: expect.stringMatching(
        /^LiteLLM Virtual Key: [0-9a-f]{64}, key_alias: None, exceeded budget for model=priced\. Budget window: 1d\. Budget resets at: \d{4}-\d\d-\d\d 00:00:00 UTC$/,
      ) as string,
    });
    const keyForOtherModel = await newKey({ model_max_budget: { elsewhere: budget } });
    expect([(await chat(keyForOtherModel)).status, (await chat(keyForOtherModel)).status]).toEqual([200, 200]);
  });

  it('is reset at the end of a budget window; the total spend is not', async () => {
    const key = await newKey({ max_budget: BUDGET_FOR_ONE_CALL, budget_duration: '1s' });
    expect((await chat(key)).status).toBe(200);
    await vi.waitFor(async () => expect(Number((await infoOf(key))['total_spend'])).toBeGreaterThan(0), POLLING);
    await vi.waitFor(async () => expect((await infoOf(key))['spend']).toBe(0), { ...POLLING, interval: 200 });
    expect((await chat(key)).status).toBe(200);
    expect(Number((await infoOf(key))['total_spend'])).toBeGreaterThan(0);
  });
});
