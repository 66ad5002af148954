import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adminOnly, ID, type Json, type McpApp, missing, startMcpApp } from './mcp-app.ts';

let mcp: McpApp;
let userKey: string;

beforeAll(async () => {
  mcp = await startMcpApp();
  userKey = await mcp.newKey({ user_id: 'someone' });
});
afterAll(() => mcp.stop());

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string;

describe('toolsets', () => {
  const TOOLSETS = '/v1/mcp/toolset';
  const unknown = (id: string): Json => ({ detail: { error: `Toolset '${id}' not found.` } });
  const TOOLS = [{ server_id: 'file-server', tool_name: 'read' }];
  const toolsetWith = (overrides: Json): Json => ({
    toolset_id: ID,
    toolset_name: 'ts1',
    description: null,
    tools: [],
    created_at: TIME,
    created_by: 'default_user_id',
    updated_at: TIME,
    updated_by: 'default_user_id',
    ...overrides,
  });
  let id: string;

  it('mcpToolsets.create 201, mcpToolsets.get 200, mcpToolsets.list 200', async () => {
    expect(await mcp.ask('GET', TOOLSETS)).toEqual([200, []]);
    const [status, created] = await mcp.ask('POST', TOOLSETS, { toolset_name: 'ts1', tools: [] });
    expect([status, created]).toEqual([201, toolsetWith({})]);
    id = (created as { readonly toolset_id: string }).toolset_id;
    for (const key of [id, 'ts1']) expect(await mcp.ask('GET', `${TOOLSETS}/${key}`)).toEqual([200, created]);
    expect(await mcp.ask('GET', TOOLSETS)).toEqual([200, [created]]);
  });

  it('mcpToolsets.list 200: a key sees the toolsets that it is granted', async () => {
    expect(await mcp.ask('GET', TOOLSETS, undefined, userKey)).toEqual([200, []]);
    expect(await mcp.ask('GET', `${TOOLSETS}/${id}`, undefined, userKey)).toEqual([404, unknown(id)]);
    const granted = await mcp.newKey({ object_permission: { mcp_toolsets: [id] } });
    expect(await mcp.ask('GET', TOOLSETS, undefined, granted)).toEqual([200, [toolsetWith({})]]);
  });

  it('mcpToolsets.create 400: a taken name, a name with a slash, and a tool of an unknown server', async () => {
    const errorOf = async (body: Json) => {
      const [status, { detail }] = (await mcp.ask('POST', TOOLSETS, body)) as [number, { detail: Json }];
      return [status, detail['error']];
    };
    expect(await errorOf({ toolset_name: 'TS1' })).toEqual([
      400,
      expect.stringContaining("the name 'TS1' is that of another toolset"),
    ]);
    expect(await errorOf({ toolset_name: 'a/b' })).toEqual([
      400,
      'toolset_name must have at most 256 characters, no comma, no slash and no control character.',
    ]);
    expect(await errorOf({ toolset_name: 'x', tools: [{ server_id: 'nope', tool_name: 'a' }] })).toEqual([
      400,
      "The MCP server 'nope' does not exist.",
    ]);
  });

  it('mcpToolsets.create 422: no name, and a tool without a server', async () => {
    expect(await mcp.ask('POST', TOOLSETS, {})).toEqual([422, missing('toolset_name')]);
    expect((await mcp.ask('POST', TOOLSETS, { toolset_name: 'x', tools: [{ tool_name: 'a' }] }))[0]).toBe(422);
  });

  it('mcpToolsets.update 202: replaces sent members', async () => {
    const changed = toolsetWith({ toolset_id: id, description: 'd', tools: TOOLS });
    const answer = await mcp.ask('PUT', TOOLSETS, { toolset_id: id, description: 'd', tools: TOOLS });
    expect(answer).toEqual([202, changed]);
    expect(await mcp.ask('PUT', TOOLSETS, { toolset_id: id, toolset_name: 'ts2' })).toEqual([
      202,
      { ...changed, toolset_name: 'ts2' },
    ]);
  });

  it('mcpToolsets.update 400: a tool of an unknown server', async () => {
    const tools = [{ server_id: 'nope', tool_name: 'a' }];
    expect((await mcp.ask('PUT', TOOLSETS, { toolset_id: id, tools }))[0]).toBe(400);
  });

  it('mcpToolsets.update 404, mcpToolsets.delete 404, mcpToolsets.get 404: an unknown toolset', async () => {
    expect(await mcp.ask('PUT', TOOLSETS, { toolset_id: 'nope' })).toEqual([404, unknown('nope')]);
    for (const method of ['GET', 'DELETE'])
      expect(await mcp.ask(method, `${TOOLSETS}/nope`)).toEqual([404, unknown('nope')]);
  });

  it('mcpToolsets.update 422: no id', async () => {
    expect(await mcp.ask('PUT', TOOLSETS, {})).toEqual([422, missing('toolset_id')]);
  });

  it('mcpToolsets.create 403, mcpToolsets.update 403, mcpToolsets.delete 403: a key of a user', async () => {
    expect(await mcp.ask('POST', TOOLSETS, { toolset_name: 'x' }, userKey)).toEqual([403, adminOnly]);
    expect(await mcp.ask('PUT', TOOLSETS, { toolset_id: id }, userKey)).toEqual([403, adminOnly]);
    expect(await mcp.ask('DELETE', `${TOOLSETS}/${id}`, undefined, userKey)).toEqual([403, adminOnly]);
  });

  it('mcpToolsets.list 401, mcpToolsets.get 401: no key', async () => {
    for (const path of [TOOLSETS, `${TOOLSETS}/${id}`])
      expect((await mcp.ask('GET', path, undefined, null))[0]).toBe(401);
  });

  it('mcpToolsets.create 401, mcpToolsets.update 401, mcpToolsets.delete 401: no key', async () => {
    expect((await mcp.ask('POST', TOOLSETS, {}, null))[0]).toBe(401);
    expect((await mcp.ask('PUT', TOOLSETS, {}, null))[0]).toBe(401);
    expect((await mcp.ask('DELETE', `${TOOLSETS}/${id}`, undefined, null))[0]).toBe(401);
  });

  it('mcpToolsets.delete 202: the toolset is deleted', async () => {
    expect(await mcp.ask('DELETE', `${TOOLSETS}/${id}`)).toEqual([202, '']);
    expect(await mcp.ask('GET', TOOLSETS)).toEqual([200, []]);
  });
});
