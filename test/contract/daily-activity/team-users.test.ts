import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { awayFromMidnight } from '../../support/away-from-midnight.ts';
import { chat, detail, NO_KEY, tenancyClient } from '../../support/tenancy-client.ts';

beforeEach(awayFromMidnight);

const { get, post, user, key } = tenancyClient({ config: { general_settings: { demo_model: true } } });
const DAYS = 'start_date=2026-01-01&end_date=2100-01-01';
const PATH = `/team/spend/by_user?${DAYS}`;

async function call(secret: string): Promise<void> {
  expect((await post('/v1/chat/completions', chat(), secret)).status).toBe(200);
}

let boss = '';
let member = '';
beforeAll(async () => {
  boss = await user({ user_id: 'boss', user_email: 'boss@example.com', user_alias: 'Boss' });
  member = await user({ user_id: 'member' });
  await post('/team/new', {
    team_id: 'alpha',
    team_alias: 'Alpha',
    members_with_roles: [
      { role: 'admin', user_id: 'boss' },
      { role: 'user', user_id: 'member' },
    ],
  });
  await post('/team/new', { team_id: 'beta' });
  const keys = [
    await key({ team_id: 'alpha', user_id: 'boss' }),
    await key({ team_id: 'alpha', user_id: 'member' }),
    await key({ team_id: 'alpha', user_id: 'member' }),
    await key({ team_id: 'beta', user_id: 'member' }),
    await key({ team_id: 'beta' }),
  ];
  for (const one of keys) await call(one);
});

const row = (team: string, userId: string, calls: number, others: object = {}) => ({
  team_id: team,
  team_alias: team === 'alpha' ? 'Alpha' : null,
  user_id: userId,
  user_email: null,
  user_alias: null,
  spend: 0,
  prompt_tokens: expect.any(Number) as unknown,
  completion_tokens: expect.any(Number) as unknown,
  total_tokens: expect.any(Number) as unknown,
  api_requests: calls,
  successful_requests: calls,
  failed_requests: 0,
  ...others,
});
const BOSS = row('alpha', 'boss', 1, { user_email: 'boss@example.com', user_alias: 'Boss' });
const answer = (...results: readonly object[]) => ({
  status: 200,
  body: {
    start_date: '2026-01-01',
    end_date: '2100-01-01',
    results: expect.toSatisfy((rows: unknown) => {
      expect(rows).toHaveLength(results.length);
      expect(rows).toEqual(expect.arrayContaining([...results]));
      return true;
    }) as unknown,
  },
});

describe('dailyActivity.teamUsers', () => {
  it('dailyActivity.teamUsers 200: an administrator sees all users of the teams, and calls without a user', async () => {
    expect(await get(`${PATH}&team_ids=alpha`)).toEqual(answer(BOSS, row('alpha', 'member', 2)));
    expect(await get(`${PATH}&team_ids=alpha,beta`)).toEqual(
      answer(BOSS, row('alpha', 'member', 2), row('beta', 'member', 1), row('beta', '', 1)),
    );
    const [first] = (await get(`${PATH}&team_ids=alpha`)).body['results'] as readonly Record<string, number>[];
    expect(first?.['total_tokens']).toBe(Number(first?.['prompt_tokens']) + Number(first?.['completion_tokens']));
    expect(first?.['total_tokens']).toBeGreaterThan(0);
  });

  it('dailyActivity.teamUsers 200: an administrator of the team sees all its users, a member only its own calls', async () => {
    expect(await get(`${PATH}&team_ids=alpha`, boss)).toEqual(answer(BOSS, row('alpha', 'member', 2)));
    expect(await get(`${PATH}&team_ids=alpha`, member)).toEqual(answer(row('alpha', 'member', 2)));
  });

  it('dailyActivity.teamUsers 200: a period without calls, and an unknown team', async () => {
    const past = 'start_date=2020-01-01&end_date=2020-01-02';
    expect(await get(`/team/spend/by_user?${past}&team_ids=alpha`)).toEqual({
      status: 200,
      body: { start_date: '2020-01-01', end_date: '2020-01-02', results: [] },
    });
    expect(await get(`${PATH}&team_ids=nope`)).toEqual(answer());
  });

  it('dailyActivity.teamUsers 400: no team, no dates and an invalid date', async () => {
    expect(await get(PATH)).toEqual(detail(400, 'Please provide team_ids'));
    expect(await get('/team/spend/by_user?team_ids=alpha')).toEqual(
      detail(400, 'Please provide start_date and end_date'),
    );
    expect(await get('/team/spend/by_user?team_ids=alpha&start_date=2026-1-1&end_date=2026-01-02')).toEqual(
      detail(400, "Invalid date '2026-1-1': expected YYYY-MM-DD."),
    );
  });

  it('dailyActivity.teamUsers 401: no key', async () => {
    expect(await get(`${PATH}&team_ids=alpha`, '')).toEqual(NO_KEY);
  });

  it('dailyActivity.teamUsers 404: a team of others, and a key without a user', async () => {
    const stranger = await user({ user_id: 'stranger' });
    expect(await get(`${PATH}&team_ids=alpha`, stranger)).toEqual(
      detail(404, 'User does not belong to Team= alpha. Call `/user/info` to see your teams.'),
    );
    expect(await get(`${PATH}&team_ids=beta`, await key({ team_id: 'beta' }))).toEqual(
      detail(404, 'User= None not found'),
    );
  });
});
