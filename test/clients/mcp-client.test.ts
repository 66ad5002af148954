import { Client, SdkHttpError, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type McpGateway, startMcpGateway, wrongKey } from '../contract/mcp/mcp-gateway.ts';
import { POLLING } from '../support/polling.ts';

let gateway: McpGateway;

beforeAll(async () => {
  gateway = await startMcpGateway();
});
afterAll(() => gateway.stop());

/** The official client on a connected transport. */
async function connect(path: string, headers: Readonly<Record<string, string>>) {
  const transport = new StreamableHTTPClientTransport(new URL(`${gateway.app.url}${path}`), {
    requestInit: { headers: { ...headers } },
  });
  const client = new Client({ name: 'official', version: '1.0.0' });
  await client.connect(transport);
  return { client, transport };
}

const inAuthorization = () => ({ authorization: `Bearer ${gateway.key}` });
const inOwnHeader = () => ({ 'x-litellm-api-key': `Bearer ${gateway.key}` });

describe('the official MCP client', () => {
  it.each([
    ['Authorization', '/mcp', inAuthorization],
    ['x-litellm-api-key', '/mcp', inOwnHeader],
    ['Authorization', '/mcp/', inAuthorization],
    ['Authorization', '/notes/mcp', inAuthorization],
    ['Authorization', '/mcp/notes', inAuthorization],
  ])('lists and calls tools, with a key in %s at %s', async (_header, path, headers) => {
    const { client, transport } = await connect(path, headers());
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain('notes-echo');
    const result = await client.callTool({ name: 'notes-echo', arguments: { text: 'hi' } });
    expect(result).toMatchObject({ content: [{ type: 'text', text: 'echo: hi' }], isError: false });
    expect(await client.ping()).toEqual({});
    expect((await client.listPrompts()).prompts).toEqual([]);
    await transport.terminateSession();
    await client.close();
  });

  it('opens a session, which is listed until it is terminated', async () => {
    const { client, transport } = await connect('/mcp/', inAuthorization());
    expect(transport.sessionId).toMatch(/^[\w-]{32}$/);
    expect(client.getServerVersion()).toEqual({ name: 'litellm-mcp-server', version: '1.0.0' });
    const listed = async () => (await (await gateway.app.call('GET', '/v1/mcp/sessions')).json()) as object;
    expect(await listed()).toMatchObject({ sessions: [{ client_name: 'official', key_alias: 'agent' }] });
    await transport.terminateSession();
    expect(await listed()).toMatchObject({ sessions: [] });
    await client.close();
  });

  it.each([
    ['no key', {}],
    ['a wrong key', { authorization: `Bearer ${wrongKey()}` }],
  ])('is refused with %s', async (_case, headers) => {
    await expect(connect('/mcp', headers)).rejects.toThrow(/Unauthorized|401|authentication_required/);
  });

  it('fails at a server that does not exist', async () => {
    await expect(connect('/nope/mcp', inAuthorization())).rejects.toThrow(SdkHttpError);
  });

  it('cancels a running call', async () => {
    const { client, transport } = await connect('/notes/mcp', inAuthorization());
    const { cancelled } = gateway.upstream.slow;
    const controller = new AbortController();
    const calling = client.callTool({ name: 'notes-slow', arguments: {} }, { signal: controller.signal });
    await vi.waitFor(() => expect(gateway.upstream.slow.waiting).toBe(1), POLLING);
    controller.abort();
    await expect(calling).rejects.toThrow();
    const aborted = { waiting: 0, cancelled: cancelled + 1 };
    await vi.waitFor(() => expect(gateway.upstream.slow).toMatchObject(aborted), POLLING);
    await transport.terminateSession();
    await client.close();
  });
});
