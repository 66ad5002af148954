import { describe, expect, it } from 'vitest';
import { Secret } from '../../../src/domain/secret.ts';
import { openStores } from '../../../src/persistence/database/orm.ts';
import { createSealedSettings } from '../../../src/runtime/stored-settings/sealed-settings.ts';
import { type Answer, chat, type Json, NO_KEY, tenancyClient } from '../../support/tenancy-client.ts';
import { SETTING_GROUP_CASES } from './setting-group-cases.ts';

const client = tenancyClient({
  config: {
    model_list: [
      {
        model_name: 'priced',
        litellm_params: { model: 'demo', input_cost_per_token: 0.001, output_cost_per_token: 0.002 },
      },
    ],
    litellm_settings: { mcp_tool_search: { enabled: true } },
  },
});
/** App that does not store settings. */
const unstored = tenancyClient({ env: { STORE_MODEL_IN_DB: 'False' } });
const viewer = () => client.user({ user_role: 'proxy_admin_viewer' });

const READ_ONLY = {
  status: 403,
  body: {
    error: {
      message: 'user not allowed to access this route, role= proxy_admin_viewer.',
      type: 'auth_error',
      param: 'None',
      code: '403',
    },
  },
};
const NOT_AN_OBJECT = {
  status: 422,
  body: {
    detail: [
      {
        type: 'model_attributes_type',
        loc: ['body'],
        msg: 'Input should be a valid dictionary or object to extract fields from',
      },
    ],
  },
};

/** Stored values of a section, with decrypted secrets. */
async function storedSection(section: string): Promise<Json | undefined> {
  const { dataDir, adminKey } = client.app();
  const stores = await openStores({ databaseUrl: null, dataDir, log: { warn() {} } });
  try {
    const secrets = { current: new Secret(adminKey), former: [] };
    return (await createSealedSettings(stores.settings, secrets).find(section))?.content;
  } finally {
    await stores.close();
  }
}

/** Answer without members that the tests do not compare. */
const withoutSchema = ({ status, body }: Answer): object => {
  const { field_schema: _schema, fields: _fields, redis_type_descriptions: _kinds, ...rest } = body;
  return { status, body: rest };
};

describe.each(SETTING_GROUP_CASES)(
  'settings.get$row and settings.update$row',
  ({ read, write: [method, path], ...group }) => {
    const { row, requestBody, writeAnswer, readAnswer } = group;
    const write = (body: unknown, key?: string) => client.send(method, path, body, key);

    it(`settings.update${row} 200 and settings.get${row} 200: a read has the written values`, async () => {
      expect(await write(requestBody)).toEqual({ status: 200, body: writeAnswer });
      expect(withoutSchema(await client.get(read, await viewer()))).toMatchObject({ status: 200, body: readAnswer });
      expect(withoutSchema(await client.get(read))).toEqual({ status: 200, body: readAnswer });
    });

    it(`settings.get${row} 401 and settings.update${row} 401: without a key`, async () => {
      expect(await client.get(read, '')).toEqual(NO_KEY);
      expect(await write(requestBody, '')).toEqual(NO_KEY);
    });

    it(`settings.update${row} 403: with the key of a read-only administrator`, async () => {
      expect(await write(requestBody, await viewer())).toEqual(READ_ONLY);
    });

    it(`settings.update${row} 422: a body that is not an object`, async () => {
      expect(await write([])).toEqual(NOT_AN_OBJECT);
    });

    it(`settings.update${row} 400: while settings are not stored`, async () => {
      expect(await unstored.send(method, path, requestBody)).toEqual({
        status: 400,
        body: { detail: { error: "Set `'STORE_MODEL_IN_DB='True'` in your env to enable this feature." } },
      });
    });
  },
);

describe('values of settings', () => {
  it('an invalid role and an invalid number are refused with their locations', async () => {
    expect(
      await client.send('PATCH', '/update/internal_user_settings', { user_role: 'king', max_budget: 'abc' }),
    ).toEqual({
      status: 422,
      body: {
        detail: [
          {
            type: 'literal_error',
            loc: ['body', 'user_role'],
            msg: "Input should be one of 'proxy_admin', 'proxy_admin_viewer', 'internal_user', 'internal_user_viewer'",
          },
          { type: 'float_parsing', loc: ['body', 'max_budget'], msg: 'Input should be a valid number' },
        ],
      },
    });
  });

  it('a redacted secret that is sent back does not remove the stored one', async () => {
    await client.send('PATCH', '/update/sso_settings', { microsoft_client_secret: 'very-secret-text' });
    await client.send('PATCH', '/update/sso_settings', { microsoft_client_secret: 'REDACTED', microsoft_tenant: 't' });
    const { body } = await client.get('/get/sso_settings');
    expect(body['values']).toMatchObject({ microsoft_client_secret: 'REDACTED', microsoft_tenant: 't' });
    expect(await storedSection('sso_settings')).toMatchObject({
      microsoft_client_secret: 'very-secret-text',
      microsoft_tenant: 't',
    });
  });

  it('a discount above the price and an invalid margin are refused', async () => {
    expect(await client.send('PATCH', '/config/cost_discount_config', { openai: 5 })).toEqual({
      status: 400,
      body: { detail: 'Discount for openai must be between 0 and 1 (0% to 100%)' },
    });
    expect((await client.send('PATCH', '/config/cost_margin_config', { openai: -1 })).status).toBe(400);
  });

  it('concurrent changes of different settings of a group, and of groups of one section, are all stored', async () => {
    const texts = {
      google_client_id: 'a',
      microsoft_client_id: 'b',
      generic_client_id: 'c',
      generic_authorization_endpoint: 'https://d.example',
      generic_token_endpoint: 'https://e.example',
      generic_userinfo_endpoint: 'https://f.example',
      generic_scope: 'g',
      saml_sp_entity_id: 'h',
      user_email: 'i@example.com',
      proxy_base_url: 'https://j.example',
    };
    const limits = { max_budget: 7, tpm_limit: 70, rpm_limit: 7, budget_duration: '7d' };
    const single = (path: string, values: object) =>
      Object.entries(values).map(([name, value]) => client.send('PATCH', path, { [name]: value as unknown }));
    const answers = await Promise.all([
      ...single('/update/sso_settings', texts),
      ...single('/update/default_team_settings', limits),
      client.send('PATCH', '/config/cost_discount_config', { openai: 0.25 }),
      client.send('PATCH', '/config/cost_margin_config', { openai: 0.125 }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect((await client.get('/get/sso_settings')).body['values']).toMatchObject(texts);
    expect((await client.get('/get/default_team_settings')).body['values']).toMatchObject(limits);
    expect((await client.get('/config/cost_discount_config')).body['values']).toEqual({ openai: 0.25 });
    expect((await client.get('/config/cost_margin_config')).body['values']).toEqual({ openai: 0.125 });
  });

  it('a write to a setting of the configuration file is refused', async () => {
    const { status, body } = await client.send('PATCH', '/update/mcp_tool_search_settings', { enabled: false });
    expect(status).toBe(400);
    expect(body['detail']).toMatchObject({ keys: ['mcp_tool_search'], section: 'litellm_settings' });
  });

  it('a new user or team has each stored value that its request does not set', async () => {
    await client.send('PATCH', '/update/internal_user_settings', {
      max_budget: 3,
      budget_duration: '30d',
      user_role: 'internal_user',
    });
    await client.send('PATCH', '/update/default_team_settings', { max_budget: 9, tpm_limit: 100 });
    expect((await client.post('/user/new', {})).body).toMatchObject({
      max_budget: 3,
      budget_duration: '30d',
      user_role: 'internal_user',
    });
    expect((await client.post('/user/new', { max_budget: 1 })).body).toMatchObject({ max_budget: 1 });
    expect((await client.post('/team/new', {})).body).toMatchObject({ max_budget: 9, tpm_limit: 100 });
    expect((await client.post('/team/new', { tpm_limit: 5 })).body).toMatchObject({ max_budget: 9, tpm_limit: 5 });
  });

  it.each([
    [0, false],
    [1, true],
    ['yes', true],
    ['off', false],
  ])('a flag that is sent as %j is stored as %j', async (sentFlag, enabled) => {
    const path = '/config/block_requests_for_models_without_pricing';
    expect(await client.send('PATCH', path, { enabled: sentFlag })).toMatchObject({ status: 200, body: { enabled } });
    expect((await client.get(path)).body).toEqual({ enabled });
    await client.send('PATCH', path, { enabled: false });
  });

  it('discount and margin change the cost of a call and of an estimate', async () => {
    const cost = async (): Promise<number> => {
      const answer = await client.app().call('POST', '/v1/chat/completions', chat('priced'));
      expect(answer.status).toBe(200);
      await answer.text();
      return Number(answer.headers.get('x-litellm-response-cost'));
    };
    const estimate = async () =>
      (await client.post('/cost/estimate', { model: 'gpt-4o', input_tokens: 1_000, output_tokens: 100 })).body;
    const listPrice = await cost();
    expect(listPrice).toBeGreaterThan(0);
    await client.send('PATCH', '/config/cost_discount_config', { openai: 0.5 });
    await client.send('PATCH', '/config/cost_margin_config', { openai: { percentage: 1, fixed_amount: 0.25 } });
    // The price is 0.0035 USD. The discounted price is 0.00175 USD. The margin is 100 percent of it, and 0.25 USD.
    expect(await estimate()).toMatchObject({ cost_per_request: 0.2535, margin_cost_per_request: 0.25175 });
    await client.send('PATCH', '/config/cost_margin_config', {});
    expect(await estimate()).toMatchObject({ cost_per_request: 0.00175, margin_cost_per_request: 0 });
    await client.send('PATCH', '/config/cost_discount_config', { demo: 0.5 });
    expect(await cost()).toBeCloseTo(listPrice / 2, 9);
    // The margin of 100 percent cancels the discount of 50 percent. The fixed amount remains.
    await client.send('PATCH', '/config/cost_margin_config', { global: { percentage: 1, fixed_amount: 0.25 } });
    expect(await cost()).toBeCloseTo(listPrice + 0.25, 9);
    await client.send('PATCH', '/config/cost_discount_config', {});
    await client.send('PATCH', '/config/cost_margin_config', {});
    expect(await cost()).toBe(listPrice);
  });
});
