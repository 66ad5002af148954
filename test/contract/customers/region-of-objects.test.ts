import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { answerOf, formOf, lineFor, refusal, send, serveFiles } from '../files/file-client.ts';

let app: TestApp;
let upstream: FaultServer;

beforeAll(async () => {
  upstream = await startFaultServer();
  const deployment = (name: string, region_name: string) => ({
    model_name: name,
    litellm_params: { model: 'openai/up', api_base: `${upstream.url}/v1`, api_key: `k-${name}`, region_name },
  });
  app = await startApp({
    config: {
      general_settings: { proxy_batch_polling_interval: 0 },
      model_list: [deployment('american', 'us'), deployment('european', 'eu')],
    },
  });
  const bound = { allowed_model_region: 'eu' };
  await app.call('POST', '/customer/new', { user_id: 'strict', ...bound });
  await app.call('POST', '/customer/new', { user_id: 'with-default', ...bound, default_model: 'european' });
});
beforeEach(() => serveFiles(upstream));
afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

const STRICT = { 'x-litellm-customer-id': 'strict' };
const WITH_DEFAULT = { 'x-litellm-customer-id': 'with-default' };
const REFUSED = refusal(
  403,
  "No deployment of the model american is in the region eu, which the customer's calls may not leave.",
  { type: 'auth_error', param: 'None' },
);
const account = (): string | undefined => upstream.received.at(-1)?.headers.authorization;

const upload = (fields: Record<string, string>, headers: Record<string, string>, content = 'hello') =>
  send(app, 'POST', '/v1/files', { headers, body: formOf(fields, content) });
const startBatch = (fileId: string, headers: Record<string, string>) =>
  send(app, 'POST', '/v1/batches', {
    headers,
    body: JSON.stringify({ input_file_id: fileId, endpoint: '/v1/chat/completions', completion_window: '24h' }),
  });

describe('a customer with allowed_model_region', () => {
  it('files: are stored in the region', async () => {
    expect((await upload({ purpose: 'user_data' }, {})).status).toBe(200);
    expect(account()).toBe('Bearer k-american');
    expect((await upload({ purpose: 'user_data' }, STRICT)).status).toBe(200);
    expect(account()).toBe('Bearer k-european');
    const sentBefore = upstream.received.length;
    expect(await answerOf(await upload({ purpose: 'user_data', model: 'american' }, STRICT))).toEqual(REFUSED);
    expect(await answerOf(await upload({ purpose: 'batch' }, STRICT, lineFor('american')))).toEqual(REFUSED);
    expect(upstream.received.length).toBe(sentBefore);
  });

  it('files: the default model replaces one without a deployment in the region', async () => {
    expect((await upload({ purpose: 'user_data', model: 'american' }, WITH_DEFAULT)).status).toBe(200);
    expect(account()).toBe('Bearer k-european');
  });

  it('batches: do not start over a file outside of the region', async () => {
    const [, outside] = await answerOf(await upload({ purpose: 'batch' }, {}, lineFor('american')));
    const { id } = outside as { readonly id: string };
    const sentBefore = upstream.received.length;
    expect(await answerOf(await startBatch(id, STRICT))).toEqual(REFUSED);
    expect(upstream.received.length).toBe(sentBefore);
    expect((await startBatch(id, {})).status).toBe(200);
    const [, inside] = await answerOf(await upload({ purpose: 'batch' }, STRICT, lineFor('european')));
    expect((await startBatch((inside as { readonly id: string }).id, STRICT)).status).toBe(200);
  });

  it('videos: are made in the region', async () => {
    upstream.answer((response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ id: 'video_1', object: 'video', status: 'queued', seconds: '4' }));
    });
    const create = (model: string, headers: Record<string, string>) =>
      send(app, 'POST', '/v1/videos', { headers, body: JSON.stringify({ model, prompt: 'p' }) });
    expect(await answerOf(await create('american', STRICT))).toEqual(REFUSED);
    expect((await create('european', STRICT)).status).toBe(200);
    const [status, video] = await answerOf(await create('american', {}));
    expect(status).toBe(200);
    const remix = `/v1/videos/${(video as { readonly id: string }).id}/remix`;
    expect(await answerOf(await send(app, 'POST', remix, { headers: STRICT, body: '{"prompt":"q"}' }))).toEqual(
      REFUSED,
    );
  });
});
