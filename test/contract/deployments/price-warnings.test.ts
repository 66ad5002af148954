import { expect, it } from 'vitest';
import { tenancyClient } from '../../support/tenancy-client.ts';

/** Address of an upstream that accepts no connection. */
const CLOSED = 'http://127.0.0.1:9/v1';

const priced = (id: string, prices: object, info: object = {}) => ({
  model_name: id,
  litellm_params: { model: 'openai/not-in-catalog', api_key: 'sk-x', api_base: CLOSED, ...prices },
  model_info: { id, ...info },
});
const INPUT_ONLY = { input_cost_per_token: 0.001 };

const { get, post, key, app } = tenancyClient({
  env: { STORE_MODEL_IN_DB: 'True', LITELLM_SALT_KEY: 'a-salt-key' },
  config: {
    model_list: [
      priced('filed', INPUT_ONLY),
      priced('free-output', { ...INPUT_ONLY, output_cost_per_token: 0 }),
      priced('vectors', INPUT_ONLY, { mode: 'embedding' }),
      // The catalog has the output price of `gpt-4o`.
      {
        model_name: 'known',
        litellm_params: { model: 'openai/gpt-4o', api_key: 'sk-x', api_base: CLOSED, ...INPUT_ONLY },
      },
    ],
    // With background checks, /health sends no probe. The long interval leaves only the round at the start.
    general_settings: { background_health_checks: true, health_check_interval: 86_400 },
  },
});

const WARNING = 'Input has a price and output has none: output is free. Set output_cost_per_token, 0 for free output.';

it('an input price without an output price gives administrators a warning in the graph and in /health', async () => {
  expect((await post('/model/new', priced('stored', INPUT_ONLY))).status).toBe(200);
  const query = '{ deployments { model warning } }';
  const rows = [
    { model: 'filed', warning: WARNING },
    { model: 'free-output', warning: null },
    { model: 'vectors', warning: null },
    { model: 'known', warning: null },
    { model: 'demo', warning: null },
    { model: 'stored', warning: WARNING },
  ];
  expect((await post('/graphql', { query })).body).toEqual({ data: { deployments: rows } });
  const userAnswer = (await post('/graphql', { query }, await key({}))).body;
  expect(userAnswer).toEqual({ data: { deployments: rows.map(({ model }) => ({ model, warning: null })) } });

  const { status, body } = await get('/health');
  expect(status).toBe(200);
  const endpoints = ['healthy_endpoints', 'unhealthy_endpoints', 'unchecked_endpoints'].flatMap(
    (list) => (body[list] ?? []) as readonly { readonly model_group: string; readonly warning?: string }[],
  );
  expect(
    endpoints
      .filter(({ warning }) => warning !== undefined)
      .map((endpoint) => [endpoint.model_group, endpoint.warning]),
  ).toEqual([
    ['filed', WARNING],
    ['stored', WARNING],
  ]);
});

it('answers to changes of models have the warning in a header, not in the body', async () => {
  const sendModel = async (path: string, draft: object) => {
    const answer = await app().call('POST', path, draft);
    const body = (await answer.json()) as object;
    return [answer.status, answer.headers.get('x-lensgate-warning'), Object.keys(body).includes('warning')];
  };
  expect(await sendModel('/model/new', priced('half-priced', INPUT_ONLY))).toEqual([200, WARNING, false]);
  const free = { model_info: { id: 'half-priced' }, litellm_params: { output_cost_per_token: 0 } };
  expect(await sendModel('/model/update', free)).toEqual([200, null, false]);
  expect(await sendModel('/model/new', priced('free-output-2', { ...INPUT_ONLY, output_cost_per_token: 0 }))).toEqual([
    200,
    null,
    false,
  ]);
});
