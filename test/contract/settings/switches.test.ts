import { afterEach, describe, expect, it } from 'vitest';
import { chat, envelope, tenancyClient } from '../../support/tenancy-client.ts';

const MODELS = {
  model_list: [
    { model_name: 'unpriced', litellm_params: { model: 'demo' } },
    {
      model_name: 'free',
      litellm_params: { model: 'demo', input_cost_per_token: 0, output_cost_per_token: 0 },
      model_info: { id: 'free-1' },
    },
    { model_name: 'mixed', litellm_params: { model: 'demo' }, model_info: { id: 'mixed-unpriced' } },
    {
      model_name: 'mixed',
      litellm_params: { model: 'demo', input_cost_per_token: 0.001, output_cost_per_token: 0.001 },
      model_info: { id: 'mixed-priced' },
    },
  ],
};
const client = tenancyClient({ config: { ...MODELS, litellm_settings: { public_model_groups: ['free'] } } });
const configuredByFile = tenancyClient({
  config: {
    ...MODELS,
    general_settings: { require_auth_for_public_ai_hub: true, allow_public_health_readiness_details: true },
    litellm_settings: { public_model_groups: ['free'], block_requests_for_models_without_pricing: true },
  },
});
const BLOCK_PATH = '/config/block_requests_for_models_without_pricing';
const setSwitch = async (name: string, isOn: boolean): Promise<void> => {
  expect((await client.send('PATCH', '/update/ui_settings', { [name]: isOn })).status).toBe(200);
};
const HUBS = ['/public/model_hub', '/public/v1/model_hub'] as const;

describe('disable_team_admin_delete_team_user', () => {
  const NAME = 'disable_team_admin_delete_team_user';
  afterEach(() => setSwitch(NAME, false));

  it('teamMembers.remove 403: an administrator of the team; administrators of its organization and of the proxy may remove', async () => {
    const organization = (await client.post('/organization/new', { organization_alias: 'o' })).body['organization_id'];
    const admin = await client.user({ user_id: 'lead' });
    const organizationAdmin = await client.user({ user_id: 'org-lead' });
    await client.post('/organization/member_add', {
      organization_id: organization,
      member: { user_id: 'org-lead', role: 'org_admin' },
    });
    for (const user of ['m1', 'm2', 'm3']) {
      // oxlint-disable-next-line no-await-in-loop -- sequential requests
      await client.user({ user_id: user });
    }
    const members = ['m1', 'm2', 'm3'].map((id) => ({ user_id: id, role: 'user' }));
    const { body } = await client.post('/team/new', {
      organization_id: organization,
      members_with_roles: [{ user_id: 'lead', role: 'admin' }, ...members],
    });
    const remove = (user: string, key?: string) =>
      client.post('/team/member_delete', { team_id: body['team_id'], user_id: user }, key);
    await setSwitch(NAME, true);
    expect(await remove('m1', admin)).toEqual(
      envelope(
        403,
        'Removing members is disabled for team administrators by your administrator.',
        'auth_error',
        'None',
      ),
    );
    expect((await remove('m1', organizationAdmin)).status).toBe(200);
    expect((await remove('m2')).status).toBe(200);
    await setSwitch(NAME, false);
    expect((await remove('m3', admin)).status).toBe(200);
  });
});

describe('disable_model_add_for_internal_users', () => {
  const NAME = 'disable_model_add_for_internal_users';
  afterEach(() => setSwitch(NAME, false));

  it('deployments.create 403: an administrator of a team', async () => {
    const admin = await client.user({ user_id: 'model-lead' });
    await client.post('/team/new', {
      team_id: 'modellers',
      members_with_roles: [{ user_id: 'model-lead', role: 'admin' }],
    });
    const add = (id: string, key?: string) =>
      client.post(
        '/model/new',
        {
          model_name: id,
          litellm_params: { model: 'openai/m', api_key: 'sk-own' },
          model_info: { id, team_id: 'modellers' },
        },
        key,
      );
    await setSwitch(NAME, true);
    expect(await add('refused', admin)).toEqual(
      envelope(403, 'Adding models is disabled for internal users by your administrator.', 'auth_error', 'None'),
    );
    expect((await add('by-proxy-admin')).status).toBe(200);
    await setSwitch(NAME, false);
    expect((await add('by-team-admin', admin)).status).toBe(200);
  });
});

describe('require_auth_for_public_ai_hub', () => {
  const NAME = 'require_auth_for_public_ai_hub';
  afterEach(() => setSwitch(NAME, false));

  it('service.publicModels 401, service.publicModelPage 401: without a key, and with a wrong one', async () => {
    for (const path of HUBS) expect((await client.get(path, '')).status).toBe(200);
    await setSwitch(NAME, true);
    const key = await client.key({});
    for (const path of HUBS) {
      // oxlint-disable-next-line no-await-in-loop -- sequential requests
      expect(await client.get(path, '')).toEqual(
        envelope(
          401,
          'Authentication Error, A key is needed: send it as `Authorization: Bearer sk-...`.',
          'auth_error',
          'None',
        ),
      );
      // oxlint-disable-next-line no-await-in-loop -- as above
      expect((await client.get(path, 'sk-no-key-of-this-server')).status).toBe(401);
      // oxlint-disable-next-line no-await-in-loop -- as above
      expect((await client.get(path, key)).status).toBe(200);
    }
  });

  it('is on if the configuration file enables it', async () => {
    for (const path of HUBS) expect((await configuredByFile.get(path, '')).status).toBe(401);
  });
});

describe('allow_public_health_readiness_details', () => {
  const NAME = 'allow_public_health_readiness_details';
  const readiness = async () => (await client.get('/health/readiness', '')).body;
  afterEach(() => setSwitch(NAME, false));

  it('health.readiness 200: the details, without a key', async () => {
    const plain = { status: 'healthy', db: 'connected' };
    expect(await readiness()).toEqual(plain);
    await setSwitch(NAME, true);
    const details = (await client.get('/health/readiness/details')).body;
    expect(Object.keys(await readiness())).toEqual(Object.keys(details));
    await setSwitch(NAME, false);
    expect(await readiness()).toEqual(plain);
    expect((await configuredByFile.get('/health/readiness', '')).body).toMatchObject({ ...plain, cache: null });
  });
});

describe('blocking of models without a price', () => {
  const block = (enabled: boolean) => client.send('PATCH', BLOCK_PATH, { enabled });
  const refusal = (model: string) =>
    envelope(403, `The model ${model} has no price. Calls of models without a price are blocked.`, 'permission_error');
  const call = (model: string, members: object = {}) =>
    client.post('/v1/chat/completions', { ...chat(model), ...members });
  afterEach(() => block(false));

  it('403: a call of a model without a price; 0 is a price', async () => {
    expect((await call('unpriced')).status).toBe(200);
    expect((await block(true)).status).toBe(200);
    expect(await call('unpriced')).toEqual(refusal('unpriced'));
    expect((await call('free')).status).toBe(200);
    expect((await call('demo')).status).toBe(200);
    expect(await client.post('/v1/embeddings', { model: 'unpriced', input: 'x' })).toEqual(refusal('unpriced'));
    expect((await client.post('/v1/messages', { ...chat('unpriced'), max_tokens: 5 })).status).toBe(403);
    await block(false);
    expect((await call('unpriced')).status).toBe(200);
  });

  it('200: only deployments with a price are called; 400: a fallback model without a price', async () => {
    await block(true);
    // Without the block, each call goes to a random one of the two deployments.
    for (let count = 0; count < 4; count += 1) {
      // oxlint-disable-next-line no-await-in-loop -- sequential calls
      const answer = await client.app().call('POST', '/v1/chat/completions', chat('mixed'));
      expect([answer.status, answer.headers.get('x-litellm-model-id')]).toEqual([200, 'mixed-priced']);
      // oxlint-disable-next-line no-await-in-loop -- as above
      await answer.text();
    }
    const { status, body } = await call('mixed', { fallbacks: ['unpriced'] });
    expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining('unpriced')]);
  });

  it('200: the model stays listed; 403 and 400: the value of the file has precedence', async () => {
    await block(true);
    const { body } = await client.get('/v1/models');
    expect(JSON.stringify(body)).toContain('"unpriced"');
    expect((await configuredByFile.get(BLOCK_PATH)).body).toEqual({ enabled: true });
    expect((await configuredByFile.post('/v1/chat/completions', chat('unpriced'))).status).toBe(403);
    const { status, body: refused } = await configuredByFile.send('PATCH', BLOCK_PATH, { enabled: false });
    expect([status, refused['detail']]).toMatchObject([
      400,
      { keys: ['block_requests_for_models_without_pricing'], section: 'litellm_settings' },
    ]);
  });
});

it('the description of a switch states if it has no effect yet', async () => {
  const { body } = await client.get('/get/ui_settings');
  const { properties } = body['field_schema'] as {
    readonly properties: Readonly<Record<string, { description: string }>>;
  };
  const withoutEffect = Object.entries(properties).filter(([, { description }]) =>
    description.endsWith(' Not in force yet.'),
  );
  expect(withoutEffect.map(([name]) => name)).toEqual([
    'forward_client_headers_to_llm_api',
    'forward_llm_provider_auth_headers',
    'disable_agents_for_internal_users',
    'allow_agents_for_team_admins',
    'disable_vector_stores_for_internal_users',
    'allow_vector_stores_for_team_admins',
  ]);
});
