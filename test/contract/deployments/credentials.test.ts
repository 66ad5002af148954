import { expect, it } from 'vitest';
import { chat, envelope, type Json, tenancyClient } from '../../support/tenancy-client.ts';

const { send, get, post, user } = tenancyClient({
  env: { STORE_MODEL_IN_DB: 'True', LITELLM_SALT_KEY: 'a-salt-key' },
  config: {
    model_list: [
      {
        model_name: 'filed',
        litellm_params: { model: 'openai/m', api_base: 'http://127.0.0.1:1/v1', api_key: 'sk-of-the-file-1' },
        model_info: { id: 'filed-1' },
      },
      { model_name: 'named', litellm_params: { model: 'custom_openai/m', litellm_credential_name: 'c1' } },
    ],
  },
});

const VALUES = { api_key: 'sk-secret-value-12345', api_base: 'http://127.0.0.1:1/v1' };
const C1 = { credential_name: 'c1', credential_values: VALUES, credential_info: { description: 'd' } };
const MASKED_C1 = {
  credential_name: 'c1',
  display_name: null,
  credential_info: { description: 'd' },
  credential_values: { api_key: 'sk****45', api_base: 'http://127.0.0.1:1/v1' },
  source: 'db',
};
const notFound = (name: string) => envelope(404, `Credential not found. Got credential name: ${name}`);
const success = (action: string) => ({
  status: 200,
  body: { success: true, message: `Credential ${action} successfully` },
});
const patch = (name: string, body: unknown, callerKey?: string) =>
  send('PATCH', `/credentials/${name}`, body, callerKey);
const statusOf = async (model: string): Promise<number> => (await post('/v1/chat/completions', chat(model))).status;

it('credentials.create 200: stores given values, or copies those of a model', async () => {
  // 503: the credential of the model does not exist. 500: the credential exists, but the upstream refuses connections.
  expect(await statusOf('named')).toBe(503);
  expect(await post('/credentials', C1)).toEqual(success('created'));
  expect(await statusOf('named')).toBe(500);
  const fromModel = { credential_name: 'c/2', model_id: 'filed-1', credential_info: {} };
  expect(await post('/credentials', fromModel)).toEqual(success('created'));
  expect((await get('/credentials/by_name/c/2')).body['credential_values']).toEqual({
    api_key: 'sk****-1',
    api_base: 'http://127.0.0.1:1/v1',
  });
});

it('credentials.create 404: an unknown model; 409: a taken name; 422: missing members', async () => {
  expect(await post('/credentials', C1)).toEqual(
    envelope(409, "Credential 'c1' already exists. Update it with PATCH /credentials/c1, or delete it first."),
  );
  expect(await post('/credentials', { credential_name: 'x', model_id: 'nope', credential_info: {} })).toEqual(
    envelope(404, 'Model not found. Got model id: nope'),
  );
  const faultOf = async (body: object) => {
    const { status, body: answer } = await post('/credentials', body);
    return [status, (answer['detail'] as readonly Json[])[0]];
  };
  const message = 'Value error, Either credential_values or model_id must be set';
  expect(await faultOf({ credential_name: 'x', credential_info: {} })).toEqual([
    422,
    { type: 'value_error', loc: ['body'], msg: message },
  ]);
  expect(await faultOf({ credential_name: 'x', credential_values: VALUES })).toEqual([
    422,
    { type: 'missing', loc: ['body', 'credential_info'], msg: 'Field required' },
  ]);
  expect((await faultOf({ ...C1, credential_name: '' }))[0]).toBe(422);
});

it('credentials.list 200, credentials.get 200: secrets are masked; credentials.get 404: an unknown credential', async () => {
  const listed = await get('/credentials');
  expect(listed).toMatchObject({
    status: 200,
    body: { success: true, credentials: [MASKED_C1, { credential_name: 'c/2' }] },
  });
  expect(await get('/credentials/by_name/c1')).toEqual({ status: 200, body: MASKED_C1 });
  expect(await get('/credentials/by_name/nope')).toEqual(notFound('nope'));
});

it('credentials.ofModel 200: the masked credential of a model; 404: an unknown model', async () => {
  expect(await get('/credentials/by_model/filed-1')).toEqual({
    status: 200,
    body: {
      credential_name: 'filed-credential-filed-1',
      display_name: null,
      credential_info: {},
      credential_values: { api_key: 'sk****-1', api_base: 'http://127.0.0.1:1/v1' },
    },
  });
  expect(await get('/credentials/by_model/nope')).toEqual(envelope(404, 'Model not found. Got model id: nope'));
});

it('credentials.update 200: merges values; 404: an unknown credential; 422: a wrong type', async () => {
  expect(await patch('c1', { credential_values: { api_key: 'new', api_base: null, region: 'eu' } })).toEqual(
    success('updated'),
  );
  expect((await get('/credentials/by_name/c1')).body).toMatchObject({
    credential_info: { description: 'd' },
    credential_values: { api_key: '****', region: 'eu' },
  });
  // The provider of the model has no default address.
  expect(await statusOf('named')).toBe(503);
  expect(await patch('nope', { credential_values: {} })).toEqual(notFound('nope'));
  expect((await patch('c1', { credential_values: 'x' })).status).toBe(422);
});

it('credentials.delete 200 and 404: a stored model that uses the credential cannot be called any more', async () => {
  await patch('c1', { credential_values: VALUES });
  const model = { model: 'openai/m', litellm_credential_name: 'c1' };
  expect((await post('/model/new', { model_name: 'm', litellm_params: model })).status).toBe(200);
  expect(await statusOf('m')).toBe(500);
  expect(await send('DELETE', '/credentials/c1')).toEqual(success('deleted'));
  // 400: a stored model that cannot be called counts as unknown. A model of the file answers 503.
  expect(await statusOf('m')).toBe(400);
  expect(await send('DELETE', '/credentials/c1')).toEqual(notFound('c1'));
});

it.each([
  { name: 'create', ask: (callerKey: string) => post('/credentials', C1, callerKey) },
  { name: 'update', ask: (callerKey: string) => patch('c1', {}, callerKey) },
  { name: 'delete', ask: (callerKey: string) => send('DELETE', '/credentials/c1', undefined, callerKey) },
])('credentials.$name 401 and 403: administrators only', async ({ ask }) => {
  expect((await ask('')).status).toBe(401);
  expect(await ask(await user({}))).toMatchObject({ status: 401, body: { error: { type: 'auth_error' } } });
  const viewer = await user({ user_role: 'proxy_admin_viewer' });
  expect(await ask(viewer)).toMatchObject({ status: 403, body: { error: { type: 'auth_error' } } });
});

it('credentials.list, credentials.get, credentials.ofModel 401: no key, a user key; read-only administrators have access', async () => {
  const [internalUser, viewer] = [await user({}), await user({ user_role: 'proxy_admin_viewer' })];
  for (const path of ['/credentials', '/credentials/by_name/c/2', '/credentials/by_model/filed-1']) {
    expect((await get(path, '')).status).toBe(401);
    expect((await get(path, internalUser)).status).toBe(401);
    expect((await get(path, viewer)).status).toBe(200);
  }
});
