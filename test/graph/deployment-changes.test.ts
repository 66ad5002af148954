import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/start-app.ts';

const SECRET = 'sk-secret-value-12345';
const unreachable = (name: string) => ({
  model_name: name,
  litellm_params: { model: 'openai/m', api_base: 'http://127.0.0.1:1/v1', api_key: 'k' },
});

let app: TestApp;
beforeAll(async () => {
  app = await startApp({
    env: { LITELLM_SALT_KEY: 'a-salt-key' },
    config: {
      general_settings: { demo_model: false },
      router_settings: { num_retries: 0, fallbacks: [{ 'from-file': ['away'] }] },
      model_list: [
        unreachable('away'),
        { ...unreachable('from-file'), model_info: { id: 'from-file-1', access_groups: ['file-group'] } },
        { model_name: 'broken', litellm_params: { model: 'openai/m', litellm_credential_name: 'none' } },
      ],
    },
  });
});
afterAll(() => app.stop());

async function graph(query: string, variables: object = {}, key = app.adminKey): Promise<Record<string, unknown>> {
  const answer = await app.call('POST', '/graphql', { query, variables }, { authorization: `Bearer ${key}` });
  const text = await answer.text();
  expect(text).not.toContain(SECRET);
  return JSON.parse(text) as Record<string, unknown>;
}

const ERROR = '... on UserError { code message }';
const mutate = async (name: string, type: string, input: object, fields: string): Promise<unknown> => {
  const query = `mutation ($input: ${type}!) { ${name}(input: $input) { __typename ${fields} ${ERROR} } }`;
  const answer = await graph(query, { input });
  expect(answer['errors']).toBeUndefined();
  return (answer['data'] as Record<string, unknown>)[name];
};
const status = async (model: string): Promise<number> =>
  (await app.call('POST', '/v1/chat/completions', { model, messages: [{ role: 'user', content: 'Hi' }] })).status;

const DEPLOYMENT = '... on StoredDeployment { id deploymentId model params info blocked createdBy }';
const create = (input: object) => mutate('createDeployment', 'CreateDeploymentInput', input, DEPLOYMENT);
const update = (input: object) => mutate('updateDeployment', 'UpdateDeploymentInput', input, DEPLOYMENT);
const remove = (input: object) => mutate('deleteDeployment', 'DeleteDeploymentInput', input, DEPLOYMENT);

it('a deployment is stored, changed, blocked and deleted, and its secrets are masked', async () => {
  const row = {
    __typename: 'StoredDeployment',
    id: expect.any(String) as unknown,
    deploymentId: 'd1',
    model: 'new',
    params: { api_key: 'sk****45', model: 'demo' },
    info: { mode: 'chat' },
    blocked: false,
    createdBy: 'default_user_id',
  };
  const params = { model: 'demo', api_key: SECRET };
  expect(await create({ deploymentId: 'd1', model: 'new', params, info: { mode: 'chat' } })).toEqual(row);
  expect(await status('new')).toBe(200);
  expect(await create({ deploymentId: 'd1', model: 'new', params })).toEqual({
    __typename: 'ConflictError',
    code: 'CONFLICT',
    message: 'A model with the id d1 already exists.',
  });
  expect(await create({ model: 'x', params: 'text' })).toEqual({
    __typename: 'InvalidInputError',
    code: 'INVALID_INPUT',
    message: '`params` must be an object.',
  });
  const page = await graph('{ storedDeployments(first: 5) { nodes { id deploymentId } pageInfo { hasNextPage } } }');
  const nodes = (page as { data: { storedDeployments: { nodes: { id: string }[] } } }).data.storedDeployments.nodes;
  expect(nodes).toEqual([{ id: expect.any(String), deploymentId: 'd1' }]);
  const id = String(nodes[0]?.id);
  expect(await graph('query ($id: ID!) { node(id: $id) { ... on StoredDeployment { model } } }', { id })).toEqual({
    data: { node: { model: 'new' } },
  });
  expect(await update({ deploymentId: id, blocked: true, params: { api_key: null } })).toEqual({
    ...row,
    blocked: true,
    params: { model: 'demo' },
  });
  expect(await status('new')).toBe(403);
  expect(await update({ deploymentId: 'none' })).toMatchObject({ __typename: 'NotFoundError' });
  expect(await update({ deploymentId: 'from-file-1' })).toMatchObject({ __typename: 'InvalidInputError' });
  expect(await remove({ deploymentId: 'd1' })).toMatchObject({ deploymentId: 'd1' });
  expect(await remove({ deploymentId: 'd1' })).toMatchObject({ __typename: 'NotFoundError' });
});

it('deployments show cooldowns and access groups, and deployments that cannot be called are listed with their fault', async () => {
  expect(await graph('{ deployments { deploymentId accessGroups cooldownMs fault } }')).toMatchObject({
    data: {
      deployments: [
        { accessGroups: [], cooldownMs: 0, fault: null },
        { deploymentId: 'from-file-1', accessGroups: ['file-group'], cooldownMs: 0, fault: null },
        { accessGroups: [], cooldownMs: 0, fault: 'The credential none does not exist.' },
      ],
    },
  });
  expect(await graph('{ misconfiguredDeployments { model fault isStored } }')).toEqual({
    data: {
      misconfiguredDeployments: [{ model: 'broken', fault: 'The credential none does not exist.', isStored: false }],
    },
  });
});

it('a credential is stored, changed and deleted', async () => {
  const fields = '... on Credential { name values info }';
  const input = { name: 'c1', values: { api_key: SECRET }, info: { note: 'n' } };
  const created = { __typename: 'Credential', name: 'c1', values: { api_key: 'sk****45' }, info: { note: 'n' } };
  const add = (draft: object) => mutate('createCredential', 'CreateCredentialInput', draft, fields);
  expect(await add(input)).toEqual(created);
  expect(await add(input)).toMatchObject({ __typename: 'ConflictError' });
  expect(await add({ name: 'c2' })).toMatchObject({ __typename: 'InvalidInputError' });
  expect(await add({ name: ' ', values: { a: 'b' } })).toMatchObject({ __typename: 'InvalidInputError' });
  expect(await add({ name: 'c2', deploymentId: 'none' })).toMatchObject({ __typename: 'NotFoundError' });
  expect(await add({ name: 'c2', deploymentId: 'from-file-1' })).toMatchObject({
    values: { api_base: 'http://127.0.0.1:1/v1' },
  });
  expect(await graph('{ credentials { nodes { name } } }')).toEqual({
    data: { credentials: { nodes: [{ name: 'c1' }, { name: 'c2' }] } },
  });
  const change = { credential: 'c1', values: { api_base: 'http://127.0.0.1:1' } };
  expect(await mutate('updateCredential', 'UpdateCredentialInput', change, fields)).toEqual({
    ...created,
    values: { api_key: 'sk****45', api_base: 'http://127.0.0.1:1' },
  });
  const removeCredential = (credential: string) =>
    mutate('deleteCredential', 'DeleteCredentialInput', { credential }, '... on Credential { name }');
  expect(await removeCredential('c1')).toEqual({ __typename: 'Credential', name: 'c1' });
  expect(await removeCredential('c1')).toMatchObject({ __typename: 'NotFoundError' });
});

it('fallbacks are stored, applied, listed and deleted', async () => {
  await create({ deploymentId: 'w1', model: 'works', params: { model: 'demo' } });
  const set = (input: object) =>
    mutate('setModelFallback', 'SetModelFallbackInput', input, '... on ModelFallback { model type targets }');
  expect(await status('away')).toBe(500);
  expect(await set({ model: 'away', targets: ['works'] })).toEqual({
    __typename: 'ModelFallback',
    model: 'away',
    type: 'GENERAL',
    targets: ['works'],
  });
  expect(await status('away')).toBe(200);
  expect(await set({ model: 'away', targets: [] })).toMatchObject({ __typename: 'InvalidInputError' });
  expect(await set({ model: 'away', targets: ['works', 'works'] })).toMatchObject({ __typename: 'InvalidInputError' });
  expect(await set({ model: 'none', targets: ['works'] })).toMatchObject({ __typename: 'NotFoundError' });
  await set({ model: 'away', targets: ['works'], type: 'CONTEXT_WINDOW' });
  const listQuery = '{ modelFallbacks { model type targets isConfigured } }';
  expect(await graph(listQuery)).toEqual({
    data: {
      modelFallbacks: [
        { model: 'away', type: 'GENERAL', targets: ['works'], isConfigured: false },
        { model: 'from-file', type: 'GENERAL', targets: ['away'], isConfigured: true },
        { model: 'away', type: 'CONTEXT_WINDOW', targets: ['works'], isConfigured: false },
      ],
    },
  });
  const removeFallback = (model: string) =>
    mutate('deleteModelFallback', 'DeleteModelFallbackInput', { model }, '... on DeletedModelFallback { model type }');
  expect(await removeFallback('away')).toEqual({ __typename: 'DeletedModelFallback', model: 'away', type: 'GENERAL' });
  expect(await removeFallback('away')).toMatchObject({ __typename: 'NotFoundError' });
  expect(await removeFallback('from-file')).toMatchObject({ __typename: 'InvalidInputError' });
});

it('access groups of stored deployments are created, changed, listed and deleted', async () => {
  const fields = '... on ChangedModelAccessGroup { name changedDeployments }';
  const changed = { __typename: 'ChangedModelAccessGroup', name: 'g', changedDeployments: 1 };
  // The test of fallbacks has created the model `works` with the deployment `w1`.
  const input = { name: 'g', models: ['works'] };
  expect(await mutate('createModelAccessGroup', 'ModelAccessGroupInput', input, fields)).toEqual(changed);
  expect(await graph('{ modelAccessGroups { name models deployments isConfigured } }')).toEqual({
    data: {
      modelAccessGroups: [
        { name: 'file-group', models: ['from-file'], deployments: 1, isConfigured: true },
        { name: 'g', models: ['works'], deployments: 1, isConfigured: false },
      ],
    },
  });
  const byId = { name: 'g', deploymentIds: ['w1'] };
  expect(await mutate('updateModelAccessGroup', 'ModelAccessGroupInput', byId, fields)).toEqual(changed);
  const removeGroup = (name: string) =>
    mutate('deleteModelAccessGroup', 'DeleteModelAccessGroupInput', { name }, fields);
  expect(await removeGroup('g')).toEqual(changed);
  expect(await removeGroup('g')).toMatchObject({ __typename: 'NotFoundError' });
  expect(await removeGroup('file-group')).toMatchObject({ __typename: 'InvalidInputError' });
});

it('testConnection returns the latency, the error of the upstream, or an error for an invalid deployment', async () => {
  const testConnection = (input: object) =>
    mutate('testConnection', 'TestConnectionInput', input, '... on TestedConnection { error latencyMs }');
  expect(await testConnection({ model: 'demo' })).toEqual({
    __typename: 'TestedConnection',
    error: null,
    latencyMs: expect.any(Number) as unknown,
  });
  const params = { api_base: 'http://127.0.0.1:1/v1', api_key: SECRET };
  expect(await testConnection({ model: 'openai/m', params })).toMatchObject({
    error: expect.stringContaining('ECONNREFUSED') as unknown,
  });
  expect(await testConnection({ model: 'azure/m' })).toMatchObject({ __typename: 'InvalidInputError' });
});

it('stored deployments and fallbacks are shown to administrators only', async () => {
  const response = await app.call('POST', '/key/generate', {});
  const { key } = (await response.json()) as { key: string };
  const query = '{ storedDeployments { nodes { id } } }';
  expect(await graph(query, {}, key)).toMatchObject({ errors: [{ extensions: { code: 'FORBIDDEN' } }] });
  const fallbacks = await graph('{ modelFallbacks { model } }', {}, key);
  expect(fallbacks).toMatchObject({ data: { modelFallbacks: null }, errors: [{ extensions: { code: 'FORBIDDEN' } }] });
});
