import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chat, envelope, type Json, tenancyClient } from '../../support/tenancy-client.ts';
import { startRecordedVendor, type Vendor } from './vendor.ts';

const { get, post, send, key } = tenancyClient({
  env: { STORE_MODEL_IN_DB: 'True', OPERATOR_KEY: 'sk-of-the-operator' },
  config: {
    general_settings: { demo_model: false },
    model_list: [
      { model_name: 'filed', litellm_params: { model: 'demo' }, model_info: { id: 'filed-1' } },
      {
        model_name: 'filed-of-team',
        litellm_params: { model: 'demo' },
        model_info: { id: 'filed-2', team_id: 'red', team_public_model_name: 'from-file' },
      },
    ],
  },
});

let vendor: Vendor;
let admin = '';
let red = '';
let blue = '';
const make = (name: string, id: string, apiKey: string, more: { readonly info?: object; readonly by?: string } = {}) =>
  post(
    '/model/new',
    {
      model_name: name,
      litellm_params: { model: `openai/${id}`, api_base: vendor.base, api_key: apiKey },
      model_info: { id, ...more.info },
    },
    more.by,
  );
/** Status of a call, and the credential that the upstream got; null where nothing was sent. */
async function called(model: string, by?: string): Promise<readonly [number, string | null]> {
  const before = vendor.seen().length;
  const { status } = await post('/v1/chat/completions', chat(model), by);
  return [status, vendor.seen()[before]?.authorization ?? null];
}
const namesOf = async (by?: string): Promise<readonly unknown[]> =>
  ((await get('/v1/models', by)).body['data'] as readonly Json[]).map(({ id }) => id);
const infoOf = async (path: string, by?: string): Promise<readonly unknown[]> =>
  ((await get(path, by)).body['data'] as readonly { readonly model_info: Json }[]).map((one) => one.model_info['id']);

beforeAll(async () => {
  vendor = await startRecordedVendor();
  await post('/team/new', { team_id: 'red', models: ['filed'] });
  await post('/team/new', { team_id: 'blue' });
  await post('/user/new', { user_id: 'anna' });
  await post('/user/new', { user_id: 'ben' });
  await post('/team/member_add', { team_id: 'red', member: { user_id: 'anna', role: 'admin' } });
  await post('/team/member_add', { team_id: 'red', member: { user_id: 'ben', role: 'user' } });
  admin = await key({ user_id: 'anna' });
  red = await key({ team_id: 'red' });
  blue = await key({ team_id: 'blue' });
  await make('gpt', 'common', 'sk-common');
  await make('gpt', 'own', 'sk-red', { info: { team_id: 'red' } });
  await make('only', 'hidden', 'sk-hidden', { info: { team_id: 'red' } });
});
afterAll(() => vendor.stop());

describe('an administrator of a team', () => {
  const REFUSED = envelope(403, 'Only proxy admins can change models.', 'auth_error', 'None');
  const own = (id: string, params: object, by: string) =>
    post(
      '/model/new',
      {
        model_name: id,
        litellm_params: { model: 'openai/m', api_key: 'sk-anna', ...params },
        model_info: { id, team_id: 'red' },
      },
      by,
    );
  const patch = (id: string, body: object, by = admin) => send('PATCH', `/model/${id}/update`, body, by);

  it('makes, changes, blocks and deletes models of the team', async () => {
    expect((await own('annas', {}, admin)).status).toBe(200);
    expect(await namesOf(red)).toContain('annas');
    expect((await patch('annas', { model_name: 'renamed' })).status).toBe(200);
    expect(await namesOf(red)).toContain('renamed');
    expect((await post('/model/block', { model_id: 'annas' }, admin)).status).toBe(200);
    expect(await called('renamed', red)).toEqual([403, null]);
    expect((await post('/model/delete', { id: 'annas' }, admin)).status).toBe(200);
    expect(await namesOf(red)).not.toContain('renamed');
  });

  it('does not reach private addresses with them, as a proxy administrator does', async () => {
    expect((await own('inside', { api_base: vendor.base }, admin)).status).toBe(200);
    expect(await called('inside', red)).toEqual([400, null]);
    // A change by a proxy administrator does not lift it.
    await send('PATCH', '/model/inside/update', { litellm_params: { timeout: 5 } });
    expect(await called('inside', red)).toEqual([400, null]);
  });

  it.each([
    ['api_key', { api_key: 'os.environ/OPERATOR_KEY' }],
    ['api_key', { api_key: null }],
    ['litellm_credential_name', { litellm_credential_name: 'c' }],
    ['input_cost_per_token', { input_cost_per_token: 0 }],
    ['extra_headers', { extra_headers: { a: 'os.environ/OPERATOR_KEY' } }],
    ['use_in_pass_through', { use_in_pass_through: true }],
    ['model', { model: 'bedrock/m', api_key: 'k' }],
    ['model', { model: 'demo' }],
    ['mock_response', { mock_response: 'x' }],
  ])('uses nothing of the operator: %s', async (name, params) => {
    const { status, body } = await own('bad', params, admin);
    expect([status, (body['detail'] as readonly Json[])[0]]).toMatchObject([
      422,
      { loc: ['body', 'litellm_params', name] },
    ]);
    expect(JSON.stringify(body)).not.toContain('sk-of-the-operator');
    expect(await infoOf('/model/info?teamId=red')).not.toContain('bad');
  });

  it('changes nothing else: other teams, models of all, models of the team that others made', async () => {
    expect(await make('x', 'x', 'k', { info: { team_id: 'blue' }, by: admin })).toEqual(REFUSED);
    expect(await make('x', 'x', 'k', { by: admin })).toEqual(REFUSED);
    for (const id of ['common', 'own', 'filed-1', 'filed-2', 'none']) {
      expect(await patch(id, { litellm_params: { api_base: 'https://taken.example/v1' } })).toEqual(REFUSED);
      expect(await post('/model/delete', { id }, admin)).toEqual(REFUSED);
      expect(await post('/model/block', { model_id: id }, admin)).toEqual(REFUSED);
    }
    expect(await post('/model/update', { model_name: 'x' }, admin)).toEqual(REFUSED);
    await own('mine', {}, admin);
    expect(await patch('mine', { model_info: { team_id: 'blue' } })).toEqual(REFUSED);
    expect(await patch('mine', { model_info: { team_id: null } })).toEqual(REFUSED);
    expect((await patch('mine', { litellm_params: { api_key: 'os.environ/OPERATOR_KEY' } })).status).toBe(422);
    await patch('mine', { model_info: { made_by_team: false } });
    expect((await patch('mine', { litellm_params: { input_cost_per_token: 0 } })).status).toBe(422);
    const member = await key({ user_id: 'ben' });
    expect(await own('bens', {}, member)).toEqual(REFUSED);
    expect(await own('reds', {}, red)).toEqual(REFUSED);
  });

  it('chooses no prices by the base model', async () => {
    const { status, body } = await post(
      '/model/new',
      {
        model_name: 'cheap',
        litellm_params: { model: 'openai/m', api_key: 'sk-anna' },
        model_info: { id: 'cheap', team_id: 'red', base_model: 'openai/gpt-4o-mini' },
      },
      admin,
    );
    expect([status, (body['detail'] as readonly Json[])[0]]).toMatchObject([
      422,
      { loc: ['body', 'model_info', 'base_model'] },
    ]);
  });

  it('reads the models of the team in the graph', async () => {
    const query = `query ($id: ID!) { node(id: $id) { ... on Team { teamId deployments { deploymentId } } } }`;
    const variables = { id: Buffer.from('Team:red').toString('base64') };
    const listed = async (by: string): Promise<unknown> => (await post('/graphql', { query, variables }, by)).body;
    expect(JSON.stringify(await listed(admin))).toContain('{"deploymentId":"own"}');
    expect(JSON.stringify(await listed(blue))).not.toContain('own');
  });

  it('does the same in the graph', async () => {
    const query = `mutation ($input: CreateDeploymentInput!) {
      createDeployment(input: $input) { __typename ... on StoredDeployment { deploymentId } }
    }`;
    const params = { model: 'openai/m', api_key: 'sk-anna' };
    const made = async (info: object, by: string): Promise<unknown> =>
      (
        await post(
          '/graphql',
          { query, variables: { input: { deploymentId: 'g', model: 'graphed', params, info } } },
          by,
        )
      ).body;
    expect(await made({ team_id: 'blue' }, admin)).toMatchObject({ errors: [{ extensions: { code: 'FORBIDDEN' } }] });
    expect(await made({ team_id: 'red' }, admin)).toEqual({
      data: { createDeployment: { __typename: 'StoredDeployment', deploymentId: 'g' } },
    });
    const listed = async (by: string): Promise<unknown> =>
      (await post('/graphql', { query: '{ deployments { deploymentId teamId } }' }, by)).body;
    expect(JSON.stringify(await listed(red))).toContain('{"deploymentId":"g","teamId":"red"}');
    expect(await listed(blue)).toEqual({
      data: {
        deployments: [
          { deploymentId: 'filed-1', teamId: null },
          { deploymentId: 'common', teamId: null },
        ],
      },
    });
  });
});
