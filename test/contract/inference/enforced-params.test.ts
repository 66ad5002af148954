import { describe, expect, it } from 'vitest';
import { type Answer, chat as plainChat, tenancyClient } from '../../support/tenancy-client.ts';

const CHAT = '/v1/chat/completions';
const chat = (members: object = {}) => ({ ...plainChat('demo'), ...members });

const missing = (path: string) => ({
  status: 400,
  body: {
    error: {
      message: `BadRequest please pass param=${path} in request body. This is a required param`,
      type: 'invalid_request_error',
      param: null,
      code: '400',
    },
  },
});

describe('general_settings.enforce_user_param', () => {
  const client = tenancyClient({ config: { general_settings: { enforce_user_param: true } } });
  const post = (members: object, headers: Readonly<Record<string, string>> = {}) =>
    client.app().call('POST', CHAT, chat(members), headers);

  it('400: calls without an end user, with the admin key and with a virtual key', async () => {
    expect(await client.post(CHAT, chat())).toEqual(missing('user'));
    expect(await client.post(CHAT, chat({ user: '' }))).toEqual(missing('user'));
    expect(await client.post(CHAT, chat(), await client.key({}))).toEqual(missing('user'));
  });

  it('200: the end user in the body or in a header', async () => {
    expect((await post({ user: 'ada' })).status).toBe(200);
    expect((await post({ metadata: { user_id: 'ada' } })).status).toBe(200);
    expect((await post({}, { 'x-litellm-customer-id': 'ada' })).status).toBe(200);
  });

  it('200: management routes and lists of models need no end user', async () => {
    expect((await client.get('/v1/models')).status).toBe(200);
    expect((await client.post('/key/generate', {})).status).toBe(200);
  });
});

describe('members that the configuration or a key requires', () => {
  const client = tenancyClient({
    config: {
      general_settings: {
        enforced_params: ['metadata.job'],
        service_account_settings: { enforced_params: ['user'] },
      },
    },
  });
  const ask = (key: string, members: object): Promise<Answer> => client.post(CHAT, chat(members), key);
  const serviceAccountKey = async (): Promise<string> => {
    await client.post('/team/new', { team_id: 'service' });
    const { body } = await client.post('/key/service-account/generate', { team_id: 'service' });
    return String(body['key']);
  };

  it('400: a call without a required member', async () => {
    expect(await ask(await client.key({}), { metadata: {} })).toEqual(missing('metadata.job'));
    expect((await ask(await client.key({}), { metadata: { job: 'j' } })).status).toBe(200);
  });

  it('400: a call of a service account without a member that is required of service accounts', async () => {
    const key = await serviceAccountKey();
    expect(await ask(key, { metadata: { job: 'j' } })).toEqual(missing('user'));
    expect((await ask(key, { metadata: { job: 'j' }, user: 'u' })).status).toBe(200);
  });

  it('400: a call without a member that its key requires', async () => {
    const key = await client.key({ enforced_params: ['user'] });
    expect(await ask(key, { metadata: { job: 'j' } })).toEqual(missing('user'));
  });

  it('a stored enforce_user_param applies to the next call', async () => {
    const key = await client.key({});
    const store = (value: boolean) =>
      client.post('/config/update', { general_settings: { enforce_user_param: value } });
    expect((await store(true)).status).toBe(200);
    expect(await ask(key, { metadata: { job: 'j' } })).toEqual(missing('user'));
    expect((await store(false)).status).toBe(200);
    expect((await ask(key, { metadata: { job: 'j' } })).status).toBe(200);
  });
});
