import { describe, expect, it } from 'vitest';
import { type Json, tenancyClient } from '../../support/tenancy-client.ts';

const { get, post } = tenancyClient();

const WITH_BUDGET = { budget_duration: '30d', team_member_budget: 3 };

/** Window of the default budget of a team's members, and whether the budget of each member has it, too. */
async function windowOf(id: string): Promise<readonly [unknown, boolean]> {
  const { body } = await get(`/team/info?team_id=${id}`);
  const { team_member_budget_table: budget } = body['team_info'] as Readonly<Record<string, Json>>;
  const { budget_duration: duration, budget_reset_at: reset } = budget ?? {};
  const members = (body['team_memberships'] as readonly Json[]).map(
    ({ litellm_budget_table: table }) => (table as Json)['budget_reset_at'],
  );
  return [duration, members.length > 0 && members.every((one) => one === reset)];
}

describe('the window of the budget of team members', () => {
  it('teams.create 200: it is that of the team, unless the request has another one', async () => {
    const created = await post('/team/new', { team_id: 'shared', ...WITH_BUDGET });
    expect(await windowOf('shared')).toEqual(['30d', true]);
    const { team_info: info } = (await get('/team/info?team_id=shared')).body as Readonly<Record<string, Json>>;
    expect(info?.['team_member_budget_table']).toMatchObject({ budget_reset_at: created.body['budget_reset_at'] });
    await post('/team/new', { team_id: 'own', ...WITH_BUDGET, team_member_budget_duration: '1d' });
    expect(await windowOf('own')).toEqual(['1d', true]);
    await post('/team/new', { team_id: 'none', ...WITH_BUDGET, team_member_budget_duration: null });
    expect(await windowOf('none')).toEqual([null, true]);
    await post('/team/new', { team_id: 'unlimited', team_member_budget: 3 });
    expect(await windowOf('unlimited')).toEqual([null, true]);
  });

  it('teams.update 200: a new budget of members has that of the team, an existing one keeps its own', async () => {
    await post('/team/new', { team_id: 'later', budget_duration: '7d' });
    await post('/team/update', { team_id: 'later', team_member_budget: 3 });
    expect(await windowOf('later')).toEqual(['7d', true]);
    await post('/team/update', { team_id: 'later', budget_duration: '30d', team_member_budget: 4 });
    expect(await windowOf('later')).toEqual(['7d', true]);
    await post('/team/new', { team_id: 'sent' });
    await post('/team/update', { team_id: 'sent', ...WITH_BUDGET });
    expect(await windowOf('sent')).toEqual(['30d', true]);
  });
});
