import { expect, it } from 'vitest';
import { detail, type Json, tenancyClient } from '../../support/tenancy-client.ts';

const client = tenancyClient({
  config: {
    general_settings: { allowed_ips: ['127.0.0.1'], alerting: null },
    litellm_settings: { success_callback: ['s3'] },
  },
});

it('settings.delete 400: nothing of the section was ever stored', async () => {
  const sent = { field_name: 'max_file_size_mb', config_type: 'general_settings' };
  expect(await client.post('/config/field/delete', sent)).toEqual(
    detail(400, 'Field name=max_file_size_mb not in config'),
  );
});

it('settings.deleteCallback 400: a callback of the file', async () => {
  const { status, body } = await client.post('/config/callback/delete', { callback_name: 's3' });
  expect(status).toBe(400);
  expect(body['detail']).toMatchObject({ keys: ['success_callback'], section: 'litellm_settings' });
});

it('allowedAddresses.add 400: the file declares the list, after the check for a duplicate', async () => {
  const { status, body } = await client.post('/add/allowed_ip', { ip: '10.0.0.1' });
  expect(status).toBe(400);
  const { resolution, ...rest } = body['detail'] as Json;
  expect(resolution).toMatch(/^edit \S*config\.yaml:5 to change it/);
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

it('settings.update 400: a null of the file refuses every other value', async () => {
  const sent = { field_name: 'alerting', config_type: 'general_settings' };
  expect((await client.post('/config/field/update', { ...sent, field_value: ['slack'] })).status).toBe(400);
  expect((await client.post('/config/field/update', { ...sent, field_value: null })).status).toBe(200);
});
