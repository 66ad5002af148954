import { describe, expect, it } from 'vitest';
import { detail, envelope, NO_KEY, tenancyClient } from '../../support/tenancy-client.ts';

const { send, post, get, user } = tenancyClient();
const PATH = '/team/permissions_bulk_update';

async function createTeam(id: string, permissions: readonly string[] = []): Promise<void> {
  expect((await post('/team/new', { team_id: id, team_member_permissions: permissions })).status).toBe(200);
}
const permissionsOf = async (id: string): Promise<unknown> =>
  (await get(`/team/permissions_list?team_id=${id}`)).body['team_member_permissions'];
const updated = (count: number, permissions: readonly string[]) => ({
  status: 200,
  body: {
    message: 'Team permissions updated successfully',
    teams_updated: count,
    permissions_appended: permissions,
  },
});

describe('teamPermissions.add', () => {
  it('teamPermissions.add 200: named teams keep what they have; teams with all permissions are not counted', async () => {
    await createTeam('own', ['/key/list']);
    await createTeam('defaults');
    await createTeam('full', ['/key/block', '/key/update']);
    await createTeam('other');
    const permissions = ['/key/update', '/key/block'];
    const team_ids = ['own', 'defaults', 'full', 'own'];
    expect(await post(PATH, { permissions, team_ids })).toEqual(updated(2, permissions));
    expect(await permissionsOf('own')).toEqual(['/key/block', '/key/list', '/key/update']);
    // The default permissions stay in effect.
    expect(await permissionsOf('defaults')).toEqual(['/key/block', '/key/health', '/key/info', '/key/update']);
    expect(await permissionsOf('full')).toEqual(['/key/block', '/key/update']);
    expect(await permissionsOf('other')).toEqual([]);
    expect(await post(PATH, { permissions, team_ids })).toEqual(updated(0, permissions));
  });

  it('teamPermissions.add 200: members may call the route at once, and each changed team has an audit row', async () => {
    const member = await user({ user_id: 'perm-member' });
    await createTeam('audited', ['/key/info']);
    await post('/team/member_add', { team_id: 'audited', member: { role: 'user', user_id: 'perm-member' } });
    const draft = { team_id: 'audited', user_id: 'perm-member' };
    expect((await post('/key/generate', draft, member)).status).toBe(401);
    const body = { permissions: ['/key/generate'], team_ids: ['audited'] };
    expect(await post(PATH, body)).toEqual(updated(1, body.permissions));
    expect((await post('/key/generate', draft, member)).status).toBe(200);
    const { body: audit } = await get('/audit?object_id=audited&sort_by=updated_at&sort_order=desc&page_size=1');
    expect(audit['audit_logs']).toMatchObject([
      {
        action: 'updated',
        object_id: 'audited',
        updated_values: { member_permissions: ['/key/generate', '/key/info'] },
      },
    ]);
  });

  it('teamPermissions.add 200: all teams; no permissions change nothing', async () => {
    await createTeam('one');
    await createTeam('two');
    expect(await post(PATH, { permissions: [], apply_to_all_teams: true })).toEqual({
      status: 200,
      body: { message: 'No permissions provided', teams_updated: 0, permissions_appended: null },
    });
    const { status, body } = await post(PATH, { permissions: ['/spend/logs'], apply_to_all_teams: true });
    expect([status, Number(body['teams_updated']) >= 2]).toEqual([200, true]);
    for (const id of ['one', 'two']) expect(await permissionsOf(id)).toContain('/spend/logs');
  });

  it('teamPermissions.add 400: neither teams nor all teams, and both', async () => {
    const permissions = ['/key/list'];
    expect(await post(PATH, { permissions })).toEqual(
      detail(400, 'Must provide team_ids or set apply_to_all_teams=true'),
    );
    expect(await post(PATH, { permissions, team_ids: ['x'], apply_to_all_teams: true })).toEqual(
      detail(400, 'Cannot set both apply_to_all_teams=true and team_ids'),
    );
  });

  it('teamPermissions.add 404: unknown teams; no team is changed', async () => {
    await createTeam('kept', ['/key/info']);
    const body = { permissions: ['/key/list'], team_ids: ['kept', 'nope', 'never'] };
    expect(await post(PATH, body)).toEqual(detail(404, "Team(s) not found: ['never', 'nope']"));
    expect(await permissionsOf('kept')).toEqual(['/key/info']);
  });

  it('teamPermissions.add 422: an unknown permission, and no permissions', async () => {
    const { status, body } = await post(PATH, { permissions: ['/key/fly'], team_ids: ['x'] });
    expect([status, body]).toEqual([
      422,
      {
        detail: [
          {
            type: 'enum',
            loc: ['body', 'permissions'],
            msg: expect.stringMatching(/^Input should be '\/key\/info', .* or '\/spend\/logs\/v2'$/) as unknown,
          },
        ],
      },
    ]);
    expect(await post(PATH, {})).toEqual({
      status: 422,
      body: { detail: [{ type: 'missing', loc: ['body', 'permissions'], msg: 'Field required' }] },
    });
  });

  it('teamPermissions.add 401: no key, and a user; 403: a read-only administrator', async () => {
    const body = { permissions: ['/key/list'], apply_to_all_teams: true };
    expect(await send('POST', PATH, body, '')).toEqual(NO_KEY);
    expect((await post(PATH, body, await user({ user_id: 'perm-user' }))).status).toBe(401);
    const viewer = await user({ user_id: 'perm-viewer', user_role: 'proxy_admin_viewer' });
    expect(await post(PATH, body, viewer)).toEqual(
      envelope(403, 'user not allowed to access this route, role= proxy_admin_viewer.', 'auth_error', 'None'),
    );
  });
});
