import { describe, expect, it } from 'vitest';
import { type Json, NO_KEY, tenancyClient } from '../../support/tenancy-client.ts';

const client = tenancyClient({
  config: {
    litellm_settings: { success_callback: ['langfuse'], callbacks: ['otel'] },
    router_settings: { num_retries: 2 },
    general_settings: { alerting: ['slack'] },
  },
});
const unstored = tenancyClient({ env: { STORE_MODEL_IN_DB: 'False' } });
const viewer = () => client.user({ user_role: 'proxy_admin_viewer' });

const NOT_STORED = /This setting cannot be stored/;

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
    expect(JSON.stringify((await unstored.send('PATCH', '/update/user_banner', {})).body)).toMatch(NOT_STORED);
    expect((await unstored.send('PATCH', '/update/user_banner', {})).status).toBe(400);
    expect((await update({}, await viewer())).status).toBe(403);
    expect((await update([])).status).toBe(422);
  });
});

describe.each([
  ['settings.resetEmailEvents', 'POST', '/email/event_settings/reset', '/email/event_settings'],
  ['settings.deleteHashicorpVault', 'DELETE', '/config_overrides/hashicorp_vault', '/config_overrides/hashicorp_vault'],
] as const)('%s', (row, method, path, read) => {
  it(`${row} 200: stored values are removed`, async () => {
    const before = await client.get(read);
    const changed = read.startsWith('/email')
      ? await client.send('PATCH', read, { settings: [{ event: 'Max Budget Alert', enabled: false }] })
      : await client.send('POST', read, { vault_addr: 'https://vault.example' });
    expect(changed.status).toBe(200);
    expect((await client.get(read)).body).not.toEqual(before.body);
    expect((await client.send(method, path)).status).toBe(200);
    expect(await client.get(read)).toEqual(before);
  });

  it(`${row} 400: while settings are not stored`, async () => {
    const { status, body } = await unstored.send(method, path);
    expect(status).toBe(400);
    expect(JSON.stringify(body)).toMatch(NOT_STORED);
  });

  it(`${row} 401: without a key`, async () => {
    expect(await client.send(method, path, undefined, '')).toEqual(NO_KEY);
  });

  it(`${row} 403: with the key of a read-only administrator`, async () => {
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
      field_default: 0,
      options: null,
      ui_field_name: 'Number of Retries',
      link: null,
    });
  });

  it('settings.routerFields 200: without values', async () => {
    const { status, body } = await client.get('/router/fields');
    expect(status).toBe(200);
    expect((body['fields'] as readonly Json[]).map(({ field_value: value }) => value)).toEqual(
      Array.from({ length: 22 }, () => null),
    );
  });

  it('settings.callbacks 200: callbacks of the file', async () => {
    const { status, body } = await client.get('/get/config/callbacks');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      status: 'success',
      callbacks: [
        { name: 'langfuse', type: 'success', variables: {} },
        { name: 'otel', type: 'success_and_failure', variables: {} },
      ],
      alerts: [{ name: 'slack', variables: {} }],
      active_alerting_destinations: ['slack'],
    });
  });

  it('settings.ssoReadiness 200', async () => {
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
