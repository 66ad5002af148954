import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type McpGateway, startMcpGateway } from './mcp-gateway.ts';

let gateway: McpGateway;

beforeAll(async () => {
  gateway = await startMcpGateway();
});
afterAll(() => gateway.stop());

const DOCUMENT = '/.well-known/oauth-protected-resource';

async function read(path: string, headers: Readonly<Record<string, string>> = {}) {
  const answer = await fetch(`${gateway.app.url}${DOCUMENT}${path}`, { headers });
  return [answer.status, await answer.json()];
}

describe('mcpResources.gateway', () => {
  it.each(['', '/mcp'])('200: the document at the path %j', async (path) => {
    const { url } = gateway.app;
    const document = { resource: `${url}${path}`, authorization_servers: [`${url}/mcp`], scopes_supported: [] };
    expect(await read(path)).toEqual([200, document]);
  });

  it('200: behind a proxy that ends TLS', async () => {
    const base = gateway.app.url.replace('http:', 'https:');
    const document = { resource: `${base}/mcp`, authorization_servers: [`${base}/mcp`], scopes_supported: [] };
    expect(await read('/mcp', { 'x-forwarded-proto': 'https' })).toEqual([200, document]);
  });
});

describe('mcpResources.server', () => {
  it.each(['/notes/mcp', '/mcp/notes', '/managed/mcp'])('200: the document at %s', async (path) => {
    const { url } = gateway.app;
    const document = { resource: `${url}${path}`, authorization_servers: [`${url}/mcp`], scopes_supported: [] };
    expect(await read(path)).toEqual([200, document]);
  });

  it.each(['nope', 'delegated', 'passed'])(
    '404: the server %s does not authenticate with the gateway',
    async (name) => {
      const detail = `MCP server '${name}' is not an OAuth-protected resource`;
      expect(await read(`/${name}/mcp`)).toEqual([404, { detail }]);
    },
  );
});
