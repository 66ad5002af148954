import { beforeAll, describe, expect, it } from 'vitest';
import { chat, detail, envelope, type Json, tenancyClient } from '../../support/tenancy-client.ts';

const PRICED = {
  model_name: 'priced',
  litellm_params: { model: 'openai/secret-model', api_key: 'k', input_cost_per_token: 0.5, output_cost_per_token: 0.5 },
};
const client = tenancyClient({
  config: {
    model_list: [
      PRICED,
      {
        model_name: 'paid',
        litellm_params: { model: 'demo/demo', input_cost_per_token: 0.001, output_cost_per_token: 0.001 },
      },
    ],
  },
});
const { post, get } = client;

/** Keys by user: an administrator and two members of the team `own`, and a user without a team. */
const userKeys: Record<string, string> = {};

beforeAll(async () => {
  await post('/team/new', { team_id: 'own' });
  await post('/team/new', { team_id: 'foreign' });
  for (const name of ['admin', 'member', 'leaver', 'stranger']) userKeys[name] = await client.user({ user_id: name });
  for (const [user_id, role] of [
    ['admin', 'admin'],
    ['member', 'user'],
    ['leaver', 'user'],
  ])
    await post('/team/member_add', { team_id: 'own', member: { user_id, role } });
});

describe('a removed member', () => {
  it('teamMembers.remove 200: the removed user loses the keys of the team, and keeps other keys', async () => {
    const ofTeam = await client.key({ team_id: 'own', user_id: 'leaver' });
    const ofMember = await client.key({ team_id: 'own', user_id: 'member' });
    expect((await post('/v1/chat/completions', chat(), ofTeam)).status).toBe(200);
    const removed = await post('/team/member_delete', { team_id: 'own', user_id: 'leaver' }, userKeys['admin']);
    expect(removed.status).toBe(200);
    const statuses = [ofTeam, ofMember, userKeys['leaver']].map(
      async (key) => (await post('/v1/chat/completions', chat(), key)).status,
    );
    expect(await Promise.all(statuses)).toEqual([401, 200, 200]);
  });
});

describe('an administrator of a team', () => {
  const budgetOf = async (id: string): Promise<unknown> => {
    const { body } = await post('/budget/info', { budgets: [id] });
    return (body as unknown as readonly Json[])[0]?.['max_budget'];
  };

  it('projects.create 403, projects.update 403: cannot choose an existing budget', async () => {
    await post('/budget/new', { budget_id: 'of-others', max_budget: 1 });
    const draft = { team_id: 'own', project_alias: 'p', budget_id: 'of-others' };
    const refused = 'Only proxy admins choose the budget of a project by its id.';
    expect(await post('/project/new', draft, userKeys['admin'])).toEqual(envelope(403, refused, 'auth_error', 'None'));
    const { body } = await post('/project/new', { team_id: 'own', project_alias: 'p' }, userKeys['admin']);
    const change = { project_id: body['project_id'], budget_id: 'of-others' };
    expect(await post('/project/update', change, userKeys['admin'])).toEqual(
      envelope(403, refused, 'auth_error', 'None'),
    );
  });

  it('projects.update 200: changes the limits of the project only, not a shared budget', async () => {
    await post('/budget/new', { budget_id: 'shared', max_budget: 1, rpm_limit: 7 });
    const { body } = await post('/project/new', { team_id: 'own', project_alias: 'q', budget_id: 'shared' });
    const change = { project_id: body['project_id'], max_budget: 9_999 };
    const changed = await post('/project/update', change, userKeys['admin']);
    expect(changed.body['litellm_budget_table']).toMatchObject({ max_budget: 9_999, rpm_limit: 7 });
    expect(changed.body['budget_id']).not.toBe('shared');
    expect(await budgetOf('shared')).toBe(1);
    const changedAgain = await post('/project/update', { ...change, max_budget: 5 }, userKeys['admin']);
    expect(changedAgain.body['budget_id']).toBe(changed.body['budget_id']);
    expect(changedAgain.body['litellm_budget_table']).toMatchObject({ max_budget: 5, rpm_limit: 7 });
  });
});

describe('the metadata of a team', () => {
  const RULES = {
    model_rpm_limit: { paid: 1 },
    denied_passthrough_routes: ['/denied'],
    tags: ['cost-center'],
    allowed_tools: ['look-up'],
  };
  const refused = envelope(
    403,
    'Only proxy admins change the models, budget and limits of a team.',
    'internal_server_error',
  );
  const metadataOf = async (id: string): Promise<unknown> =>
    ((await get(`/team/info?team_id=${id}`)).body['team_info'] as Json)['metadata'];

  it('teams.update 403: its administrators cannot change limits, pass-through paths, tags and tools', async () => {
    await post('/team/new', { team_id: 'ruled', metadata: RULES });
    await post('/team/member_add', { team_id: 'ruled', member: { user_id: 'admin', role: 'admin' } });
    const changes = [
      { metadata: { model_rpm_limit: { paid: 999 } } },
      { metadata: { model_rpm_limit: null } },
      { model_rpm_limit: { paid: 999 } },
      { metadata: { allowed_passthrough_routes: ['/paid-for-by-the-operator'] } },
      { metadata: { denied_passthrough_routes: [] } },
      { metadata: { tags: [] } },
      { metadata: { allowed_tools: ['shell'] } },
      // Calls of the group would not count in the limits of `paid`.
      { router_settings: { routing_groups: [{ group_name: 'unlimited', models: ['paid'] }] } },
    ];
    for (const body of changes)
      expect([body, await post('/team/update', { team_id: 'ruled', ...body }, userKeys['admin'])]).toEqual([
        body,
        refused,
      ]);
    expect(await metadataOf('ruled')).toEqual(RULES);
  });

  it('teams.update 200: its administrators replace all other metadata, and proxy administrators replace everything', async () => {
    const body = { team_id: 'ruled', metadata: { note: 'ours' } };
    expect((await post('/team/update', body, userKeys['admin'])).status).toBe(200);
    const routing = { team_id: 'ruled', router_settings: { num_retries: 1 } };
    expect((await post('/team/update', routing, userKeys['admin'])).status).toBe(200);
    expect(await metadataOf('ruled')).toEqual({ note: 'ours', ...RULES });
    expect((await post('/team/update', { team_id: 'ruled', metadata: {} })).status).toBe(200);
    expect(await metadataOf('ruled')).toEqual({});
  });

  it('teams.create 403: an administrator of an organization cannot give a new team pass-through paths, but may give it limits', async () => {
    await post('/organization/new', { organization_id: 'org', organization_alias: 'org' });
    const member = { user_id: 'stranger', role: 'org_admin' };
    await post('/organization/member_add', { organization_id: 'org', member });
    const metadata = { allowed_passthrough_routes: ['/paid-for-by-the-operator'] };
    expect(await post('/team/new', { organization_id: 'org', metadata }, userKeys['stranger'])).toEqual(refused);
    const limited = { organization_id: 'org', metadata: { model_rpm_limit: { paid: 1 } } };
    expect((await post('/team/new', limited, userKeys['stranger'])).status).toBe(200);
  });
});

describe('objects without access get the same answer as unknown objects', () => {
  it('projects.info 403, projects.update 401: a project of another team', async () => {
    const { body } = await post('/project/new', { team_id: 'foreign', project_alias: 'f' });
    const refused = (id: unknown) =>
      envelope(403, `User=stranger not authorized to access this project=${String(id)}`, 'auth_error', 'None');
    for (const id of [body['project_id'], 'unknown'])
      expect(await get(`/project/info?project_id=${String(id)}`, userKeys['stranger'])).toEqual(refused(id));
    const answers = [body['project_id'], 'unknown'].map((project_id) =>
      post('/project/update', { project_id, max_budget: 1 }, userKeys['stranger']),
    );
    const [known, unknown] = await Promise.all(answers);
    expect(known).toEqual(unknown);
    expect(known?.status).toBe(401);
  });

  it('keys.delete 403: the alias of a key of another team, an unknown alias, and an unknown hash', async () => {
    await client.key({ key_alias: 'theirs', team_id: 'foreign' });
    const refused = envelope(403, 'You are not authorized to delete this key');
    for (const name of ['theirs', 'nobodys'])
      expect(await post('/key/delete', { key_aliases: [name] }, userKeys['stranger'])).toEqual(refused);
    expect(await post('/key/delete', { keys: ['0'.repeat(64)] }, userKeys['stranger'])).toEqual(refused);
  });

  it('spend.estimate 404, spend.calculate 400: the price of a model that the key may not call', async () => {
    const key = await client.key({ models: ['paid'] });
    const ask = (model: string, by?: string) =>
      post('/cost/estimate', { model, input_tokens: 1, output_tokens: 1 }, by);
    expect((await ask('priced')).body['cost_per_request']).toBe(1);
    expect(await ask('priced', key)).toEqual(detail(404, "No price is known for the model 'priced'."));
    expect(await ask('unknown', key)).toEqual(detail(404, "No price is known for the model 'unknown'."));
    expect(
      (await post('/spend/calculate', { model: 'priced', messages: [{ role: 'user', content: 'hi' }] }, key)).status,
    ).toBe(400);
  });
});

describe('the spend of teams, members and users', () => {
  it('teams.info 200, users.info 200: includes the spend of deleted keys', async () => {
    const app = client.app();
    await post('/user/new', { user_id: 'spender', max_budget: 1 });
    await post('/team/new', { team_id: 'spending', max_budget: 1 });
    await post('/team/member_add', { team_id: 'spending', member: { user_id: 'spender', role: 'user' } });
    const draft = { team_id: 'spending', user_id: 'spender' };
    const key = await client.key(draft);
    expect((await post('/v1/chat/completions', chat('paid'), key)).status).toBe(200);
    const spends = async () => {
      const { team_info: team, team_memberships: members } = (await get('/team/info?team_id=spending')).body;
      const ofMember = (members as readonly Json[]).find((member) => member['user_id'] === 'spender');
      const { user_info: user } = (await get('/user/info?user_id=spender')).body;
      return [(team as Json)['spend'], ofMember?.['spend'], (user as Json)['spend']];
    };
    await expect.poll(async () => (await spends())[0]).toBeGreaterThan(0);
    const before = await spends();
    const [teamSpend, memberSpend, userSpend] = before;
    expect(memberSpend).toBe(teamSpend);
    expect(userSpend).toBe(teamSpend);
    await app.call('POST', '/key/delete', { keys: [key] });
    expect(await spends()).toEqual(before);
  });
});
