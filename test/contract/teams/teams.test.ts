import { describe, expect, it } from 'vitest';
import { chat, detail, envelope, type Json, tenancyClient } from '../../support/tenancy-client.ts';

const { send, get, post, user, key } = tenancyClient();

/** Creates a team. The administrator `default_user_id` creates the team and becomes its member. */
const createTeam = (id: string, members: object = {}) => post('/team/new', { team_id: id, ...members });
const infoOf = async (id: string): Promise<Json> => (await get(`/team/info?team_id=${id}`)).body;
const notFound = (status: number) => detail(status, 'Team not found, passed team_id=none');

describe('teams', () => {
  it('teams.create, teams.info 200: a team with limits, members and a budget for members', async () => {
    const settings = { team_alias: 'T', models: ['demo'], max_budget: 100, budget_duration: '30d', rpm_limit: 5 };
    const members = [{ role: 'user', user_id: 'm1' }];
    const created = await createTeam('t1', {
      ...settings,
      metadata: { x: 1 },
      members_with_roles: members,
      team_member_budget: 3,
    });
    expect(created.status).toBe(200);
    expect(created.body).toMatchObject({ ...settings, team_id: 't1', blocked: false, spend: 0 });
    expect(created.body['members_with_roles']).toEqual([
      { user_id: 'm1', user_email: null, role: 'user' },
      { user_id: 'default_user_id', user_email: null, role: 'admin' },
    ]);
    await key({ team_id: 't1', key_alias: 'k1' });
    const info = await infoOf('t1');
    expect(info['keys']).toMatchObject([{ key_alias: 'k1', team_id: 't1' }]);
    const budget = { max_budget: 3, budget_id: (created.body['metadata'] as Json)['team_member_budget_id'] };
    expect(info['team_memberships']).toMatchObject([
      { user_id: 'm1', budget_source: 'team_default', litellm_budget_table: budget },
      { user_id: 'default_user_id', budget_source: 'team_default', litellm_budget_table: budget },
    ]);
  });

  it('teams.create 200: concurrent requests with the same new user add one user', async () => {
    const ids = ['at-once-1', 'at-once-2', 'at-once-3', 'at-once-4'];
    const members = [
      { role: 'user', user_id: 'at-once' },
      { role: 'user', user_email: 'At.Once@example.org' },
    ];
    const responses = await Promise.all(ids.map((id) => createTeam(id, { members_with_roles: members })));
    expect(responses.map(({ status }) => status)).toEqual(ids.map(() => 200));
    const [first, ...others] = responses.map(({ body }) => body['members_with_roles'] as readonly Json[]);
    expect(first).toHaveLength(3);
    for (const other of others) expect(other).toEqual(first);
  });

  it('teams.create 400: a taken id, a budget below zero, an unknown organization', async () => {
    expect(await createTeam('t1')).toEqual(
      envelope(400, 'Team id = t1 already exists. Please use a different team id.'),
    );
    expect(await createTeam('t2', { max_budget: -5 })).toEqual(
      envelope(400, 'max_budget must be a non-negative finite number. Received: -5'),
    );
    expect(await createTeam('t2', { organization_id: 'none' })).toEqual(
      envelope(400, 'Organization not found for organization_id=none'),
    );
  });

  it('teams.create 422: a member without a user, and one with an unknown role', async () => {
    const refused = async (member: object) => (await createTeam('t3', { members_with_roles: [member] })).body['detail'];
    expect(await refused({ role: 'user' })).toMatchObject([
      { type: 'value_error', loc: ['body', 'members_with_roles', 0] },
    ]);
    expect(await refused({ role: 'king', user_id: 'm' })).toEqual([
      {
        type: 'literal_error',
        loc: ['body', 'members_with_roles', 0, 'role'],
        msg: "Input should be 'admin' or 'user'",
      },
    ]);
  });

  it('teams.info 200, 403, 404 and 422: a member, another user, an unknown team, no id', async () => {
    await createTeam('read');
    const [memberKey, otherKey] = [await user({ user_id: 'in', teams: ['read'] }), await user({ user_id: 'out' })];
    expect((await get('/team/info?team_id=read', memberKey)).status).toBe(200);
    expect((await get('/team/info?team_id=read', await key({ team_id: 'read' }))).status).toBe(200);
    expect(await get('/team/info?team_id=read', otherKey)).toEqual(
      envelope(403, 'User=out not authorized to access this team=read', 'auth_error', 'None'),
    );
    expect(await get('/team/info?team_id=none')).toEqual(
      envelope(404, 'Team not found, passed team_id=none', 'auth_error', 'None'),
    );
    expect((await get('/team/info')).status).toBe(422);
  });

  it('teams.list 200: administrators list all teams, users their own; teams.list 401: users list other teams', async () => {
    const own = await user({ user_id: 'lister', teams: ['t1'] });
    const listed = (await get('/team/list?user_id=lister', own)).body as unknown as readonly Json[];
    // The other two members are `m1` and `default_user_id`.
    expect(listed).toMatchObject([{ team_id: 't1', team_memberships: [{}, {}, { user_id: 'lister' }] }]);
    expect(((await get('/team/list')).body as unknown as readonly Json[]).length).toBeGreaterThan(1);
    const refused = detail(401, 'Only admin users can query all teams/other teams. Pass the user_id of your own user.');
    for (const path of ['/team/list', '/team/list?user_id=in', '/v2/team/list'])
      expect(await get(path, own)).toEqual(refused);
  });

  it('teams.page 200: pages and filters; 422: an invalid page', async () => {
    for (const id of ['p1', 'p2', 'p3']) await createTeam(id, { team_alias: `Page ${id}` });
    const page = (await get('/v2/team/list?team_alias=page&page=2&page_size=2&sort_by=team_id')).body;
    expect(page).toMatchObject({ total: 3, page: 2, page_size: 2, total_pages: 2 });
    expect(page['teams']).toMatchObject([{ team_id: 'p3', members_count: 1, keys_count: 0 }]);
    expect((await get('/v2/team/list?team_id=p2')).body['total']).toBe(1);
    expect((await get('/v2/team/list?page=0')).status).toBe(422);
  });

  it('teams.update, teams.patch 200: only the sent fields change', async () => {
    await createTeam('upd', { max_budget: 1, metadata: { a: 1 } });
    expect((await post('/team/update', { team_id: 'upd', max_budget: 2, team_alias: 'U' })).body).toMatchObject({
      team_id: 'upd',
      data: { max_budget: 2, team_alias: 'U', metadata: { a: 1 } },
    });
    const { body } = await send('PATCH', '/team/upd', { max_budget: null, team_member_budget: 7 });
    expect(body).toMatchObject({ team_id: 'upd', max_budget: null, team_alias: 'U', metadata: { a: 1 } });
    expect(body).not.toHaveProperty('data');
    expect((await infoOf('upd'))['team_info']).toMatchObject({ team_member_budget_table: { max_budget: 7 } });
  });

  it('teams.update, teams.patch 400: a budget below zero', async () => {
    expect((await post('/team/update', { team_id: 'upd', max_budget: -1 })).status).toBe(400);
    expect((await send('PATCH', '/team/upd', { max_budget: -1 })).status).toBe(400);
  });

  it('teams.update, teams.patch, teams.block, teams.unblock, teams.delete 404: an unknown team', async () => {
    const inEnvelope = envelope(404, 'Team not found, passed team_id=none');
    expect(await post('/team/update', { team_id: 'none' })).toEqual(inEnvelope);
    expect(await send('PATCH', '/team/none', {})).toEqual(inEnvelope);
    expect(await post('/team/block', { team_id: 'none' })).toEqual(notFound(404));
    expect(await post('/team/unblock', { team_id: 'none' })).toEqual(notFound(404));
    expect(await post('/team/delete', { team_ids: ['t1', 'none'] })).toEqual(notFound(404));
    expect((await infoOf('t1'))['team_id']).toBe('t1');
  });

  it('teams.addModels, teams.removeModels, teams.updatePermissions, teams.permissions 404: an unknown team', async () => {
    expect(await post('/team/model/add', { team_id: 'none', models: [] })).toEqual(notFound(404));
    expect(await post('/team/model/delete', { team_id: 'none', models: [] })).toEqual(notFound(404));
    const permissions = { team_id: 'none', team_member_permissions: [] };
    expect(await post('/team/permissions_update', permissions)).toEqual(notFound(404));
    expect((await get('/team/permissions_list?team_id=none')).status).toBe(404);
  });

  it('teams.updatePermissions 200; teams.permissions 200, 403 and 422: an administrator, another user, no id', async () => {
    const draft = { team_id: 't1', team_member_permissions: ['/key/generate'] };
    expect((await post('/team/permissions_update', draft)).body).toMatchObject(draft);
    const { body } = await get('/team/permissions_list?team_id=t1');
    expect(body).toMatchObject(draft);
    expect(body['all_available_permissions']).toContain('/key/block');
    expect((await get('/team/permissions_list?team_id=t1', await user({ user_id: 'foreign' }))).status).toBe(403);
    expect((await get('/team/permissions_list')).status).toBe(422);
  });

  it('teams.delete 200: the keys of the team are deleted, too', async () => {
    await createTeam('gone');
    const secret = await key({ team_id: 'gone' });
    expect((await post('/v1/chat/completions', chat(), secret)).status).toBe(200);
    expect(await post('/team/delete', { team_ids: ['gone'] })).toEqual({
      status: 200,
      body: { deleted_teams: ['gone'] },
    });
    expect((await post('/v1/chat/completions', chat(), secret)).status).toBe(401);
    expect((await get('/team/info?team_id=gone')).status).toBe(404);
  });
});

describe('calls with the keys of teams and users', () => {
  it('teams.block 200, teams.unblock 200: keys of a blocked team are refused immediately', async () => {
    await createTeam('block');
    const secret = await key({ team_id: 'block' });
    expect((await post('/v1/chat/completions', chat(), secret)).status).toBe(200);
    expect((await post('/team/block', { team_id: 'block' })).body).toMatchObject({ team_id: 'block', blocked: true });
    const message = "Authentication Error, Team=block is blocked. Update via `/team/unblock` if you're an admin.";
    expect(await post('/v1/chat/completions', chat(), secret)).toEqual(envelope(401, message, 'auth_error', 'None'));
    expect((await post('/team/unblock', { team_id: 'block' })).body).toMatchObject({ blocked: false });
    expect((await post('/v1/chat/completions', chat(), secret)).status).toBe(200);
  });

  it('teams.addModels 200, teams.removeModels 200: the models of a team limit those of its keys', async () => {
    await createTeam('models', { models: ['other'] });
    const secret = await key({ team_id: 'models', models: ['all-team-models'] });
    const { status, body } = await post('/v1/chat/completions', chat(), secret);
    expect([status, (body['error'] as Json)['type']]).toEqual([403, 'team_model_access_denied']);
    expect((await get('/v1/models', secret)).body['data']).toEqual([]);
    expect((await post('/team/model/add', { team_id: 'models', models: ['demo'] })).body['models']).toEqual([
      'other',
      'demo',
    ]);
    expect((await post('/v1/chat/completions', chat(), secret)).status).toBe(200);
    expect((await get('/v1/models', secret)).body['data']).toMatchObject([{ id: 'demo' }]);
    expect((await post('/team/model/delete', { team_id: 'models', models: ['demo'] })).body['models']).toEqual([
      'other',
    ]);
    expect((await post('/v1/chat/completions', chat(), secret)).status).toBe(403);
  });

  it('keys call models by the aliases of their team', async () => {
    await createTeam('alias', { models: ['demo'], model_aliases: { fast: 'demo' } });
    expect((await post('/v1/chat/completions', chat('fast'), await key({ team_id: 'alias' }))).status).toBe(200);
  });

  it('the models of a user limit those of its keys without a team', async () => {
    await post('/user/new', { user_id: 'bound', auto_create_key: false, models: ['other'] });
    const [ownKey, teamKey] = [await key({ user_id: 'bound' }), await key({ user_id: 'bound', team_id: 'alias' })];
    const { status, body } = await post('/v1/chat/completions', chat(), ownKey);
    expect([status, (body['error'] as Json)['type']]).toEqual([403, 'user_model_access_denied']);
    expect((await post('/v1/chat/completions', chat(), teamKey)).status).toBe(200);
  });
});

describe('members of a team', () => {
  it('teamMembers.add 200: users by id and by email, with their own limits', async () => {
    await createTeam('add');
    const member = [
      { role: 'user', user_id: 'a1' },
      { role: 'admin', user_email: 'a2@x.org' },
    ];
    const { body } = await post('/team/member_add', { team_id: 'add', member, max_budget_in_team: 2 });
    expect(body['members_with_roles']).toMatchObject([
      { user_id: 'default_user_id' },
      { user_id: 'a1', role: 'user' },
      { user_email: 'a2@x.org', role: 'admin' },
    ]);
    expect(body['updated_users']).toMatchObject([{ user_id: 'a1', teams: ['add'] }, { user_email: 'a2@x.org' }]);
    expect(body['updated_team_memberships']).toMatchObject([
      { user_id: 'a1', litellm_budget_table: { max_budget: 2 } },
      { litellm_budget_table: { max_budget: 2 } },
    ]);
  });

  it('teamMembers.add 400, teamMembers.add 404: an existing member, and an unknown team', async () => {
    const member = { role: 'user', user_id: 'a1' };
    expect(await post('/team/member_add', { team_id: 'add', member })).toEqual(
      envelope(
        400,
        'User already in team. Member: user_id=a1, user_email=null',
        'team_member_already_in_team',
        'member',
      ),
    );
    expect(await post('/team/member_add', { team_id: 'none', member })).toEqual(notFound(404));
  });

  it('teamMembers.addMany 200: each user has an outcome; 404: an unknown team', async () => {
    const members = [
      { role: 'user', user_id: 'a1' },
      { role: 'user', user_id: 'a3' },
    ];
    expect((await post('/team/bulk_member_add', { team_id: 'add', members })).body).toMatchObject({
      total_requested: 2,
      successful_additions: 1,
      failed_additions: 1,
      results: [
        { user_id: 'a1', success: false },
        { user_id: 'a3', success: true, updated_team_membership: {} },
      ],
    });
    expect(await post('/team/bulk_member_add', { team_id: 'none', members })).toEqual(notFound(404));
  });

  it('teamMembers.update 200: role and limits of a member', async () => {
    const change = { team_id: 'add', user_id: 'a1', role: 'admin', max_budget_in_team: 4, rpm_limit: 5 };
    expect((await post('/team/member_update', change)).body).toMatchObject({
      user_id: 'a1',
      team_id: 'add',
      max_budget_in_team: 4,
      rpm_limit: 5,
    });
    const { members_with_roles: roles } = (await infoOf('add'))['team_info'] as Json;
    expect(roles).toContainEqual({ user_id: 'a1', user_email: null, user_alias: null, role: 'admin' });
  });

  it('teamMembers.update 400, teamMembers.update 422: invalid amounts change nothing', async () => {
    const path = '/team/member_update';
    const change = { team_id: 'add', user_id: 'a1', role: 'user' };
    const wrong = (amount: string) => `max_budget must be a non-negative finite number. Received: ${amount}`;
    expect(await post(path, { ...change, max_budget_in_team: -1 })).toEqual(detail(400, wrong('-1')));
    // JSON text, because JavaScript has no number 1e400.
    const [start] = JSON.stringify(change).split('}');
    expect(await post(path, `${start},"max_budget_in_team":1e400}`)).toEqual(detail(400, wrong('Infinity')));
    for (const amount of ['NaN', '1e400'])
      expect((await post(path, { ...change, max_budget_in_team: amount })).status).toBe(422);
    const { team_memberships: rows, team_info: info } = await infoOf('add');
    expect(rows).toContainEqual(
      expect.objectContaining({
        user_id: 'a1',
        litellm_budget_table: expect.objectContaining({ max_budget: 4, rpm_limit: 5 }) as unknown,
      }),
    );
    const { members_with_roles: roles } = info as Json;
    expect(roles).toContainEqual({ user_id: 'a1', user_email: null, user_alias: null, role: 'admin' });
  });

  it('teamMembers.remove 200: by id and by email', async () => {
    const { body } = await post('/team/member_delete', { team_id: 'add', user_id: 'a3' });
    expect(body['members_with_roles']).toHaveLength(3);
    await post('/team/member_delete', { team_id: 'add', user_email: 'A2@x.org' });
    expect(((await infoOf('add'))['team_memberships'] as readonly Json[]).map((member) => member['user_id'])).toEqual([
      'default_user_id',
      'a1',
    ]);
  });

  it('teamMembers.update, teamMembers.remove 400: an unknown team, and a user who is not a member', async () => {
    for (const path of ['/team/member_update', '/team/member_delete']) {
      expect(await post(path, { team_id: 'none', user_id: 'a1' })).toEqual(notFound(400));
      expect(await post(path, { team_id: 'add', user_id: 'zzz' })).toEqual(
        detail(400, 'User zzz is not a member of team add.'),
      );
    }
  });

  it('teamMembers.own 200, 403 and 404: a member, another user, an unknown team', async () => {
    const secret = await user({ user_id: 'me', user_email: 'me@x.org', teams: ['add'] });
    expect((await get('/team/add/members/me', secret)).body).toMatchObject({
      user_id: 'me',
      team_id: 'add',
      role: 'user',
      user_email: 'me@x.org',
      team_alias: null,
    });
    expect((await get('/team/add/members/me', await user({ user_id: 'you' }))).status).toBe(403);
    expect((await get('/team/none/members/me')).status).toBe(404);
  });

  it('an administrator of a team manages its members, but not its budget', async () => {
    await createTeam('led');
    const lead = await user({ user_id: 'lead', user_role: 'internal_user' });
    const member = { role: 'user', user_id: 'led1' };
    const refused = detail(403, 'Call not allowed. User not proxy admin OR team admin.');
    expect(await post('/team/member_add', { team_id: 'led', member }, lead)).toEqual(refused);
    expect(await post('/team/member_delete', { team_id: 'led', user_id: 'led1' }, lead)).toEqual(refused);
    expect(await post('/team/member_update', { team_id: 'led', user_id: 'led1', role: 'admin' }, lead)).toEqual(
      refused,
    );
    await post('/team/member_add', { team_id: 'led', member: { role: 'admin', user_id: 'lead' } });
    expect((await post('/team/member_add', { team_id: 'led', member }, lead)).status).toBe(200);
    expect((await post('/team/update', { team_id: 'led', team_alias: 'L' }, lead)).status).toBe(200);
    expect((await post('/team/update', { team_id: 'led', max_budget: 9 }, lead)).status).toBe(403);
    expect(await post('/team/member_add', { team_id: 'add', member }, lead)).toEqual(refused);
  });
});
