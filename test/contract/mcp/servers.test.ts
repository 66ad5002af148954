import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  adminOnly,
  FILE_ID,
  fileServer,
  type Json,
  type McpApp,
  missing,
  serverWith,
  startMcpApp,
  unknownServer,
} from './mcp-app.ts';

let mcp: McpApp;
let userKey: string;

beforeAll(async () => {
  mcp = await startMcpApp();
  userKey = await mcp.newKey({ user_id: 'someone' });
});
afterAll(() => mcp.stop());

const PATH = '/v1/mcp/server';
const HTTP = { url: 'http://127.0.0.1:9/mcp', transport: 'http' };
const SECRETS = {
  auth_type: 'bearer_token',
  credentials: { auth_value: 'upstream-token', client_id: 'client-id', unknown: 'x' },
  static_headers: { 'x-tenant': 'tenant-secret' },
  env: { TOKEN: 'env-secret' },
  env_vars: [{ name: 'A', value: 'variable-secret', scope: 'global' }],
};
const UNREADABLE = /upstream-token|client-id|tenant-secret|env-secret|variable-secret|docs-token/;

const valueError = (msg: unknown): Json => ({ detail: [{ type: 'value_error', loc: ['body'], msg }] });
const fileError = {
  detail: { error: `The MCP server ${FILE_ID} is in the configuration file. Change it there.` },
};

describe('mcpServers.create', () => {
  it('mcpServers.create 201: stores a server, with the alias of its name', async () => {
    const body = { server_name: 'my first', description: 'd', access_groups: ['g'], disallowed_tools: ['x'], ...HTTP };
    expect(await mcp.ask('POST', PATH, { ...body, zzz: 1 })).toEqual([
      201,
      serverWith({
        server_name: 'my first',
        alias: 'my_first',
        description: 'd',
        mcp_access_groups: ['g'],
        disallowed_tools: ['x'],
        ...HTTP,
      }),
    ]);
    expect(await mcp.ask('POST', PATH, {})).toEqual([201, serverWith({})]);
  });

  it('mcpServers.create 201: answers, lists and the audit log contain no secret', async () => {
    const [status, created] = await mcp.ask('POST', PATH, {
      server_id: 'own',
      server_name: 'secretive',
      ...HTTP,
      ...SECRETS,
    });
    const shown = serverWith({
      server_id: 'own',
      server_name: 'secretive',
      alias: 'secretive',
      ...HTTP,
      auth_type: 'bearer_token',
      credentials: { auth_value: 'REDACTED', client_id: 'REDACTED' },
      static_headers: { 'x-tenant': 'REDACTED' },
      env: { TOKEN: 'REDACTED' },
      env_vars: [{ name: 'A', value: 'REDACTED', scope: 'global' }],
    });
    expect([status, created]).toEqual([201, shown]);
    expect(await mcp.ask('GET', `${PATH}/own`)).toEqual([200, shown]);
    const [, audit] = await mcp.ask('GET', '/audit?object_id=own');
    expect(JSON.stringify(audit)).toContain('mcp_server');
    for (const answer of [audit, await mcp.ask('GET', PATH)]) expect(JSON.stringify(answer)).not.toMatch(UNREADABLE);
  });

  it('mcpServers.create 400: a name with a hyphen, and a name, alias or id that is taken', async () => {
    await mcp.create({ server_id: 'taken', server_name: 'Taken', alias: 't1', ...HTTP });
    const error = async (body: Json) => mcp.ask('POST', PATH, { ...HTTP, ...body });
    const conflict = (id: string, name: string) => [
      400,
      {
        detail: {
          error: `The MCP server ${id} has the name or alias '${name}'. Names and aliases must be unique, without regard to case.`,
        },
      },
    ];
    expect(await error({ server_name: 'a-b' })).toEqual([
      400,
      {
        detail: {
          error: "The server name must not contain '-', which separates names of servers and tools. Found: a-b",
        },
      },
    ]);
    expect(await error({ server_name: 'T1' })).toEqual(conflict('taken', 't1'));
    expect(await error({ alias: 'TAKEN' })).toEqual(conflict('taken', 'taken'));
    expect(await error({ alias: 'DOCS' })).toEqual(conflict(FILE_ID, 'docs'));
    expect(await error({ server_id: 'taken' })).toEqual([
      400,
      { detail: { error: 'An MCP server with the id taken exists already.' } },
    ]);
    expect((await error({ server_id: 'a/b' }))[0]).toBe(400);
  });

  it('mcpServers.create 401: an unknown key', async () => {
    const [status, body] = await mcp.ask('POST', PATH, HTTP, 'sk-nobody');
    expect([status, body]).toMatchObject([401, { error: { type: 'token_not_found_in_db', code: '401' } }]);
  });

  it('mcpServers.create 403: a key of a user', async () => {
    expect(await mcp.ask('POST', PATH, HTTP, userKey)).toEqual([403, adminOnly]);
  });

  it('mcpServers.create 422: a missing address, an unknown transport, stdio while it is off, wrong types', async () => {
    expect(await mcp.ask('POST', PATH, { server_name: 's2', transport: 'http' })).toEqual([
      422,
      valueError('Value error, url is required for the transport http'),
    ]);
    expect(await mcp.ask('POST', PATH, { transport: 'stdio', command: 'cat', args: [] })).toEqual([
      422,
      valueError(
        'Value error, stdio MCP servers are disabled. Set LENSGATE_ENABLE_MCP_STDIO=true and restart to enable them',
      ),
    ]);
    expect(await mcp.ask('POST', PATH, { ...HTTP, transport: 'zzz', allowed_tools: 'x' })).toEqual([
      422,
      {
        detail: [
          { type: 'enum', loc: ['body', 'transport'], msg: "Input should be 'http', 'sse' or 'stdio'" },
          { type: 'list_type', loc: ['body', 'allowed_tools'], msg: 'Input should be a valid list' },
        ],
      },
    ]);
  });
});

describe('mcpServers.update', () => {
  it('mcpServers.update 202: changes sent members; a new name without an alias is the alias', async () => {
    const id = await mcp.create({
      server_name: 'before',
      alias: 'b1',
      description: 'kept',
      rpm: 5,
      ...HTTP,
      ...SECRETS,
    });
    const change = { server_name: 'after', url: 'http://127.0.0.1:9/two', transport: 'http', rpm: null };
    const expected = serverWith({
      server_id: id,
      server_name: 'after',
      alias: 'after',
      description: 'kept',
      ...HTTP,
      url: 'http://127.0.0.1:9/two',
      auth_type: 'bearer_token',
      credentials: { auth_value: 'REDACTED', client_id: 'REDACTED' },
      static_headers: { 'x-tenant': 'REDACTED' },
      env: { TOKEN: 'REDACTED' },
      env_vars: [{ name: 'A', value: 'REDACTED', scope: 'global' }],
    });
    expect(await mcp.ask('PUT', PATH, { server_id: id, ...change })).toEqual([202, expected]);
    expect(await mcp.ask('PUT', `${PATH}/${id}`, { timeout: 3 })).toEqual([202, { ...expected, timeout: 3 }]);
    expect(await mcp.ask('GET', `${PATH}/${id}`)).toEqual([200, { ...expected, timeout: 3 }]);
  });

  it('mcpServers.update 400: a server of the configuration file', async () => {
    expect(await mcp.ask('PUT', PATH, { server_id: FILE_ID, url: 'http://h/' })).toEqual([400, fileError]);
  });

  it('mcpServers.update 401: no key', async () => {
    expect((await mcp.ask('PUT', PATH, { server_id: 'x' }, null))[0]).toBe(401);
  });

  it('mcpServers.update 403: a key of a user', async () => {
    expect(await mcp.ask('PUT', PATH, { server_id: FILE_ID }, userKey)).toEqual([403, adminOnly]);
  });

  it('mcpServers.update 404: an unknown server', async () => {
    const body = { server_id: 'nope', server_name: 'q', ...HTTP };
    expect(await mcp.ask('PUT', PATH, body)).toEqual([404, unknownServer('nope')]);
  });

  it('mcpServers.update 422: no id', async () => {
    expect(await mcp.ask('PUT', PATH, {})).toEqual([422, missing('server_id')]);
  });
});

describe('mcpServers.delete', () => {
  it('mcpServers.delete 202, then mcpServers.delete 404: deletes a server once', async () => {
    const id = await mcp.create({});
    expect(await mcp.ask('DELETE', `${PATH}/${id}`)).toEqual([202, '']);
    expect(await mcp.ask('DELETE', `${PATH}/${id}`)).toEqual([404, unknownServer(id)]);
  });

  it('mcpServers.delete 400: a server of the configuration file', async () => {
    expect(await mcp.ask('DELETE', `${PATH}/${FILE_ID}`)).toEqual([400, fileError]);
  });

  it('mcpServers.delete 401: no key', async () => {
    expect((await mcp.ask('DELETE', `${PATH}/x`, undefined, null))[0]).toBe(401);
  });

  it('mcpServers.delete 403: a key of a user', async () => {
    expect(await mcp.ask('DELETE', `${PATH}/x`, undefined, userKey)).toEqual([403, adminOnly]);
  });
});

describe('mcpServers.list and mcpServers.get', () => {
  it('mcpServers.list 200: administrators see all servers, those of the file first', async () => {
    const [status, body] = await mcp.ask('GET', PATH);
    expect([status, (body as readonly Json[])[0]]).toEqual([200, fileServer()]);
  });

  it('mcpServers.list 200, mcpServers.get 200: a key sees a part of the servers that it may use', async () => {
    const open = { allow_all_keys: true, allowed_tools: ['t'], mcp_info: { note: 'n' }, ...HTTP, ...SECRETS };
    const id = await mcp.create({ server_name: 'open', ...open });
    const common = {
      server_id: id,
      server_name: 'open',
      alias: 'open',
      transport: 'http',
      auth_type: 'bearer_token',
      allow_all_keys: true,
    };
    const forUser = serverWith({
      ...common,
      allowed_tools: ['t'],
      mcp_info: { is_public: false, is_public_explicit: false, note: 'n' },
    });
    expect(await mcp.ask('GET', PATH, undefined, userKey)).toEqual([200, [forUser]]);
    expect(await mcp.ask('GET', `${PATH}/${id}`, undefined, userKey)).toEqual([200, forUser]);
    const noStamps = { created_at: null, created_by: null, updated_at: null, updated_by: null };
    const granted = await mcp.newKey({ object_permission: { mcp_access_groups: ['reading'] } });
    const [, listed] = await mcp.ask('GET', PATH, undefined, granted);
    expect(listed).toEqual([
      serverWith({
        server_id: FILE_ID,
        is_config: true,
        server_name: 'docs',
        alias: 'd',
        transport: 'http',
        auth_type: 'bearer_token',
        mcp_info: null,
        ...noStamps,
      }),
      serverWith({ ...common, mcp_info: null, ...noStamps }),
    ]);
    await mcp.ask('DELETE', `${PATH}/${id}`);
  });

  it('mcpServers.list 401, mcpServers.get 401: no key', async () => {
    for (const path of [PATH, `${PATH}/${FILE_ID}`]) expect((await mcp.ask('GET', path, undefined, null))[0]).toBe(401);
  });

  it('mcpServers.get 404: an unknown server, and one that the key may not use', async () => {
    expect(await mcp.ask('GET', `${PATH}/nope`)).toEqual([404, unknownServer('nope')]);
    expect(await mcp.ask('GET', `${PATH}/${FILE_ID}`, undefined, userKey)).toEqual([404, unknownServer(FILE_ID)]);
  });
});
