import { beforeAll, describe, expect, it } from 'vitest';
import { detail, envelope, type Json, tenancyClient } from '../../support/tenancy-client.ts';

const client = tenancyClient();
const { post, get, send } = client;
const key = async (draft: object, by?: string): Promise<string> =>
  String((await post('/key/generate', draft, by)).body['key']);

/** Keys without a team, by user id. */
const users: Record<string, string> = {};

beforeAll(async () => {
  await post('/organization/new', { organization_id: 'org', organization_alias: 'org' });
  await post('/team/new', { team_id: 'own', organization_id: 'org' });
  await post('/team/new', { team_id: 'other' });
  for (const name of ['admin', 'member', 'orgAdmin', 'stranger', 'second']) {
    const { body } = await post('/user/new', { user_id: name });
    users[name] = String(body['key']);
  }
  const join = (team_id: string, user_id: string, role: string) =>
    post('/team/member_add', { team_id, member: { user_id, role } });
  await join('own', 'admin', 'admin');
  await join('own', 'member', 'user');
  await join('own', 'second', 'user');
  await join('other', 'stranger', 'admin');
  const member = { user_id: 'orgAdmin', role: 'org_admin' };
  await post('/organization/member_add', { organization_id: 'org', member });
});

const infoOf = async (secret: string): Promise<Json> => (await get(`/key/info?key=${secret}`)).body['info'] as Json;
const permit = (...routes: readonly string[]) =>
  post('/team/permissions_update', { team_id: 'own', team_member_permissions: routes });

describe.each(['admin', 'orgAdmin'])('an administrator of the team or its organization: %s', (name) => {
  it('keys.generate 200: creates keys of the team for itself', async () => {
    const { status, body } = await post('/key/generate', { team_id: 'own', max_budget: 3 }, users[name]);
    expect([status, body['team_id'], body['user_id'], body['max_budget']]).toEqual([200, 'own', name, 3]);
  });

  it('keys.generate 200: creates keys for members, which may call models only', async () => {
    const created = await post('/key/generate', { team_id: 'own', user_id: 'member' }, users[name]);
    expect([created.status, created.body['user_id'], created.body['allowed_routes']]).toEqual([
      200,
      'member',
      ['llm_api_routes'],
    ]);
    const secret = String(created.body['key']);
    expect((await post('/key/generate', {}, secret)).status).toBe(403);
    expect((await send('POST', '/graphql', { query: '{ viewer { role } }' }, secret)).body).toMatchObject({
      errors: [{ extensions: { code: 'FORBIDDEN' } }],
    });
  });

  it('keys.generateServiceKey 200: creates keys of the team without a user', async () => {
    const { status, body } = await post('/key/service-account/generate', { team_id: 'own' }, users[name]);
    expect([status, body['team_id'], body['user_id']]).toEqual([200, 'own', null]);
  });

  it('keys.update 200, keys.block 200, keys.unblock 200, keys.regenerate 200, keys.delete 200: a key of the team', async () => {
    const secret = await key({ team_id: 'own', max_budget: 1, metadata: { tags: ['t'], note: 1 } });
    const changed = await post('/key/update', { key: secret, max_budget: 9, metadata: { note: 2 } }, users[name]);
    expect([changed.status, changed.body['max_budget'], changed.body['metadata']]).toEqual([
      200,
      9,
      { note: 2, tags: ['t'] },
    ]);
    expect((await post('/key/block', { key: secret }, users[name])).status).toBe(200);
    expect((await get('/v1/models', secret)).status).toBe(401);
    expect((await post('/key/unblock', { key: secret }, users[name])).status).toBe(200);
    const rotated = await post('/key/regenerate', { key: secret }, users[name]);
    expect(rotated.status).toBe(200);
    expect((await get('/v1/models', String(rotated.body['key']))).status).toBe(200);
    expect((await post('/key/delete', { keys: [String(rotated.body['key'])] }, users[name])).status).toBe(200);
  });

  it('keys.info 200: reads keys of the team', async () => {
    const secret = await key({ team_id: 'own', user_id: 'member' });
    expect((await get(`/key/info?key=${secret}`, users[name])).status).toBe(200);
  });

  it('changes, blocks, unblocks and deletes a key of the team in the graph', async () => {
    const secret = await key({ team_id: 'own' });
    const query = `mutation ($key: ID!) {
      updateKey(input: { key: $key, maxBudgetUsd: "4" }) { ... on VirtualKey { maxBudgetUsd } }
      blockKey(input: { key: $key }) { ... on VirtualKey { blocked } }
      unblockKey(input: { key: $key }) { ... on VirtualKey { blocked } }
      deleteKeys(input: { keys: [$key] }) { ... on DeletedKeys { virtualKeys { teamId } } }
    }`;
    const { body } = await send('POST', '/graphql', { query, variables: { key: secret } }, users[name]);
    expect(body).toEqual({
      data: {
        updateKey: { maxBudgetUsd: '4' },
        blockKey: { blocked: true },
        unblockKey: { blocked: false },
        deleteKeys: { virtualKeys: [{ teamId: 'own' }] },
      },
    });
  });
});

describe('a member of the team', () => {
  const notPermitted = (route: string, routes: readonly string[]) =>
    envelope(
      401,
      `Team member does not have permissions for endpoint: ${route}. You only have access to the following endpoints: [${routes.map((path) => `'${path}'`).join(', ')}] for team own. To create keys for this team, please ask your proxy admin to check the team member permission settings and update the settings to allow team member users to create keys.`,
      'team_member_permission_error',
      route,
    );
  /** Key routes that members may call in a team that sets no permissions. */
  const defaultRoutes = ['/key/info', '/key/health'];

  it('keys.generate 401, keys.generateServiceKey 401, keys.update 401: without a permission of the team', async () => {
    await permit();
    const secret = await key({ team_id: 'own', user_id: 'member' });
    expect(await post('/key/generate', { team_id: 'own' }, users['member'])).toEqual(
      notPermitted('/key/generate', defaultRoutes),
    );
    expect(await post('/key/service-account/generate', { team_id: 'own' }, users['member'])).toEqual(
      notPermitted('/key/service-account/generate', defaultRoutes),
    );
    for (const path of ['/key/update', '/key/block', '/key/unblock', '/key/regenerate'])
      expect(await post(path, { key: secret }, users['member'])).toEqual(notPermitted(path, defaultRoutes));
  });

  it('needs permissions to create and change its own keys, cannot raise their limits, and may always delete them', async () => {
    const routes = ['/key/generate', '/key/update', '/key/block', '/key/regenerate'];
    await permit(...routes);
    const secret = await key({ team_id: 'own', max_budget: 5 }, users['member']);
    expect(await infoOf(secret)).toMatchObject({ user_id: 'member', team_id: 'own', max_budget: 5 });
    const change = (patch: object) => post('/key/update', { key: secret, ...patch }, users['member']);
    expect((await change({ max_budget: 2, key_alias: 'mine' })).status).toBe(200);
    expect(await change({ max_budget: 3 })).toEqual(
      envelope(403, 'Only administrators of the proxy, or of the team of a key, raise its limits: max_budget.'),
    );
    expect(await infoOf(secret)).toMatchObject({ max_budget: 2, key_alias: 'mine' });
    expect((await post('/key/block', { key: secret }, users['member'])).status).toBe(200);
    expect(await post('/key/unblock', { key: secret }, users['member'])).toEqual(notPermitted('/key/unblock', routes));
    expect((await post('/key/delete', { keys: [secret] }, users['member'])).status).toBe(200);
  });

  it('keys.update 403, keys.regenerate 403, keys.delete 403: keys of another member', async () => {
    await permit('/key/update', '/key/regenerate', '/key/delete', '/key/block');
    const secret = await key({ team_id: 'own', user_id: 'second' });
    for (const path of ['/key/update', '/key/regenerate'])
      expect(await post(path, { key: secret }, users['member'])).toEqual(
        envelope(
          403,
          `Only proxy admins, team admins, or org admins can call ${path}. user_role=internal_user, user_id=member`,
          'auth_error',
          'None',
        ),
      );
    expect(await post('/key/block', { key: secret }, users['member'])).toEqual(
      detail(
        403,
        'Only proxy admins, team admins, or org admins can call /key/block. user_role=internal_user, user_id=member',
      ),
    );
    expect(await post('/key/delete', { keys: [secret] }, users['member'])).toEqual(
      envelope(403, 'You are not authorized to delete this key'),
    );
  });

  it('keys.info 200, keys.info 403: reads keys of the team if the team permits /key/info', async () => {
    const secret = await key({ team_id: 'own', user_id: 'second' });
    await permit();
    expect((await get(`/key/info?key=${secret}`, users['member'])).status).toBe(200);
    await permit('/key/generate');
    expect((await get(`/key/info?key=${secret}`, users['member'])).status).toBe(403);
    expect((await get(`/key/info?key=${secret}`, users['stranger'])).status).toBe(403);
  });

  it('keys.list 200: lists the keys of the team if the team permits /key/list', async () => {
    const secret = await key({ team_id: 'own', user_id: 'second', key_alias: 'listed' });
    const listedCount = async (name: string, filter: string) =>
      (await get(`/key/list?key_alias=listed${filter}`, users[name])).body['total_count'];
    await permit();
    expect(await listedCount('member', '&include_team_keys=true')).toBe(0);
    await permit('/key/list');
    expect(await listedCount('member', '&include_team_keys=true')).toBe(1);
    expect(await listedCount('member', '&team_id=own')).toBe(1);
    expect(await listedCount('member', '')).toBe(0);
    expect(await listedCount('admin', '&team_id=own')).toBe(1);
    expect(await listedCount('orgAdmin', '&team_id=own')).toBe(1);
    expect(await listedCount('stranger', '&team_id=own')).toBe(0);
    await post('/key/delete', { keys: [secret] });
  });
});

describe('a user', () => {
  it('keys.generate 400: the caller or the user of the key is not a member of the team', async () => {
    expect(await post('/key/generate', { team_id: 'unknown' }, users['admin'])).toEqual(
      envelope(400, 'User=admin not assigned to team=unknown'),
    );
    expect(await post('/key/generate', { team_id: 'other' }, users['admin'])).toEqual(
      envelope(400, 'User=admin not assigned to team=other'),
    );
    expect(await post('/key/generate', { team_id: 'own', user_id: 'stranger' }, users['admin'])).toEqual(
      envelope(400, 'User=stranger not assigned to team=own'),
    );
  });

  it('keys.regenerate 200: rotates its own key without a team, but cannot give it a budget', async () => {
    const secret = await key({}, users['stranger']);
    const rotated = await post('/key/regenerate', { key: secret }, users['stranger']);
    expect(rotated.status).toBe(200);
    const newSecret = String(rotated.body['key']);
    expect((await get('/v1/models', secret)).status).toBe(401);
    expect((await get('/v1/models', newSecret)).status).toBe(200);
    expect((await post('/key/regenerate', { key: newSecret, max_budget: 1 }, users['stranger'])).status).toBe(403);
    expect((await get('/v1/models', newSecret)).status).toBe(200);
  });
});
