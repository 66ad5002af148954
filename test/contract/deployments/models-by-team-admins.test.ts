import { describe, expect, it } from 'vitest';
import { envelope, type Json } from '../../support/tenancy-client.ts';
import { teamModelCalls } from './team-model-calls.ts';

const { post, send, key, createModel, statusAndCredential, namesOf, modelIdsAt, upstream, keys } = teamModelCalls();

describe('an administrator of a team', () => {
  const REFUSED = envelope(403, 'Only proxy admins can change models.', 'auth_error', 'None');
  const createForRed = (id: string, params: object, callerKey: string) =>
    post(
      '/model/new',
      {
        model_name: id,
        litellm_params: { model: 'openai/m', api_key: 'sk-anna', ...params },
        model_info: { id, team_id: 'red' },
      },
      callerKey,
    );
  const patch = (id: string, body: object, callerKey = keys.redAdmin) =>
    send('PATCH', `/model/${id}/update`, body, callerKey);

  it('creates, changes, blocks and deletes models of the team', async () => {
    expect((await createForRed('annas', {}, keys.redAdmin)).status).toBe(200);
    expect(await namesOf(keys.red)).toContain('annas');
    expect((await patch('annas', { model_name: 'renamed' })).status).toBe(200);
    expect(await namesOf(keys.red)).toContain('renamed');
    expect((await post('/model/block', { model_id: 'annas' }, keys.redAdmin)).status).toBe(200);
    expect(await statusAndCredential('renamed', keys.red)).toEqual([403, null]);
    expect((await post('/model/delete', { id: 'annas' }, keys.redAdmin)).status).toBe(200);
    expect(await namesOf(keys.red)).not.toContain('renamed');
  });

  it('cannot reach private addresses with models of the team', async () => {
    expect((await createForRed('inside', { api_base: upstream().base }, keys.redAdmin)).status).toBe(200);
    expect(await statusAndCredential('inside', keys.red)).toEqual([400, null]);
    // After a change by a proxy administrator, private addresses stay refused.
    await send('PATCH', '/model/inside/update', { litellm_params: { timeout: 5 } });
    expect(await statusAndCredential('inside', keys.red)).toEqual([400, null]);
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
  ])('cannot set values that only a proxy administrator may set: %s', async (name, params) => {
    const { status, body } = await createForRed('bad', params, keys.redAdmin);
    expect([status, (body['detail'] as readonly Json[])[0]]).toMatchObject([
      422,
      { loc: ['body', 'litellm_params', name] },
    ]);
    expect(JSON.stringify(body)).not.toContain('sk-of-the-operator');
    expect(await modelIdsAt('/model/info?teamId=red')).not.toContain('bad');
  });

  it('cannot change models of other teams, public models, or team models by other authors', async () => {
    expect(await createModel('x', 'x', 'k', { info: { team_id: 'blue' }, callerKey: keys.redAdmin })).toEqual(REFUSED);
    expect(await createModel('x', 'x', 'k', { callerKey: keys.redAdmin })).toEqual(REFUSED);
    for (const id of ['common', 'own', 'filed-1', 'filed-2', 'nope']) {
      expect(await patch(id, { litellm_params: { api_base: 'https://taken.example/v1' } })).toEqual(REFUSED);
      expect(await post('/model/delete', { id }, keys.redAdmin)).toEqual(REFUSED);
      expect(await post('/model/block', { model_id: id }, keys.redAdmin)).toEqual(REFUSED);
    }
    expect(await post('/model/update', { model_name: 'x' }, keys.redAdmin)).toEqual(REFUSED);
    await createForRed('mine', {}, keys.redAdmin);
    expect(await patch('mine', { model_info: { team_id: 'blue' } })).toEqual(REFUSED);
    expect(await patch('mine', { model_info: { team_id: null } })).toEqual(REFUSED);
    expect((await patch('mine', { litellm_params: { api_key: 'os.environ/OPERATOR_KEY' } })).status).toBe(422);
    // The team cannot remove the mark `made_by_team`, so the restrictions stay.
    await patch('mine', { model_info: { made_by_team: false } });
    expect((await patch('mine', { litellm_params: { input_cost_per_token: 0 } })).status).toBe(422);
    const member = await key({ user_id: 'ben' });
    expect(await createForRed('bens', {}, member)).toEqual(REFUSED);
    expect(await createForRed('reds', {}, keys.red)).toEqual(REFUSED);
  });

  it('cannot set prices by the base model', async () => {
    const { status, body } = await post(
      '/model/new',
      {
        model_name: 'cheap',
        litellm_params: { model: 'openai/m', api_key: 'sk-anna' },
        model_info: { id: 'cheap', team_id: 'red', base_model: 'openai/gpt-4o-mini' },
      },
      keys.redAdmin,
    );
    expect([status, (body['detail'] as readonly Json[])[0]]).toMatchObject([
      422,
      { loc: ['body', 'model_info', 'base_model'] },
    ]);
  });

  it('reads the models of the team in the graph', async () => {
    const query = `query ($id: ID!) { node(id: $id) { ... on Team { teamId deployments { deploymentId } } } }`;
    const variables = { id: Buffer.from('Team:red').toString('base64') };
    const listed = async (callerKey: string): Promise<unknown> =>
      (await post('/graphql', { query, variables }, callerKey)).body;
    expect(JSON.stringify(await listed(keys.redAdmin))).toContain('{"deploymentId":"own"}');
    expect(JSON.stringify(await listed(keys.blue))).not.toContain('own');
  });

  it('creates models of the team, and of no other team, in the graph', async () => {
    const query = `mutation ($input: CreateDeploymentInput!) {
      createDeployment(input: $input) { __typename ... on StoredDeployment { deploymentId } }
    }`;
    const params = { model: 'openai/m', api_key: 'sk-anna' };
    const create = async (info: object, callerKey: string): Promise<unknown> =>
      (
        await post(
          '/graphql',
          { query, variables: { input: { deploymentId: 'g', model: 'graphed', params, info } } },
          callerKey,
        )
      ).body;
    expect(await create({ team_id: 'blue' }, keys.redAdmin)).toMatchObject({
      errors: [{ extensions: { code: 'FORBIDDEN' } }],
    });
    expect(await create({ team_id: 'red' }, keys.redAdmin)).toEqual({
      data: { createDeployment: { __typename: 'StoredDeployment', deploymentId: 'g' } },
    });
    const listed = async (callerKey: string): Promise<unknown> =>
      (await post('/graphql', { query: '{ deployments { deploymentId teamId } }' }, callerKey)).body;
    expect(JSON.stringify(await listed(keys.red))).toContain('{"deploymentId":"g","teamId":"red"}');
    expect(await listed(keys.blue)).toEqual({
      data: {
        deployments: [
          { deploymentId: 'filed-1', teamId: null },
          { deploymentId: 'common', teamId: null },
        ],
      },
    });
  });
});
