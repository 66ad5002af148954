import { describe, expect, it } from 'vitest';
import { type Json, NO_KEY, tenancyClient } from '../../support/tenancy-client.ts';

const client = tenancyClient({
  config: {
    litellm_settings: { success_callback: ['langfuse'], callbacks: ['otel'] },
    router_settings: { num_retries: 2 },
    general_settings: { alerting: ['slack'] },
  },
});
/** App without a configuration file. It does not store settings. */
const unstored = tenancyClient({ env: { STORE_MODEL_IN_DB: 'False' } });
/** App whose router uses values of `litellm_settings`. */
const inheriting = tenancyClient({
  config: { router_settings: {}, litellm_settings: { num_retries: 4, fallbacks: [{ a: ['b'] }] } },
});
const viewer = () => client.user({ user_role: 'proxy_admin_viewer' });

const NOT_STORED = {
  status: 400,
  body: { detail: { error: "Set `'STORE_MODEL_IN_DB='True'` in your env to enable this feature." } },
};

describe('settings.getUserBanner and settings.updateUserBanner', () => {
  const update = (body: unknown, key?: string) => client.send('PATCH', '/update/user_banner', body, key);

  it('settings.getUserBanner 200 and settings.updateUserBanner 200: a message for every key', async () => {
    expect(await client.get('/get/user_banner')).toEqual({
      status: 200,
      body: { enabled: false, message: '', severity: 'info', revision: '' },
    });
    const { status, body } = await update({ enabled: true, message: 'Noon' });
    const banner = body['banner'] as Json;
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        message: 'User banner updated successfully',
        banner: { enabled: true, message: 'Noon', severity: 'info', revision: banner['revision'] },
      },
    });
    expect(String(banner['revision']).length).toBeGreaterThan(10);
    expect((await client.get('/get/user_banner', await client.key({}))).body).toEqual(banner);
  });

  it('settings.getUserBanner 401 and settings.updateUserBanner 401: without a key', async () => {
    expect(await client.get('/get/user_banner', '')).toEqual(NO_KEY);
    expect(await update({}, '')).toEqual(NO_KEY);
  });

  it('settings.updateUserBanner 400, 403, 422: settings are not stored, a read-only administrator, a body that is not an object', async () => {
    expect(await unstored.send('PATCH', '/update/user_banner', {})).toEqual(NOT_STORED);
    expect((await update({}, await viewer())).status).toBe(403);
    expect((await update([])).status).toBe(422);
  });
});

describe.each([
  ['settings.resetEmailEvents', 'POST', '/email/event_settings/reset', '/email/event_settings'],
  ['settings.deleteHashicorpVault', 'DELETE', '/config_overrides/hashicorp_vault', '/config_overrides/hashicorp_vault'],
] as const)('%s', (operation, method, path, readPath) => {
  it(`${operation} 200: stored values are removed`, async () => {
    const before = await client.get(readPath);
    const changed = readPath.startsWith('/email')
      ? await client.send('PATCH', readPath, { settings: [{ event: 'Max Budget Alert', enabled: false }] })
      : await client.send('POST', readPath, { vault_addr: 'https://vault.example' });
    expect(changed.status).toBe(200);
    expect((await client.get(readPath)).body).not.toEqual(before.body);
    expect((await client.send(method, path)).status).toBe(200);
    expect(await client.get(readPath)).toEqual(before);
  });

  it(`${operation} 400: while settings are not stored`, async () => {
    expect(await unstored.send(method, path)).toEqual(NOT_STORED);
  });

  it(`${operation} 401: without a key`, async () => {
    expect(await client.send(method, path, undefined, '')).toEqual(NO_KEY);
  });

  it(`${operation} 403: with the key of a read-only administrator`, async () => {
    expect((await client.send(method, path, undefined, await viewer())).status).toBe(403);
  });
});

describe('information about settings', () => {
  it('settings.router 200: values with their sources', async () => {
    const { status, body } = await client.get('/router/settings', await viewer());
    expect(status).toBe(200);
    expect(body['current_values']).toMatchObject({ num_retries: 2, routing_strategy: 'simple-shuffle' });
    expect(body['source']).toMatchObject({ num_retries: 'config', routing_strategy: 'default', timeout: 'unset' });
    expect((body['fields'] as readonly Json[])[3]).toEqual({
      field_name: 'num_retries',
      field_type: 'Integer',
      field_value: 2,
      field_description: 'Retries of a failed call.',
      // The default that the reference reports. Calls have 2 retries by default.
      field_default: 0,
      options: null,
      ui_field_name: 'Number of Retries',
      link: null,
    });
  });

  it('settings.router 200: without a file, the values that calls use', async () => {
    const { status, body } = await unstored.get('/router/settings');
    expect(status).toBe(200);
    expect(body['current_values']).toEqual({
      routing_strategy: 'simple-shuffle',
      routing_strategy_args: {},
      routing_groups: [],
      num_retries: 2,
      timeout: null,
      stream_timeout: null,
      max_fallbacks: 5,
      fallbacks: [],
      context_window_fallbacks: [],
      content_policy_fallbacks: [],
      allowed_fails: null,
      cooldown_time: 5,
      retry_after: 0,
      retry_policy: null,
      model_group_alias: {},
      enable_pre_call_checks: false,
      default_litellm_params: null,
      set_verbose: false,
      default_max_parallel_requests: null,
      enable_tag_filtering: false,
      tag_filtering_match_any: true,
      disable_cooldowns: null,
    });
    expect(body['source']).toMatchObject({ num_retries: 'default', cooldown_time: 'default', allowed_fails: 'unset' });
    const rows = body['fields'] as readonly Json[];
    expect(Object.fromEntries(rows.map((row) => [row['field_name'], row['field_value']]))).toEqual(
      body['current_values'],
    );
  });

  it('settings.router 200: values of litellm_settings that calls use', async () => {
    const { body } = await inheriting.get('/router/settings');
    expect(body['current_values']).toMatchObject({ num_retries: 4, fallbacks: [{ a: ['b'] }] });
    expect(body['source']).toMatchObject({
      num_retries: 'config',
      fallbacks: 'config',
      context_window_fallbacks: 'default',
    });
    const query =
      '{ settings(sections: [ROUTER], names: ["num_retries"]) { source declaredValue effectiveValue defaultValue } }';
    expect((await inheriting.post('/graphql', { query })).body).toEqual({
      data: { settings: [{ source: 'CONFIG', declaredValue: null, effectiveValue: 4, defaultValue: 2 }] },
    });
  });

  it('settings.routerFields 200: without values', async () => {
    const { status, body } = await client.get('/router/fields');
    expect(status).toBe(200);
    // The route lists as many settings as `/router/settings` above.
    expect((body['fields'] as readonly Json[]).map(({ field_value: value }) => value)).toEqual(
      Array.from({ length: 22 }, () => null),
    );
  });

  it('settings.callbacks 200: callbacks of the configuration file', async () => {
    const { status, body } = await client.get('/get/config/callbacks');
    expect(status).toBe(200);
    expect(body).toMatchObject({ status: 'success', active_alerting_destinations: ['slack'] });
    expect(body['callbacks']).toEqual([
      { name: 'langfuse', type: 'success', variables: {} },
      { name: 'otel', type: 'success_and_failure', variables: {} },
    ]);
    expect(body['alerts']).toMatchObject([{ name: 'slack' }]);
    expect((body['alerts'] as readonly Json[])[0]?.['variables']).toEqual({});
  });

  it('settings.ssoReadiness 200: no SSO provider is configured', async () => {
    expect(await client.get('/sso/readiness')).toEqual({
      status: 200,
      body: { status: 'healthy', sso_configured: false, message: 'No SSO provider configured' },
    });
  });

  it.each([
    ['settings.router', '/router/settings'],
    ['settings.routerFields', '/router/fields'],
    ['settings.callbacks', '/get/config/callbacks'],
    ['settings.ssoReadiness', '/sso/readiness'],
  ])('%s 401: without a key', async (_row, path) => {
    expect(await client.get(path, '')).toEqual(NO_KEY);
  });

  it('settings.logo 200 and settings.pages 200: without a key', async () => {
    expect(await client.get('/get_logo_url', '')).toEqual({ status: 200, body: { logo_url: '' } });
    await client.send('PATCH', '/update/ui_theme_settings', { logo_url: 'http://x/y.png' });
    expect(await client.get('/get_logo_url', '')).toEqual({ status: 200, body: { logo_url: 'http://x/y.png' } });
    expect(await client.get('/.well-known/litellm-ui-config', '')).toEqual({
      status: 200,
      body: {
        server_root_path: '',
        proxy_base_url: null,
        auto_redirect_to_sso: false,
        admin_ui_disabled: false,
        sso_configured: false,
        hide_default_credentials_hint: false,
        is_control_plane: false,
        mcp_stdio_enabled: false,
        workers: [],
      },
    });
  });
});
