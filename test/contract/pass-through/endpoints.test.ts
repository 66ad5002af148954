import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { answerOf, echoRequests, newKey, sendAs } from './targets.ts';

const PATH = '/config/pass_through_endpoint';

let app: TestApp;
let target: FaultServer;
let userKey: string;
let viewerKey: string;

beforeAll(async () => {
  target = await startFaultServer();
  app = await startApp({
    config: {
      general_settings: {
        pass_through_endpoints: [{ path: '/file/one', target: `${target.url}/file`, headers: { 'x-api-key': 'k' } }],
      },
    },
  });
  userKey = await newKey(app, { user_id: 'someone' });
  const viewer = await app.call('POST', '/user/new', { user_id: 'viewer', user_role: 'proxy_admin_viewer' });
  viewerKey = ((await viewer.json()) as { readonly key: string }).key;
});

beforeEach(() => echoRequests(target));

afterAll(async () => {
  await app.stop();
  await target.stop();
});

const endpointWith = (overrides: Record<string, unknown>) => ({
  id: expect.any(String),
  path: '/d/one',
  target: `${target.url}/d`,
  headers: {},
  default_query_params: {},
  include_subpath: false,
  cost_per_request: 0,
  timeout: null,
  auth: true,
  guardrails: null,
  is_from_config: false,
  methods: null,
  ...overrides,
});

const create = (body: Record<string, unknown>): Promise<Response> => app.call('POST', PATH, body);

async function createEndpoint(body: Record<string, unknown>): Promise<string> {
  const [, answer] = await answerOf(await create(body));
  return (answer as { readonly endpoints: readonly { readonly id: string }[] }).endpoints[0]?.id ?? '';
}

const missing = (...loc: string[]) => ({ type: 'missing', loc, msg: 'Field required' });

const adminOnly = {
  error: { message: expect.stringContaining('proxy admin'), type: 'auth_error', param: 'None', code: '401' },
};

const readOnly = {
  error: { message: expect.stringContaining('proxy_admin_viewer'), type: 'auth_error', param: 'None', code: '403' },
};

const ACCOUNT = 'Basic dXNlcjpwYXNz';

describe('passThroughEndpoints.create', () => {
  it('200: only headers that are known to have no secret are shown; all others are masked', async () => {
    const plain = { 'Content-Type': 'text/plain', accept: '*/*', 'anthropic-version': '2023-06-01', 'User-Agent': 'u' };
    const hidden = { 'X-Account': ACCOUNT, 'x-custom': 'value', 'x-auth': 'a', 'x-tenant': 't' };
    const response = await create({ path: '/d/shown', target: `${target.url}/d`, headers: { ...plain, ...hidden } });
    const masked = Object.fromEntries(Object.keys(hidden).map((name) => [name, '*****']));
    expect(await answerOf(response)).toMatchObject([200, { endpoints: [{ headers: { ...plain, ...masked } }] }]);
    const listed = await (await app.call('GET', PATH)).text();
    expect(listed).not.toContain(ACCOUNT);
    const [, { endpoints }] = (await answerOf(await app.call('GET', PATH))) as [
      number,
      { readonly endpoints: readonly { readonly id: string; readonly path: string; readonly headers: object }[] },
    ];
    const endpoint = endpoints.find(({ path }) => path === '/d/shown');
    expect((await app.call('POST', `${PATH}/${endpoint?.id}`, { headers: endpoint?.headers })).status).toBe(200);
    const [, echo] = await answerOf(await sendAs(app, app.adminKey, { path: '/d/shown' }));
    expect(echo).toMatchObject({
      headers: { 'x-account': ACCOUNT, 'x-custom': 'value', 'content-type': 'text/plain' },
    });
    await app.call('DELETE', `${PATH}?endpoint_id=${endpoint?.id}`);
  });

  it('200: the answer has the endpoint with masked credentials; the endpoint is served immediately', async () => {
    const headers = { Authorization: 'Bearer target-key', 'x-a': 'b' };
    const response = await create({ path: '/d/one', target: `${target.url}/d`, headers, cost_per_request: 0.5 });
    expect(await answerOf(response)).toEqual([
      200,
      { endpoints: [endpointWith({ headers: { Authorization: '*****', 'x-a': '*****' }, cost_per_request: 0.5 })] },
    ]);
    const [status, echo] = await answerOf(await sendAs(app, app.adminKey, { path: '/d/one?a=1' }));
    expect([status, echo]).toMatchObject([
      200,
      { method: 'GET', path: '/d?a=1', headers: { authorization: 'Bearer target-key', 'x-a': 'b' } },
    ]);
  });

  it('200: the caller may choose the id and set all other settings', async () => {
    const body = {
      id: 'own-id',
      path: 'd/all',
      target: `${target.url}/d`,
      default_query_params: { k: 'v' },
      include_subpath: true,
      timeout: 3,
      auth: false,
      guardrails: { g: null },
      methods: ['get'],
      forward_headers: true,
    };
    expect(await answerOf(await create(body))).toEqual([
      200,
      { endpoints: [endpointWith({ ...body, methods: ['GET'], path: 'd/all' })] },
    ]);
  });

  it.each([
    ['a target that is not an address', { path: '/d/x', target: 'nope' }, /'target'.*http/],
    ['a target with a password', { path: '/d/x', target: 'http://a:b@127.0.0.1/' }, /'target'.*password/],
    ['a target with a line end', { path: '/d/x', target: 'http://127.0.0.1/\r\nX: 1' }, /'target'.*control/],
    ['a path with a query', { path: '/d?x', target: 'http://127.0.0.1/' }, /'path'/],
    ['an invalid header name', { path: '/d', target: 'http://h/', headers: { 'a b': 'c' } }, /'headers'/],
    ['the header Host', { path: '/d', target: 'http://h/', headers: { Host: 'c' } }, /'headers'.*Host/],
    ['a timeout of zero', { path: '/d', target: 'http://h/', timeout: 0 }, /'timeout'/],
  ])('400: %s', async (_what, body, message) => {
    expect(await answerOf(await create(body))).toEqual([400, { detail: { error: expect.stringMatching(message) } }]);
  });

  it('400: an id that is taken', async () => {
    const body = { id: 'twice', path: '/d/twice', target: `${target.url}/d` };
    expect((await create(body)).status).toBe(200);
    expect(await answerOf(await create(body))).toEqual([
      400,
      { detail: { error: 'Pass-through endpoint twice already exists' } },
    ]);
  });

  it('401: a key of a user; 403: a read-only administrator', async () => {
    const body = JSON.stringify({ path: '/d/u', target: `${target.url}/d` });
    const headers = { 'content-type': 'application/json' };
    const send = (key: string) => sendAs(app, key, { method: 'POST', path: PATH, body, headers });
    expect(await answerOf(await send(userKey))).toEqual([401, adminOnly]);
    expect(await answerOf(await send(viewerKey))).toEqual([403, readOnly]);
  });

  it('422: missing fields, and a field of a wrong type', async () => {
    expect(await answerOf(await create({}))).toEqual([
      422,
      { detail: [missing('body', 'path'), missing('body', 'target')] },
    ]);
    expect(await answerOf(await create({ path: '/d', target: 'http://h/', methods: 'GET' }))).toEqual([
      422,
      { detail: [{ type: 'list_type', loc: ['body', 'methods'], msg: 'Input should be a valid list' }] },
    ]);
  });
});

describe('passThroughEndpoints.list', () => {
  it('200: endpoints of the configuration file, then stored ones; only one for its id; none for an unknown id', async () => {
    const id = await createEndpoint({ path: '/d/listed', target: `${target.url}/d` });
    const [status, all] = await answerOf(await app.call('GET', PATH));
    const { endpoints } = all as { readonly endpoints: readonly object[] };
    expect(status).toBe(200);
    const fileEndpoint = { path: '/file/one', target: `${target.url}/file`, headers: { 'x-api-key': '*****' } };
    expect(endpoints[0]).toEqual(endpointWith({ ...fileEndpoint, is_from_config: true }));
    expect(endpoints.at(-1)).toEqual(endpointWith({ id, path: '/d/listed' }));
    expect(await answerOf(await app.call('GET', `${PATH}?endpoint_id=${id}`))).toEqual([
      200,
      { endpoints: [endpointWith({ id, path: '/d/listed' })] },
    ]);
    expect(await answerOf(await app.call('GET', `${PATH}?endpoint_id=nope`))).toEqual([200, { endpoints: [] }]);
    expect((await sendAs(app, viewerKey, { path: PATH })).status).toBe(200);
  });

  it('200: both endpoints of a path, first the one of the file, which calls use', async () => {
    const id = await createEndpoint({ path: '/file/one', target: `${target.url}/stored`, methods: ['GET', 'DELETE'] });
    const [, all] = await answerOf(await app.call('GET', PATH));
    const { endpoints } = all as { readonly endpoints: readonly { readonly id: string; readonly path: string }[] };
    const [ofFile, stored, ...others] = endpoints.filter(({ path }) => path === '/file/one');
    expect([ofFile, stored, others]).toMatchObject([
      { is_from_config: true, target: `${target.url}/file` },
      { is_from_config: false, target: `${target.url}/stored`, id },
      [],
    ]);
    for (const method of ['GET', 'DELETE']) {
      const response = await sendAs(app, userKey, { path: '/file/one', method });
      expect(await answerOf(response)).toMatchObject([200, { path: '/file' }]);
    }
    expect((await app.call('DELETE', `${PATH}?endpoint_id=${ofFile?.id}`)).status).toBe(400);
    await app.call('DELETE', `${PATH}?endpoint_id=${id}`);
  });

  it('401: a key that is not of an administrator', async () => {
    expect(await answerOf(await sendAs(app, userKey, { path: PATH }))).toEqual([401, adminOnly]);
  });
});

describe('passThroughEndpoints.team', () => {
  it('200: endpoints at or below the paths that the team lists', async () => {
    const team = await app.call('POST', '/team/new', { metadata: { allowed_passthrough_routes: ['/file'] } });
    const { team_id: id } = (await team.json()) as { readonly team_id: string };
    const [status, answer] = await answerOf(await app.call('GET', `${PATH}/team/${id}`));
    expect([status, answer]).toMatchObject([200, { endpoints: [{ path: '/file/one' }] }]);
  });

  it('401: a key that is not of an administrator', async () => {
    expect(await answerOf(await sendAs(app, userKey, { path: `${PATH}/team/x` }))).toEqual([401, adminOnly]);
  });

  it('404: an unknown team', async () => {
    expect(await answerOf(await app.call('GET', `${PATH}/team/nope`))).toEqual([
      404,
      { detail: { error: 'Team not found' } },
    ]);
  });
});

describe('passThroughEndpoints.update', () => {
  it('200: only sent fields change; a masked credential is kept; calls use the change immediately', async () => {
    const headers = { Authorization: 'Bearer first', 'x-a': 'b' };
    const id = await createEndpoint({ path: '/d/change', target: `${target.url}/d`, headers, timeout: 9 });
    const change = { path: '/d/changed', target: `${target.url}/e`, headers: { Authorization: '*****', 'x-a': 'c' } };
    expect(await answerOf(await app.call('POST', `${PATH}/${id}`, change))).toEqual([
      200,
      { endpoints: [endpointWith({ id, ...change, headers: { Authorization: '*****', 'x-a': '*****' }, timeout: 9 })] },
    ]);
    expect((await sendAs(app, app.adminKey, { path: '/d/change' })).status).toBe(404);
    const [, echo] = await answerOf(await sendAs(app, app.adminKey, { path: '/d/changed' }));
    expect(echo).toMatchObject({ path: '/e', headers: { authorization: 'Bearer first', 'x-a': 'c' } });
    expect(await answerOf(await app.call('POST', `${PATH}/${id}`, { timeout: null }))).toMatchObject([
      200,
      { endpoints: [{ timeout: null, path: '/d/changed' }] },
    ]);
  });

  it('200: headers with names of the prototype are stored, masked, kept and sent like other headers', async () => {
    // `JSON.parse` makes `__proto__` a member of the object.
    const headersOf = (value: string) => JSON.parse(`{ "constructor": "${value}", "__proto__": "${value}" }`) as object;
    const id = await createEndpoint({ path: '/d/prototype', target: `${target.url}/d`, headers: headersOf('first') });
    const change = { headers: headersOf('*****') };
    const [status, answer] = await answerOf(await app.call('POST', `${PATH}/${id}`, change));
    expect([status, JSON.stringify((answer as { endpoints: { headers: object }[] }).endpoints[0]?.headers)]).toEqual([
      200,
      '{"constructor":"*****","__proto__":"*****"}',
    ]);
    target.answer((response) => {
      response.end(JSON.stringify(response.req.rawHeaders));
    });
    const [, sentHeaders] = await answerOf(await sendAs(app, app.adminKey, { path: '/d/prototype' }));
    echoRequests(target);
    const received = sentHeaders as readonly string[];
    expect(['constructor', '__proto__'].map((name) => received[received.indexOf(name) + 1])).toEqual([
      'first',
      'first',
    ]);
    // No header of this name is stored.
    const unknown = await answerOf(await app.call('POST', `${PATH}/${id}`, { headers: { toString: '*****' } }));
    expect(unknown).toMatchObject([200, { endpoints: [{ headers: { toString: '*****' } }] }]);
    const [, echo] = await answerOf(await sendAs(app, app.adminKey, { path: '/d/prototype' }));
    expect(echo).toMatchObject({ headers: { tostring: '' } });
  });

  it('400: an endpoint of the file, and an invalid target', async () => {
    const [, all] = await answerOf(await app.call('GET', PATH));
    const id = (all as { readonly endpoints: readonly { readonly id: string }[] }).endpoints[0]?.id ?? '';
    expect(await answerOf(await app.call('POST', `${PATH}/${id}`, { timeout: 1 }))).toEqual([
      400,
      { detail: { error: `The entry ${id} is in the configuration file. Change it there.` } },
    ]);
    const stored = await createEndpoint({ path: '/d/kept', target: `${target.url}/d` });
    expect(await answerOf(await app.call('POST', `${PATH}/${stored}`, { target: 'x' }))).toEqual([
      400,
      { detail: { error: "Invalid value for 'target': it must be an http:// or https:// address." } },
    ]);
  });

  it('401, 403, 404 and 422: no permission, an unknown endpoint, a wrong type', async () => {
    const headers = { 'content-type': 'application/json' };
    const send = (key: string, body: object) =>
      sendAs(app, key, { method: 'POST', path: `${PATH}/nope`, body: JSON.stringify(body), headers });
    expect(await answerOf(await send(userKey, {}))).toEqual([401, adminOnly]);
    expect(await answerOf(await send(viewerKey, {}))).toEqual([403, readOnly]);
    expect(await answerOf(await send(app.adminKey, {}))).toEqual([
      404,
      { detail: { error: "Endpoint with ID 'nope' was not found in pass-through endpoint list." } },
    ]);
    expect(await answerOf(await send(app.adminKey, { path: 1 }))).toEqual([
      422,
      { detail: [{ type: 'string_type', loc: ['body', 'path'], msg: 'Input should be a valid string' }] },
    ]);
  });
});

describe('passThroughEndpoints.delete', () => {
  it('200: the answer has the endpoint, and it is no longer served; 400: an unknown endpoint', async () => {
    const id = await createEndpoint({ path: '/d/gone', target: `${target.url}/d` });
    const remove = () => app.call('DELETE', `${PATH}?endpoint_id=${id}`);
    expect(await answerOf(await remove())).toEqual([200, { endpoints: [endpointWith({ id, path: '/d/gone' })] }]);
    expect((await sendAs(app, app.adminKey, { path: '/d/gone' })).status).toBe(404);
    expect(await answerOf(await remove())).toEqual([
      400,
      { detail: { error: `Endpoint with ID '${id}' was not found in pass-through endpoint list.` } },
    ]);
  });

  it('401, 403 and 422: no permission, and no id', async () => {
    const send = (key: string) => sendAs(app, key, { method: 'DELETE', path: `${PATH}?endpoint_id=x` });
    expect(await answerOf(await send(userKey))).toEqual([401, adminOnly]);
    expect(await answerOf(await send(viewerKey))).toEqual([403, readOnly]);
    expect(await answerOf(await app.call('DELETE', PATH))).toEqual([
      422,
      { detail: [missing('query', 'endpoint_id')] },
    ]);
  });
});

it('stored endpoints are served after a restart', async () => {
  const first = await startApp();
  const body = { path: '/shared', target: `${target.url}/d`, headers: { Authorization: 'Bearer kept' } };
  await first.call('POST', PATH, body);
  await first.stop({ keepData: true });
  const second = await startApp({ dataDir: first.dataDir });
  const [status, echo] = await answerOf(await sendAs(second, second.adminKey, { path: '/shared' }));
  expect([status, echo]).toMatchObject([200, { headers: { authorization: 'Bearer kept' } }]);
  await second.stop();
});
