import { describe, expect, it } from 'vitest';
import { detail, type Json, NO_KEY, tenancyClient } from '../../support/tenancy-client.ts';

const client = tenancyClient({
  config: {
    general_settings: {
      max_parallel_requests: 100,
      max_request_size_mb: null,
      max_response_size_mb: 'os.environ/SIZE_OF_TEST',
      mcp_client_id_header: 'os.environ/NOT_SET_IN_TEST',
      alerting: ['slack'],
    },
    litellm_settings: { drop_params: true, budget_rollover: true },
  },
  env: { SIZE_OF_TEST: '77' },
});

const GENERAL = { config_type: 'general_settings' };
const update = (field_name: string, field_value: unknown, key?: string) =>
  client.post('/config/field/update', { ...GENERAL, field_name, field_value }, key);
const remove = (field_name: string) => client.post('/config/field/delete', { ...GENERAL, field_name });
const info = (name: string, key?: string) => client.get(`/config/field/info?field_name=${name}`, key);
const viewer = () => client.user({ user_role: 'proxy_admin_viewer' });

/** Refusal of a write to a setting of the file, without the path of the temporary folder. */
const refusal = (body: Json): Json => {
  const fileConflict = body['detail'] as Json;
  return { ...fileConflict, resolution: String(fileConflict['resolution']).replace(/edit \S*\//, 'edit ') };
};

const missing = (place: string, ...names: readonly string[]) => ({
  detail: names.map((name) => ({ type: 'missing', loc: [place, name], msg: 'Field required' })),
});

describe('settings.list', () => {
  it('200: every setting with its source', async () => {
    const { status, body } = await client.get('/config/list?config_type=general_settings');
    const listed = body as unknown as readonly Json[];
    expect(status).toBe(200);
    // The 38 listed settings of `GENERAL_FIELDS` and the 6 of `SHARED_FIELDS`.
    expect(listed).toHaveLength(44);
    expect(listed.find(({ field_name: name }) => name === 'max_parallel_requests')).toEqual({
      field_name: 'max_parallel_requests',
      field_type: 'Integer',
      field_description: 'Maximum number of parallel requests of each key. Not in force yet.',
      field_value: 100,
      stored_in_db: false,
      field_default_value: null,
      premium_field: false,
      nested_fields: null,
      field_options: null,
      field_tab: null,
      source: 'config',
      editable: false,
    });
    expect(listed.find(({ field_name: name }) => name === 'anthropic_prompt_caching_ttl')).toMatchObject({
      field_type: 'Select',
      field_options: ['5m', '1h'],
      field_tab: 'prompt_caching',
      source: 'unset',
      editable: true,
    });
  });

  it('401: without a key', async () => {
    expect(await client.get('/config/list?config_type=general_settings', '')).toEqual(NO_KEY);
  });

  it('422: without a type of settings, and with an unknown one', async () => {
    expect(await client.get('/config/list')).toEqual({ status: 422, body: missing('query', 'config_type') });
    expect(await client.get('/config/list?config_type=x')).toEqual({
      status: 422,
      body: {
        detail: [{ type: 'literal_error', loc: ['query', 'config_type'], msg: "Input should be 'general_settings'" }],
      },
    });
  });
});

describe('settings.get', () => {
  it('200: settings of the configuration file, even if null; references to variables stay unresolved', async () => {
    const declared = (field_name: string, field_value: unknown) => ({
      status: 200,
      body: { field_name, field_value, source: 'config', editable: false },
    });
    expect(await info('max_parallel_requests')).toEqual(declared('max_parallel_requests', 100));
    expect(await info('max_request_size_mb')).toEqual(declared('max_request_size_mb', null));
    expect(await info('max_response_size_mb')).toEqual(declared('max_response_size_mb', 'os.environ/SIZE_OF_TEST'));
    expect(await info('mcp_client_id_header')).toEqual(declared('mcp_client_id_header', 'os.environ/NOT_SET_IN_TEST'));
  });

  it('200: a stored setting without its secrets; for read-only administrators, its value is REDACTED', async () => {
    const endpoint = {
      path: '/p',
      target: 'http://127.0.0.1:1/',
      headers: { Authorization: 'Bearer upstream-secret' },
    };
    expect((await client.post('/config/pass_through_endpoint', endpoint)).status).toBe(200);
    const body = { field_name: 'pass_through_endpoints', source: 'db', editable: true };
    expect(await info('pass_through_endpoints')).toEqual({
      status: 200,
      body: {
        ...body,
        field_value: [
          expect.objectContaining({ path: '/p', target: endpoint.target, headers: { Authorization: 'REDACTED' } }),
        ],
      },
    });
    expect(await info('pass_through_endpoints', await viewer())).toEqual({
      status: 200,
      body: { ...body, field_value: 'REDACTED' },
    });
  });

  it('400: an unknown setting, and one without a value', async () => {
    expect(await info('zzz')).toEqual(detail(400, 'Invalid field=zzz passed in.'));
    expect(await info('blocked_file_extensions')).toEqual(detail(400, 'Field name=blocked_file_extensions is not set'));
  });

  it('401: with the key of a user', async () => {
    const key = await client.user({ user_role: 'internal_user' });
    const { status, body } = await info('alerting', key);
    expect(status).toBe(401);
    expect(body).toEqual({
      error: {
        message:
          'Only proxy admin can be used to generate, delete, update info for new keys/users/teams. Your role=internal_user.',
        type: 'auth_error',
        param: 'None',
        code: '401',
      },
    });
  });

  it('422: without a name', async () => {
    expect(await client.get('/config/field/info')).toEqual({ status: 422, body: missing('query', 'field_name') });
  });
});

describe('settings.update', () => {
  it('200: stores a setting that the file does not have', async () => {
    const { status, body } = await update('max_file_size_mb', 9);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      param_name: 'general_settings',
      param_value: { max_file_size_mb: 9 },
      last_run_at: null,
      reload_revision: 0,
    });
    expect((await info('max_file_size_mb')).body).toEqual({
      field_name: 'max_file_size_mb',
      field_value: 9,
      source: 'db',
      editable: true,
    });
  });

  it('200: the current value of the file, or the resolved value of its reference, changes nothing', async () => {
    expect((await update('max_parallel_requests', 100)).status).toBe(200);
    expect((await update('max_response_size_mb', '77')).status).toBe(200);
    expect((await info('max_response_size_mb')).body['field_value']).toBe('os.environ/SIZE_OF_TEST');
  });

  it('200: a setting outside general_settings', async () => {
    expect(await update('enable_anthropic_prompt_caching', true)).toEqual({
      status: 200,
      body: { message: 'Field enable_anthropic_prompt_caching updated', status: 'success' },
    });
  });

  it('400: a setting of the configuration file; the error has the file and line of the setting', async () => {
    const { status, body } = await update('alerting', ['email']);
    expect(status).toBe(400);
    expect(refusal(body)).toEqual({
      error: "general_settings key 'alerting' is set in the config file, so only the file can change it.",
      keys: ['alerting'],
      section: 'general_settings',
      stored_database_values_ignored: [],
      // Line 9 of the file that the test app writes has `alerting`.
      resolution: 'edit config.yaml:9 to change it, or remove it from the file to store it in the database',
    });
  });

  it('400: settings that are read at the start only', async () => {
    expect(await update('master_key', 'sk-another-admin-key')).toEqual(
      detail(400, 'master_key is read at the start only and cannot be stored.'),
    );
  });

  it('400: unknown settings and values of a wrong type', async () => {
    expect(await update('zzz', 1)).toEqual(detail(400, 'Invalid field=zzz passed in.'));
    expect(await update('max_file_size_mb', 'abc')).toEqual(
      detail(400, 'Invalid type of field value=text passed in for max_file_size_mb: expected a whole number from 0.'),
    );
    expect(await update('anthropic_prompt_caching_ttl', '2h')).toEqual(
      detail(400, 'anthropic_prompt_caching_ttl must be one of: 5m, 1h, or empty.'),
    );
  });

  it('401: without a key', async () => {
    expect(await update('max_file_size_mb', 1, '')).toEqual(NO_KEY);
  });

  it('403: with the key of a read-only administrator', async () => {
    expect(await update('max_file_size_mb', 1, await viewer())).toEqual({
      status: 403,
      body: {
        error: {
          message: 'user not allowed to access this route, role= proxy_admin_viewer.',
          type: 'auth_error',
          param: 'None',
          code: '403',
        },
      },
    });
  });

  it('422: without name and value', async () => {
    expect(await client.post('/config/field/update', GENERAL)).toEqual({
      status: 422,
      body: missing('body', 'field_name', 'field_value'),
    });
  });
});

describe('settings.delete', () => {
  it('200: removes a stored setting, and resets one outside general_settings', async () => {
    await update('max_batch_file_records', 5);
    const { status, body } = await remove('max_batch_file_records');
    expect(status).toBe(200);
    expect(body['param_value']).not.toHaveProperty('max_batch_file_records');
    expect((await info('max_batch_file_records')).status).toBe(400);
    expect(await remove('max_ui_session_budget')).toEqual({
      status: 200,
      body: { message: 'Field max_ui_session_budget reset', status: 'success' },
    });
  });

  it('400: a setting of the configuration file, and an unknown setting', async () => {
    expect(refusal((await remove('max_parallel_requests')).body)).toMatchObject({
      keys: ['max_parallel_requests'],
      section: 'general_settings',
    });
    expect(await remove('zzz')).toEqual(detail(400, 'Invalid field=zzz passed in.'));
  });

  it('401: without a key', async () => {
    expect(await client.post('/config/field/delete', { ...GENERAL, field_name: 'alerting' }, '')).toEqual(NO_KEY);
  });

  it('403: with the key of a read-only administrator', async () => {
    const { status, body } = await client.post(
      '/config/field/delete',
      { ...GENERAL, field_name: 'alerting' },
      await viewer(),
    );
    expect({ status, body }).toEqual({
      status: 403,
      body: {
        error: {
          message: 'user not allowed to access this route, role= proxy_admin_viewer.',
          type: 'auth_error',
          param: 'None',
          code: '403',
        },
      },
    });
  });

  it('422: without a name', async () => {
    expect(await client.post('/config/field/delete', GENERAL)).toEqual({
      status: 422,
      body: missing('body', 'field_name'),
    });
  });
});
