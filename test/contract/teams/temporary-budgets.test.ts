import { beforeAll, describe, expect, it } from 'vitest';
import { chat, detail, type Json, tenancyClient } from '../../support/tenancy-client.ts';

const PRICED = { model: 'demo', input_cost_per_token: 0.01, output_cost_per_token: 0.01 };
const { get, post, user } = tenancyClient({
  config: { model_list: [{ model_name: 'priced', litellm_params: PRICED }] },
});
const keys: Record<string, string> = {};

beforeAll(async () => {
  await post('/team/new', { team_id: 'own', team_member_budget: 0 });
  for (const name of ['ann', 'bob']) {
    await user({ user_id: name, auto_create_key: false });
    await post('/team/member_add', { team_id: 'own', member: { user_id: name, role: 'user' } });
    const response = await post('/key/generate', { team_id: 'own', user_id: name });
    keys[name] = String(response.body['key']);
  }
});

const statusOf = async (name: string): Promise<number> =>
  (await post('/v1/chat/completions', chat('priced'), keys[name])).status;
const update = (user_id: string, change: object) => post('/team/member_update', { team_id: 'own', user_id, ...change });
const increaseUntil = (year: number) => ({
  temp_budget_increase: 100,
  temp_budget_expiry: `${year}-01-01T00:00:00.000Z`,
});
/** Fields of a member that no test changes. */
const MEMBER = { user_email: null, team_id: 'own', tpm_limit: null, rpm_limit: null, budget_duration: null };

describe('teamMembers.update 200: a temporary increase of the budget of a member', () => {
  it('applies until it expires, and is shown in the team', async () => {
    await update('ann', { max_budget_in_team: 0 });
    expect(await statusOf('ann')).toBe(422);
    expect(await update('ann', increaseUntil(2999))).toEqual({
      status: 200,
      body: { ...MEMBER, user_id: 'ann', max_budget_in_team: 0, allowed_models: null, ...increaseUntil(2999) },
    });
    expect(await statusOf('ann')).toBe(200);
    const { team_memberships: memberships } = (await get('/team/info?team_id=own')).body as {
      readonly team_memberships: readonly Json[];
    };
    expect(memberships.find((membership) => membership['user_id'] === 'ann')).toMatchObject({
      litellm_budget_table: increaseUntil(2999),
    });
    await update('ann', increaseUntil(2020));
    expect(await statusOf('ann')).toBe(422);
    await update('ann', { ...increaseUntil(2999), temp_budget_increase: null });
    expect(await statusOf('ann')).toBe(422);
  });

  it('is added to the default budget of the team if the member has no budget', async () => {
    expect(await statusOf('bob')).toBe(422);
    expect((await update('bob', increaseUntil(2999))).body).toMatchObject({
      max_budget_in_team: 0,
      ...increaseUntil(2999),
    });
    expect(await statusOf('bob')).toBe(200);
    await update('bob', { temp_budget_expiry: null });
    expect(await statusOf('bob')).toBe(422);
  });
});

describe('teamMembers.update', () => {
  it('teamMembers.update 400: a negative amount; teamMembers.update 422: an invalid time', async () => {
    expect(await update('ann', { temp_budget_increase: -1 })).toEqual(
      detail(400, 'temp_budget_increase must be a non-negative finite number. Received: -1'),
    );
    expect(await update('ann', { temp_budget_expiry: 'soon' })).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['body', 'temp_budget_expiry'], type: 'datetime_from_date_parsing' }] },
    });
  });
});
