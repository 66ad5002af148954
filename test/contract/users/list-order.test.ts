import { beforeAll, describe, expect, it } from 'vitest';
import { chat, type Json, tenancyClient } from '../../support/tenancy-client.ts';

const PRICED = { model: 'demo', input_cost_per_token: 0.01, output_cost_per_token: 0.01 };

const { get, post, user } = tenancyClient({
  config: { model_list: [{ model_name: 'priced', litellm_params: PRICED }] },
});
const keys: Record<string, string> = {};

const spendOf = async (id: string): Promise<number> => {
  const { user_info: info } = (await get(`/user/info?user_id=${id}`)).body as { readonly user_info: Json };
  return Number(info['spend']);
};
const userIdsOf = async (query: string): Promise<readonly unknown[]> => {
  const { status, body } = await get(`/user/list?user_email=order.org&${query}`);
  expect(status).toBe(200);
  return (body['users'] as readonly Json[]).map((listed) => listed['user_id']);
};

describe('users.list 200: the order of users', () => {
  beforeAll(async () => {
    await post('/team/new', { team_id: 'spending' });
    for (const [index, name] of ['little', 'much', 'none'].entries())
      keys[name] = await user({ user_id: name, user_email: `${name}@order.org`, max_budget: [50, 7, null][index] });
    await post('/team/member_add', { team_id: 'spending', member: { user_id: 'much', role: 'user' } });
    const response = await post('/key/generate', { user_id: 'much', team_id: 'spending' });
    const teamKey = String(response.body['key']);
    for (const key of [keys['little'], keys['much'], teamKey, teamKey])
      await post('/v1/chat/completions', chat('priced'), key);
    await post('/key/delete', { keys: [teamKey] });
  });

  it('is by spend, including the spend of deleted keys', async () => {
    await expect.poll(() => userIdsOf('sort_by=spend&sort_order=desc')).toEqual(['much', 'little', 'none']);
    expect(await userIdsOf('sort_by=spend&sort_order=asc')).toEqual(['none', 'little', 'much']);
    expect(await userIdsOf('sort_by=spend&sort_order=desc&page=2&page_size=1')).toEqual(['little']);
    // `little` sent one call, and `much` sent three.
    const little = await spendOf('little');
    expect(little).toBeGreaterThan(0);
    await expect.poll(() => spendOf('much')).toBeCloseTo(3 * little, 9);
  });

  it('is by budget; users without a budget are first in ascending order', async () => {
    expect(await userIdsOf('sort_by=max_budget&sort_order=asc')).toEqual(['none', 'much', 'little']);
  });

  it('omits a deleted user; the spend of the team still includes that user', async () => {
    const teamSpend = async (): Promise<unknown> =>
      ((await get('/team/info?team_id=spending')).body['team_info'] as Json)['spend'];
    const before = await teamSpend();
    expect(Number(before)).toBeGreaterThan(0);
    expect((await post('/user/delete', { user_ids: ['much'] })).status).toBe(200);
    expect(await teamSpend()).toBe(before);
    expect(await userIdsOf('sort_by=spend&sort_order=desc')).toEqual(['little', 'none']);
  });
});
