import { describe, expect, it } from 'vitest';
import { detail, type Json, tenancyClient } from '../../support/tenancy-client.ts';

const GENERAL = {
  disable_custom_api_keys: true,
  disable_team_admin_delete_team_user: true,
  proxy_base_url: 'https://file.example',
  max_batch_file_size_mb: 'os.environ/SIZE_OF_FILES',
};

const client = tenancyClient({
  env: { SIZE_OF_FILES: '7' },
  config: {
    general_settings: { allowed_ips: ['127.0.0.1'], alerting: null, ...GENERAL },
    litellm_settings: {
      success_callback: ['s3', 'Langfuse'],
      default_internal_user_params: { max_budget: 1 },
      default_team_params: { max_budget: 1 },
      ui_theme_config: { logo_url: 'https://file.example' },
      mcp_semantic_tool_filter: { top_k: 1 },
      mcp_tool_search: { top_k: 1 },
      websearch_interception_params: { enabled: true },
      cost_discount_config: { openai: 0.5 },
      cost_margin_config: { openai: 0.5 },
      cache_params: { namespace: 'file' },
    },
    router_settings: { num_retries: 1, redis_host: 'redis.example' },
  },
});

it('settings.delete 400: a setting that is neither in the configuration file nor stored', async () => {
  const requestBody = { field_name: 'max_file_size_mb', config_type: 'general_settings' };
  expect(await client.post('/config/field/delete', requestBody)).toEqual(
    detail(400, 'Field name=max_file_size_mb not in config'),
  );
});

it.each(['s3', 'S3', 'Langfuse', 'langfuse'])(
  'settings.deleteCallback 400: a callback of the configuration file, in any letter case: %s',
  async (name) => {
    const { status, body } = await client.post('/config/callback/delete', { callback_name: name });
    expect(status).toBe(400);
    expect(body['detail']).toMatchObject({ keys: ['success_callback'], section: 'litellm_settings' });
  },
);

it('allowedAddresses.add 400: the file declares the list; an address in the list has its own message', async () => {
  const { status, body } = await client.post('/add/allowed_ip', { ip: '10.0.0.1' });
  expect(status).toBe(400);
  const { resolution, ...rest } = body['detail'] as Json;
  expect(resolution).toMatch(/^edit \S*config\.yaml:\d+ to change it/);
  expect(rest).toEqual({
    error: "general_settings key 'allowed_ips' is set in the config file, so only the file can change it.",
    keys: ['allowed_ips'],
    section: 'general_settings',
    stored_database_value_ignored: false,
  });
  expect((await client.post('/add/allowed_ip', { ip: '127.0.0.1' })).body).toEqual({
    detail: 'IP address already exists',
  });
});

it('allowedAddresses.delete 400: the file declares the list', async () => {
  const { status, body } = await client.post('/delete/allowed_ip', { ip: '127.0.0.1' });
  expect(status).toBe(400);
  expect(body['detail']).toMatchObject({ keys: ['allowed_ips'], stored_database_value_ignored: false });
});

it('settings.update 400: a value for a setting that is null in the configuration file; 200: the value null', async () => {
  const requestBody = { field_name: 'alerting', config_type: 'general_settings' };
  expect((await client.post('/config/field/update', { ...requestBody, field_value: ['slack'] })).status).toBe(400);
  expect((await client.post('/config/field/update', { ...requestBody, field_value: null })).status).toBe(200);
});

/** Writes with method, path and body, and the section and key of the file that own the setting. */
const WRITES: readonly (readonly [string, string, Json, string, string])[] = [
  ['POST', '/config/field/update', field('max_batch_file_size_mb', 5), 'general_settings', 'max_batch_file_size_mb'],
  ['POST', '/config/field/delete', field('max_batch_file_size_mb'), 'general_settings', 'max_batch_file_size_mb'],
  ['POST', '/config/callback/delete', { callback_name: 's3' }, 'litellm_settings', 'success_callback'],
  ['PATCH', '/update/ui_settings', { disable_custom_api_keys: false }, 'general_settings', 'disable_custom_api_keys'],
  ['PATCH', '/update/ui_settings', { disable_custom_api_keys: null }, 'general_settings', 'disable_custom_api_keys'],
  [
    'PATCH',
    '/update/ui_settings',
    { disable_team_admin_delete_team_user: false },
    'general_settings',
    'disable_team_admin_delete_team_user',
  ],
  ['PATCH', '/update/sso_settings', { proxy_base_url: 'https://x.example' }, 'general_settings', 'proxy_base_url'],
  ['PATCH', '/update/internal_user_settings', { max_budget: 2 }, 'litellm_settings', 'default_internal_user_params'],
  ['PATCH', '/update/default_team_settings', { max_budget: 2 }, 'litellm_settings', 'default_team_params'],
  ['PATCH', '/update/ui_theme_settings', { logo_url: 'https://x.example' }, 'litellm_settings', 'ui_theme_config'],
  ['PATCH', '/update/mcp_semantic_filter_settings', { top_k: 2 }, 'litellm_settings', 'mcp_semantic_tool_filter'],
  ['PATCH', '/update/mcp_tool_search_settings', { top_k: 2 }, 'litellm_settings', 'mcp_tool_search'],
  [
    'PATCH',
    '/update/websearch_interception_settings',
    { enabled: false },
    'litellm_settings',
    'websearch_interception_params',
  ],
  ['PATCH', '/config/cost_discount_config', { openai: 0.1 }, 'litellm_settings', 'cost_discount_config'],
  ['PATCH', '/config/cost_margin_config', { openai: 0.1 }, 'litellm_settings', 'cost_margin_config'],
  ['POST', '/cache/settings', { namespace: 'other' }, 'litellm_settings', 'cache_params'],
  ['POST', '/coordination_redis/settings', { host: 'other.example' }, 'router_settings', 'redis_host'],
];

function field(name: string, value?: unknown): Json {
  return { field_name: name, config_type: 'general_settings', ...(value === undefined ? {} : { field_value: value }) };
}

/** Refusal in `detail`, as an object or as JSON text. */
function refusalIn({ detail: found }: Json): Json {
  return (typeof found === 'string' ? JSON.parse(found) : found) as Json;
}

describe('a write to a setting of the configuration file', () => {
  it.each(WRITES)('%s %s %j is 400 and names %s.%s', async (method, path, requestBody, section, key) => {
    const { status, body } = await client.send(method, path, requestBody);
    expect(status).toBe(400);
    const refusal = refusalIn(body);
    // Some routes list the ignored stored values. The others have a flag for the only value.
    const { resolution, stored_database_values_ignored: names, stored_database_value_ignored: flag, ...rest } = refusal;
    expect(rest).toEqual({
      error: `${section} key '${key}' is set in the config file, so only the file can change it.`,
      keys: [key],
      section,
    });
    expect(names ?? flag).toEqual(names === undefined ? false : []);
    expect(resolution).toMatch(
      /^edit \S*config\.yaml:\d+ to change it, or remove it from the file to store it in the database$/,
    );
  });

  it.each([
    ['general_settings', 'disable_custom_api_keys', false],
    ['general_settings', 'allowed_ips', ['127.0.0.1', '10.0.0.1']],
    ['litellm_settings', 'success_callback', ['langfuse']],
    ['router_settings', 'num_retries', 2],
  ])('POST /config/update: %s.%s is 400', async (section, key, value) => {
    const { status, body } = await client.post('/config/update', { [section]: { [key]: value } });
    const { message } = body['error'] as Json;
    expect([status, JSON.parse(String(message))]).toMatchObject([400, { keys: [key], section }]);
  });

  it('changes nothing: reads still have the value of the file', async () => {
    const { body } = await client.get('/get/ui_settings');
    expect(body['values']).toMatchObject({
      disable_custom_api_keys: true,
      disable_team_admin_delete_team_user: true,
      disable_key_generate_for_org_admin: false,
    });
    const sso = (await client.get('/get/sso_settings')).body;
    expect(sso['values']).toMatchObject({ proxy_base_url: 'https://file.example' });
    expect(sso['provenance']).toMatchObject({ proxy_base_url: 'config', google_client_id: 'unset' });
    expect((await client.get('/cache/settings')).body['current_values']).toEqual({ namespace: 'file' });
    const redis = (await client.get('/coordination_redis/settings')).body;
    expect(redis).toMatchObject({ values: { host: 'redis.example' }, source: 'config' });
    expect((await client.post('/key/generate', { key: 'sk-own-secret-of-mine' })).status).toBe(403);
  });

  it('is accepted if the value is the one of the file, even together with other settings', async () => {
    const requestBody = { disable_custom_api_keys: true, require_auth_for_public_ai_hub: true };
    expect((await client.send('PATCH', '/update/ui_settings', requestBody)).status).toBe(200);
  });
});
