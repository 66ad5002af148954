import { beforeAll, describe, expect, it } from 'vitest';
import { type Json, tenancyClient } from '../../support/tenancy-client.ts';

const client = tenancyClient({
  config: {
    model_list: ['a', 'b'].map((name) => ({
      model_name: name,
      litellm_params: { model: `openai/${name}`, api_key: 'k', mock_response: 'hi' },
    })),
  },
});
const { post, get, send } = client;
const key = async (draft: object, by?: string): Promise<string> =>
  String((await post('/key/generate', draft, by)).body['key']);
const infoOf = async (secret: string): Promise<Json> => (await get(`/key/info?key=${secret}`)).body['info'] as Json;

const userKeys: Record<string, string> = {};
/** Key of a proxy administrator, who is a member of the team `own`. */
let proxyAdminKey: string;

beforeAll(async () => {
  await post('/team/new', { team_id: 'own' });
  await post('/team/new', { team_id: 'other' });
  await post('/team/new', { team_id: 'third' });
  await post('/team/permissions_update', {
    team_id: 'own',
    team_member_permissions: ['/key/generate', '/key/update', '/key/regenerate', '/key/service-account/generate'],
  });
  for (const [user_id, role] of [
    ['admin', 'admin'],
    ['member', 'user'],
  ] as const) {
    userKeys[user_id] = String((await post('/user/new', { user_id })).body['key']);
    await post('/team/member_add', { team_id: 'own', member: { user_id, role } });
  }
  await post('/team/member_add', { team_id: 'third', member: { user_id: 'admin', role: 'admin' } });
  proxyAdminKey = String((await post('/user/new', { user_id: 'boss', user_role: 'proxy_admin' })).body['key']);
  await post('/team/member_add', { team_id: 'own', member: { user_id: 'boss', role: 'user' } });
});

/** Members that give a key rights or lift its limits. */
const GRANTS: readonly (readonly [string, object])[] = [
  ['a role', { user_role: 'proxy_admin' }],
  ['a role that reads everything', { user_role: 'proxy_admin_viewer' }],
  ['permissions', { permissions: { get_spend_routes: true } }],
  ['router settings', { router_settings: { num_retries: 9 } }],
  ['an object permission', { object_permission: { mcp_servers: ['m'] } }],
  ['a configuration', { config: { a: 1 } }],
  ['cache controls', { allowed_cache_controls: ['no-cache'] }],
  ['an organization', { organization_id: 'org' }],
  ['a budget', { budget_id: 'budget' }],
  ['a budget of customers', { end_user_budget_id: 'budget' }],
  ['access groups', { access_group_ids: ['g'] }],
  ['request limits by model', { model_rpm_limit: { a: 1_000 } }],
  ['token limits by model', { model_tpm_limit: { a: 1_000 } }],
  ['request limits by model in the metadata', { metadata: { model_rpm_limit: { a: 1_000 } } }],
  ['a rate limit in the budget of a model', { model_max_budget: { a: { budget_limit: 1, rpm_limit: 1_000 } } }],
  ['a request limit that may be exceeded', { rpm_limit_type: 'dynamic' }],
  ['a budget that may be exceeded', { throttle_on_budget_exceeded: true }],
  ['a temporary budget', { metadata: { temp_budget_increase: 100, temp_budget_expiry: '2099-01-01T00:00:00Z' } }],
  ['pass-through paths', { allowed_passthrough_routes: ['/paid'] }],
  ['a low estimate of output tokens', { default_estimated_output_tokens: 1 }],
  ['no global guardrails', { disable_global_guardrails: true }],
  ['opted-out guardrails', { metadata: { opted_out_global_guardrails: ['x'] } }],
  ['a higher token limit of batches', { metadata: { batch_enqueued_token_limit: 1e9 } }],
];

describe.each(['admin', 'member'])('a team %s', (name) => {
  it.each(GRANTS)('cannot create a key with %s', async (_what, draft) => {
    const { status } = await post('/key/generate', { team_id: 'own', ...draft }, userKeys[name]);
    expect([400, 403]).toContain(status);
    expect([400, 403]).toContain((await post('/key/generate', draft, userKeys[name])).status);
  });

  it.each(GRANTS)('cannot give its own key %s', async (_what, patch) => {
    const secret = await key({ team_id: 'own', user_id: name });
    const before = await infoOf(secret);
    for (const path of ['/key/update', '/key/regenerate']) {
      const { status } = await post(path, { key: secret, ...patch }, userKeys[name]);
      expect([400, 403]).toContain(status);
    }
    expect(await infoOf(secret)).toEqual(before);
  });

  it.each([
    ['another team', { team_id: 'other' }],
    ['another team of the administrator', { team_id: 'third' }],
    ['no team', { team_id: null }],
    ['a team of blank text', { team_id: ' ' }],
    ['another user', { user_id: 'boss' }],
    ['no user', { user_id: null }],
    ['a spend of zero', { spend: 0 }],
  ])('cannot change its key to %s: 403', async (_change, patch) => {
    const secret = await key({ team_id: 'own', user_id: name });
    const before = await infoOf(secret);
    expect((await post('/key/update', { key: secret, ...patch }, userKeys[name])).status).toBe(403);
    expect(await infoOf(secret)).toEqual(before);
  });

  it('cannot remove a restriction of its key', async () => {
    const restrictions = { tags: ['dear'], enforced_params: ['user'], allowed_routes: ['llm_api_routes'] };
    const secret = await key({ team_id: 'own', user_id: name, metadata: { a: 1 }, ...restrictions });
    const before = await infoOf(secret);
    for (const patch of [
      { tags: [] },
      { tags: null },
      { metadata: { tags: ['cheap'] } },
      { enforced_params: null },
      { allowed_routes: [] },
      { allowed_routes: null },
      { allowed_routes: ['*'] },
      { allowed_routes: ['llm_api_routes', 'management_routes'] },
    ])
      expect([patch, (await post('/key/update', { key: secret, ...patch }, userKeys[name])).status]).toEqual([
        patch,
        403,
      ]);
    expect(await infoOf(secret)).toEqual(before);
    // New metadata replaces only members that do not restrict the key.
    const replaced = await post('/key/update', { key: secret, metadata: {} }, userKeys[name]);
    expect([replaced.status, replaced.body['metadata']]).toEqual([200, { tags: ['dear'], enforced_params: ['user'] }]);
  });

  it('cannot change keys of another team, keys without a team, and keys of other users', async () => {
    const foreignKeys = [await key({ team_id: 'other' }), await key({}), await key({ user_id: 'boss' }), proxyAdminKey];
    for (const foreignKey of foreignKeys) {
      const before = await infoOf(foreignKey);
      for (const path of ['/key/update', '/key/block', '/key/unblock', '/key/regenerate'])
        expect((await post(path, { key: foreignKey }, userKeys[name])).status).toBe(403);
      expect((await post('/key/delete', { keys: [foreignKey] }, userKeys[name])).status).toBe(403);
      expect((await post(`/key/${foreignKey}/reset_spend`, { reset_to: 0 }, userKeys[name])).status).toBe(403);
      expect(
        (await post('/key/bulk_update', { keys: [{ key: foreignKey, max_budget: 1 }] }, userKeys[name])).status,
      ).toBe(403);
      expect(await infoOf(foreignKey)).toEqual(before);
    }
  });

  it('deletes none of several keys if one belongs to another team', async () => {
    const ownKey = await key({ team_id: 'own', user_id: name });
    const foreignKey = await key({ team_id: 'other' });
    expect((await post('/key/delete', { keys: [ownKey, foreignKey] }, userKeys[name])).status).toBe(403);
    expect((await get('/v1/models', ownKey)).status).toBe(200);
  });
});

describe('keys of proxy administrators within a team', () => {
  it('cannot be rotated by the administrator of the team', async () => {
    const adminRoleKey = await key({ team_id: 'own', user_id: 'boss', user_role: 'proxy_admin' });
    const adminUserKey = await key({ team_id: 'own', user_id: 'boss' });
    const adminTeamKey = await key({ team_id: 'own', user_role: 'proxy_admin' });
    for (const secret of [adminRoleKey, adminUserKey, adminTeamKey]) {
      expect((await post('/key/regenerate', { key: secret }, userKeys['admin'])).status).toBe(403);
      expect((await get('/v1/models', secret)).status).toBe(200);
    }
  });

  it('cannot be changed by the administrator of the team', async () => {
    const adminRoleKey = await key({ team_id: 'own', user_id: 'boss', user_role: 'proxy_admin' });
    for (const path of ['/key/update', '/key/block'])
      expect((await post(path, { key: adminRoleKey }, userKeys['admin'])).status).toBe(403);
    expect((await post('/key/delete', { keys: [adminRoleKey] }, userKeys['admin'])).status).toBe(403);
  });

  it('that the administrator of the team creates may call models only', async () => {
    const managementDraft = { team_id: 'own', user_id: 'boss', allowed_routes: ['management_routes'] };
    expect((await post('/key/generate', managementDraft, userKeys['admin'])).status).toBe(403);
    expect(
      (await post('/key/generate', { ...managementDraft, key_type: 'management' }, userKeys['admin'])).status,
    ).toBe(403);
    const created = await key({ team_id: 'own', user_id: 'boss' }, userKeys['admin']);
    expect((await post('/user/new', {}, created)).status).toBe(403);
    expect((await post('/key/update', { key: created, allowed_routes: [] }, userKeys['admin'])).status).toBe(403);
  });
});

describe('a restricted key', () => {
  it.each([
    ['a budget', { max_budget: 1 }],
    ['a request limit', { rpm_limit: 1 }],
    ['an expiry', { duration: '1h' }],
    ['tags', { tags: ['t'] }],
    ['a limit by model', { model_rpm_limit: { a: 1 } }],
    ['budget windows', { budget_limits: [{ budget_duration: '1d', max_budget: 1 }] }],
  ])('with %s cannot create or rotate keys of its team, or raise their limits', async (_restriction, restriction) => {
    const restricted = await key({ team_id: 'own', user_id: 'admin', ...restriction });
    const otherKey = await key({ team_id: 'own', user_id: 'admin', max_budget: 1 });
    expect((await post('/key/generate', { team_id: 'own' }, restricted)).status).toBe(403);
    expect((await post('/key/service-account/generate', { team_id: 'own' }, restricted)).status).toBe(403);
    expect((await post('/key/regenerate', { key: otherKey }, restricted)).status).toBe(403);
    // A key without a budget may restrict itself by a budget.
    const ownStatus = 'max_budget' in restriction ? 403 : 200;
    for (const [secret, status] of [
      [restricted, ownStatus],
      [otherKey, 403],
    ] as const)
      expect((await post('/key/update', { key: secret, max_budget: 99 }, restricted)).status).toBe(status);
  });

  it('with a team cannot create or change keys outside the team', async () => {
    const teamKey = await key({ team_id: 'own', user_id: 'admin' });
    expect((await post('/key/generate', {}, teamKey)).status).toBe(403);
    expect((await post('/key/generate', { team_id: 'third' }, teamKey)).status).toBe(403);
    const thirdTeamKey = await key({ team_id: 'third', user_id: 'admin' });
    for (const path of ['/key/update', '/key/block', '/key/regenerate'])
      expect((await post(path, { key: thirdTeamKey }, teamKey)).status).toBe(403);
    expect((await post('/key/generate', { team_id: 'own' }, teamKey)).status).toBe(200);
  });

  it('with models cannot create or rotate a key with other models', async () => {
    const restricted = await key({ user_id: 'plain', models: ['a'] });
    const inherited = await post('/key/generate', {}, restricted);
    expect([inherited.status, inherited.body['models']]).toEqual([200, ['a']]);
    for (const models of [['b'], ['a', 'b'], ['*'], ['all-proxy-models'], ['all-team-models']])
      expect((await post('/key/generate', { models }, restricted)).status).toBe(403);
    const unrestricted = await key({ user_id: 'plain' });
    expect((await post('/key/regenerate', { key: unrestricted }, restricted)).status).toBe(403);
  });

  it('with routes cannot create or rotate a key with other routes', async () => {
    const restricted = await key({ user_id: 'plain', allowed_routes: ['/key/generate', '/key/regenerate'] });
    const inherited = await post('/key/generate', {}, restricted);
    expect(inherited.body['allowed_routes']).toEqual(['/key/generate', '/key/regenerate']);
    for (const draft of [{ allowed_routes: ['*'] }, { allowed_routes: ['/key'] }, { key_type: 'llm_api' }])
      expect((await post('/key/generate', draft, restricted)).status).toBe(403);
    expect((await post('/key/regenerate', { key: await key({ user_id: 'plain' }) }, restricted)).status).toBe(403);
  });

  it('with a read-only role cannot change keys', async () => {
    const viewer = await key({ user_id: 'plain', user_role: 'internal_user_viewer' });
    for (const path of ['/key/generate', '/key/update', '/key/regenerate', '/key/block', '/key/delete'])
      expect((await post(path, { key: viewer, keys: [viewer] }, viewer)).status).toBe(403);
  });
});

describe('a member with a budget in the team', () => {
  it('may create keys of the team, but no service account keys', async () => {
    const user = String((await post('/user/new', { user_id: 'limited' })).body['key']);
    const member = { user_id: 'limited', role: 'user' };
    await post('/team/member_add', { team_id: 'own', member, max_budget_in_team: 1 });
    expect((await post('/key/generate', { team_id: 'own' }, user)).status).toBe(200);
    expect((await post('/key/service-account/generate', { team_id: 'own' }, user)).status).toBe(403);
    expect((await post('/key/service-account/generate', { team_id: 'own' }, userKeys['member'])).status).toBe(200);
  });
});

describe('the graph', () => {
  it('refuses a member that widens the rights of its key, or changes keys of other users', async () => {
    const secret = await key({ team_id: 'own', user_id: 'member', max_budget: 1 });
    const errorCodeOf = async (mutation: string) =>
      (
        (await send('POST', '/graphql', { query: `mutation { ${mutation} { __typename } }` }, userKeys['member']))
          .body as unknown as { errors?: readonly { extensions: { code: string } }[] }
      ).errors?.[0]?.extensions.code;
    for (const mutation of [
      `updateKey(input: { key: "${secret}", maxBudgetUsd: "9" })`,
      `updateKey(input: { key: "${secret}", role: PROXY_ADMIN })`,
      `updateKey(input: { key: "${secret}", userId: "boss" })`,
      `updateKey(input: { key: "${secret}", teamId: "third" })`,
      `updateKey(input: { key: "${proxyAdminKey}", blocked: true })`,
      `regenerateKey(input: { key: "${proxyAdminKey}" })`,
      `deleteKeys(input: { keys: ["${proxyAdminKey}"] })`,
      `generateKey(input: { role: PROXY_ADMIN })`,
      `generateKey(input: { userId: "boss" })`,
    ])
      expect([mutation, await errorCodeOf(mutation)]).toEqual([mutation, 'FORBIDDEN']);
    expect(await infoOf(secret)).toMatchObject({ max_budget: 1, user_id: 'member', team_id: 'own' });
  });
});
