import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type McpTestUpstream, startMcpUpstream } from '../../support/mcp-upstream.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';

let app: TestApp;
let upstream: McpTestUpstream;
let userKey = '';

beforeAll(async () => {
  upstream = await startMcpUpstream();
  app = await startApp();
  userKey = ((await (await app.call('POST', '/key/generate', {})).json()) as { key: string }).key;
});
afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

const http = (url: string, members: object = {}) => ({ transport: 'http', url, ...members });

async function ask(path: string, body: unknown, key = app.adminKey): Promise<readonly [number, unknown]> {
  const answer = await app.call('POST', path, body, { authorization: `Bearer ${key}` });
  return [answer.status, await answer.json()];
}

describe.each(['testConnection', 'testList'])('mcpTools.%s', (name) => {
  const path = name === 'testList' ? '/mcp-rest/test/tools/list' : '/mcp-rest/test/connection';
  const listed = (tools: object) => ({ tools, error: null, message: 'Successfully retrieved tools' });

  it('200: a server that answers, and one that does not', async () => {
    const [status, body] = await ask(path, http(upstream.url));
    const names = ['echo', 'fail', 'big', 'slow', 'cut'].map(
      (tool) => expect.objectContaining({ name: tool }) as object,
    );
    expect([status, body]).toEqual([200, name === 'testList' ? listed(names) : { status: 'ok' }]);
    const message = 'The MCP server unstored cannot be reached.';
    expect(await ask(path, http('http://127.0.0.1:9/mcp'))).toEqual([
      200,
      name === 'testList' ? { tools: [], error: 'unreachable', message } : { status: 'error', error: true, message },
    ]);
  });

  it('400: a name that no server may have', async () => {
    expect((await ask(path, http(upstream.url, { server_name: 'a-b' })))[0]).toBe(400);
  });

  it('401: a key of no administrator', async () => {
    expect((await ask(path, http(upstream.url), userKey))[0]).toBe(401);
  });

  it('422: a program, and a url of a wrong type', async () => {
    expect((await ask(path, { transport: 'stdio', command: 'node' }))[0]).toBe(422);
    expect((await ask(path, { url: 1 }))[0]).toBe(422);
  });
});
