import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { answerOf, echoRequests, newKey, sendAs } from './targets.ts';

let app: TestApp;
let target: FaultServer;
let key: string;

beforeAll(async () => {
  target = await startFaultServer();
  app = await startApp({
    config: {
      litellm_settings: { block_requests_for_models_without_pricing: true },
      general_settings: {
        pass_through_endpoints: [
          { path: '/plain', target: `${target.url}/plain` },
          { path: '/fixed', target: `${target.url}/fixed`, cost_per_request: 0.01 },
        ],
      },
    },
    env: { OPENAI_API_BASE: target.url, OPENAI_API_KEY: 'k' },
  });
  key = await newKey(app, { allowed_passthrough_routes: ['/plain', '/fixed'] });
});
beforeEach(() => echoRequests(target));
afterAll(async () => {
  await app.stop();
  await target.stop();
});

const post = async (path: string, body: object) =>
  await answerOf(
    await sendAs(app, key, {
      method: 'POST',
      path,
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    }),
  );
const refusal = (model: string) => [
  403,
  {
    error: {
      message: `The model ${model} has no price. Calls of models without a price are blocked.`,
      type: 'permission_error',
      param: null,
      code: '403',
    },
  },
];

describe('models without a price on pass-through paths', () => {
  it('403: an endpoint without a cost, for a model without a price in the catalog; the call is not sent', async () => {
    const before = target.received.length;
    expect(await post('/plain', { model: 'no-such-model' })).toEqual(refusal('no-such-model'));
    expect(target.received.length).toBe(before);
  });

  it('200: a model with a price in the catalog, an endpoint with a cost, and a request without a model', async () => {
    expect((await post('/plain', { model: 'gpt-4o' }))[0]).toBe(200);
    expect((await post('/fixed', { model: 'no-such-model' }))[0]).toBe(200);
    expect((await post('/plain', { text: 'x' }))[0]).toBe(200);
  });

  it("403: a model without a price at a provider's own API; reads are allowed", async () => {
    expect(await post('/openai/v1/chat/completions', { model: 'no-such-model', messages: [] })).toEqual(
      refusal('no-such-model'),
    );
    expect((await sendAs(app, key, { path: '/openai/v1/models' })).status).toBe(200);
  });
});
