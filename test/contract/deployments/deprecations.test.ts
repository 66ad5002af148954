import { expect, it } from 'vitest';
import { NO_KEY, tenancyClient } from '../../support/tenancy-client.ts';

const model = (name: string, upstream: string) => ({
  model_name: name,
  litellm_params: { model: upstream, api_base: 'http://127.0.0.1:1/v1', api_key: 'k' },
  model_info: { id: `${name}-1` },
});
const { get, key } = tenancyClient({
  config: {
    general_settings: { demo_model: false },
    // The built-in catalog has a deprecation date for the upstream model of `old`, and does not contain the other one.
    model_list: [model('old', 'openai/gpt-4-0613'), model('new', 'openai/not-in-catalog')],
  },
});

const INSTANT = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as unknown;

it('models.deprecations 200: lists the models of the key whose deprecation date in the catalog has passed', async () => {
  const row = {
    model_group: 'old',
    model: 'openai/gpt-4-0613',
    model_id: 'old-1',
    deprecation_date: expect.stringMatching(/^2\d{3}-\d\d-\d\d$/) as unknown,
    days_until_deprecation: expect.any(Number) as unknown,
  };
  for (const [path, days] of [
    ['/v1/model/deprecations', 30],
    ['/model/deprecations?warn_within_days=3650', 3650],
  ] as const)
    expect(await get(path)).toEqual({
      status: 200,
      body: { deprecated: [row], imminent: [], upcoming: [], warn_within_days: days, checked_at: INSTANT },
    });
  expect(await get('/model/deprecations', await key({ models: ['new'] }))).toEqual({
    status: 200,
    body: { deprecated: [], imminent: [], upcoming: [], warn_within_days: 30, checked_at: INSTANT },
  });
});

it('models.deprecations 401: no key; 422: a negative number of days', async () => {
  expect(await get('/model/deprecations', '')).toEqual(NO_KEY);
  expect((await get('/model/deprecations?warn_within_days=-1')).status).toBe(422);
});
