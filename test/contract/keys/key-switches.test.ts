import { beforeAll, describe, expect, it } from 'vitest';
import { envelope, tenancyClient } from '../../support/tenancy-client.ts';

const CHOSEN_SECRET = 'sk-a-key-of-my-own-0123456789';
const chosenSecretRefusal = envelope(
  403,
  'Custom API key values are disabled by your administrator. Keys must be auto-generated.',
);
const orgAdminRefusal = envelope(403, 'Key generation by organization admins is disabled by your administrator.');

describe('disable_custom_api_keys', () => {
  const { post, send, key } = tenancyClient();
  const storeSetting = (value: boolean) => send('PATCH', '/update/ui_settings', { disable_custom_api_keys: value });

  it('keys.generate 403, keys.generateServiceKey 403, keys.regenerate 403: a chosen secret, while the setting is stored as true', async () => {
    const secret = await key({});
    await post('/team/new', { team_id: 't' });
    expect((await storeSetting(true)).status).toBe(200);
    expect(await post('/key/generate', { key: CHOSEN_SECRET })).toEqual(chosenSecretRefusal);
    expect(await post('/key/service-account/generate', { team_id: 't', key: CHOSEN_SECRET })).toEqual(
      chosenSecretRefusal,
    );
    expect(await post('/key/regenerate', { key: secret, new_key: CHOSEN_SECRET })).toEqual(chosenSecretRefusal);
    expect((await post('/key/generate', {})).status).toBe(200);
    expect((await post('/key/regenerate', { key: secret })).status).toBe(200);
    expect((await storeSetting(false)).status).toBe(200);
    const created = await post('/key/generate', { key: CHOSEN_SECRET });
    expect([created.status, created.body['key']]).toEqual([200, CHOSEN_SECRET]);
  });
});

describe('settings of key creation in the configuration file', () => {
  const { post, send, user } = tenancyClient({
    config: { general_settings: { disable_custom_api_keys: true, disable_key_generate_for_org_admin: true } },
  });
  const keys: Record<string, string> = {};

  beforeAll(async () => {
    await post('/organization/new', { organization_id: 'org', organization_alias: 'org' });
    await post('/team/new', { team_id: 'own', organization_id: 'org' });
    for (const name of ['org-admin', 'org-member', 'team-admin']) keys[name] = await user({ user_id: name });
    const member = (user_id: string, role: string) => ({ organization_id: 'org', member: { user_id, role } });
    await post('/organization/member_add', member('org-admin', 'org_admin'));
    await post('/organization/member_add', member('org-member', 'internal_user'));
    await post('/team/member_add', { team_id: 'own', member: { user_id: 'team-admin', role: 'admin' } });
  });

  it('take precedence over a stored value', async () => {
    await send('PATCH', '/update/ui_settings', { disable_custom_api_keys: false });
    expect(await post('/key/generate', { key: CHOSEN_SECRET })).toEqual(chosenSecretRefusal);
  });

  it('keys.generate 403, keys.generateServiceKey 403: administrators of an organization', async () => {
    expect(await post('/key/generate', { team_id: 'own' }, keys['org-admin'])).toEqual(orgAdminRefusal);
    expect(await post('/key/generate', {}, keys['org-admin'])).toEqual(orgAdminRefusal);
    expect(await post('/key/service-account/generate', { team_id: 'own' }, keys['org-admin'])).toEqual(orgAdminRefusal);
  });

  it('keys.generate 200: other users, and administrators of teams and of the proxy', async () => {
    expect((await post('/key/generate', {}, keys['org-member'])).status).toBe(200);
    expect((await post('/key/generate', { team_id: 'own' }, keys['team-admin'])).status).toBe(200);
    expect((await post('/key/generate', { team_id: 'own' })).status).toBe(200);
  });

  it('generateKey FORBIDDEN: administrators of an organization in the graph', async () => {
    const query = 'mutation { generateKey(input: {}) { __typename } }';
    const answer = await send('POST', '/graphql', { query }, keys['org-admin']);
    expect(answer.body).toMatchObject({
      errors: [{ message: orgAdminRefusal.body.error.message, extensions: { code: 'FORBIDDEN' } }],
    });
  });
});
