import { describe, expect, it } from 'vitest';
import { detail, envelope, tenancyClient } from '../../support/tenancy-client.ts';

const client = tenancyClient();
const PROTOTYPE_NAMES = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf'];
const GENERAL = 'general_settings';
const update = (general: object) => client.post('/config/update', { [GENERAL]: general });
const refused = (message: string) => envelope(400, message, 'auth_error', 'None');

/** Body with a member of any name. JSON.parse makes `__proto__` a member; a literal would set the prototype. */
const withMember = (name: string, value: unknown): unknown =>
  JSON.parse(`{${JSON.stringify(name)}:${JSON.stringify(value)}}`);

describe.each(PROTOTYPE_NAMES)('a setting that is named %s', (name) => {
  it('settings.update, settings.get and settings.delete 400: unknown setting', async () => {
    const unknown = detail(400, `Invalid field=${name} passed in.`);
    const setting = { field_name: name, config_type: GENERAL };
    expect(await client.post('/config/field/update', { ...setting, field_value: { a: 1 } })).toEqual(unknown);
    expect(await client.post('/config/field/delete', setting)).toEqual(unknown);
    expect(await client.get(`/config/field/info?field_name=${name}`)).toEqual(unknown);
  });

  it('settings.updateSections 400: unknown router setting', async () => {
    expect(await client.post('/config/update', { router_settings: withMember(name, 1) })).toEqual(
      refused(`Unsupported router settings: ${name}`),
    );
  });

  it('is an unknown name in groups of settings, and does not change prototypes', async () => {
    const { body } = await client.send('PATCH', '/update/ui_settings', withMember(name, { polluted: true }));
    expect(body['settings']).toEqual({});
    const discount = await client.send('PATCH', '/config/cost_discount_config', withMember(name, 0.5));
    // The name is either stored as that of a provider, or refused.
    expect([200, 400]).toContain(discount.status);
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
    expect((await client.send('PATCH', '/config/cost_discount_config', {})).status).toBe(200);
  });
});

describe('settings.updateSections', () => {
  it('400: a list of addresses that excludes the caller, and invalid lists', async () => {
    const excludesCaller = 'The list would refuse your own address 127.0.0.1. Allow it first.';
    expect(await update({ allowed_ips: ['10.9.9.9'] })).toEqual(refused(excludesCaller));
    expect(await update({ allowed_ips: [] })).toEqual(refused(excludesCaller));
    expect(await update({ allowed_ips: '127.0.0.1' })).toEqual(refused('allowed_ips must be a list of addresses.'));
    expect(await update({ allowed_ips: ['127.0.0.1', 'here'] })).toEqual(
      refused('"here" is neither an IP address nor a block such as 10.0.0.0/8.'),
    );
    expect(await client.get('/get/allowed_ips')).toEqual({ status: 200, body: { data: null } });
  });

  it('400: a known setting of a wrong type, before anything is stored', async () => {
    expect(await update({ max_file_size_mb: 3, max_request_size_mb: 'abc' })).toEqual(
      refused('Invalid type of field value=text passed in for max_request_size_mb: expected a whole number from 0.'),
    );
    expect((await client.get('/config/field/info?field_name=max_file_size_mb')).status).toBe(400);
  });

  it('422: a body of 50,000 nested objects', async () => {
    const deepBody = `{"general_settings":${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}}`;
    const { url, adminKey } = client.app();
    const headers = { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' };
    const answer = await fetch(`${url}/config/update`, { method: 'POST', headers, body: deepBody });
    expect([answer.status, await answer.json()]).toEqual([
      422,
      { detail: [{ type: 'json_invalid', loc: ['body'], msg: 'JSON decode error' }] },
    ]);
  });

  it('200: concurrent changes of two administrators are all stored', async () => {
    const otherAdminKey = await client.user({ user_role: 'proxy_admin' });
    const names = ['alerting_threshold', 'health_check_interval', 'max_file_size_mb', 'max_batch_file_size_mb'];
    const answers = await Promise.all(
      names.map((name, index) =>
        client.post(
          '/config/update',
          { [GENERAL]: { [name]: index + 1 } },
          index % 2 === 0 ? undefined : otherAdminKey,
        ),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const values = await Promise.all(
      names.map(async (name) => (await client.get(`/config/field/info?field_name=${name}`)).body['field_value']),
    );
    expect(values).toEqual([1, 2, 3, 4]);
  });

  it('200: a setting of the dashboard applies as soon as it is stored', async () => {
    expect((await update({ disable_custom_api_keys: true })).status).toBe(200);
    expect((await client.get('/get/ui_settings')).body['values']).toMatchObject({ disable_custom_api_keys: true });
    expect((await client.post('/key/generate', { key: 'sk-own-secret-of-mine' })).status).toBe(403);
    expect((await update({ disable_custom_api_keys: false })).status).toBe(200);
    expect((await client.post('/key/generate', { key: 'sk-own-secret-of-mine' })).status).toBe(200);
  });
});
