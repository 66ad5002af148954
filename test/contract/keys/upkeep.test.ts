import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LISTED_FORM, STORED_FORM } from '../../support/key-forms.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';

type Json = Readonly<Record<string, unknown>>;

const UNKNOWN_KEY = 'sk-there-is-no-such-key';
let app: TestApp;

beforeAll(async () => {
  app = await startApp();
});
afterAll(async () => {
  await app.stop();
});

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

async function send(method: string, path: string, body?: unknown, key = app.adminKey) {
  const answer = await app.call(method, path, body, { authorization: `Bearer ${key}` });
  return { status: answer.status, headers: answer.headers, body: (await answer.json()) as Json };
}
const post = (path: string, body: unknown, key?: string) => send('POST', path, body, key);
const newKey = async (draft: object = {}): Promise<string> => String((await post('/key/generate', draft)).body['key']);
const infoOf = async (key: string): Promise<Json> => (await send('GET', `/key/info?key=${key}`)).body['info'] as Json;

/** Settings that a key shows unchanged. */
const SETTINGS = {
  aliases: { fast: 'demo' },
  config: { a: 1 },
  permissions: { custom: true },
  agent_id: 'agent-1',
  max_parallel_requests: 7,
  tpm_limit: 1_000,
  rpm_limit: 100,
  tpd_limit: 50_000,
  budget_duration: '30d',
  budget_fallbacks: { demo: ['other'] },
  model_max_budget: { demo: { budget_limit: 1.5, time_period: '1d' } },
  allowed_cache_controls: ['no-cache'],
  allowed_routes: ['llm_api_routes'],
  object_permission: { mcp_servers: ['m1'] },
  router_settings: { num_retries: 3 },
  auto_rotate: true,
  rotation_interval: '30d',
};
/** Settings that a key shows in its metadata. */
const SETTINGS_IN_METADATA = {
  model_rpm_limit: { demo: 10 },
  model_tpm_limit: { demo: 1_000 },
  tags: ['a', 'b'],
  enforced_params: ['user'],
  rpm_limit_type: 'best_effort_throughput',
  default_estimated_output_tokens: 64,
};

describe('settings of a key', () => {
  it('are stored and shown', async () => {
    const key = await newKey({
      ...SETTINGS,
      ...SETTINGS_IN_METADATA,
      metadata: { team: 'core' },
      spend: 2,
      soft_budget: 5,
    });
    const info = await infoOf(key);
    expect(info).toMatchObject({
      ...SETTINGS,
      metadata: { team: 'core', ...SETTINGS_IN_METADATA },
      spend: 2,
      total_spend: 0,
    });
    expect(info['litellm_budget_table']).toMatchObject({ budget_id: info['budget_id'], soft_budget: 5 });
    // A window of 30 days ends at the start of a month.
    expect(String(info['budget_reset_at'])).toMatch(/-01T00:00:00\.000Z$/);
  });

  it('are changed one by one, and null removes a setting', async () => {
    const key = await newKey({ ...SETTINGS, ...SETTINGS_IN_METADATA });
    const patch = { key, rpm_limit: null, tpm_limit: 5, aliases: null, model_rpm_limit: null, budget_duration: null };
    const { body } = await post('/key/update', patch);
    const { model_rpm_limit: _, ...remaining } = SETTINGS_IN_METADATA;
    const changed = { rpm_limit: null, tpm_limit: 5, aliases: {}, budget_duration: null, budget_reset_at: null };
    expect(body).toMatchObject({ ...SETTINGS, ...changed, metadata: remaining });
    expect((body['metadata'] as Json)['model_rpm_limit']).toBeUndefined();
    expect((await post('/key/update', { key, metadata: { z: 1 } })).body['metadata']).toEqual({ z: 1 });
  });

  it.each([
    ['llm_api', ['llm_api_routes']],
    ['management', ['management_routes']],
    ['read_only', ['info_routes']],
    ['default', []],
  ])('have the routes of the key type %s', async (keyType, routes) => {
    expect(await infoOf(await newKey({ key_type: keyType }))).toMatchObject({
      key_type: keyType,
      allowed_routes: routes,
    });
  });

  it('have budget windows with their reset times', async () => {
    const windows = [
      { budget_duration: '1d', max_budget: 1 },
      { budget_duration: '1mo', max_budget: 10 },
    ];
    const { budget_limits: shownWindows } = await infoOf(await newKey({ budget_limits: windows }));
    expect(shownWindows).toEqual(
      windows.map((window) => ({ ...window, reset_at: expect.stringMatching(/T00:00:00\.000Z$/) as string })),
    );
  });

  it.each([
    [{ rpm_limit: 1.5 }, 'int_from_float', 'rpm_limit'],
    [{ rpm_limit: 'x' }, 'int_parsing', 'rpm_limit'],
    [{ max_parallel_requests: {} }, 'int_type', 'max_parallel_requests'],
    [{ aliases: { a: 1 } }, 'string_type', 'aliases'],
    [{ budget_limits: {} }, 'list_type', 'budget_limits'],
    [{ key_type: 'zzz' }, 'enum', 'key_type'],
  ])('are refused if they are malformed: %j', async (draft, type, member) => {
    const { status, body } = await post('/key/generate', draft);
    expect([status, body]).toMatchObject([422, { detail: [{ type, loc: ['body', member] }] }]);
  });

  it.each([
    { budget_duration: 'xyz' },
    { budget_limits: [{ budget_duration: 'xyz', max_budget: 1 }] },
    { model_max_budget: { demo: { budget_limit: 1, time_period: 'xyz' } } },
  ])('are refused with a malformed budget duration: %j', async (draft) => {
    const message = "Invalid budget_duration 'xyz'. Use a format like '1h', '24h', '7d', or '30d'.";
    const refused = { status: 400, body: { error: { message } } };
    expect(await post('/key/generate', draft)).toMatchObject(refused);
    expect(await post('/key/update', { key: await newKey(), ...draft })).toMatchObject(refused);
  });

  it('of policies and prompts are stored in the metadata', async () => {
    expect((await post('/policies', { policy_name: 'p' })).status).toBe(200);
    const { status, body } = await post('/key/generate', { policies: ['p'], prompts: ['q'] });
    expect([status, body['policies'], body['metadata']]).toEqual([200, ['p'], { policies: ['p'], prompts: ['q'] }]);
  });

  it('that have no effect are named in a header', async () => {
    const stored = await post('/key/generate', { metadata: { tags: ['a'] } });
    expect(stored.body).toMatchObject({ tags: null, metadata: { tags: ['a'] } });
    const { headers } = await post('/key/generate', { nonsense_field: 1, send_invite_email: true, tags: ['a'] });
    expect(headers.get('x-lensgate-ignored-members')).toBe('nonsense_field, send_invite_email');
    expect((await post('/key/generate', { rpm_limit: 1 })).headers.get('x-lensgate-ignored-members')).toBeNull();
  });
});

describe('a key of a user', () => {
  it('creates, reads and deletes keys of its user', async () => {
    const userKey = await newKey({ user_id: 'mine' });
    const created = await post('/key/generate', { key_alias: 'self' }, userKey);
    expect([created.status, created.body['user_id']]).toEqual([200, 'mine']);
    const key = String(created.body['key']);
    expect((await send('GET', `/key/info?key=${key}`, undefined, userKey)).status).toBe(200);
    expect((await post('/key/delete', { keys: [key] }, userKey)).status).toBe(200);
  });

  it.each([
    [{ user_id: 'other' }, 403],
    [{ user_role: 'proxy_admin' }, 403],
    [{ team_id: 't' }, 400],
  ])('cannot create a key beyond its own rights: %j', async (draft, status) => {
    expect((await post('/key/generate', draft, await newKey({ user_id: 'mine' }))).status).toBe(status);
  });

  it.each([
    { max_budget: 1 },
    { team_id: 't' },
    { duration: '1h' },
    { rpm_limit: 1 },
    { model_rpm_limit: { demo: 1 } },
  ])('cannot create a key if it has limits or a team: %j', async (draft) => {
    expect((await post('/key/generate', {}, await newKey({ user_id: 'mine', ...draft }))).status).toBe(403);
  });
});

describe('keys.generateServiceKey', () => {
  const PATH = '/key/service-account/generate';

  it('keys.generateServiceKey 200: a key of a team without a user', async () => {
    await post('/team/new', { team_id: 't' });
    const { status, body } = await post(PATH, { key_alias: 'sa', team_id: 't', user_id: 'u' });
    expect([status, body]).toMatchObject([
      200,
      { team_id: 't', user_id: null, metadata: { service_account_id: 'sa' } },
    ]);
  });

  it('keys.generateServiceKey 400: no team', async () => {
    expect(await post(PATH, { key_alias: 'sa-2' })).toMatchObject({
      status: 400,
      body: { detail: expect.stringContaining('team_id is required') as string },
    });
  });

  it('keys.generateServiceKey 401, 403 and 422: an unknown key, a new key with permissions, a malformed member', async () => {
    expect((await post(PATH, { team_id: 't' }, UNKNOWN_KEY)).status).toBe(401);
    const member = await newKey({ user_id: 'sa-member' });
    await post('/team/member_add', { team_id: 't', member: { user_id: 'sa-member', role: 'admin' } });
    const draftWithPermissions = { team_id: 't', permissions: { get_spend_routes: true } };
    expect((await post(PATH, draftWithPermissions, member)).status).toBe(403);
    expect((await post(PATH, { models: 'x' })).status).toBe(422);
  });
});

describe('keys.infos', () => {
  it('keys.infos 200: only keys that exist', async () => {
    const key = await newKey({ key_alias: 'seen' });
    const { status, body } = await post('/v2/key/info', { keys: [key, UNKNOWN_KEY] });
    expect([status, body]).toMatchObject([200, { key: [sha256(key)], info: [{ key_alias: 'seen' }] }]);
  });

  it('keys.infos 401, 403 and 422: an unknown key, a key without a user, a malformed body', async () => {
    expect((await post('/v2/key/info', '{"a"')).status).toBe(422);
    expect((await post('/v2/key/info', { keys: [] }, UNKNOWN_KEY)).status).toBe(401);
    expect((await post('/v2/key/info', { keys: [] }, await newKey())).status).toBe(403);
    expect((await post('/v2/key/info', { keys: 1 })).status).toBe(422);
  });
});

describe('keys.aliases', () => {
  it('keys.aliases 200: a sorted page of the aliases that contain the search text in any case', async () => {
    for (const alias of ['Zoo-2', 'zoo-1', 'zoo-3']) await newKey({ key_alias: alias });
    const { status, body } = await send('GET', '/key/aliases?search=ZOO-&size=2');
    expect({ status, body }).toEqual({
      status: 200,
      body: { aliases: ['Zoo-2', 'zoo-1'], total_count: 3, current_page: 1, total_pages: 2, size: 2 },
    });
    const listed = await send('GET', '/key/list?key_alias=oo-3&substring_matching=true&return_full_object=true');
    expect(listed.body).toMatchObject({ keys: [{ ...LISTED_FORM, key_alias: 'zoo-3' }], total_count: 1 });
  });

  it('keys.aliases 401 and 422: an unknown key, a page size of zero', async () => {
    expect((await send('GET', '/key/aliases', undefined, UNKNOWN_KEY)).status).toBe(401);
    expect((await send('GET', '/key/aliases?size=0')).status).toBe(422);
  });
});

describe('keys.bulkUpdate', () => {
  it('keys.bulkUpdate 200: the updated keys, and the updates that failed', async () => {
    const key = await newKey();
    const updates = [
      { key, max_budget: 9 },
      { key: UNKNOWN_KEY, max_budget: 9 },
    ];
    const { status, body } = await post('/key/bulk_update', { keys: updates });
    expect([status, body]).toMatchObject([
      200,
      {
        total_requested: 2,
        successful_updates: [
          {
            key: sha256(key),
            key_info: { ...STORED_FORM, max_budget: 9, settings_updated_at: expect.any(String) as string },
          },
        ],
        failed_updates: [{ key: sha256(UNKNOWN_KEY), key_info: null, failed_reason: 'Key not found.' }],
      },
    ]);
  });

  it('keys.bulkUpdate 400: no key, and too many keys', async () => {
    const noKeys = { detail: { error: 'No keys provided for update' } };
    expect(await post('/key/bulk_update', { keys: [] })).toMatchObject({ status: 400, body: noKeys });
    const tooManyUpdates = Array.from({ length: 501 }, () => ({ key: UNKNOWN_KEY }));
    expect((await post('/key/bulk_update', { keys: tooManyUpdates })).status).toBe(400);
  });

  it('keys.bulkUpdate 401, 403 and 422: an unknown key, a key of a user, an update without a key', async () => {
    expect((await post('/key/bulk_update', { keys: [{ key: UNKNOWN_KEY }] }, UNKNOWN_KEY)).status).toBe(401);
    const userKey = await newKey({ user_id: 'u' });
    expect((await post('/key/bulk_update', { keys: [{ key: userKey }] }, userKey)).status).toBe(403);
    expect((await post('/key/bulk_update', { keys: [{ max_budget: 1 }] })).status).toBe(422);
  });
});

describe('keys.resetSpend', () => {
  const reset = (key: string, amount: unknown, caller?: string) =>
    post(`/key/${key}/reset_spend`, { reset_to: amount }, caller);

  it('keys.resetSpend 200: the spend becomes reset_to, and the total spend is unchanged', async () => {
    const key = await newKey({ spend: 3.5, max_budget: 9 });
    expect(await reset(sha256(key), 1)).toMatchObject({
      status: 200,
      body: { key_hash: sha256(key), spend: 1, previous_spend: 3.5, max_budget: 9, budget_reset_at: null },
    });
    expect(await infoOf(key)).toMatchObject({ spend: 1, total_spend: 0 });
  });

  it('keys.resetSpend 400: more than the spend, and less than zero', async () => {
    const key = await newKey();
    const refused = (error: string) => ({ status: 400, body: { detail: { error } } });
    expect(await reset(key, 100)).toMatchObject(refused('reset_to must be <= current spend'));
    expect(await reset(key, -1)).toMatchObject(refused('reset_to must be >= 0'));
  });

  it('keys.resetSpend 401, 403, 404 and 422: an unknown caller, a user, an unknown key, an invalid amount', async () => {
    const key = await newKey({ user_id: 'u' });
    expect((await reset(key, 0, UNKNOWN_KEY)).status).toBe(401);
    expect((await reset(key, 0, key)).status).toBe(403);
    expect((await reset(UNKNOWN_KEY, 0)).status).toBe(404);
    expect((await reset(key, 'x')).status).toBe(422);
  });
});

describe('keys.health', () => {
  it('keys.health 200 and 401: a valid key, and an unknown key', async () => {
    const healthy = { status: 200, body: { key: 'healthy', logging_callbacks: null } };
    expect(await post('/key/health', undefined, await newKey())).toMatchObject(healthy);
    expect((await post('/key/health', undefined, UNKNOWN_KEY)).status).toBe(401);
  });
});

describe('keys.delete', () => {
  it('keys.delete 422: a body that is not JSON', async () => {
    expect(await post('/key/delete', '{"keys"')).toMatchObject({
      status: 422,
      body: { detail: [{ type: 'json_invalid', loc: ['body', 7], msg: 'JSON decode error' }] },
    });
  });
});
