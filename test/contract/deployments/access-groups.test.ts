import { expect, it } from 'vitest';
import { chat, envelope, type Json, tenancyClient } from '../../support/tenancy-client.ts';

const DEMO = { model: 'demo' };
const { app, send, get, post, key } = tenancyClient({
  env: { STORE_MODEL_IN_DB: 'True', LITELLM_SALT_KEY: 'a-salt-key' },
  config: {
    model_list: [
      { model_name: 'filed', litellm_params: DEMO, model_info: { id: 'filed-1', access_groups: ['file-group'] } },
      { model_name: 'plain', litellm_params: DEMO, model_info: { id: 'plain-1' } },
    ],
  },
});

const detail = (status: number, error: string) => ({ status, body: { detail: { error } } });
const createGroup = (body: object, callerKey?: string) => post('/access_group/new', body, callerKey);
const updateGroup = (group: string, body: object, callerKey?: string) =>
  send('PUT', `/access_group/${group}/update`, body, callerKey);
const deleteGroup = (group: string, callerKey?: string) =>
  send('DELETE', `/access_group/${group}/delete`, undefined, callerKey);
const groupRow = (group: string, models: readonly string[], count: number) => ({
  access_group: group,
  model_names: models,
  deployment_count: count,
  spend: 0,
  budget: null,
});
const REFUSED = envelope(403, 'Only proxy admins can change models.', 'auth_error', 'None');
const addModel = (name: string, id: string) =>
  post('/model/new', { model_name: name, litellm_params: DEMO, model_info: { id } });

/** Ids of the deployments that serve four calls of a key. A failed call gives its status instead. */
async function deploymentIdsOf(model: string, callerKey: string): Promise<readonly (string | null)[]> {
  const headers = { authorization: `Bearer ${callerKey}` };
  const ids: (string | null)[] = [];
  for (let turn = 0; turn < 4; turn += 1) {
    const answer = await app().call('POST', '/v1/chat/completions', chat(model), headers);
    await answer.text();
    ids.push(answer.ok ? answer.headers.get('x-litellm-model-id') : String(answer.status));
  }
  return ids;
}

it('modelAccessGroups.create 200: adds the deployments that the request names by model or by id', async () => {
  for (const id of ['a1', 'a2']) await addModel('alpha', id);
  await addModel('beta', 'b1');
  expect(await createGroup({ access_group: 'g', model_names: ['alpha'] })).toEqual({
    status: 200,
    body: { access_group: 'g', model_names: ['alpha'], model_ids: null, models_updated: 2 },
  });
  expect(await createGroup({ access_group: 'one', model_ids: ['a2'] })).toEqual({
    status: 200,
    body: { access_group: 'one', model_names: null, model_ids: ['a2'], models_updated: 1 },
  });
  const info = (await get('/v1/model/info?litellm_model_id=a2')).body['data'] as readonly Json[];
  expect(info[0]?.['model_info']).toMatchObject({ access_groups: ['g', 'one'] });
});

it('keys that name access groups may call and list only the deployments of these groups', async () => {
  const [groupKey, oneKey, fileKey] = [
    await key({ models: ['g'] }),
    await key({ models: ['one'] }),
    await key({ models: ['file-group', 'beta'] }),
  ];
  expect(await deploymentIdsOf('alpha', groupKey)).toEqual(expect.arrayContaining(['a1', 'a2']));
  expect(await deploymentIdsOf('alpha', oneKey)).toEqual(['a2', 'a2', 'a2', 'a2']);
  expect(await deploymentIdsOf('filed', fileKey)).toEqual(['filed-1', 'filed-1', 'filed-1', 'filed-1']);
  expect(await deploymentIdsOf('beta', oneKey)).toEqual(['403', '403', '403', '403']);
  const models = async (callerKey: string) =>
    ((await get('/v1/models', callerKey)).body['data'] as readonly Json[]).map(({ id }) => id);
  expect(await models(oneKey)).toEqual(['alpha']);
  expect(await models(fileKey)).toEqual(['filed', 'beta']);
});

it('models.list 200: lists models with access groups, or access groups only', async () => {
  const idsOf = async (query: string) =>
    ((await get(`/v1/models?${query}`)).body['data'] as readonly Json[]).map(({ id }) => id);
  const groups = ['file-group', 'g', 'one'];
  expect(await idsOf('only_model_access_groups=true')).toEqual(groups);
  expect(await idsOf('include_model_access_groups=true')).toEqual([...(await idsOf('')), ...groups]);
});

it('keys of a team that names a group may call its deployments', async () => {
  const team = (await post('/team/new', { models: ['one'] })).body['team_id'];
  expect(await deploymentIdsOf('alpha', await key({ team_id: team }))).toEqual(['a2', 'a2', 'a2', 'a2']);
  expect(await deploymentIdsOf('alpha', await key({ team_id: team, models: ['beta'] }))).toEqual([
    '403',
    '403',
    '403',
    '403',
  ]);
});

it('modelAccessGroups.create 400 and 409: invalid models and names, and a taken name', async () => {
  expect(await createGroup({ access_group: 'x', model_names: ['zzz'] })).toEqual(
    detail(400, 'Model(s) not found: zzz'),
  );
  expect(await createGroup({ access_group: 'x', model_ids: ['zzz'] })).toEqual(
    detail(400, 'Model id(s) not found: zzz'),
  );
  expect(await createGroup({ access_group: 'x', model_names: ['plain'] })).toEqual(
    detail(400, 'Models of the configuration file cannot be changed: plain'),
  );
  expect(await createGroup({ access_group: 'x' })).toEqual(detail(400, 'model_names or model_ids must name a model.'));
  expect(await createGroup({ access_group: ' ', model_names: ['beta'] })).toEqual(
    detail(400, 'access_group must not be blank.'),
  );
  expect(await createGroup({ access_group: 'g', model_names: ['beta'] })).toEqual(
    detail(409, "Access group 'g' already exists"),
  );
});

it('modelAccessGroups.create 401: no key; 403: a user key; 422: no name', async () => {
  const body = { access_group: 'x', model_names: ['beta'] };
  expect((await createGroup(body, '')).status).toBe(401);
  expect(await createGroup(body, await key({}))).toEqual(REFUSED);
  expect(await createGroup({ model_names: ['beta'] })).toEqual({
    status: 422,
    body: { detail: [{ type: 'missing', loc: ['body', 'access_group'], msg: 'Field required' }] },
  });
});

it('modelAccessGroups.list 200, modelAccessGroups.info 200: groups of the file and of the database', async () => {
  expect(await get('/access_group/list')).toEqual({
    status: 200,
    body: {
      access_groups: [groupRow('file-group', ['filed'], 1), groupRow('g', ['alpha'], 2), groupRow('one', ['alpha'], 1)],
    },
  });
  expect(await get('/access_group/g/info')).toEqual({ status: 200, body: groupRow('g', ['alpha'], 2) });
});

it('modelAccessGroups.list 401, modelAccessGroups.info 401: no key, a user key; modelAccessGroups.info 404: an unknown group', async () => {
  for (const path of ['/access_group/list', '/access_group/g/info'])
    for (const callerKey of ['', await key({})]) expect((await get(path, callerKey)).status).toBe(401);
  expect(await get('/access_group/zzz/info')).toEqual(detail(404, "Access group 'zzz' not found"));
});

it('modelAccessGroups.update 200: replaces the models', async () => {
  // `a2` leaves the group, and `b1` joins it.
  expect(await updateGroup('one', { model_names: ['beta'] })).toEqual({
    status: 200,
    body: { access_group: 'one', model_names: ['beta'], model_ids: null, models_updated: 2 },
  });
  expect((await get('/access_group/one/info')).body).toEqual(groupRow('one', ['beta'], 1));
});

it.each([
  [400, 'an unknown model'],
  [401, 'no key'],
  [403, 'a user key'],
  [404, 'an unknown group'],
  [422, 'models that are not a list'],
])('modelAccessGroups.update %i: %s', async (status) => {
  const answers: Readonly<Record<number, () => Promise<{ readonly status: number }>>> = {
    400: () => updateGroup('one', { model_names: ['zzz'] }),
    401: () => updateGroup('one', { model_names: ['beta'] }, ''),
    403: async () => updateGroup('one', { model_names: ['beta'] }, await key({})),
    404: () => updateGroup('zzz', { model_names: ['beta'] }),
    422: () => updateGroup('one', { model_names: 'beta' }),
  };
  expect((await answers[status]?.())?.status).toBe(status);
});

it('modelAccessGroups.delete 200 and 404: keys that name the group lose its models', async () => {
  const groupKey = await key({ models: ['g'] });
  expect(await deleteGroup('g')).toEqual({
    status: 200,
    body: { access_group: 'g', models_updated: 2, message: "Access group 'g' deleted successfully" },
  });
  expect(await deploymentIdsOf('alpha', groupKey)).toEqual(['403', '403', '403', '403']);
  expect(await deleteGroup('g')).toEqual(detail(404, "Access group 'g' not found"));
});

it('modelAccessGroups.delete 400: a group of the file; 401: no key; 403: a user key', async () => {
  expect(await deleteGroup('file-group')).toEqual(
    detail(400, "The configuration file has models of the access group 'file-group'. It cannot be deleted."),
  );
  expect((await deleteGroup('one', '')).status).toBe(401);
  expect(await deleteGroup('one', await key({}))).toEqual(REFUSED);
});
