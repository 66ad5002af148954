import { beforeAll, describe, expect, it } from 'vitest';
import { startApp } from '../../support/start-app.ts';
import { envelope, tenancyClient } from '../../support/tenancy-client.ts';

const capError = (member: string, value: number | string, cap: string) =>
  envelope(400, `${member} is over max limit set in config - user_value=${value}; max_value=${cap}`);

describe('default_key_generate_params and upperbound_key_generate_params', () => {
  const { post, key } = tenancyClient({
    config: {
      litellm_settings: {
        default_key_generate_params: { max_budget: 5, models: ['demo'], metadata: { by: 'default' }, tpm_limit: 70 },
        upperbound_key_generate_params: {
          max_budget: 10,
          rpm_limit: 20,
          max_parallel_requests: 3,
          duration: '30d',
          budget_duration: '10d',
        },
      },
    },
  });

  it('keys.generate 200: defaults replace omitted members, and caps replace omitted limits', async () => {
    const { status, body } = await post('/key/generate', {});
    expect(status).toBe(200);
    expect(body).toMatchObject({
      max_budget: 5,
      models: ['demo'],
      metadata: { by: 'default' },
      tpm_limit: 70,
      rpm_limit: 20,
      max_parallel_requests: 3,
      budget_duration: '10d',
    });
    const days = (Date.parse(String(body['expires'])) - Date.now()) / 86_400_000;
    expect(Math.round(days)).toBe(30);
    const draft = { max_budget: 1, models: ['x'], metadata: { a: 1 }, tpm_limit: 1, rpm_limit: 0, duration: '1h' };
    // The answer shows the duration as the time `expires`.
    expect((await post('/key/generate', draft)).body).toMatchObject({ ...draft, duration: null });
  });

  it.each([
    ['max_budget', 10.5, '10'],
    ['rpm_limit', 21, '20'],
    ['max_parallel_requests', 4, '3'],
    ['duration', '31d', '30d'],
    ['duration', '2mo', '30d'],
    ['budget_duration', '11d', '10d'],
  ])('keys.generate 400, keys.update 400, keys.regenerate 400: %s above its cap', async (member, value, cap) => {
    const refused = capError(member, value, cap);
    expect(await post('/key/generate', { [member]: value })).toEqual(refused);
    const secret = await key({});
    expect(await post('/key/update', { key: secret, [member]: value })).toEqual(refused);
    expect(await post('/key/regenerate', { key: secret, [member]: value })).toEqual(refused);
  });

  it('keys.update 400: a limit with a cap cannot be removed', async () => {
    const secret = await key({});
    for (const member of ['max_budget', 'rpm_limit', 'max_parallel_requests', 'duration', 'budget_duration'])
      expect((await post('/key/update', { key: secret, [member]: null })).status).toBe(400);
    expect((await post('/key/update', { key: secret, duration: '-1' })).status).toBe(400);
    expect((await post('/key/update', { key: secret, max_budget: 10, tpm_limit: null })).status).toBe(200);
  });
});

describe('key_generation_settings', () => {
  const client = tenancyClient({
    config: {
      general_settings: { enable_key_alias_format_validation: true },
      litellm_settings: {
        key_generation_settings: {
          team_key_generation: { allowed_team_member_roles: ['admin'], required_params: ['tags'] },
          personal_key_generation: {
            allowed_user_roles: ['proxy_admin'],
            required_params: ['key_alias', 'max_budget'],
          },
        },
      },
    },
  });
  const { post } = client;
  const users: Record<string, string> = {};

  beforeAll(async () => {
    await post('/team/new', { team_id: 't' });
    await post('/team/permissions_update', { team_id: 't', team_member_permissions: ['/key/generate'] });
    for (const [user_id, role] of [
      ['admin', 'admin'],
      ['member', 'user'],
    ] as const) {
      users[user_id] = String((await post('/user/new', { user_id })).body['key']);
      await post('/team/member_add', { team_id: 't', member: { user_id, role } });
    }
  });

  it('keys.generate 403: users who may not create keys without a team', async () => {
    const draft = { key_alias: 'mine', max_budget: 1 };
    expect(await post('/key/generate', draft, users['member'])).toEqual(
      envelope(
        403,
        "Personal key creation has been restricted by admin. Allowed roles=['proxy_admin']. Your role=internal_user",
      ),
    );
  });

  it('keys.generate 400: required members of keys without a team are missing', async () => {
    for (const [draft, missing] of [
      [{}, 'key_alias'],
      [{ key_alias: 'named' }, 'max_budget'],
    ] as const)
      expect(await post('/key/generate', draft)).toEqual(envelope(400, `Required param ${missing} not in data`));
    expect((await post('/key/generate', { key_alias: 'named', max_budget: 0 })).status).toBe(200);
  });

  it('keys.generate 400: a key of a team by a role that may not create it, or without a required member', async () => {
    const draft = { team_id: 't', tags: ['a'] };
    expect(await post('/key/generate', draft, users['member'])).toEqual(
      envelope(400, "Team member role user not in allowed_team_member_roles=['admin']"),
    );
    expect(await post('/key/generate', { team_id: 't' }, users['admin'])).toEqual(
      envelope(400, 'Required param tags not in data'),
    );
    expect((await post('/key/generate', draft, users['admin'])).status).toBe(200);
    // The rules for keys of teams do not apply to proxy administrators.
    expect((await post('/key/generate', { team_id: 't' })).status).toBe(200);
  });

  it('keys.generate 400: an administrator names a team that does not exist', async () => {
    expect(await post('/key/generate', { team_id: 'unknown' })).toEqual(
      envelope(400, 'Unable to find team object in database. Team ID: unknown'),
    );
  });

  it('keys.generate 400, keys.update 400: an invalid alias', async () => {
    const refused = envelope(
      400,
      'Invalid key_alias format. Must be 2-255 characters, start/end with alphanumeric, and only contain a-zA-Z0-9_-/.@.',
      'bad_request_error',
      'key_alias',
    );
    const valid = await post('/key/generate', { key_alias: 'team/a.b@c-d_e', max_budget: 1 });
    expect(valid.status).toBe(200);
    // The `а` in the fifth alias is Cyrillic.
    for (const key_alias of ['x', '-ab', 'ab ', 'a b', 'аb', 'a\u200bb', 'a'.repeat(256)]) {
      expect(await post('/key/generate', { key_alias, max_budget: 1 })).toEqual(refused);
      expect(await post('/key/update', { key: String(valid.body['key']), key_alias })).toEqual(refused);
    }
  });

  it('do not apply to keys of new users', async () => {
    expect((await post('/user/new', { user_id: 'further' })).status).toBe(200);
  });
});

describe.each([
  ['empty', {}],
  ['without rules', { personal_key_generation: null }],
])('key_generation_settings: %s', (_case, key_generation_settings) => {
  const { post } = tenancyClient({ config: { litellm_settings: { key_generation_settings } } });

  it('keys.generate 400: a team that does not exist', async () => {
    const refused = envelope(400, 'Unable to find team object in database. Team ID: unknown');
    expect(await post('/key/generate', { team_id: 'unknown' })).toEqual(refused);
    expect((await post('/key/generate', {})).status).toBe(200);
  });
});

describe.each([
  ['absent', {}],
  ['null', { key_generation_settings: null }],
])('key_generation_settings: %s', (_case, litellm_settings) => {
  const { post } = tenancyClient({ config: { litellm_settings } });

  it('keys.generate 200: an administrator names a team that does not exist', async () => {
    const { status, body } = await post('/key/generate', { team_id: 'unknown' });
    expect([status, body['team_id']]).toEqual([200, 'unknown']);
  });
});

it.each([
  ['default_key_generate_params', { max_budget: 'much' }, 'max_budget'],
  ['default_key_generate_params', { guardrails: ['g'] }, 'guardrails'],
  ['upperbound_key_generate_params', { duration: 'long' }, 'duration'],
  ['key_generation_settings', { personal_key_generation: { allowed_user_roles: 'all' } }, 'personal_key_generation'],
])('%s: an invalid or unsupported member makes the start fail: %j', async (name, value, member) => {
  await expect(startApp({ config: { litellm_settings: { [name]: value } } })).rejects.toThrow(member);
});

describe('required_params of keys without a team', () => {
  const { post } = tenancyClient({
    config: {
      litellm_settings: {
        default_key_generate_params: { max_budget: 5 },
        upperbound_key_generate_params: { rpm_limit: 10 },
        key_generation_settings: {
          personal_key_generation: { required_params: ['max_budget', 'rpm_limit', 'user_role'] },
        },
      },
    },
  });

  it('keys.generate 200 and 400: required members must be in the request, even if the configuration has a default or a cap', async () => {
    for (const [draft, missing] of [
      [{}, 'max_budget'],
      [{ max_budget: 1 }, 'rpm_limit'],
      [{ max_budget: 1, rpm_limit: 1 }, 'user_role'],
    ] as const)
      expect(await post('/key/generate', draft)).toEqual(envelope(400, `Required param ${missing} not in data`));
    const complete = { max_budget: 1, rpm_limit: 1, user_role: 'internal_user' };
    expect((await post('/key/generate', complete)).status).toBe(200);
  });
});
