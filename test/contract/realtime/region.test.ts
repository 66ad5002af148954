import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRealtime, refusalOf } from '../../support/realtime-client.ts';
import { type RealtimeUpstream, startRealtimeUpstream } from '../../support/realtime-upstream.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';

let app: TestApp;
let upstream: RealtimeUpstream;

beforeAll(async () => {
  upstream = await startRealtimeUpstream();
  const params = { model: 'openai/gpt-realtime', api_base: `${upstream.url}/v1`, api_key: 'k' };
  app = await startApp({
    config: {
      model_list: [
        { model_name: 'voice', litellm_params: params },
        { model_name: 'eu-voice', litellm_params: { ...params, region_name: 'eu-west-1' } },
      ],
    },
  });
});

afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

async function newKey(draft: object): Promise<string> {
  const response = await app.call('POST', '/key/generate', draft);
  return ((await response.json()) as { key: string }).key;
}

describe('a session for a customer whose calls may not leave a region', () => {
  const forCustomer = (user: string) => ({ authorization: `Bearer ${app.adminKey}`, 'x-litellm-customer-id': user });

  it('realtime.connect 403: no deployment of the model is in the region', async () => {
    const customer = { user_id: 'european', allowed_model_region: 'eu' };
    expect((await app.call('POST', '/customer/new', customer)).status).toBe(200);
    const refused = await refusalOf(app, { headers: forCustomer('european') });
    expect([refused.status, refused.body]).toEqual([
      403,
      {
        error: {
          message: "No deployment of the model voice is in the region eu, which the customer's calls may not leave.",
          type: 'auth_error',
          param: 'None',
          code: '403',
        },
      },
    ]);
  });

  it('realtime.connect 101: a deployment in the region, also of the default model of the customer', async () => {
    const customer = { user_id: 'default', allowed_model_region: 'eu', default_model: 'eu-voice' };
    expect((await app.call('POST', '/customer/new', customer)).status).toBe(200);
    for (const [user, model] of [
      ['european', 'eu-voice'],
      ['default', 'voice'],
    ] as const) {
      const path = `/v1/realtime?model=${model}`;
      const client = await openRealtime(app, { path, headers: forCustomer(user) });
      const session = await upstream.session();
      expect(client.headers['x-litellm-model-group']).toBe('eu-voice');
      client.socket.close();
      await session.closed;
    }
    const authorization = `Bearer ${await newKey({ models: ['voice'] })}`;
    const refused = await refusalOf(app, { headers: { ...forCustomer('default'), authorization } });
    expect(refused).toMatchObject({ status: 403, body: { error: { type: 'key_model_access_denied' } } });
  });
});
