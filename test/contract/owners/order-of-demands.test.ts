import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { envelope, type Json } from '../../support/tenancy-client.ts';
import { type OwnerCalls, startOwnerCalls } from './owner-calls.ts';

let calls: OwnerCalls;

beforeAll(async () => {
  calls = await startOwnerCalls({
    general_settings: { enforce_user_param: true, enforced_params: ['metadata.job'], store_model_in_db: true },
  });
});
afterAll(() => calls.stop());

const modelBudget = (budget_limit: number) => ({
  model_max_budget: { priced: { budget_limit, time_period: '30d' } },
});
const JOB = { job: 'j' };

interface Call {
  readonly model?: string;
  readonly user?: string;
  readonly metadata?: object;
}

async function chat(key: string, { model = 'priced', ...fields }: Call) {
  const body = { model, messages: [{ role: 'user', content: 'hi' }], max_tokens: 1, ...fields };
  const answer = await calls.app.call('POST', '/v1/chat/completions', body, { authorization: `Bearer ${key}` });
  return { status: answer.status, body: (await answer.json()) as Json };
}

const exceeded = (message: string) => envelope(422, message, 'budget_exceeded');
const usedUp = (subject: string) => exceeded(`Budget has been exceeded! ${subject} Current cost: 2.0, Max budget: 1.0`);
const missing = (path: string) =>
  envelope(
    400,
    `BadRequest please pass param=${path} in request body. This is a required param`,
    'invalid_request_error',
  );
const setGlobalBudget = (max_budget: number) => calls.manage('/config/update', { litellm_settings: { max_budget } });

/** Creates a team, a tag, a customer and a key, each with budgets, and spends 2 USD. */
async function newKeyWithSpend(id: string) {
  // The budgets are set first, so that they count the calls.
  await setGlobalBudget(100);
  await calls.manage('/team/new', { team_id: id, max_budget: 100, metadata: modelBudget(100) });
  await calls.manage('/tag/new', { name: id, max_budget: 100 });
  await calls.manage('/budget/new', { budget_id: id, max_budget: 100 });
  await calls.manage('/customer/new', { user_id: id, budget_id: id });
  const response = await calls.manage('/key/generate', { team_id: id, key_alias: id, max_budget: 100 });
  const key = String(response['key']);
  const metadata = { tags: [id] };
  for (const _ of [1, 2]) expect((await chat(key, { user: id, metadata: { ...metadata, ...JOB } })).status).toBe(200);
  return { key, metadata, keyName: String(response['key_name']) };
}

describe('a call without a required parameter', () => {
  it('422 or 400: is refused for used-up budgets and missing parameters, in the order of the contract', async () => {
    const id = 'demanded';
    const { key, metadata, keyName } = await newKeyWithSpend(id);
    await calls.manage('/key/update', { key, max_budget: 1 });
    await calls.manage('/team/update', { team_id: id, max_budget: 1, metadata: modelBudget(1) });
    await calls.manage('/tag/update', { name: id, max_budget: 1 });
    await calls.manage('/budget/update', { budget_id: id, max_budget: 1 });
    await setGlobalBudget(1);

    const answers = [await chat(key, { metadata })];
    await calls.manage('/key/update', { key, max_budget: null });
    answers.push(await chat(key, { metadata }));
    await calls.manage('/team/update', { team_id: id, max_budget: null });
    answers.push(await chat(key, { metadata }));
    await calls.manage('/tag/update', { name: id, max_budget: null });
    // The required `user` is checked after these budgets, and before the budgets of the customer and of all calls.
    answers.push(await chat(key, { metadata }));
    answers.push(await chat(key, { metadata, user: id }));
    await calls.manage('/budget/update', { budget_id: id, max_budget: null });
    answers.push(await chat(key, { metadata, user: id }));
    await setGlobalBudget(100);
    answers.push(await chat(key, { metadata, user: id }));
    await calls.manage('/team/update', { team_id: id, metadata: {} });
    // Other required parameters are checked after all budgets.
    answers.push(await chat(key, { metadata, user: id }));
    answers.push(await chat(key, { metadata: { ...metadata, ...JOB }, user: id }));

    expect(answers.slice(0, 5)).toEqual([
      usedUp(`Key=${id} (${keyName})`),
      usedUp(`Team=${id}`),
      usedUp(`Tag=${id}`),
      missing('user'),
      exceeded(`ExceededBudget: End User=${id} over budget. Spend=2.0, Budget=1.0`),
    ]);
    expect(answers[5]).toEqual(exceeded('Budget has been exceeded! Current cost: 2.0, Max budget: 1.0'));
    expect(answers[6]).toMatchObject({
      status: 422,
      body: { error: { message: expect.stringContaining(`LiteLLM Team: ${id}, exceeded budget for model=priced`) } },
    });
    expect(answers[7]).toEqual(missing('metadata.job'));
    expect(answers[8]?.status).toBe(200);
  });

  it('400: is refused also with a free or an unknown model, and reserves no cost', async () => {
    const { key } = await newKeyWithSpend('free-of-charge');
    await calls.manage('/key/update', { key, max_budget: 3 });
    for (let nth = 0; nth < 5; nth += 1) expect(await chat(key, {})).toEqual(missing('user'));
    expect(await chat(key, { model: 'nothing' })).toEqual(missing('user'));
    // The refused calls reserved nothing: 1 USD of the budget remains, which is enough for one call.
    expect(await chat(key, { user: 'u', metadata: JOB })).toMatchObject({ status: 200 });
    expect((await chat(key, { user: 'u', metadata: JOB })).status).toBe(422);
    expect(await chat(key, { model: 'free' })).toEqual(missing('user'));
    expect(await chat(key, { model: 'free', user: 'u' })).toEqual(missing('metadata.job'));
  });
});
