import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type McpTestUpstream, startMcpUpstream } from '../support/mcp-upstream.ts';
import { startApp, type TestApp } from '../support/start-app.ts';

let app: TestApp;
let upstream: McpTestUpstream;

beforeAll(async () => {
  upstream = await startMcpUpstream();
  app = await startApp({
    config: {
      mcp_servers: {
        main: { transport: 'http', url: upstream.url, allowed_tools: ['echo', 'fail'] },
        down: { transport: 'http', url: 'http://127.0.0.1:9/mcp' },
      },
    },
  });
}, 60_000);
afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

async function ask(query: string, variables: object = {}): Promise<unknown> {
  return await (await app.call('POST', '/graphql', { query, variables })).json();
}

describe('mcpTools', () => {
  it('lists tools and the outcome of each server', async () => {
    const query =
      '{ mcpTools { tools { name toolName description inputSchema } outcomes { status toolCount httpStatus } } }';
    expect(await ask(query)).toMatchObject({
      data: {
        mcpTools: {
          tools: [
            { name: 'main-echo', toolName: 'echo', description: 'Repeats a text.', inputSchema: { type: 'object' } },
            { name: 'main-fail', toolName: 'fail', description: 'Fails.' },
          ],
          outcomes: [
            { status: 'OK', toolCount: 2, httpStatus: null },
            { status: 'UNREACHABLE', toolCount: null, httpStatus: null },
          ],
        },
      },
    });
  });

  it('is an error for an unknown server', async () => {
    expect(await ask('{ mcpTools(servers: ["nope"]) { tools { name } } }')).toMatchObject({
      data: { mcpTools: null },
      errors: [{ message: "MCP server, toolset, or access group 'nope' not found" }],
    });
  });
});

describe('callMcpTool', () => {
  const query = `mutation ($input: CallMcpToolInput!) { callMcpTool(input: $input) {
    __typename ... on McpToolCall { content structuredContent isError } ... on UserError { code message } } }`;
  const call = (input: object): Promise<unknown> => ask(query, { input });

  it('calls a tool by its name, with the server or without', async () => {
    const answer = {
      __typename: 'McpToolCall',
      content: [{ type: 'text', text: 'echo: hi' }],
      structuredContent: null,
      isError: false,
    };
    const args = { arguments: { text: 'hi' } };
    for (const named of [{ name: 'main-echo' }, { name: 'echo' }, { name: 'echo', server: 'main' }])
      expect(await call({ ...named, ...args })).toEqual({ data: { callMcpTool: answer } });
    expect(await call({ name: 'fail' })).toMatchObject({ data: { callMcpTool: { isError: true } } });
  });

  it('returns why a call failed', async () => {
    expect(await call({ name: 'echo', server: 'nope' })).toMatchObject({
      data: { callMcpTool: { code: 'NOT_FOUND', message: "MCP server 'nope' not found" } },
    });
    expect(await call({ name: 'x', server: 'down' })).toMatchObject({
      data: { callMcpTool: { code: 'UPSTREAM_FAILED', message: 'The MCP server down cannot be reached.' } },
    });
    expect(await call({ name: 'echo', arguments: [] })).toMatchObject({
      data: { callMcpTool: { code: 'INVALID_INPUT' } },
    });
  });
});
