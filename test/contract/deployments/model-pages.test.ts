import { beforeAll, describe, expect, it } from 'vitest';
import { type Json, tenancyClient } from '../../support/tenancy-client.ts';

const { get, post, key, user } = tenancyClient({
  env: { STORE_MODEL_IN_DB: 'True' },
  config: {
    general_settings: { demo_model: false },
    model_list: [{ model_name: 'filed', litellm_params: { model: 'demo' }, model_info: { id: 'filed-1' } }],
  },
});

beforeAll(async () => {
  const createModel = (name: string, params: object, info: object) =>
    post('/model/new', { model_name: name, litellm_params: { model: 'demo', ...params }, model_info: info });
  await createModel(
    'alpha',
    { input_cost_per_token: 2, rpm: 5, api_key: 'sk-hidden-1' },
    { id: 'a', access_groups: ['beta'] },
  );
  await createModel('Beta-1', { input_cost_per_token: 1, output_cost_per_token: 3 }, { id: 'b' });
  await createModel('alpha', { rpm: 7 }, { id: 'c' });
});

const pageOf = async (query: string) => {
  const { status, body } = await get(`/v2/model/info${query}`);
  const data = body['data'] as readonly { readonly model_info: Json }[];
  return { status, ids: data.map(({ model_info: info }) => info['id']), total: body['total_count'] };
};

describe('pages of models', () => {
  it('models.page 200: details of stored models, without secrets', async () => {
    const { status, body } = await get('/v2/model/info?modelId=a');
    expect({ status, ...body, data: null }).toEqual({
      status: 200,
      data: null,
      total_count: 1,
      current_page: 1,
      total_pages: 1,
      size: 50,
    });
    expect(body['data']).toMatchObject([
      {
        model_name: 'alpha',
        litellm_params: { model: 'demo', rpm: 5, input_cost_per_token: 2 },
        model_info: {
          id: 'a',
          db_model: true,
          blocked: false,
          access_groups: ['beta'],
          input_cost_per_token: 2,
          pricing_overrides: ['input_cost_per_token'],
          created_by: 'default_user_id',
        },
      },
    ]);
    expect(JSON.stringify(body)).not.toContain('sk-hidden');
  });

  it('models.page 200: one page, and the count of all models', async () => {
    expect(await pageOf('')).toEqual({ status: 200, ids: ['filed-1', 'a', 'b', 'c'], total: 4 });
    expect(await pageOf('?page=2&size=3')).toEqual({ status: 200, ids: ['c'], total: 4 });
    expect(await pageOf('?page=9')).toEqual({ status: 200, ids: [], total: 4 });
    expect(await pageOf('?model=nope')).toEqual({ status: 200, ids: [], total: 0 });
  });

  it.each([
    ['model=alpha', ['a', 'c']],
    ['search=BETA', ['b']],
    ['access_group=beta', ['a']],
    ['wildcard_only=true', []],
    // Models that the caller's user created. A caller with the admin key has no user id, so no model matches.
    ['user_models_only=true', []],
    ['sortBy=model_name', ['a', 'c', 'b', 'filed-1']],
    ['sortBy=model_name&sortOrder=desc', ['filed-1', 'b', 'a', 'c']],
    // The cost is the sum of the prices: 2 for `a`, 1 + 3 for `b`.
    // `filed-1` and `c` have no price, and are last in both orders.
    ['sortBy=costs', ['a', 'b', 'filed-1', 'c']],
    ['sortBy=costs&sortOrder=desc', ['b', 'a', 'filed-1', 'c']],
    ['sortBy=created_at&sortOrder=desc', ['c', 'b', 'a', 'filed-1']],
    // An unknown field does not change the order.
    ['sortBy=other', ['filed-1', 'a', 'b', 'c']],
  ])('models.page 200: models and order of the query %s', async (query, ids) => {
    expect((await pageOf(`?${query}`)).ids).toEqual(ids);
  });

  it('models.page 200: only models that the key may call', async () => {
    const { body } = await get('/v2/model/info', await key({ models: ['Beta-1'] }));
    expect(body).toMatchObject({ total_count: 1, data: [{ model_name: 'Beta-1' }] });
  });

  it('models.page 400: an invalid order; 401: no key; 422: an invalid page or size', async () => {
    expect(await get('/v2/model/info?sortBy=costs&sortOrder=up')).toEqual({
      status: 400,
      body: { detail: "Invalid sortOrder: up. Must be 'asc' or 'desc'." },
    });
    expect((await get('/v2/model/info', '')).status).toBe(401);
    expect((await get('/v2/model/info?page=0')).status).toBe(422);
    expect((await get('/v2/model/info?size=x', await user({}))).status).toBe(422);
  });

  it('models.groups 200: limits of a group are the sums over its deployments', async () => {
    const { body } = await get('/model_group/info?model_group=alpha');
    expect(body['data']).toMatchObject([{ model_group: 'alpha', rpm: 12, tpm: null }]);
  });
});
