import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adminOnly, type Json, type McpApp, missing, serverWith, startMcpApp, unknownServer } from './mcp-app.ts';

let mcp: McpApp;
let userKey: string;
let teamKey: string;

beforeAll(async () => {
  mcp = await startMcpApp();
  userKey = await mcp.newKey({ user_id: 'someone' });
  await mcp.ask('POST', '/team/new', { team_id: 'team' });
  teamKey = await mcp.newKey({ user_id: 'member', team_id: 'team' });
});
afterAll(() => mcp.stop());

const PATH = '/v1/mcp/server';
const SUBMIT = `${PATH}/register`;
const HTTP = { url: 'http://127.0.0.1:9/mcp', transport: 'http' };
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string;

const submit = async (body: Json): Promise<string> => {
  const [, answer] = await mcp.ask('POST', SUBMIT, { ...HTTP, ...body }, teamKey);
  return (answer as { readonly server_id: string }).server_id;
};
const approvalOf = ([status, body]: readonly [number, unknown]) => {
  const { approval_status: approval, review_notes: notes, reviewed_at: at } = body as Json;
  return [status, approval, notes, at];
};

describe('mcpServers.submit', () => {
  it('mcpServers.submit 201: the server waits for a review, and no key may use it', async () => {
    const body = { server_name: 'waiting', allow_all_keys: true, approval_status: 'active', ...HTTP };
    const [status, submitted] = await mcp.ask('POST', SUBMIT, body, teamKey);
    const review = { approval_status: 'pending_review', submitted_by: 'member', submitted_at: TIME };
    const shown = serverWith({
      server_name: 'waiting',
      alias: 'waiting',
      transport: 'http',
      created_by: 'member',
      updated_by: 'member',
      ...review,
    });
    expect([status, submitted]).toEqual([201, shown]);
    expect(await mcp.ask('GET', PATH, undefined, teamKey)).toEqual([200, []]);
    expect(JSON.stringify(await mcp.ask('GET', PATH))).not.toContain('waiting');
    expect(await mcp.ask('GET', `${PATH}/submissions`)).toEqual([
      200,
      { total: 1, pending_review: 1, active: 0, rejected: 0, items: [{ ...shown, url: HTTP.url }] },
    ]);
  });

  it('mcpServers.submit 400: a key without a team, and a stdio server', async () => {
    expect(await mcp.ask('POST', SUBMIT, HTTP, userKey)).toEqual([
      400,
      { detail: { error: 'Only a key of a team can submit an MCP server.' } },
    ]);
    expect(await mcp.ask('POST', SUBMIT, { transport: 'stdio', command: 'npx' }, teamKey)).toEqual([
      400,
      { detail: { error: 'A stdio server cannot be submitted.' } },
    ]);
  });

  it('mcpServers.submit 400: a reference to a variable of the gateway', async () => {
    const body = { ...HTTP, static_headers: { 'x-token': 'os.environ/LITELLM_MASTER_KEY' } };
    expect(await mcp.ask('POST', SUBMIT, body, teamKey)).toEqual([
      400,
      { detail: { error: 'A submitted server cannot refer to variables of the gateway.' } },
    ]);
  });

  it('mcpServers.submit 401: no key', async () => {
    expect((await mcp.ask('POST', SUBMIT, HTTP, null))[0]).toBe(401);
  });

  it('mcpServers.submit 403: an administrator', async () => {
    expect(await mcp.ask('POST', SUBMIT, HTTP)).toEqual([
      403,
      { detail: { error: 'Administrators create MCP servers directly: POST /v1/mcp/server.' } },
    ]);
  });

  it('mcpServers.submit 422: no address', async () => {
    const [status, body] = await mcp.ask('POST', SUBMIT, { transport: 'http' }, teamKey);
    const msg = 'Value error, url is required for the transport http';
    expect([status, body]).toEqual([422, { detail: [{ type: 'value_error', loc: ['body'], msg }] }]);
  });
});

describe('mcpServers.submissions', () => {
  it('mcpServers.submissions 200: counts submissions by their state', async () => {
    const [rejected, approved] = [await submit({}), await submit({})];
    await mcp.ask('PUT', `${PATH}/${rejected}/reject`);
    await mcp.ask('PUT', `${PATH}/${approved}/approve`);
    const [status, body] = await mcp.ask('GET', `${PATH}/submissions`);
    expect([status, body]).toMatchObject([200, { active: 1, rejected: 1 }]);
  });

  it('mcpServers.submissions 401: no key', async () => {
    expect((await mcp.ask('GET', `${PATH}/submissions`, undefined, null))[0]).toBe(401);
  });

  it('mcpServers.submissions 403: a key of a user', async () => {
    expect(await mcp.ask('GET', `${PATH}/submissions`, undefined, userKey)).toEqual([
      403,
      { detail: { error: 'Only proxy administrators may see submitted MCP servers.' } },
    ]);
  });
});

describe.each([
  ['approve', 'active'],
  ['reject', 'rejected'],
])('mcpServers.%s', (verb, state) => {
  it(`mcpServers.${verb} 200: the server is ${state}`, async () => {
    const id = await submit({ server_name: `${verb} it` });
    const path = `${PATH}/${id}/${verb}`;
    expect(approvalOf(await mcp.ask('PUT', path, { review_notes: 'n' }))).toEqual([200, state, 'n', TIME]);
    const [, listed] = await mcp.ask('GET', PATH);
    expect(JSON.stringify(listed).includes(id)).toBe(state === 'active');
    expect(approvalOf(await mcp.ask('PUT', path))).toEqual([200, state, null, TIME]);
  });

  it(`mcpServers.${verb} 401: no key`, async () => {
    expect((await mcp.ask('PUT', `${PATH}/x/${verb}`, undefined, null))[0]).toBe(401);
  });

  it(`mcpServers.${verb} 403: a key of a user`, async () => {
    expect(await mcp.ask('PUT', `${PATH}/x/${verb}`, undefined, userKey)).toEqual([403, adminOnly]);
  });

  it(`mcpServers.${verb} 404: an unknown server, and one that no team submitted`, async () => {
    const own = await mcp.create({});
    for (const id of ['nope', own])
      expect(await mcp.ask('PUT', `${PATH}/${id}/${verb}`)).toEqual([404, unknownServer(id)]);
  });

  it(`mcpServers.${verb} 422: notes that are no text`, async () => {
    const issue = { type: 'string_type', loc: ['body', 'review_notes'], msg: 'Input should be a valid string' };
    expect(await mcp.ask('PUT', `${PATH}/x/${verb}`, { review_notes: 1 })).toEqual([422, { detail: [issue] }]);
  });
});

describe('mcpServers.publish and mcpServers.hub', () => {
  const PUBLISH = '/v1/mcp/make_public';
  it('mcpServers.publish 200, mcpServers.hub 200: exactly the named servers are public', async () => {
    expect(await mcp.ask('GET', '/public/mcp_hub', undefined, null)).toEqual([200, []]);
    const one = await mcp.create({ server_name: 'one', description: 'd', ...HTTP });
    const two = await mcp.create({ server_name: 'two', mcp_info: { note: 'n' }, ...HTTP });
    const publish = (...ids: readonly string[]) => mcp.ask('POST', PUBLISH, { mcp_server_ids: ids });
    expect(await publish(one)).toEqual([
      200,
      { message: 'The public MCP servers were changed.', public_mcp_servers: [one] },
    ]);
    expect(await mcp.ask('GET', '/public/mcp_hub', undefined, null)).toEqual([
      200,
      [
        {
          server_id: one,
          name: 'one',
          server_name: 'one',
          alias: 'one',
          description: 'd',
          transport: 'http',
          auth_type: null,
          mcp_info: { is_public: true },
        },
      ],
    ]);
    await publish(two);
    const [, hub] = await mcp.ask('GET', '/public/mcp_hub');
    expect((hub as readonly Json[]).map(({ server_id: id }) => id)).toEqual([two]);
    const [, shown] = await mcp.ask('GET', `${PATH}/${two}`);
    expect((shown as Json)['mcp_info']).toEqual({ is_public: true, is_public_explicit: true, note: 'n' });
    expect((await publish())[0]).toBe(200);
  });

  it('mcpServers.publish 400: a server of the configuration file', async () => {
    expect(await mcp.ask('POST', PUBLISH, { mcp_server_ids: ['file-server'] })).toEqual([
      400,
      { detail: { error: 'The MCP server file-server is in the configuration file. Change it there.' } },
    ]);
  });

  it('mcpServers.publish 401: no key', async () => {
    expect((await mcp.ask('POST', PUBLISH, { mcp_server_ids: [] }, null))[0]).toBe(401);
  });

  it('mcpServers.publish 403: a key of a user', async () => {
    expect(await mcp.ask('POST', PUBLISH, { mcp_server_ids: [] }, userKey)).toEqual([403, adminOnly]);
  });

  it('mcpServers.publish 404: an unknown server', async () => {
    expect(await mcp.ask('POST', PUBLISH, { mcp_server_ids: ['nope'] })).toEqual([404, unknownServer('nope')]);
  });

  it('mcpServers.publish 422: no list', async () => {
    expect(await mcp.ask('POST', PUBLISH, {})).toEqual([422, missing('mcp_server_ids')]);
  });
});

describe('look-ups about MCP servers', () => {
  it.each([
    ['accessGroups', '/v1/mcp/access_groups', { access_groups: ['reading'] }],
    ['clientAddress', '/v1/mcp/network/client-ip', { ip: '127.0.0.1' }],
    ['userValues', '/v1/mcp/user-credentials', []],
    ['userValues', '/v1/mcp/user-env-vars/status', []],
  ])('mcpServers.%s 200: %s', async (_name, path, body) => {
    expect(await mcp.ask('GET', path)).toEqual([200, body]);
  });

  it('mcpServers.accessGroups 200: a key sees the groups of its servers only', async () => {
    expect(await mcp.ask('GET', '/v1/mcp/access_groups', undefined, userKey)).toEqual([200, { access_groups: [] }]);
    const granted = await mcp.newKey({ object_permission: { mcp_servers: ['docs'] } });
    const answer = await mcp.ask('GET', '/v1/mcp/access_groups', undefined, granted);
    expect(answer).toEqual([200, { access_groups: ['reading'] }]);
  });

  it('mcpServers.suggestions 200: well-known servers with their categories', async () => {
    const [status, body] = await mcp.ask('GET', '/v1/mcp/discover');
    const { servers, categories } = body as { readonly servers: readonly Json[]; readonly categories: unknown };
    expect([status, categories]).toEqual([200, ['Development', 'Documents', 'Finance']]);
    expect(servers[1]).toEqual({
      name: 'linear',
      title: 'Linear',
      description: 'Issues and projects in Linear.',
      icon_url: null,
      category: 'Development',
      registry_url: null,
      transport: 'http',
      url: 'https://mcp.linear.app/mcp',
      env_vars: [],
    });
  });

  it('mcpServers.suggestedApis 200: well-known APIs', async () => {
    expect(await mcp.ask('GET', '/v1/mcp/openapi-registry')).toMatchObject([200, { apis: [{ name: 'github' }] }]);
  });

  it.each([
    ['accessGroups', '/v1/mcp/access_groups'],
    ['clientAddress', '/v1/mcp/network/client-ip'],
    ['userValues', '/v1/mcp/user-credentials'],
    ['suggestions', '/v1/mcp/discover'],
    ['suggestedApis', '/v1/mcp/openapi-registry'],
  ])('mcpServers.%s 401: no key', async (_name, path) => {
    expect((await mcp.ask('GET', path, undefined, null))[0]).toBe(401);
  });

  it('mcpServers.registry 404: it is off by default', async () => {
    expect(await mcp.ask('GET', '/v1/mcp/registry.json')).toEqual([
      404,
      { detail: 'The MCP registry is not enabled.' },
    ]);
  });

  it('mcpServers.registry 200: lists the public servers without a key', async () => {
    const own = await startMcpApp({ enable_mcp_registry: true, proxy_base_url: 'https://gateway.example/' });
    try {
      const id = await own.create({ server_name: 'Wiki', alias: 'w', ...HTTP });
      await own.ask('POST', '/v1/mcp/make_public', { mcp_server_ids: [id] });
      const remotes = [{ type: 'streamable-http', url: 'https://gateway.example/mcp/w' }];
      expect(await own.ask('GET', '/v1/mcp/registry.json', undefined, null)).toEqual([
        200,
        { servers: [{ server: { name: 'w', title: 'Wiki', description: '', version: '1.0.0', remotes } }] },
      ]);
    } finally {
      await own.stop();
    }
  });
});
