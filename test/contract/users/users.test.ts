import { describe, expect, it } from 'vitest';
import { chat, detail, envelope, type Json, tenancyClient } from '../../support/tenancy-client.ts';

const { get, post, user } = tenancyClient();

const infoOf = async (id: string): Promise<Json> => (await get(`/user/info?user_id=${id}`)).body;

describe('users', () => {
  it('users.create, users.info, users.flatInfo 200: a user with limits, and a key with the same models and rate limits', async () => {
    const draft = { user_id: 'ann', user_email: 'Ann@x.org', user_alias: 'A', user_role: 'internal_user' };
    const limits = { max_budget: 10, budget_duration: '30d', models: ['demo'], tpm_limit: 9, rpm_limit: 8 };
    const made = await post('/user/new', { ...draft, ...limits, metadata: { a: 1 } });
    expect(made.status).toBe(200);
    expect(made.body).toMatchObject({ ...draft, ...limits, metadata: { a: 1 }, teams: null });
    const info = await infoOf('ann');
    expect(info['user_info']).toMatchObject({ ...draft, ...limits, spend: 0, teams: [] });
    expect(String((info['user_info'] as Json)['budget_reset_at'])).toMatch(/-01T00:00:00\.000Z$/);
    // The budget of the user is not the budget of its key.
    expect(info['keys']).toMatchObject([{ user_id: 'ann', models: ['demo'], rpm_limit: 8, max_budget: null }]);
    expect((await get('/v2/user/info?user_id=ann')).body).toMatchObject({ ...draft, ...limits });
    expect((await get('/user/info', String(made.body['key']))).body['user_id']).toBe('ann');
  });

  it('users.create 200: a user without a key; teams that do not exist are ignored', async () => {
    await post('/team/new', { team_id: 'joined' });
    const { body } = await post('/user/new', { user_id: 'tim', auto_create_key: false, teams: ['joined', 'none'] });
    expect([body['user_id'], body['key'], body['key_name']]).toEqual(['tim', '', null]);
    expect((await infoOf('tim'))['teams']).toMatchObject([{ team_id: 'joined' }]);
    expect((await infoOf('tim'))['keys']).toEqual([]);
  });

  it('users.create 409: the id, or the email in any case, is taken', async () => {
    await post('/user/new', { user_id: 'bob', user_email: 'bob@x.org' });
    expect(await post('/user/new', { user_id: 'bob' })).toEqual(envelope(409, 'User with id bob already exists'));
    expect(await post('/user/new', { user_id: 'bob2', user_email: 'BOB@X.org' })).toEqual(
      envelope(409, 'User with email BOB@X.org already exists'),
    );
  });

  it('users.create 400: a budget below zero, and an invalid duration', async () => {
    expect(await post('/user/new', { max_budget: -1 })).toEqual(
      envelope(400, 'max_budget must be a non-negative finite number. Received: -1'),
    );
    expect((await post('/user/new', { budget_duration: 'abc' })).status).toBe(400);
  });

  it('users.info, users.flatInfo 404: an unknown user', async () => {
    expect(await get('/user/info?user_id=none')).toEqual(envelope(404, 'User none not found'));
    expect((await get('/v2/user/info?user_id=none')).status).toBe(404);
  });

  it('users.info, users.flatInfo 403: a user may read only itself', async () => {
    const key = await user({ user_id: 'own', user_role: 'internal_user' });
    expect((await get('/user/info?user_id=own', key)).status).toBe(200);
    const message = "key not allowed to access this user's info. user_id=ann, key's user_id=own";
    const refused = envelope(403, message, 'auth_error', 'None');
    expect(await get('/user/info?user_id=ann', key)).toEqual(refused);
    expect(await get('/v2/user/info?user_id=ann', key)).toEqual(refused);
  });

  it('users.list 200, 400 and 422: pages, filters, and invalid values', async () => {
    for (const id of ['l1', 'l2', 'l3']) await post('/user/new', { user_id: id, user_email: `${id}@list.org` });
    const page = (await get('/user/list?user_email=LIST.org&page=2&page_size=2&sort_by=user_id')).body;
    expect(page).toMatchObject({ total: 3, page: 2, page_size: 2, total_pages: 2 });
    expect(page['users']).toMatchObject([{ user_id: 'l3', key_count: 1 }]);
    expect((await get('/user/list?user_ids=l1,l9')).body['total']).toBe(1);
    expect((await get('/user/list?user_ids=&sso_user_ids=&role=&user_email=LIST.org')).body['total']).toBe(3);
    // The administrator created the team, and is its member as `default_user_id`.
    expect((await get('/user/list?team=joined')).body['users']).toMatchObject([
      { user_id: 'tim' },
      { user_id: 'default_user_id' },
    ]);
    const sorts = 'user_id, user_email, created_at, user_alias, user_role, spend, max_budget';
    expect(await get('/user/list?sort_by=zzz')).toEqual(detail(400, `Invalid sort column. Must be one of: ${sorts}`));
    const roles = 'proxy_admin, proxy_admin_viewer, internal_user, internal_user_viewer';
    expect(await get('/user/list?role=king')).toEqual(detail(400, `Invalid role. Must be one of: ${roles}`));
    expect((await get('/user/list?page=0')).status).toBe(422);
  });

  it('users.update 200: by id, by email, and of a user that does not exist, which is created', async () => {
    await post('/user/new', { user_id: 'upd', user_email: 'upd@x.org', max_budget: 1 });
    const { body } = await post('/user/update', { user_id: 'upd', max_budget: null, metadata: { b: 2 } });
    expect(body).toMatchObject({ user_id: 'upd', data: { max_budget: null, metadata: { b: 2 } } });
    expect((await post('/user/update', { user_email: 'UPD@x.org', user_alias: 'Z' })).body).toMatchObject({
      user_id: 'upd',
      data: { user_alias: 'Z', user_email: 'upd@x.org' },
    });
    expect((await post('/user/update', { user_id: 'made-late', rpm_limit: 3 })).status).toBe(200);
    expect((await infoOf('made-late'))['user_info']).toMatchObject({ rpm_limit: 3 });
  });

  it('users.update 400, users.update 401: a taken email, and changes that a user may not make', async () => {
    await post('/user/new', { user_id: 'taken', user_email: 'taken@x.org' });
    expect((await post('/user/update', { user_id: 'upd', user_email: 'TAKEN@x.org' })).status).toBe(400);
    const key = await user({ user_id: 'self', user_role: 'internal_user' });
    const message =
      'Only proxy admin can be used to generate, delete, update info for new keys/users/teams. Your role=internal_user.';
    const refused = envelope(401, message, 'auth_error', 'None');
    expect((await post('/user/update', { user_id: 'self', user_alias: 'S' }, key)).status).toBe(200);
    for (const patch of [{ user_role: 'proxy_admin' }, { max_budget: 9 }, { models: [] }])
      expect(await post('/user/update', { user_id: 'self', ...patch }, key)).toEqual(refused);
    expect(await post('/user/update', { user_id: 'upd', user_alias: 'S' }, key)).toEqual(refused);
  });

  it('users.bulkUpdate 200 and 400: each change has an outcome; an empty list is refused', async () => {
    await post('/user/new', { user_id: 'bulk' });
    const users = [
      { user_id: 'bulk', max_budget: 5 },
      { user_id: 'bulk', max_budget: -5 },
    ];
    expect((await post('/user/bulk_update', { users })).body).toMatchObject({
      total_requested: 2,
      successful_updates: 1,
      failed_updates: 1,
      results: [{ success: true, updated_user: { max_budget: 5 } }, { success: false }],
    });
    expect((await post('/user/bulk_update', { users: [] })).status).toBe(400);
  });

  it('users.delete 200, users.delete 404: a deleted user loses keys and memberships', async () => {
    const key = await user({ user_id: 'gone', teams: ['joined'] });
    expect(await post('/user/delete', { user_ids: ['gone', 'none'] })).toEqual(
      detail(404, 'User not found, passed user_id=none'),
    );
    expect(await post('/user/delete', { user_ids: ['gone'] })).toEqual({ status: 200, body: 1 });
    expect(await post('/user/delete', { user_ids: [] })).toEqual({ status: 200, body: 0 });
    expect((await post('/v1/chat/completions', chat(), key)).status).toBe(401);
    expect((await get('/user/list?team=joined')).body['total']).toBe(2);
  });

  it('users.count 200: users and teams', async () => {
    const before = (await get('/user/available_users')).body;
    await post('/user/new', { user_id: 'counted' });
    const after = (await get('/user/available_users')).body;
    expect(Number(after['total_users_used']) - Number(before['total_users_used'])).toBe(1);
    expect(after).toMatchObject({ total_users: null, total_teams_used: before['total_teams_used'] });
  });

  it('users.count 401: only administrators with full or read-only access see the totals', async () => {
    const viewer = await user({ user_id: 'counting', user_role: 'proxy_admin_viewer' });
    expect((await get('/user/available_users', viewer)).status).toBe(200);
    const key = await user({ user_id: 'curious', user_role: 'internal_user' });
    const message =
      'Only proxy admin can be used to generate, delete, update info for new keys/users/teams. Your role=internal_user.';
    expect(await get('/user/available_users', key)).toEqual(envelope(401, message, 'auth_error', 'None'));
  });

  it('users.list 403: the role of a user limits the role of its keys immediately', async () => {
    const key = await user({ user_id: 'boss', user_role: 'proxy_admin' });
    expect((await get('/user/list', key)).status).toBe(200);
    await post('/user/update', { user_id: 'boss', user_role: 'internal_user' });
    expect(await get('/user/list', key)).toEqual(detail(403, 'Only proxy admins can list users.'));
    await post('/user/update', { user_id: 'boss', user_role: 'proxy_admin' });
    expect((await get('/user/list', key)).status).toBe(200);
  });
});

describe('invitations', () => {
  it('invitations.create, invitations.info, invitations.answer, invitations.delete 200: accepted, then deleted', async () => {
    await post('/user/new', { user_id: 'guest' });
    const made = (await post('/invitation/new', { user_id: 'guest' })).body;
    expect(made).toMatchObject({ user_id: 'guest', is_accepted: false, accepted_at: null });
    const days = (Date.parse(String(made['expires_at'])) - Date.parse(String(made['created_at']))) / 86_400_000;
    expect(days).toBe(7);
    const id = String(made['id']);
    expect((await get(`/invitation/info?invitation_id=${id}`)).body).toEqual(made);
    const answered = (await post('/invitation/update', { invitation_id: id, is_accepted: true })).body;
    expect(answered).toMatchObject({ id, is_accepted: true, accepted_at: answered['updated_at'] });
    expect((await post('/invitation/delete', { invitation_id: id })).body).toEqual(answered);
  });

  it('invitations.create, invitations.info, invitations.answer, invitations.delete 400: an unknown user or invitation', async () => {
    expect((await post('/invitation/new', { user_id: 'none' })).status).toBe(400);
    const refused = detail(400, 'Invitation id does not exist in the database.');
    expect(await get('/invitation/info?invitation_id=none')).toEqual(refused);
    expect(await post('/invitation/update', { invitation_id: 'none', is_accepted: true })).toEqual(refused);
    expect(await post('/invitation/delete', { invitation_id: 'none' })).toEqual(refused);
  });
});
