import { describe, expect, it } from 'vitest';
import { type Json, NO_KEY, tenancyClient } from '../../support/tenancy-client.ts';

const client = tenancyClient({
  config: {
    litellm_settings: { success_callback: ['langfuse'], failure_callback: ['sentry'], callbacks: ['otel'] },
    general_settings: { alerting: ['slack', 'webhook'] },
  },
});
const plain = tenancyClient();

const READ_ROUTES = [
  ['settings.activeCallbacks', '/active/callbacks'],
  ['settings.activeCallbacks', '/settings'],
  ['settings.callbackKinds', '/callbacks/configs'],
  ['settings.alerting', '/alerting/settings'],
] as const;

/** Names and default values of the settings of alerts. */
const ALERTING = [
  ['daily_report_frequency', 43_200],
  ['report_check_interval', 300],
  ['budget_alert_ttl', 86_400],
  ['outage_alert_ttl', 60],
  ['region_outage_alert_ttl', 60],
  ['minor_outage_alert_threshold', 5],
  ['major_outage_alert_threshold', 10],
  ['max_outage_alert_list_size', 10],
] as const;

const rows = ({ body }: { readonly body: unknown }): readonly Json[] => body as readonly Json[];

describe.each(READ_ROUTES)('%s at %s', (operation, path) => {
  it(`${operation} 200: administrators with full or read-only access`, async () => {
    const all = await client.get(path);
    expect(all.status).toBe(200);
    expect(await client.get(path, await client.user({ user_role: 'proxy_admin_viewer' }))).toEqual(all);
  });

  it(`${operation} 401: without a key, and with the key of a user`, async () => {
    expect(await client.get(path, '')).toEqual(NO_KEY);
    const key = await client.user({ user_role: 'internal_user' });
    expect(await client.get(path, key)).toMatchObject({ status: 401, body: { error: { type: 'auth_error' } } });
  });
});

describe('settings.activeCallbacks', () => {
  it('settings.activeCallbacks 200: callbacks of the configuration file', async () => {
    expect(await client.get('/settings')).toEqual({
      status: 200,
      body: {
        alerting: 'slack, webhook',
        'litellm.callbacks': ['otel'],
        'litellm.input_callback': [],
        'litellm.failure_callback': ['sentry'],
        'litellm.success_callback': ['langfuse'],
        'litellm._async_success_callback': [],
        'litellm._async_failure_callback': [],
        'litellm._async_input_callback': [],
        all_litellm_callbacks: ['otel', 'sentry', 'langfuse'],
        num_callbacks: 3,
        num_alerting: 2,
        'litellm.request_timeout': 600,
      },
    });
  });

  it('settings.activeCallbacks 200: no callbacks', async () => {
    const { status, body } = await plain.get('/active/callbacks');
    expect([status, body['alerting'], body['all_litellm_callbacks'], body['num_alerting']]).toEqual([
      200,
      'None',
      [],
      0,
    ]);
  });
});

it('settings.callbackKinds 200: kinds of callbacks with their variables', async () => {
  const { body } = await client.get('/callbacks/configs');
  const [otel, langfuse, ...others] = body as unknown as readonly Json[];
  expect(otel).toEqual({
    id: 'otel',
    displayName: 'OpenTelemetry',
    logo: 'otel.png',
    supports_key_team_logging: false,
    dynamic_params: {
      OTEL_EXPORTER_OTLP_ENDPOINT: {
        type: 'text',
        ui_name: 'Endpoint',
        description: 'Address of the collector.',
        required: true,
      },
      OTEL_EXPORTER_OTLP_HEADERS: {
        type: 'password',
        ui_name: 'Headers',
        description: 'Headers of each request, as `name=value` pairs.',
        required: false,
      },
    },
    description: 'Sends spans of calls to a collector.',
  });
  expect(langfuse).toEqual({
    id: 'langfuse',
    displayName: 'Langfuse',
    logo: 'langfuse.png',
    supports_key_team_logging: true,
    dynamic_params: {
      langfuse_public_key: {
        type: 'password',
        ui_name: 'Public key',
        description: 'Public key of the project.',
        required: true,
      },
      langfuse_secret_key: {
        type: 'password',
        ui_name: 'Secret key',
        description: 'Secret key of the project.',
        required: true,
      },
      langfuse_host: {
        type: 'text',
        ui_name: 'Host',
        description: 'Address of the server; `https://cloud.langfuse.com` when absent.',
        required: false,
      },
    },
    description: 'Sends spans of the calls of a team.',
  });
  expect(others.map(({ id }) => id)).toEqual(['langfuse_otel', 'langsmith']);
});

describe('settings.alerting', () => {
  it('settings.alerting 200: built-in values', async () => {
    const listed = rows(await plain.get('/alerting/settings'));
    expect(listed[0]).toEqual({
      field_name: 'slack_alerting',
      field_type: 'Boolean',
      field_description: 'Alerts are sent to Slack.',
      field_value: false,
      stored_in_db: null,
      field_default_value: null,
      premium_field: false,
      nested_fields: null,
      field_options: null,
      field_tab: null,
    });
    expect(
      listed
        .slice(1)
        .map((row) => [row['field_name'], row['field_value'], row['field_default_value'], row['stored_in_db']]),
    ).toEqual(ALERTING.map(([name, value]) => [name, value, value, null]));
  });

  it('settings.alerting 200: values of the configuration file and of the database', async () => {
    const fileRow = rows(await client.get('/alerting/settings'))[0];
    expect([fileRow?.['field_value'], fileRow?.['stored_in_db']]).toEqual([true, false]);
    const field = { field_name: 'alerting_args', config_type: 'general_settings' };
    const stored = { ...field, field_value: { outage_alert_ttl: 90 } };
    expect((await client.post('/config/field/update', stored)).status).toBe(200);
    const byName = new Map(rows(await client.get('/alerting/settings')).map((row) => [row['field_name'], row]));
    expect(byName.get('outage_alert_ttl')).toMatchObject({ field_value: 90, stored_in_db: true });
    expect(byName.get('budget_alert_ttl')).toMatchObject({ field_value: 86_400, stored_in_db: null });
    expect(byName.get('report_check_interval')).toMatchObject({ field_value: 300, stored_in_db: null });
  });
});

describe.each([
  ['settings.logoImage', '/get_image', 'logo_url'],
  ['settings.iconImage', '/get_favicon', 'favicon_url'],
] as const)('%s', (operation, path, name) => {
  it(`${operation} 200: the built-in image, without a key`, async () => {
    const answer = await fetch(`${plain.app().url}${path}`, { redirect: 'manual' });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'image/svg+xml']);
    expect(await answer.text()).toMatch(/^<svg xmlns=/);
  });

  it(`${operation} 307: an image of the operator; only HTTP addresses are accepted`, async () => {
    const write = (address: string) => client.send('PATCH', '/update/ui_theme_settings', { [name]: address });
    const statusAndLocation = async () => {
      const answer = await fetch(`${client.app().url}${path}`, { redirect: 'manual' });
      return [answer.status, answer.headers.get('location')];
    };
    expect((await write('https://example.org/logo.png')).status).toBe(200);
    expect(await statusAndLocation()).toEqual([307, 'https://example.org/logo.png']);
    for (const address of ['javascript:alert(1)', 'data:image/svg+xml,<svg/>', '/etc/passwd', 'file:///etc/passwd'])
      // oxlint-disable-next-line no-await-in-loop -- sequential writes
      expect(await write(address)).toEqual({
        status: 422,
        body: {
          detail: [
            {
              type: 'value_error',
              loc: ['body', name],
              msg: 'Value error, expected an http:// or https:// address',
            },
          ],
        },
      });
    expect(await statusAndLocation()).toEqual([307, 'https://example.org/logo.png']);
    expect((await write('')).status).toBe(200);
    expect(await statusAndLocation()).toEqual([200, null]);
  });
});
