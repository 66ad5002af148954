import { describe, expect, it } from 'vitest';
import { chat, envelope, type Json, tenancyClient } from '../../support/tenancy-client.ts';

const { send, get, post, user, key } = tenancyClient({
  env: { STORE_MODEL_IN_DB: 'True', LITELLM_SALT_KEY: 'a-salt-key', SOME_KEY: 'sk-of-the-environment' },
  config: {
    model_list: [{ model_name: 'filed', litellm_params: { model: 'demo' }, model_info: { id: 'filed-1' } }],
  },
});

const DEMO = { model: 'demo' };
const patch = (id: string, body: unknown, callerKey?: string) => send('PATCH', `/model/${id}/update`, body, callerKey);
const create = (name: string, id: string, params: object = DEMO, info: object = {}) =>
  post('/model/new', { model_name: name, litellm_params: params, model_info: { id, ...info } });
const statusOf = async (model: string): Promise<number> => (await post('/v1/chat/completions', chat(model))).status;
const missing = (...loc: readonly string[]) => ({
  status: 422,
  body: { detail: [{ type: 'missing', loc: ['body', ...loc], msg: 'Field required' }] },
});
const refused = (message: string) => envelope(403, message, 'auth_error', 'None');
const notFound = (id: string) => envelope(404, `Model ${id} not found on proxy.`, 'not_found_error');
const FILE_MODEL_REFUSED = envelope(400, 'Model updates only supported for DB-stored models', 'validation_error');
const ADMINS_ONLY = 'Only proxy admins can change models.';
const valueError = (message: string, ...loc: readonly string[]) => ({
  status: 422,
  body: { detail: [{ type: 'value_error', loc: ['body', ...loc], msg: `Value error, ${message}` }] },
});

describe('stored models', () => {
  it('deployments.create 200: the new model can be called immediately; its row has a masked key', async () => {
    expect(await statusOf('new-1')).toBe(400);
    const params = { ...DEMO, api_key: 'sk-secret-value-12345', input_cost_per_token: 0.001, rpm: 5 };
    const created = await create('new-1', 'id-1', params, { mode: 'chat' });
    const time = expect.any(String) as unknown;
    expect(created).toEqual({
      status: 200,
      body: {
        model_id: 'id-1',
        model_name: 'new-1',
        litellm_params: { api_key: 'sk****45', model: 'demo', input_cost_per_token: 0.001, rpm: 5 },
        model_info: { mode: 'chat', id: 'id-1', db_model: true },
        blocked: false,
        created_at: time,
        created_by: 'default_user_id',
        updated_at: time,
        updated_by: 'default_user_id',
      },
    });
    expect(await statusOf('new-1')).toBe(200);
    const listed = (await get('/v1/models')).body['data'] as readonly Json[];
    expect(listed.map(({ id }) => id)).toEqual(['filed', 'demo', 'new-1']);
  });

  it('deployments.create 400: a taken id of the file or of the database', async () => {
    for (const id of ['filed-1', 'id-1'])
      expect(await create('again', id)).toEqual(
        envelope(400, `A model with the id ${id} already exists.`, 'auth_error', 'None'),
      );
    expect(await statusOf('again')).toBe(400);
  });

  it('deployments.create 401 and 403: administrators only', async () => {
    const body = { model_name: 'x', litellm_params: DEMO };
    expect((await post('/model/new', body, '')).status).toBe(401);
    for (const callerKey of [await user({ user_id: 'u1' }), await key({})])
      expect(await post('/model/new', body, callerKey)).toEqual(refused(ADMINS_ONLY));
  });

  it('deployments.create 422: missing members and models that cannot be called are not stored', async () => {
    expect(await post('/model/new', { litellm_params: DEMO })).toEqual(missing('model_name'));
    expect(await post('/model/new', { model_name: 'x' })).toEqual(missing('litellm_params'));
    expect(await post('/model/new', { model_name: 'x', litellm_params: {} })).toEqual(
      missing('litellm_params', 'model'),
    );
    expect(await create('x', 'x', { model: 'azure/gpt' })).toEqual(
      valueError(
        'the provider "azure" has no address of its own; set api_base, or AZURE_API_BASE, AZURE_OPENAI_ENDPOINT',
        'litellm_params',
        'model',
      ),
    );
    expect(await create('x', 'x', { ...DEMO, timeout: -1 })).toMatchObject({
      status: 422,
      body: { detail: [{ type: 'value_error', loc: ['body', 'litellm_params', 'timeout'] }] },
    });
    expect(await create('x', 'x', { ...DEMO, input_cost_per_token: 'much' })).toEqual(
      valueError('this is not a price in USD', 'litellm_params', 'input_cost_per_token'),
    );
    expect(await create('x', 'x', { ...DEMO, api_key: 'os.environ/NOT_SET' })).toEqual(
      valueError('the environment variable NOT_SET is not set', 'litellm_params', 'api_key'),
    );
    expect(await create('x', 'x', { ...DEMO, litellm_credential_name: 'nope' })).toEqual(
      valueError('the credential nope does not exist', 'litellm_params', 'litellm_credential_name'),
    );
    expect(await patch('x', { litellm_params: { rpm: 1 } })).toEqual(notFound('x'));
  });

  it('deployments.update 200: merges parameters and model_info; null removes a member', async () => {
    const changed = await post('/model/update', {
      model_name: 'renamed',
      litellm_params: { rpm: null, tpm: 7 },
      model_info: { id: 'id-1', base_model: 'gpt-4o', input_cost_per_token: null },
    });
    expect(changed).toMatchObject({ status: 200, body: { model_name: 'renamed' } });
    expect(changed.body['litellm_params']).toEqual({ api_key: 'sk****45', model: 'demo', tpm: 7 });
    expect(changed.body['model_info']).toEqual({ mode: 'chat', base_model: 'gpt-4o', id: 'id-1', db_model: true });
    expect([await statusOf('new-1'), await statusOf('renamed')]).toEqual([400, 200]);
  });

  it('deployments.update 200: model information that is sent back stores no values of the price map', async () => {
    const echo = { id: 'id-1', key: 'gpt-4o', max_input_tokens: 128_000, input_cost_per_token: 9, note: 'mine' };
    const changed = await post('/model/update', { model_info: echo });
    expect(changed.body['model_info']).toEqual({
      mode: 'chat',
      base_model: 'gpt-4o',
      note: 'mine',
      id: 'id-1',
      db_model: true,
    });
  });

  it('deployments.update 400: no `model_info`, an unknown id, an id of the file; 422: a numeric id', async () => {
    const authError = (message: string) => envelope(400, message, 'auth_error', 'None');
    const update = (body: object) => post('/model/update', { litellm_params: DEMO, ...body });
    expect(await update({})).toEqual(authError('Authentication Error, model_info not provided'));
    expect(await update({ model_info: { id: 'nope' } })).toEqual(authError('Authentication Error, model not found'));
    expect(await update({ model_info: { id: 'filed-1' } })).toEqual(authError("Can't edit model. Model in config."));
    expect((await update({ model_info: { id: 7 } })).status).toBe(422);
  });

  it('deployments.update 401 and 403: administrators only', async () => {
    expect((await post('/model/update', { model_info: { id: 'id-1' } }, '')).status).toBe(401);
    expect(await post('/model/update', { model_info: { id: 'id-1' } }, await key({}))).toEqual(refused(ADMINS_ONLY));
  });

  it('deployments.patch 200: merges parameters; 400: a model of the file; 404: an unknown id; 422: wrong types', async () => {
    const changed = await patch('id-1', { litellm_params: { timeout: 30, api_key: 'os.environ/SOME_KEY' } });
    expect(changed.status).toBe(200);
    expect(changed.body['litellm_params']).toEqual({ api_key: 'os****EY', model: 'demo', tpm: 7, timeout: 30 });
    expect(await patch('filed-1', { litellm_params: { tpm: 9 } })).toEqual(FILE_MODEL_REFUSED);
    expect(await patch('nope', { litellm_params: { tpm: 9 } })).toEqual(notFound('nope'));
    expect((await patch('id-1', { litellm_params: 'x' })).status).toBe(422);
    expect((await patch('id-1', { litellm_params: { timeout: 'x' } })).status).toBe(422);
  });

  it('deployments.patch 401 and 403: administrators only', async () => {
    expect((await patch('id-1', {}, '')).status).toBe(401);
    expect(await patch('id-1', {}, await user({ user_id: 'u2' }))).toEqual(refused(ADMINS_ONLY));
  });

  it('deployments.block 200, deployments.unblock 200: calls of a blocked model are refused', async () => {
    const blocked = await post('/model/block', { model_id: 'id-1' });
    expect(blocked).toMatchObject({ status: 200, body: { model_id: 'id-1', blocked: true } });
    expect(await post('/v1/chat/completions', chat('renamed'))).toEqual(
      envelope(403, 'Model is blocked', 'permission_error'),
    );
    expect(await post('/model/unblock', { model_id: 'id-1' })).toMatchObject({ body: { blocked: false } });
    expect(await statusOf('renamed')).toBe(200);
  });

  it.each([{ name: 'block' }, { name: 'unblock' }])(
    'deployments.$name 400: a model of the file; 401: no key; 403: a user key; 404: an unknown id; 422: no id',
    async ({ name }) => {
      expect(await post(`/model/${name}`, { model_id: 'filed-1' })).toEqual(FILE_MODEL_REFUSED);
      expect((await post(`/model/${name}`, { model_id: 'id-1' }, '')).status).toBe(401);
      expect(await post(`/model/${name}`, { model_id: 'id-1' }, await key({}))).toEqual(refused(ADMINS_ONLY));
      expect(await post(`/model/${name}`, { model_id: 'nope' })).toEqual(notFound('nope'));
      expect(await post(`/model/${name}`, { id: 'id-1' })).toEqual(missing('model_id'));
    },
  );

  it('deployments.delete 200: calls of a deleted model are refused', async () => {
    expect(await post('/model/delete', { id: 'id-1' })).toEqual({
      status: 200,
      body: { message: 'Model: id-1 deleted successfully' },
    });
    expect(await statusOf('renamed')).toBe(400);
  });

  it('deployments.delete 400: an unknown id, a model of the file; 401: no key; 403: a user key; 422: no id', async () => {
    for (const id of ['id-1', 'filed-1'])
      expect(await post('/model/delete', { id })).toEqual(
        envelope(400, `Model with id=${id} not found in db`, 'auth_error', 'None'),
      );
    expect((await post('/model/delete', { id: 'id-1' }, '')).status).toBe(401);
    expect(await post('/model/delete', { id: 'id-1' }, await key({}))).toEqual(refused(ADMINS_ONLY));
    expect(await post('/model/delete', {})).toEqual(missing('id'));
  });

  it('deployments.create 422: a body that is not a JSON object', async () => {
    expect((await post('/model/new', [])).status).toBe(422);
    expect((await post('/model/new', '{')).status).toBe(422);
  });
});
