import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { detail, type Json, NO_KEY, tenancyClient } from '../../support/tenancy-client.ts';

const client = tenancyClient({
  config: {
    general_settings: { max_parallel_requests: 100, max_response_size_mb: 'os.environ/SIZE_OF_TEST' },
    litellm_settings: { drop_params: true },
  },
  env: { SIZE_OF_TEST: '77' },
});
const info = (name: string) => client.get(`/config/field/info?field_name=${name}`);
const viewer = () => client.user({ user_role: 'proxy_admin_viewer' });

/** Refusal of a write to a setting of the file, without the path of the temporary folder. */
const refusal = (body: Json): Json => {
  const fileConflict = body['detail'] as Json;
  return { ...fileConflict, resolution: String(fileConflict['resolution']).replace(/edit \S*\//, 'edit ') };
};

const missing = (place: string, ...names: readonly string[]) => ({
  detail: names.map((name) => ({ type: 'missing', loc: [place, name], msg: 'Field required' })),
});

describe('settings.updateSections', () => {
  const post = (body: unknown, key?: string) => client.post('/config/update', body, key);
  const UPDATED = { status: 200, body: { message: 'Config updated successfully' } };

  it('200: stores the sent sections and merges callbacks', async () => {
    expect(await post({})).toEqual(UPDATED);
    expect(await post({ litellm_settings: { success_callback: ['Langfuse'] } })).toEqual(UPDATED);
    expect(await post({ litellm_settings: { success_callback: ['s3'], set_verbose: null } })).toEqual(UPDATED);
    expect(await post({ environment_variables: { LANGFUSE_SECRET_KEY: 'plain-text-secret' } })).toEqual(UPDATED);
    const yaml = await yamlText();
    expect(yaml).toContain('- langfuse\n    - s3');
    expect(yaml).not.toContain('set_verbose');
  });

  it('422: a section that is not an object', async () => {
    expect(await post({ environment_variables: [null] })).toEqual({
      status: 422,
      body: { error: { message: 'The body is not valid.', type: 'auth_error', param: 'None', code: '422' } },
    });
  });

  it('200: characters that YAML escapes are read back', async () => {
    const name = 'odd\u0087 "quoted" \u{1f600}';
    expect(await post({ router_settings: { model_group_alias: { [name]: 'x' } } })).toEqual(UPDATED);
    const text = await yamlText();
    expect(text).not.toMatch(/[\u0080-\u009f]/);
    const storedSettings = parse(text) as { readonly router_settings: { readonly model_group_alias: Json } };
    expect(Object.keys(storedSettings.router_settings.model_group_alias)).toContain(name);
  });

  it('200: a null removes an environment variable, and does not change settings', async () => {
    const variablesOf = async () =>
      Object.keys((parse(await yamlText()) as { readonly environment_variables?: Json }).environment_variables ?? {});
    expect(
      await post({ environment_variables: { GONE: 'x', KEPT: 'y' }, router_settings: { retry_after: 7 } }),
    ).toEqual(UPDATED);
    expect(await post({ environment_variables: { GONE: null, NEVER_SET: null } })).toEqual(UPDATED);
    expect(await post({ router_settings: { retry_after: null } })).toEqual(UPDATED);
    const variables = await variablesOf();
    expect(variables).toContain('KEPT');
    expect(variables).not.toContain('GONE');
    expect(variables).not.toContain('NEVER_SET');
    expect(parse(await yamlText())).toMatchObject({ router_settings: { retry_after: 7 } });
  });

  it('400: unknown router settings and settings of the configuration file; nothing is stored', async () => {
    expect(await post({ router_settings: { zzz: 1, num_retries: 2 } })).toEqual({
      status: 400,
      body: {
        error: { message: 'Unsupported router settings: zzz', type: 'auth_error', param: 'None', code: '400' },
      },
    });
    const sections = {
      general_settings: { max_file_downloads_per_minute: 3 },
      litellm_settings: { drop_params: false },
    };
    const { status, body } = await post(sections);
    const error = body['error'] as Json;
    expect({ status, ...error, message: refusal({ detail: JSON.parse(String(error['message'])) }) }).toEqual({
      status: 400,
      message: {
        error: "litellm_settings key 'drop_params' is set in the config file, so only the file can change it.",
        keys: ['drop_params'],
        section: 'litellm_settings',
        stored_database_values_ignored: [],
        // Line 8 of the file that the test app writes has `drop_params`.
        resolution: 'edit config.yaml:8 to change it, or remove it from the file to store it in the database',
      },
      type: 'auth_error',
      param: 'None',
      code: '400',
    });
    expect((await info('max_file_downloads_per_minute')).status).toBe(400);
  });

  it('401: without a key', async () => {
    expect(await post({}, '')).toEqual(NO_KEY);
  });

  it('403: with the key of a read-only administrator', async () => {
    expect((await post({}, await viewer())).status).toBe(403);
  });
});

async function yamlText(key?: string): Promise<string> {
  const { url, adminKey } = client.app();
  const answer = await fetch(`${url}/config/yaml`, { headers: { authorization: `Bearer ${key ?? adminKey}` } });
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/yaml']);
  return answer.text();
}

describe('settings.yaml', () => {
  it('200: the configuration in force, without secrets', async () => {
    const text = await yamlText(await viewer());
    expect(parse(text)).toMatchObject({
      general_settings: { max_parallel_requests: 100, max_response_size_mb: 'os.environ/SIZE_OF_TEST' },
    });
    expect(text).not.toContain('plain-text-secret');
  });

  it('200: texts that YAML 1.1 parses as line ends, control characters or merge keys are escaped', async () => {
    const odd = { callback_settings: { 'a\u2028b': ['<<', '=', '\u0080 \u0085'] } };
    expect((await client.post('/config/update', { litellm_settings: odd })).status).toBe(200);
    const text = await yamlText();
    expect(parse(text)).toMatchObject({ litellm_settings: odd });
    expect(text).toContain(String.raw`"a\u2028b"`);
    expect(text).not.toMatch(/[\u0080\u0085\u2028]|- (?:<<|=)$/m);
  });

  it('401: without a key', async () => {
    expect(await client.get('/config/yaml', '')).toEqual(NO_KEY);
  });
});

describe('settings.deleteCallback', () => {
  const deleteCallback = (callback_name: string, key?: string) =>
    client.post('/config/callback/delete', { callback_name }, key);

  it('200: removes a stored callback', async () => {
    await client.post('/config/update', { litellm_settings: { success_callback: ['datadog'] } });
    const { status, body } = await deleteCallback('Datadog');
    expect(status).toBe(200);
    expect(body).toMatchObject({ message: 'Successfully deleted callback: Datadog', removed_callback: 'Datadog' });
    expect((await deleteCallback('datadog')).status).toBe(404);
  });

  it('401: without a key', async () => {
    expect(await deleteCallback('s3', '')).toEqual(NO_KEY);
  });

  it('403: with the key of a read-only administrator', async () => {
    expect((await deleteCallback('s3', await viewer())).status).toBe(403);
  });

  it('404: a callback that is not active', async () => {
    expect(await deleteCallback('zzz')).toEqual(detail(404, "Callback 'zzz' not found in active configuration"));
  });

  it('422: without a name', async () => {
    expect(await client.post('/config/callback/delete', {})).toEqual({
      status: 422,
      body: missing('body', 'callback_name'),
    });
  });
});
