import { describe, expect, it } from 'vitest';
import { type Json, tenancyClient } from '../../support/tenancy-client.ts';

const SETTING = 'disable_auto_add_proxy_admin_to_teams';
const byDefault = tenancyClient();
const configured = tenancyClient({ config: { general_settings: { [SETTING]: true } } });

type Client = typeof byDefault;
const membersOfNewTeam = async (client: Client, key?: string, draft: object = {}): Promise<readonly unknown[]> => {
  const { body } = await client.post('/team/new', draft, key);
  return (body['members_with_roles'] as readonly Json[]).map(({ user_id: id, role }) => [id, role]);
};

describe('the setting disable_auto_add_proxy_admin_to_teams', () => {
  it('is off by default: a proxy administrator who creates a team becomes its administrator', async () => {
    expect(await membersOfNewTeam(byDefault)).toEqual([['default_user_id', 'admin']]);
  });

  it('in the configuration file excludes the author of a team, but not requested members', async () => {
    expect(await membersOfNewTeam(configured)).toEqual([]);
    const members = [{ user_id: 'ada', role: 'user' }];
    expect(await membersOfNewTeam(configured, undefined, { members_with_roles: members })).toEqual([['ada', 'user']]);
  });

  it('in the store excludes the author of a team until the stored value is deleted', async () => {
    const field = { field_name: SETTING, config_type: 'general_settings' };
    expect((await byDefault.post('/config/field/update', { ...field, field_value: true })).status).toBe(200);
    expect(await membersOfNewTeam(byDefault)).toEqual([]);
    expect((await byDefault.post('/config/field/delete', field)).status).toBe(200);
    expect(await membersOfNewTeam(byDefault)).toEqual([['default_user_id', 'admin']]);
  });

  it('does not apply to administrators of an organization', async () => {
    await configured.post('/organization/new', { organization_id: 'o', organization_alias: 'o' });
    const user = { user_id: 'boss', user_role: 'internal_user' };
    const key = await configured.user(user);
    await configured.post('/organization/member_add', {
      organization_id: 'o',
      member: { user_id: 'boss', role: 'org_admin' },
    });
    expect(await membersOfNewTeam(configured, key, { organization_id: 'o' })).toEqual([['boss', 'admin']]);
  });
});
