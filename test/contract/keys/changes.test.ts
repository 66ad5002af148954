import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GENERATED_FORM, LISTED_FORM, STORED_FORM } from '../../support/key-forms.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';

let app: TestApp;

beforeAll(async () => {
  app = await startApp();
});

afterAll(() => app.stop());

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const UNKNOWN_KEY = 'sk-there-is-no-such-key';
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

async function call(method: string, path: string, body?: unknown, key = app.adminKey) {
  const response = await app.call(method, path, body, { authorization: `Bearer ${key}` });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const post = (path: string, body: unknown, key?: string) => call('POST', path, body, key);

async function newKey(draft: object = {}): Promise<string> {
  const { body } = await post('/key/generate', draft);
  return String(body['key']);
}

const statusOf = async (key: string): Promise<number> => (await call('GET', '/v1/models', undefined, key)).status;

const refusal = (status: number, message: string, { type, param }: { type: string; param: string | null }) => ({
  status,
  body: { error: { message, type, param, code: String(status) } },
});

const BLOCKED = refusal(401, "Authentication Error, Key is blocked. Update via `/key/unblock` if you're an admin.", {
  type: 'auth_error',
  param: 'None',
});

const unknownKey = (key: string) =>
  refusal(
    401,
    `Authentication Error, Invalid proxy server token passed. Received API Key = sk-...${key.slice(-4)}, Key Hash (Token) =${sha256(key)}. Unable to find token in cache or \`LiteLLM_VerificationTokenTable\``,
    { type: 'token_not_found_in_db', param: 'key' },
  );

const rowOf = (key: string, overrides: object = {}) => ({
  token: sha256(key),
  key_name: `sk-...${key.slice(-4)}`,
  created_at: expect.stringMatching(TIME),
  updated_at: expect.stringMatching(TIME),
  settings_updated_at: expect.stringMatching(TIME),
  created_by: 'default_user_id',
  updated_by: 'default_user_id',
  ...overrides,
});

describe.each([
  ['by its secret', (key: string) => key],
  ['by its hash', sha256],
])('a key that the request names %s', (_name, nameOf) => {
  it('keys.block 200, keys.unblock 200: its calls are refused and accepted again immediately', async () => {
    const key = await newKey();
    expect(await statusOf(key)).toBe(200);
    for (let round = 0; round < 2; round += 1)
      expect(await post('/key/block', { key: nameOf(key) })).toEqual({
        status: 200,
        body: { ...LISTED_FORM, ...rowOf(key, { blocked: true }) },
      });
    expect(await call('GET', '/v1/models', undefined, key)).toEqual(BLOCKED);
    expect(await call('GET', `/key/info?key=${nameOf(key)}`)).toMatchObject({
      body: { info: { blocked: true, status: 'revoked' } },
    });
    expect(await post('/key/unblock', { key: nameOf(key) })).toEqual({
      status: 200,
      body: { ...STORED_FORM, ...rowOf(key, { blocked: false }) },
    });
    expect(await statusOf(key)).toBe(200);
  });

  it('keys.update 200: sent fields change, null clears a field, other fields are unchanged', async () => {
    const draft = { models: ['demo'], max_budget: 2, team_id: 't', user_id: 'u', duration: '1h', metadata: { a: 1 } };
    const key = await newKey(draft);
    const row = rowOf(key, { models: ['demo'], max_budget: 2, team_id: 't', user_id: 'u', metadata: { a: 1 } });
    const update = async (patch: object) => (await post('/key/update', { key: nameOf(key), ...patch })).body;
    const answerWith = (overrides: object) => ({
      key: sha256(key),
      ...STORED_FORM,
      ...row,
      expires: expect.stringMatching(TIME),
      ...overrides,
    });
    expect(await update({})).toEqual(answerWith({}));
    expect(await update({ max_budget: null, team_id: ' ', metadata: { z: 1 } })).toEqual(
      answerWith({ max_budget: null, team_id: null, metadata: { z: 1 } }),
    );
    const last = { max_budget: 0, team_id: null, user_id: null, expires: null, models: [], metadata: { z: 1 } };
    expect(await update({ duration: '-1', models: null, max_budget: 0, user_id: '' })).toEqual(answerWith(last));
    expect(await update({ user_role: 'proxy_admin_viewer', blocked: true })).toEqual(
      answerWith({ ...last, user_role: 'proxy_admin_viewer', blocked: true }),
    );
    expect(await call('GET', '/v1/models', undefined, key)).toEqual(BLOCKED);
  });

  it('keys.delete 200: the key is refused and listed as deleted; its alias can be used again, its secret cannot', async () => {
    // Each of the two runs of this test has another alias.
    const alias = `gone ${nameOf('')}`;
    const key = await newKey({ key_alias: alias });
    expect(await statusOf(key)).toBe(200);
    expect(await post('/key/delete', { keys: [nameOf(key), UNKNOWN_KEY] })).toEqual({
      status: 200,
      body: { deleted_keys: [nameOf(key), UNKNOWN_KEY] },
    });
    expect(await call('GET', '/v1/models', undefined, key)).toEqual(unknownKey(key));
    const deletion = { deleted_at: expect.stringMatching(TIME), deleted_by: 'default_user_id' };
    expect(await call('GET', '/key/list?status=deleted&return_full_object=true&size=1')).toMatchObject({
      body: { keys: [{ ...LISTED_FORM, ...rowOf(key, { key_alias: alias, ...deletion }) }] },
    });
    expect(await post('/key/generate', { key })).toEqual(
      refusal(400, 'This key already exists.', { type: 'invalid_request_error', param: null }),
    );
    expect((await post('/key/generate', { key_alias: alias })).status).toBe(200);
  });

  it('keys.regenerate 200: the key has a new secret, a sent field changes, and other fields are unchanged', async () => {
    const key = await newKey({ team_id: 't', max_budget: 1 });
    const { status, body } = await post('/key/regenerate', { key: nameOf(key), metadata: { rotated: true } });
    const newSecret = String(body['key']);
    const { settings_updated_at: _, ...regenerated } = rowOf(key, {
      team_id: 't',
      max_budget: 1,
      metadata: { rotated: true },
    });
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        ...GENERATED_FORM,
        ...regenerated,
        key: expect.stringMatching(/^sk-[\w-]{32}$/),
        key_name: `sk-...${newSecret.slice(-4)}`,
        token_id: sha256(key),
        litellm_budget_table: null,
      },
    });
    expect(await call('GET', '/v1/models', undefined, key)).toEqual(unknownKey(key));
    expect(await statusOf(newSecret)).toBe(200);
    for (const secretOrHash of [newSecret, sha256(key), sha256(newSecret)])
      expect(await call('GET', `/key/info?key=${secretOrHash}`)).toMatchObject({
        status: 200,
        body: { key: sha256(key) },
      });
  });
});

describe('keys.regenerate', () => {
  it('keys.regenerate 200: with the key in the path, a chosen secret, and a grace period for the old secret', async () => {
    const key = await newKey();
    const newSecret = 'sk-chosen-for-rotation-42';
    const rotation = { new_key: newSecret, grace_period: '1h' };
    expect(await call('POST', `/key/${sha256(key)}/regenerate`, rotation)).toMatchObject({
      status: 200,
      body: { key: newSecret, token: sha256(key) },
    });
    expect([await statusOf(key), await statusOf(newSecret)]).toEqual([200, 200]);
    await post('/key/block', { key: newSecret });
    expect([await statusOf(key), await statusOf(newSecret)]).toEqual([401, 401]);
  });

  it('keys.regenerate 200: the new secret reads an object that the old secret created', async () => {
    const key = await newKey();
    const headers = { authorization: `Bearer ${key}` };
    const response = await app.call('POST', '/v1/responses', { model: 'demo', input: 'Hello' }, headers);
    const { id } = (await response.json()) as { id: string };
    const { body } = await post('/key/regenerate', { key });
    expect((await call('GET', `/v1/responses/${id}`, undefined, String(body['key']))).status).toBe(200);
  });

  it('keys.regenerate 400: a weak secret, and a secret that is or was in use', async () => {
    const key = await newKey();
    const deletedKey = await newKey();
    await post('/key/delete', { keys: [deletedKey] });
    expect(await post('/key/regenerate', { key, new_key: 'sk-1' })).toMatchObject({ status: 400 });
    const taken = refusal(400, 'This key already exists.', { type: 'invalid_request_error', param: null });
    expect(await post('/key/regenerate', { key, new_key: deletedKey })).toEqual(taken);
    expect(await post('/key/regenerate', { key, new_key: key })).toEqual(taken);
    const { body } = await post('/key/regenerate', { key });
    expect(await post('/key/regenerate', { key: body['key'], new_key: key })).toEqual(taken);
    expect(await post('/key/generate', { key })).toEqual(taken);
  });

  it('keys.regenerate 422: no key is named, or the grace period is invalid', async () => {
    expect(await post('/key/regenerate', {})).toEqual({
      status: 422,
      body: { detail: [{ type: 'missing', loc: ['body', 'key'], msg: 'Field required' }] },
    });
    const message = 'Value error, write a duration as 30s, 30m, 30h, 30d, 2w or 1mo';
    expect(await post('/key/regenerate', { key: await newKey(), grace_period: 'soon' })).toEqual({
      status: 422,
      body: { detail: [{ type: 'value_error', loc: ['body', 'grace_period'], msg: message }] },
    });
  });
});

const NO_USER_MESSAGE =
  'Only proxy admin can be used to generate, delete, update info for new keys/users/teams. Your role=unknown.';

const CHANGE_ROUTES = [
  ['keys.update', '/key/update'],
  ['keys.block', '/key/block'],
  ['keys.unblock', '/key/unblock'],
  ['keys.regenerate', '/key/regenerate'],
] as const;

describe.each(CHANGE_ROUTES)('%s', (operation, path) => {
  it(`${operation} 404: a key that is unknown, or deleted`, async () => {
    const missing = refusal(404, 'Key not found.', { type: 'not_found_error', param: 'key' });
    const deleted = await newKey();
    await post('/key/delete', { keys: [deleted] });
    for (const key of [UNKNOWN_KEY, sha256(UNKNOWN_KEY), deleted, sha256(deleted)])
      expect(await post(path, { key })).toEqual(missing);
  });

  it(`${operation} 400: a value that cannot be a key`, async () => {
    for (const key of ['abc', '', '\0', sha256('x').toUpperCase()])
      expect(await post(path, { key })).toEqual(
        refusal(400, 'Invalid key format.', { type: 'bad_request_error', param: 'key' }),
      );
  });

  it(`${operation} 401: an unknown caller, a caller without a user; 403: a read-only caller, a user who does not own the key`, async () => {
    const key = await newKey();
    expect(await post(path, { key }, UNKNOWN_KEY)).toEqual(unknownKey(UNKNOWN_KEY));
    const authError = { type: 'auth_error', param: 'None' };
    for (const user_role of ['internal_user_viewer', 'proxy_admin_viewer'])
      expect(await post(path, { key }, await newKey({ user_role }))).toEqual(
        refusal(403, 'Only proxy admins can do this.', authError),
      );
    expect(await post(path, { key }, await newKey())).toEqual(refusal(401, NO_USER_MESSAGE, authError));
    const userKey = await newKey({ user_id: 'someone' });
    const isBlocking = path.endsWith('block');
    const message = `Only proxy admins, team admins, or org admins can call ${path}. user_role=internal_user, user_id=someone`;
    // The refusal is the same for a key of another user and for an unknown key.
    for (const keyToChange of [key, UNKNOWN_KEY])
      expect(await post(path, { key: keyToChange }, userKey)).toEqual(
        isBlocking ? { status: 403, body: { detail: { error: message } } } : refusal(403, message, authError),
      );
    expect(await statusOf(key)).toBe(200);
  });

  it(`${operation} 422: no key, or a key of a wrong type`, async () => {
    const missing = { type: 'missing', loc: ['body', 'key'], msg: 'Field required' };
    expect(await post(path, {})).toEqual({ status: 422, body: { detail: [missing] } });
    const wrong = { type: 'string_type', loc: ['body', 'key'], msg: 'Input should be a valid string' };
    expect(await post(path, { key: 1 })).toEqual({ status: 422, body: { detail: [wrong] } });
  });
});

describe('keys.update', () => {
  it('keys.update 400: an alias that is taken', async () => {
    await newKey({ key_alias: 'mine' });
    expect(await post('/key/update', { key: await newKey(), key_alias: 'mine' })).toEqual(
      refusal(400, "Key with alias 'mine' already exists. Unique key aliases across all keys are required.", {
        type: 'bad_request_error',
        param: 'key_alias',
      }),
    );
  });

  it('keys.update 422: names every field of a wrong type, but not the invalid duration', async () => {
    const patch = { key: await newKey(), models: 'x', max_budget: 'much', blocked: 'yes', duration: 'soon' };
    const { status, body } = await post('/key/update', patch);
    const detail = body['detail'] as readonly { readonly loc: readonly string[]; readonly type: string }[];
    expect([status, detail.map(({ loc, type }) => [loc.at(-1), type])]).toEqual([
      422,
      [
        ['models', 'list_type'],
        ['max_budget', 'float_parsing'],
        ['blocked', 'bool_type'],
      ],
    ]);
  });
});

describe('keys.delete', () => {
  it('keys.delete 200: a key by its alias, which the answer repeats as in the reference', async () => {
    const key = await newKey({ key_alias: 'by alias' });
    const { status, body } = await post('/key/delete', { key_aliases: ['by alias'] });
    expect({ status, body }).toEqual({ status: 200, body: { deleted_keys: ['by alias'] } });
    expect(await statusOf(key)).toBe(401);
  });

  it('keys.delete 404: unknown or deleted keys', async () => {
    const key = await newKey();
    const noKeysFound = refusal(404, 'No keys found', { type: 'internal_server_error', param: null });
    expect(await post('/key/delete', { keys: [UNKNOWN_KEY, 'abc', '\0'] })).toEqual(noKeysFound);
    expect(await post('/key/delete', { key_aliases: ['unknown'] })).toEqual(noKeysFound);
    await post('/key/delete', { keys: [key] });
    expect(await post('/key/delete', { keys: [key] })).toEqual(noKeysFound);
  });

  it('keys.delete 422: no key is named', async () => {
    const msg = "Value error, At least one of 'keys' or 'key_aliases' must be provided.";
    for (const request of [{ keys: [] }, {}])
      expect(await post('/key/delete', request)).toEqual({
        status: 422,
        body: { detail: [{ type: 'value_error', loc: ['body'], msg }] },
      });
  });

  it('keys.delete 401: an unknown caller, a caller without a user; 403: a read-only caller, a user who does not own the key', async () => {
    const key = await newKey();
    expect(await post('/key/delete', { keys: [key] }, UNKNOWN_KEY)).toEqual(unknownKey(UNKNOWN_KEY));
    for (const user_role of ['internal_user_viewer', 'proxy_admin_viewer'])
      expect((await post('/key/delete', { keys: [key] }, await newKey({ user_role }))).status).toBe(403);
    expect((await post('/key/delete', { keys: [key] }, await newKey())).status).toBe(401);
    expect(await post('/key/delete', { keys: [key] }, await newKey({ user_id: 'someone' }))).toEqual(
      refusal(403, 'You are not authorized to delete this key', { type: 'internal_server_error', param: null }),
    );
    expect(await statusOf(key)).toBe(200);
  });
});
