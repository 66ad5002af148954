import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startIssuer, type Issuer, tokenEnvironment } from '../../support/token-issuer.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { chat, type Json } from '../../support/tenancy-client.ts';

let issuer: Issuer;
let app: TestApp;
let strictApp: TestApp;

const RULES = { user_id_jwt_field: 'sub', team_id_jwt_field: 'team', virtual_key_claim_field: 'client_id' };
const MODELS = [{ model_name: 'other', litellm_params: { model: 'demo/echo' } }];
const start = (rules: object): Promise<TestApp> =>
  startApp({
    config: { model_list: MODELS, general_settings: { enable_jwt_auth: true, litellm_jwtauth: rules } },
    env: tokenEnvironment(issuer),
  });

beforeAll(async () => {
  issuer = await startIssuer(['ES256']);
  app = await start(RULES);
  strictApp = await start({
    jwt_client_id_field: 'app.email',
    user_email_jwt_field: 'app.email',
    // Accepted without effect: a changed mapping applies immediately.
    virtual_key_mapping_cache_ttl: 300,
    unregistered_jwt_client_behavior: 'reject',
  });
});
afterAll(async () => {
  await app.stop();
  await strictApp.stop();
  await issuer.stop();
});

async function send(method: string, path: string, body?: unknown, { key = app.adminKey, server = app } = {}) {
  const answer = await server.call(method, path, body, { authorization: `Bearer ${key}` });
  return { status: answer.status, body: (await answer.json()) as Json };
}
const post = (path: string, body: unknown, caller?: Parameters<typeof send>[3]) => send('POST', path, body, caller);
const newKey = async (draft: object, server = app): Promise<string> =>
  String((await post('/key/generate', draft, { key: server.adminKey, server })).body['key']);
const tokenOf = (claims: Json) => issuer.token(claims, { alg: 'ES256' });
const call = (key: string, model = 'demo', server = app) =>
  post('/v1/chat/completions', { ...chat(), model }, { key, server });

const CREATE_PATH = '/jwt/key/mapping/new';
const createMapping = async (value: string, key: string, members: object = {}) =>
  await post(CREATE_PATH, { jwt_claim_name: 'client_id', jwt_claim_value: value, key, ...members });
/** Creates a mapping. Returns its id. */
const newMapping = async (value: string, key: string): Promise<string> => {
  const { status, body } = await createMapping(value, key);
  expect(status).toBe(200);
  return String(body['id']);
};
const ISO_TIME = expect.stringMatching(/^\d{4}-.*Z$/) as unknown;
const detail = (text: string) => ({ detail: text });
const missing = (...loc: string[]) => ({ detail: [{ type: 'missing', loc, msg: 'Field required' }] });

describe('mappings of tokens over HTTP', () => {
  it('tokenMappings.create 200, tokenMappings.info 200, tokenMappings.list 200: the key is not shown', async () => {
    const key = await newKey({});
    const { status, body } = await createMapping('shown', key, { description: 'd' });
    const row = {
      id: expect.any(String) as unknown,
      jwt_claim_name: 'client_id',
      jwt_claim_value: 'shown',
      description: 'd',
      is_active: true,
      created_at: ISO_TIME,
      updated_at: ISO_TIME,
      created_by: 'default_user_id',
      updated_by: 'default_user_id',
    };
    expect({ status, body }).toEqual({ status: 200, body: row });
    expect(await send('GET', `/jwt/key/mapping/info?id=${String(body['id'])}`)).toEqual({ status: 200, body });
    expect(await send('GET', '/jwt/key/mapping/list?page=1&size=1')).toEqual({
      status: 200,
      body: { mappings: [body], total_count: 1, current_page: 1, total_pages: 1 },
    });
  });

  it('tokenMappings.list 200: an empty list', async () => {
    const admin = { key: strictApp.adminKey, server: strictApp };
    expect(await send('GET', '/jwt/key/mapping/list', undefined, admin)).toEqual({
      status: 200,
      body: { mappings: [], total_count: 0, current_page: 1, total_pages: 0 },
    });
  });

  it('tokenMappings.create 400, 409, 422: an unknown key or invalid value, a taken value, a missing value', async () => {
    const key = await newKey({});
    await newMapping('taken', key);
    expect(await createMapping('taken', key)).toEqual({
      status: 409,
      body: detail("A mapping of the claim 'client_id' with 'taken' already exists."),
    });
    const unknown = 'sk-unknown-000000000000';
    const withUnknownKey = await createMapping('x', unknown);
    expect(withUnknownKey).toEqual({ status: 400, body: detail('The key does not exist.') });
    expect(await createMapping(' ', key)).toEqual({ status: 400, body: detail('jwt_claim_value must not be blank.') });
    expect(await createMapping('x'.repeat(257), key)).toEqual({
      status: 400,
      body: detail('jwt_claim_value must have at most 256 characters.'),
    });
    expect(await post(CREATE_PATH, { jwt_claim_name: 'client_id', key })).toEqual({
      status: 422,
      body: missing('body', 'jwt_claim_value'),
    });
  });

  it('tokenMappings.update 200, 400, 404, 422: omitted members are unchanged; an unknown key, an unknown mapping, and no id', async () => {
    const id = await newMapping('changed', await newKey({}));
    const path = '/jwt/key/mapping/update';
    const { status, body } = await post(path, { id, description: 'new' });
    expect(status).toBe(200);
    expect(body).toMatchObject({ id, jwt_claim_value: 'changed', description: 'new', is_active: true });
    expect((await post(path, { id, is_active: false })).body).toMatchObject({ description: 'new', is_active: false });
    expect(await post(path, { id, key: 'no-key' })).toEqual({ status: 400, body: detail('The key does not exist.') });
    expect(await post(path, { id: 'none', key: 'no-key' })).toEqual({ status: 404, body: detail('Mapping not found') });
    expect(await post(path, {})).toEqual({ status: 422, body: missing('body', 'id') });
  });

  it('tokenMappings.delete 200, 404, 422, tokenMappings.info 404, 422, tokenMappings.list 422: a deleted mapping, no id, and an invalid page size', async () => {
    const id = await newMapping('gone', await newKey({}));
    const path = '/jwt/key/mapping/delete';
    expect(await post(path, { id })).toEqual({ status: 200, body: { status: 'success' } });
    expect(await post(path, { id })).toEqual({ status: 404, body: detail('Mapping not found') });
    expect(await post(path, {})).toEqual({ status: 422, body: missing('body', 'id') });
    expect(await send('GET', `/jwt/key/mapping/info?id=${id}`)).toEqual({
      status: 404,
      body: detail('Mapping not found'),
    });
    expect(await send('GET', '/jwt/key/mapping/info')).toEqual({ status: 422, body: missing('query', 'id') });
    expect((await send('GET', '/jwt/key/mapping/list?size=101')).status).toBe(422);
  });

  it.each([
    ['tokenMappings.create', 'POST', CREATE_PATH],
    ['tokenMappings.update', 'POST', '/jwt/key/mapping/update'],
    ['tokenMappings.delete', 'POST', '/jwt/key/mapping/delete'],
    ['tokenMappings.info', 'GET', '/jwt/key/mapping/info?id=none'],
    ['tokenMappings.list', 'GET', '/jwt/key/mapping/list'],
  ])(
    '%s 401, 403: only administrators may call it, and read-only administrators may read',
    async (_row, method, path) => {
      const body = method === 'GET' ? undefined : { jwt_claim_name: 'c', jwt_claim_value: 'v', key: 'k', id: 'none' };
      expect((await send(method, path, body, { key: 'sk-unknown-000000000' })).status).toBe(401);
      const viewer = await newKey({ user_role: 'proxy_admin_viewer' });
      expect(method === 'GET' ? [200, 404] : [403]).toContain((await send(method, path, body, { key: viewer })).status);
      const user = await newKey({ user_id: 'someone', user_role: 'internal_user' });
      // A key without an administrator's role gets 401, as in the reference.
      expect((await send(method, path, body, { key: user })).status).toBe(401);
    },
  );
});

describe('a token that is mapped to a key', () => {
  it('has the models, limits and spend of the key, and needs no user claim', async () => {
    const key = await newKey({ models: ['demo'], key_alias: 'machine', rpm_limit: 100, max_budget: 5 });
    const token = await tokenOf({ client_id: 'machine' });
    expect((await call(token)).body).toEqual({
      error: {
        message: "Authentication Error, Validation fails: the token has no claim 'sub'.",
        type: 'auth_error',
        param: 'None',
        code: '401',
      },
    });
    await newMapping('machine', key);
    expect((await call(token)).status).toBe(200);
    expect((await call(token, 'other')).status).toBe(403);
    const keyInfo = (await send('GET', '/key/info', undefined, { key })).body;
    expect((await send('GET', '/key/info', undefined, { key: token })).body).toEqual(keyInfo);
  });

  it('follows changes of its mapping and its key immediately: another key, inactive, blocked, deleted', async () => {
    const [firstKey, secondKey] = [await newKey({ models: ['demo'] }), await newKey({ models: ['other'] })];
    const id = await newMapping('moving', firstKey);
    const token = await tokenOf({ client_id: 'moving', sub: 'someone-else', team: 'unknown-team' });
    const statuses = async () => [(await call(token)).status, (await call(token, 'other')).status];
    expect(await statuses()).toEqual([200, 403]);
    await post('/jwt/key/mapping/update', { id, key: secondKey });
    expect(await statuses()).toEqual([403, 200]);
    await post('/key/block', { key: secondKey });
    expect((await call(token, 'other')).body).toMatchObject({ error: { code: '401' } });
    await post('/key/unblock', { key: secondKey });
    expect(await statuses()).toEqual([403, 200]);
    await post('/jwt/key/mapping/update', { id, is_active: false });
    // Without an active mapping, the claims of the token apply. The user of `sub` does not exist.
    expect(await statuses()).toEqual([401, 401]);
    await post('/jwt/key/mapping/update', { id, is_active: true });
    expect(await statuses()).toEqual([403, 200]);
    await post('/key/delete', { keys: [secondKey] });
    const { status, body } = await call(token, 'other');
    expect(status).toBe(401);
    expect(body).toMatchObject({
      error: { message: 'Authentication Error, The key that the token is mapped to was deleted.' },
    });
  });

  it('stays valid after its key is rotated, and expires with its key', async () => {
    const key = await newKey({ models: ['demo'] });
    await newMapping('rotated', key);
    const token = await tokenOf({ client_id: 'rotated' });
    expect((await call(token)).status).toBe(200);
    await post('/key/regenerate', { key });
    expect((await call(token)).status).toBe(200);
    const shortKey = await newKey({ duration: '1s' });
    await newMapping('short', shortKey);
    const shortToken = await tokenOf({ client_id: 'short' });
    await expect.poll(async () => (await call(shortToken)).status, { timeout: 30_000 }).toBe(401);
  });

  it('has the role of its key even if its scope has more rights, and opens no session', async () => {
    const key = await newKey({ user_role: 'proxy_admin_viewer' });
    await newMapping('viewer', key);
    const token = await tokenOf({ client_id: 'viewer', scope: 'litellm_proxy_admin' });
    expect((await send('GET', '/jwt/key/mapping/list', undefined, { key: token })).status).toBe(200);
    expect((await post('/key/generate', {}, { key: token })).status).toBe(403);
    expect((await post('/v2/login', { username: 'viewer', password: token })).status).toBe(401);
  });

  it('is the only token that the behavior `reject` admits, and an unverified email is not mapped', async () => {
    const admin = { key: strictApp.adminKey, server: strictApp };
    const key = await newKey({}, strictApp);
    const body = { jwt_claim_name: 'app.email', jwt_claim_value: 'a@example.org', key };
    expect((await post(CREATE_PATH, body, admin)).status).toBe(200);
    const claims = { app: { email: 'a@example.org' } };
    expect((await call(await tokenOf(claims), 'demo', strictApp)).status).toBe(200);
    for (const refused of [{ ...claims, email_verified: false }, { app: { email: 'b@example.org' } }, {}]) {
      // oxlint-disable-next-line no-await-in-loop -- sequential requests
      const answer = await call(await tokenOf(refused), 'demo', strictApp);
      expect(answer).toEqual({
        status: 403,
        body: {
          error: {
            message: 'The token is mapped to no key.',
            type: expect.any(String) as unknown,
            param: expect.anything() as unknown,
            code: '403',
          },
        },
      });
    }
  });
});
