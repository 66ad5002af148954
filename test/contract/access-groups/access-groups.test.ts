import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type OwnerCalls, startOwnerCalls } from '../owners/owner-calls.ts';

/** App with the models `priced` and `free`, and functions that call it. */
let calls: OwnerCalls;

beforeAll(async () => {
  calls = await startOwnerCalls();
});
afterAll(() => calls.stop());

const PATH = '/v1/access_group';

async function send(method: string, path: string, body?: unknown, key = calls.app.adminKey) {
  const answer = await calls.app.call(method, path, body, { authorization: `Bearer ${key}` });
  const text = await answer.text();
  const parsed = (text === '' ? null : JSON.parse(text)) as Readonly<Record<string, unknown>> | null;
  return { status: answer.status, body: parsed };
}

const create = async (draft: object): Promise<string> => {
  const { status, body } = await send('POST', PATH, draft);
  expect(status).toBe(201);
  return String(body?.['access_group_id']);
};
const notFound = (id: string) => ({ status: 404, body: { detail: `Access group '${id}' not found` } });

describe('access groups', () => {
  it('accessGroups.create 201, accessGroups.info 200, accessGroups.list 200: a group with its lists', async () => {
    await calls.manage('/team/new', { team_id: 'g-team', team_alias: 'G' });
    const { status, body } = await send('POST', PATH, {
      access_group_name: 'all',
      description: 'd',
      access_model_names: ['free'],
      access_mcp_server_ids: ['s'],
      access_agent_ids: ['a'],
      assigned_team_ids: ['g-team', 'nope'],
    });
    expect(status).toBe(201);
    const id = String(body?.['access_group_id']);
    const time = expect.stringMatching(/^\d{4}-.*Z$/) as unknown;
    expect(body).toEqual({
      access_group_id: id,
      access_group_name: 'all',
      description: 'd',
      access_model_names: ['free'],
      access_mcp_server_ids: ['s'],
      access_agent_ids: ['a'],
      assigned_team_ids: ['g-team', 'nope'],
      assigned_key_ids: [],
      access_mcp_servers: [],
      access_agents: [],
      assigned_teams: [{ team_id: 'g-team', team_alias: 'G' }],
      assigned_keys: [],
      created_at: time,
      // The user that the admin key acts as.
      created_by: 'default_user_id',
      updated_at: time,
      updated_by: 'default_user_id',
    });
    expect(await send('GET', `${PATH}/${id}`)).toEqual({ status: 200, body });
    expect((await send('GET', PATH)).body).toEqual([body]);
  });

  it('accessGroups.create 409: a taken name; 400: a blank name; 422: no name', async () => {
    await create({ access_group_name: 'taken' });
    expect(await send('POST', PATH, { access_group_name: 'taken' })).toEqual({
      status: 409,
      body: { detail: "Access group 'taken' already exists" },
    });
    expect(await send('POST', PATH, { access_group_name: ' ' })).toEqual({
      status: 400,
      body: { detail: 'access_group_name must not be blank.' },
    });
    expect(await send('POST', PATH, {})).toEqual({
      status: 422,
      body: { detail: [{ type: 'missing', loc: ['body', 'access_group_name'], msg: 'Field required' }] },
    });
  });

  it('accessGroups.update 200: omitted members keep their values; 400, 404, 409, 422: invalid changes', async () => {
    const id = await create({ access_group_name: 'one', access_model_names: ['free'] });
    await create({ access_group_name: 'two' });
    expect((await send('PUT', `${PATH}/${id}`, { description: 'x' })).body).toMatchObject({
      access_group_name: 'one',
      description: 'x',
      access_model_names: ['free'],
    });
    expect((await send('PUT', `${PATH}/${id}`, { access_group_name: '' })).status).toBe(400);
    expect(await send('PUT', `${PATH}/nope`, {})).toEqual(notFound('nope'));
    expect((await send('PUT', `${PATH}/${id}`, { access_group_name: 'two' })).status).toBe(409);
    expect((await send('PUT', `${PATH}/${id}`, { access_model_names: 'free' })).status).toBe(422);
  });

  it('accessGroups.delete 204: deletes a group; accessGroups.delete 404, accessGroups.info 404: a deleted group', async () => {
    const id = await create({ access_group_name: 'gone' });
    const deleted = await calls.app.call('DELETE', `${PATH}/${id}`);
    expect([deleted.status, deleted.headers.get('content-length'), await deleted.text()]).toEqual([204, null, '']);
    expect(await send('DELETE', `${PATH}/${id}`)).toEqual(notFound(id));
    expect(await send('GET', `${PATH}/${id}`)).toEqual(notFound(id));
  });

  it('have a second path for every route', async () => {
    const path = '/v1/unified_access_group';
    const { status, body } = await send('POST', path, { access_group_name: 'unified' });
    expect([status, body]).toMatchObject([201, { access_group_name: 'unified' }]);
    const one = `${path}/${String(body?.['access_group_id'])}`;
    expect(await send('GET', one)).toEqual({ status: 200, body });
    expect(await send('GET', path)).toEqual(await send('GET', PATH));
    const { body: changed } = await send('PUT', one, { description: 'd' });
    expect(changed).toMatchObject({ access_group_name: 'unified', description: 'd' });
    expect(await send('DELETE', one)).toEqual({ status: 204, body: null });
    expect((await send('GET', one)).status).toBe(404);
  });

  it.each([
    ['accessGroups.create', 'POST', PATH],
    ['accessGroups.update', 'PUT', `${PATH}/any`],
    ['accessGroups.delete', 'DELETE', `${PATH}/any`],
    ['accessGroups.info', 'GET', `${PATH}/any`],
    ['accessGroups.list', 'GET', PATH],
  ])('%s 401: an unknown key; 403: a change by a read-only administrator', async (_row, method, path) => {
    const body = method === 'GET' || method === 'DELETE' ? undefined : { access_group_name: 'x' };
    expect((await send(method, path, body, 'sk-unknown-000000000')).status).toBe(401);
    const viewer = await calls.newKey({ user_role: 'proxy_admin_viewer' });
    const { status } = await send(method, path, body, viewer);
    // The viewer may read: 200 for the list, 404 for the group `any`, which does not exist.
    expect(method === 'GET' ? [200, 404] : [403]).toContain(status);
  });
});

describe('the models of an access group', () => {
  it('are allowed to keys and teams as soon as they join the group, and refused after they leave or the group is deleted', async () => {
    await calls.manage('/team/new', { team_id: 'narrow', models: ['priced'] });
    const key = await calls.newKey({ models: ['priced'] });
    const inTeam = await calls.newKey({ team_id: 'narrow' });
    const statuses = async () => [(await calls.chat(key, 'free')).status, (await calls.chat(inTeam, 'free')).status];
    expect(await statuses()).toEqual([403, 403]);
    const { key: hash } = (await (await calls.app.call('GET', `/key/info?key=${key}`)).json()) as { key: string };
    const id = await create({
      access_group_name: 'grants',
      access_model_names: ['free'],
      assigned_key_ids: [hash],
      assigned_team_ids: ['narrow'],
    });
    expect(await statuses()).toEqual([200, 200]);
    await send('PUT', `${PATH}/${id}`, { assigned_team_ids: [] });
    expect(await statuses()).toEqual([200, 403]);
    await send('DELETE', `${PATH}/${id}`);
    expect(await statuses()).toEqual([403, 403]);
  });

  it('are allowed to a key that names the group, and an unknown group is refused', async () => {
    const id = await create({ access_group_name: 'named', access_model_names: ['free'] });
    const key = await calls.newKey({ models: ['priced'], access_group_ids: [id] });
    expect((await calls.chat(key, 'free')).status).toBe(200);
    expect((await send('POST', '/key/generate', { access_group_ids: ['nope'] })).body).toEqual({
      error: {
        message: 'Access group nope does not exist.',
        type: 'bad_request_error',
        param: 'access_group_ids',
        code: '400',
      },
    });
  });
});
