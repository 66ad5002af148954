import { describe, expect, it } from 'vitest';
import { type Json, tenancyClient } from '../../support/tenancy-client.ts';

const SETTING = 'disable_auto_add_proxy_admin_to_teams';
const plain = tenancyClient();
const declared = tenancyClient({ config: { general_settings: { [SETTING]: true } } });

type Client = typeof plain;
const membersOf = async (client: Client, key?: string, more: object = {}): Promise<readonly unknown[]> => {
  const { body } = await client.post('/team/new', more, key);
  return (body['members_with_roles'] as readonly Json[]).map(({ user_id: id, role }) => [id, role]);
};

describe('the setting disable_auto_add_proxy_admin_to_teams', () => {
  it('is off by default: a proxy administrator who creates a team becomes its administrator', async () => {
    expect(await membersOf(plain)).toEqual([['default_user_id', 'admin']]);
  });

  it('in the configuration file keeps the author out, but not requested members', async () => {
    expect(await membersOf(declared)).toEqual([]);
    const members = [{ user_id: 'ada', role: 'user' }];
    expect(await membersOf(declared, undefined, { members_with_roles: members })).toEqual([['ada', 'user']]);
  });

  it('keeps the author out while it is stored', async () => {
    const sent = { field_name: SETTING, config_type: 'general_settings' };
    expect((await plain.post('/config/field/update', { ...sent, field_value: true })).status).toBe(200);
    expect(await membersOf(plain)).toEqual([]);
    expect((await plain.post('/config/field/delete', sent)).status).toBe(200);
    expect(await membersOf(plain)).toEqual([['default_user_id', 'admin']]);
  });

  it('does not apply to administrators of an organization', async () => {
    await declared.post('/organization/new', { organization_id: 'o', organization_alias: 'o' });
    const user = { user_id: 'boss', user_role: 'internal_user' };
    const key = await declared.user(user);
    await declared.post('/organization/member_add', {
      organization_id: 'o',
      member: { user_id: 'boss', role: 'org_admin' },
    });
    expect(await membersOf(declared, key, { organization_id: 'o' })).toEqual([['boss', 'admin']]);
  });
});
