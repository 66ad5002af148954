import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type OwnerCalls, startOwnerCalls } from '../owners/owner-calls.ts';

const nextMidnight = (): string => new Date(new Date().setUTCHours(24, 0, 0, 0)).toISOString();
const resetText = () => `Budget window: 1d. Budget resets at: ${nextMidnight().slice(0, 19).replace('T', ' ')} UTC`;

const refusal = (spent: string, limit: string) => ({
  status: 422,
  body: {
    error: {
      message: `Budget has been exceeded! Current cost: ${spent}, Max budget: ${limit}. ${resetText()}`,
      type: 'budget_exceeded',
      param: null,
      code: '422',
    },
  },
});

async function chatWith({ chat }: OwnerCalls, key: string, model?: string) {
  const { status, body } = await chat(key, model);
  return status === 200 ? status : { status, body: body as object };
}

async function globalSpend({ app }: OwnerCalls, search = '') {
  const answer = await app.call('GET', `/global/spend${search}`);
  return [answer.status, await answer.json()];
}

async function inGraph({ app }: OwnerCalls, key = app.adminKey): Promise<unknown> {
  const query = '{ globalBudget { limitUsd duration spentUsd resetAt } }';
  const answer = await app.call('POST', '/graphql', { query }, { authorization: `Bearer ${key}` });
  return answer.json();
}

describe('the budget of all calls', () => {
  let calls: OwnerCalls;
  beforeAll(async () => {
    calls = await startOwnerCalls({
      litellm_settings: { max_budget: 2.5, budget_duration: '1d' },
      general_settings: { store_model_in_db: true },
    });
  });
  afterAll(() => calls.stop());

  it('counts the calls of every key and of the administrator, and refuses calls when the spend exceeds it', async () => {
    const [firstKey, secondKey] = [await calls.newKey({}), await calls.newKey({ max_budget: 100 })];
    expect(await chatWith(calls, calls.app.adminKey)).toBe(200);
    expect(await globalSpend(calls)).toEqual([200, { spend: 1, max_budget: 2.5 }]);
    expect([await chatWith(calls, firstKey), await chatWith(calls, secondKey)]).toEqual([200, 200]);
    for (const key of [firstKey, secondKey, calls.app.adminKey])
      expect(await chatWith(calls, key)).toEqual(refusal('3.0', '2.5'));
    expect(await chatWith(calls, firstKey, 'free')).toBe(200);
  });

  it('spend.total 200: the answer has spend and budget; the graph has both, and the end of the window', async () => {
    expect(await globalSpend(calls)).toEqual([200, { spend: 3, max_budget: 2.5 }]);
    expect(await globalSpend(calls, '?start_date=2020-01-01&end_date=2020-01-02')).toEqual([
      200,
      { spend: 0, max_budget: 2.5 },
    ]);
    expect(await inGraph(calls)).toEqual({
      data: { globalBudget: { limitUsd: '2.5', duration: '1d', spentUsd: '3', resetAt: nextMidnight() } },
    });
  });

  it('spend.total 401: the key of a user; the graph has an error, too', async () => {
    await calls.manage('/user/new', { user_id: 'u', auto_create_key: false });
    const key = await calls.newKey({ user_id: 'u' });
    const answer = await calls.app.call('GET', '/global/spend', undefined, { authorization: `Bearer ${key}` });
    expect(answer.status).toBe(401);
    expect(await inGraph(calls, key)).toMatchObject({
      data: { globalBudget: null },
      errors: [{ extensions: { code: 'FORBIDDEN' } }],
    });
  });

  it('applies to fallbacks', async () => {
    // A budget does not refuse `broken`, because it is free.
    const key = await calls.newKey({});
    const body = { model: 'broken', fallbacks: ['priced'], messages: [{ role: 'user', content: 'hi' }], max_tokens: 1 };
    const answer = await calls.app.call('POST', '/v1/chat/completions', body, { authorization: `Bearer ${key}` });
    expect({ status: answer.status, body: await answer.json() }).toEqual(refusal('3.0', '2.5'));
  });

  it('keeps its spend after a restart', async () => {
    await calls.restart();
    expect(await chatWith(calls, await calls.newKey({}))).toEqual(refusal('3.0', '2.5'));
  });
});

describe('the budget of all calls, if the configuration file has none', () => {
  let calls: OwnerCalls;
  beforeAll(async () => {
    calls = await startOwnerCalls({ general_settings: { store_model_in_db: true } });
  });
  afterAll(() => calls.stop());

  it('refuses no call; it is shown as 0, as in the reference, and as null in the graph', async () => {
    expect(await chatWith(calls, await calls.newKey({}))).toBe(200);
    expect(await globalSpend(calls)).toEqual([200, { spend: 1, max_budget: 0 }]);
    expect(await inGraph(calls)).toEqual({ data: { globalBudget: null } });
  });

  it('is set and changed at run time; zero refuses the first call', async () => {
    const key = await calls.newKey({});
    const updateSettings = (litellm_settings: object) => calls.manage('/config/update', { litellm_settings });
    await updateSettings({ max_budget: 0, budget_duration: '1d' });
    expect(await chatWith(calls, key)).toEqual(refusal('0.0', '0.0'));
    expect(await chatWith(calls, key, 'free')).toBe(200);
    await updateSettings({ max_budget: 1 });
    // The second call starts at a spend of 1 USD, which does not exceed the budget.
    expect([await chatWith(calls, key), await chatWith(calls, key)]).toEqual([200, 200]);
    expect(await chatWith(calls, key)).toEqual(refusal('2.0', '1.0'));
    await updateSettings({ max_budget: 3 });
    expect(await chatWith(calls, key)).toBe(200);
  });
});

describe('the configuration file', () => {
  it('changes the budget of all calls without a restart', async () => {
    const calls = await startOwnerCalls({ litellm_settings: { max_budget: 0 } });
    try {
      const key = await calls.newKey({});
      const refusalWithoutWindow = {
        error: expect.objectContaining({
          message: 'Budget has been exceeded! Current cost: 0.0, Max budget: 0.0',
        }) as object,
      };
      expect(await chatWith(calls, key)).toEqual({ status: 422, body: refusalWithoutWindow });
      await calls.reload({ litellm_settings: { max_budget: 5 } });
      expect(await chatWith(calls, key)).toBe(200);
      expect(await globalSpend(calls)).toEqual([200, { spend: 1, max_budget: 5 }]);
      await calls.reload({ litellm_settings: { max_budget: 0.5 } });
      expect(await chatWith(calls, key)).toMatchObject({ status: 422 });
      await calls.reload({});
      expect(await chatWith(calls, key)).toBe(200);
    } finally {
      await calls.stop();
    }
  });

  it.each([
    [{ max_budget: -1 }, /max_budget.*is not a number from 0/s],
    [{ max_budget: 'much' }, /max_budget.*is not a number from 0/s],
    [{ max_budget: 1, budget_duration: 'soon' }, /budget_duration.*is not a duration/s],
  ])('makes the start fail if the budget of all calls is invalid: %j', async (litellm_settings, message) => {
    await expect(startOwnerCalls({ litellm_settings })).rejects.toThrow(message);
  });
});
