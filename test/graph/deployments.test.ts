import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../support/fault-server.ts';
import { startApp, type TestApp } from '../support/start-app.ts';
import { DeploymentsDocument, RollUpDocument } from './generated/graphql.ts';

const CREDENTIAL = 'sk-upstream-credential-0123456789';

let upstream: FaultServer;
let app: TestApp;

beforeAll(async () => {
  upstream = await startFaultServer();
  const { host } = new URL(upstream.url);
  const params = { api_base: `http://user:${CREDENTIAL}@${host}/v1`, api_key: CREDENTIAL };
  app = await startApp({
    config: {
      general_settings: { demo_model: false },
      model_list: [
        { model_name: 'assistant', litellm_params: { ...params, model: 'openai/gpt-4o' }, model_info: { id: 'first' } },
        { model_name: 'assistant', litellm_params: { ...params, model: 'openai/gpt-4o-mini' } },
        { model_name: 'other', litellm_params: { model: 'mistral/nobody-prices-this', api_key: CREDENTIAL } },
      ],
    },
  });
});

afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

async function graph(query: { toString(): string }, variables: object = {}, key = app.adminKey): Promise<unknown> {
  const headers = { authorization: `Bearer ${key}` };
  const answer = await app.call('POST', '/graphql', { query: query.toString(), variables }, headers);
  const text = await answer.text();
  expect(text).not.toContain(CREDENTIAL);
  return (JSON.parse(text) as { data: unknown }).data;
}

async function newKey(draft: object): Promise<string> {
  const response = await app.call('POST', '/key/generate', draft);
  return ((await response.json()) as { key: string }).key;
}

/** Calls the model once. The upstream answers with `status`. */
async function call(status: number): Promise<void> {
  upstream.answer((response) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(status === 200 ? '{"id":"c","choices":[]}' : '{"error":{"message":"no"}}');
  });
  const chatBody = { model: 'assistant', messages: [{ role: 'user', content: 'Hello' }] };
  const answer = await app.call('POST', '/v1/chat/completions', chatBody);
  await answer.arrayBuffer();
  expect(answer.status).toBe(status);
}

/** Generated ids, which depend on the configuration of the deployment. */
const SECOND_ID = expect.stringMatching(/^assistant#[0-9a-f]{12}$/);
const OTHER_ID = expect.stringMatching(/^other#[0-9a-f]{12}$/);

const UNTRIED = {
  state: 'UNKNOWN',
  calls: 0,
  failures: 0,
  inFlight: 0,
  latencyMs: null,
  lastSuccessAt: null,
  lastFailure: null,
};

describe('deployments', () => {
  it('have their health, and show no credentials', async () => {
    // The deployments alternate: the first one gets 200, 400 and 500. A 400 is not counted, because it is no sign of
    // health. A deployment is FAILING if at least half of its calls failed, and DEGRADED if at least a tenth failed.
    for (const status of [200, 503, 400, 200, 500, 200]) await call(status);
    expect(await graph(DeploymentsDocument)).toEqual({
      deployments: [
        {
          deploymentId: 'first',
          model: 'assistant',
          provider: 'openai',
          upstreamModel: 'gpt-4o',
          apiBase: `${upstream.url}/v1`,
          catalogEntry: { entryId: 'gpt-4o' },
          health: {
            state: 'FAILING',
            calls: 2,
            failures: 1,
            inFlight: 0,
            latencyMs: expect.any(Number),
            lastSuccessAt: expect.any(String),
            lastFailure: { at: expect.any(String), code: '500' },
          },
        },
        {
          deploymentId: SECOND_ID,
          model: 'assistant',
          provider: 'openai',
          upstreamModel: 'gpt-4o-mini',
          apiBase: `${upstream.url}/v1`,
          catalogEntry: { entryId: 'gpt-4o-mini' },
          health: {
            state: 'DEGRADED',
            calls: 3,
            failures: 1,
            inFlight: 0,
            latencyMs: expect.any(Number),
            lastSuccessAt: expect.any(String),
            lastFailure: { at: expect.any(String), code: '503' },
          },
        },
        {
          deploymentId: OTHER_ID,
          model: 'other',
          provider: 'mistral',
          upstreamModel: 'nobody-prices-this',
          apiBase: null,
          catalogEntry: null,
          health: UNTRIED,
        },
      ],
    });
  });

  it('are summed up by provider and by model', async () => {
    const base = `${upstream.url}/v1`;
    expect(await graph(RollUpDocument)).toMatchObject({
      providers: [
        {
          name: 'openai',
          health: { state: 'DEGRADED', calls: 5, failures: 2 },
          deployments: [{ deploymentId: 'first' }, { deploymentId: SECOND_ID }],
        },
        {
          name: 'mistral',
          health: { state: 'UNKNOWN', calls: 0, failures: 0 },
          deployments: [{ deploymentId: OTHER_ID }],
        },
      ],
      callableModels: [
        {
          name: 'assistant',
          catalogEntry: { entryId: 'gpt-4o' },
          health: { state: 'DEGRADED' },
          deployments: [
            { deploymentId: 'first', apiBase: base },
            { deploymentId: SECOND_ID, apiBase: base },
          ],
        },
        { name: 'other', catalogEntry: null, health: { state: 'UNKNOWN' }, deployments: [{ deploymentId: OTHER_ID }] },
      ],
    });
  });

  it('are shown to a key that may call them, without their addresses', async () => {
    const key = await newKey({ models: ['other'] });
    expect(await graph(DeploymentsDocument, {}, key)).toMatchObject({
      deployments: [{ deploymentId: OTHER_ID, apiBase: null }],
    });
    expect(await graph(RollUpDocument, {}, key)).toMatchObject({
      providers: [{ name: 'mistral', deployments: [{ deploymentId: OTHER_ID }] }],
      callableModels: [{ name: 'other', deployments: [{ deploymentId: OTHER_ID, apiBase: null }] }],
    });
    expect(await graph(DeploymentsDocument, { filter: { model: 'assistant' } }, key)).toEqual({ deployments: [] });
    const keyForAllModels = await newKey({ key_alias: 'all' });
    expect(await graph(RollUpDocument, {}, keyForAllModels)).toMatchObject({
      callableModels: [
        { name: 'assistant', deployments: [{ apiBase: null }, { apiBase: null }] },
        { name: 'other', deployments: [{ apiBase: null }] },
      ],
    });
  });

  it('are filtered by the public name of their model', async () => {
    const { deployments } = (await graph(DeploymentsDocument, { filter: { model: 'assistant' } })) as {
      deployments: object[];
    };
    expect(deployments).toHaveLength(2);
  });

  it('require a key', async () => {
    const answer = await app.call(
      'POST',
      '/graphql',
      { query: '{ deployments { deploymentId } }' },
      { authorization: '' },
    );
    expect(await answer.json()).toMatchObject({ errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] });
  });
});
