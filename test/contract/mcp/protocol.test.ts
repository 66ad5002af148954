import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { INITIALIZE, type McpGateway, rpc, startMcpGateway, wrongKey } from './mcp-gateway.ts';

let gateway: McpGateway;

beforeAll(async () => {
  gateway = await startMcpGateway();
});
afterAll(() => gateway.stop());

const base = (): string => gateway.app.url;
const asKey = (): { readonly authorization: string } => ({ authorization: `Bearer ${gateway.key}` });
const document = (path: string): string => `resource_metadata="${base()}/.well-known/oauth-protected-resource${path}"`;
const needsKey = {
  detail: {
    error: 'authentication_required',
    message: 'Authenticate with the gateway to use the MCP endpoint.',
  },
};
const rpcError = (code: number, message: string, id: unknown = null) => ({
  jsonrpc: '2.0',
  id,
  error: { code, message },
});

async function openSession(headers: Readonly<Record<string, string>> = {}): Promise<string> {
  const { headers: sent } = await gateway.send(INITIALIZE, { headers });
  return sent.get('mcp-session-id') ?? '';
}

const CAPABILITIES = {
  prompts: { listChanged: false },
  resources: { subscribe: false, listChanged: false },
  tools: { listChanged: false },
};

describe('mcpProtocol.send', () => {
  it('200: initialize opens a session, and negotiates the version', async () => {
    const { status, body, headers } = await gateway.send(INITIALIZE);
    const serverInfo = { name: 'litellm-mcp-server', version: '1.0.0' };
    expect([status, body]).toEqual([
      200,
      [{ jsonrpc: '2.0', id: 1, result: { protocolVersion: '2025-06-18', capabilities: CAPABILITIES, serverInfo } }],
    ]);
    expect(headers.get('content-type')).toBe('text/event-stream');
    expect(headers.get('cache-control')).toBe('no-cache, no-transform');
    expect(headers.get('x-accel-buffering')).toBe('no');
    expect(headers.get('mcp-session-id')).toMatch(/^[\w-]{32}$/);
  });

  it('200: initialize on the route of a server has its name and instructions, and the newest version', async () => {
    const params = { protocolVersion: '1999-01-01', capabilities: {}, clientInfo: { name: 't', version: '1' } };
    const { body } = await gateway.send(rpc('initialize', params), { path: '/notes/mcp' });
    const result = {
      protocolVersion: '2025-11-25',
      capabilities: CAPABILITIES,
      serverInfo: { name: 'notes', version: '1.0.0' },
      instructions: 'Read before you write.',
    };
    expect(body).toEqual([{ jsonrpc: '2.0', id: 1, result }]);
  });

  it.each([
    ['ping', {}],
    ['prompts/list', { prompts: [] }],
    ['resources/list', { resources: [] }],
    ['resources/templates/list', { resourceTemplates: [] }],
  ])('200: %s without a session', async (method, result) => {
    const { status, body, headers } = await gateway.send(rpc(method, undefined, 'a'));
    expect([status, body]).toEqual([200, [{ jsonrpc: '2.0', id: 'a', result }]]);
    expect(headers.get('mcp-session-id')).toBeNull();
  });

  it.each([
    ['logging/setLevel', { level: 'info' }, -32_601, 'Method not found'],
    ['initialize', {}, -32_602, 'Invalid request parameters'],
    ['tools/call', {}, -32_602, 'Invalid request parameters'],
    ['tools/call', { name: 'x', arguments: [] }, -32_602, 'Invalid request parameters'],
    ['prompts/get', { name: 'p' }, -32_602, 'Unknown prompt: p'],
    ['resources/read', { uri: 'file:///x' }, -32_002, 'Resource not found: file:///x'],
    ['resources/read', {}, -32_602, 'Invalid request parameters'],
  ])('200: %s with %j is an error of JSON-RPC', async (method, params, code, message) => {
    const { status, body } = await gateway.send(rpc(method, params));
    expect([status, body]).toEqual([200, [rpcError(code, message, 1)]]);
  });

  it('200: a batch is answered message by message', async () => {
    const batch = [
      rpc('ping', {}, 1),
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { id: 2 },
      rpc('x', {}, 3),
    ];
    const { status, body } = await gateway.send(batch);
    expect([status, body]).toEqual([
      200,
      [
        { jsonrpc: '2.0', id: 1, result: {} },
        rpcError(-32_600, 'Invalid Request'),
        rpcError(-32_601, 'Method not found', 3),
      ],
    ]);
  });

  it('200: requests of a session repeat its id; an unknown session is served without one', async () => {
    const id = await openSession();
    const known = await gateway.send(rpc('ping'), { path: '/mcp/', headers: { 'mcp-session-id': id } });
    const unknown = await gateway.send(rpc('ping'), { headers: { 'mcp-session-id': 'unknown' } });
    expect([known.status, known.headers.get('mcp-session-id')]).toEqual([200, id]);
    expect([unknown.status, unknown.headers.get('mcp-session-id')]).toEqual([200, null]);
  });

  it.each([
    ['authorization', 'Bearer '],
    ['x-litellm-api-key', 'Bearer '],
    ['x-litellm-api-key', ''],
  ])('200: a key in %s after %j', async (name, scheme) => {
    const headers = { authorization: null, [name]: `${scheme}${gateway.key}` };
    const { status, body } = await gateway.send(rpc('ping'), { headers });
    expect([status, body]).toEqual([200, [{ jsonrpc: '2.0', id: 1, result: {} }]]);
  });

  it.each([
    ['notifications', { jsonrpc: '2.0', method: 'notifications/initialized' }],
    ['an answer', { jsonrpc: '2.0', id: 1, result: {} }],
    ['a batch of notifications', [{ jsonrpc: '2.0', method: 'notifications/initialized' }]],
  ])('202: %s', async (_case, body) => {
    const { status, body: answer } = await gateway.send(body);
    expect([status, answer]).toEqual([202, null]);
  });

  it('400: a version of the protocol that is not served', async () => {
    const { status, body } = await gateway.send(rpc('ping'), { headers: { 'mcp-protocol-version': '2020-01-01' } });
    const message =
      'Unsupported MCP-Protocol-Version 2020-01-01; supported: 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25';
    expect([status, body]).toEqual([400, rpcError(-32_600, message)]);
  });

  it.each([
    ['invalid JSON', '{', -32_700, 'The request body is not valid JSON.'],
    ['no body', undefined, -32_700, 'The request body is not valid JSON.'],
    ['no message', '{}', -32_600, 'The body is not a JSON-RPC 2.0 message.'],
    ['an empty batch', [], -32_600, 'A batch has at least one message.'],
    ['initialize in a batch', [INITIALIZE], -32_600, 'The request initialize is sent alone.'],
  ])('400: %s', async (_case, sent, code, message) => {
    const { status, body } = await gateway.send(sent);
    expect([status, body]).toEqual([400, rpcError(code, message)]);
  });

  it('400: a batch in a version without batches', async () => {
    const headers = { 'mcp-protocol-version': '2025-06-18' };
    const { status, body } = await gateway.send([rpc('ping')], { headers });
    expect([status, body]).toEqual([400, rpcError(-32_600, 'Version 2025-06-18 of the protocol has no batches.')]);
  });

  it('400: more than 16 names of servers', async () => {
    const names = Array.from({ length: 17 }, (_, index) => `s${index}`).join(',');
    const { status, body } = await gateway.send(rpc('tools/list'), { headers: { 'x-mcp-servers': names } });
    expect([status, body]).toEqual([400, { detail: { error: 'A request may name at most 16 MCP servers.' } }]);
  });

  it.each([
    ['/mcp', '/mcp'],
    ['/mcp/', '/mcp'],
    ['/notes/mcp', '/notes/mcp'],
    ['/mcp/notes', '/mcp/notes'],
    ['/managed/mcp', '/managed/mcp'],
    ['/unknown/mcp', '/unknown/mcp'],
    ['/toolset/x/mcp', '/mcp'],
  ])('401: no key at %s', async (path, resource) => {
    const { status, body, headers } = await gateway.send(rpc('ping'), { path, headers: { authorization: null } });
    expect([status, body, headers.get('www-authenticate')]).toEqual([401, needsKey, `Bearer ${document(resource)}`]);
  });

  it('401: a wrong key in Authorization', async () => {
    const { status, body, headers } = await gateway.send(rpc('ping'), {
      headers: { authorization: `Bearer ${wrongKey()}` },
    });
    const challenge = `Bearer error="invalid_token", ${document('/mcp')}`;
    expect([status, body, headers.get('www-authenticate')]).toEqual([401, needsKey, challenge]);
  });

  it.each(['/mcp', '/passed/mcp'])('401: a wrong key in x-litellm-api-key at %s', async (path) => {
    const headers = { authorization: null, 'x-litellm-api-key': `Bearer ${wrongKey()}` };
    const answer = await gateway.send(rpc('ping'), { path, headers });
    const detail = expect.stringMatching(/^Authentication Error, Invalid proxy server token passed/) as string;
    expect([answer.status, answer.body]).toEqual([401, { detail }]);
    expect(answer.headers.get('www-authenticate')).toBeNull();
  });

  it('401: a server that takes tokens of its callers, without a key', async () => {
    const path = '/delegated/mcp';
    const nothing = await gateway.send(rpc('ping'), { path, headers: { authorization: null } });
    const token = await gateway.send(rpc('ping'), { path, headers: { authorization: 'Bearer upstream-token' } });
    const detail = expect.stringContaining('Authentication Error, Malformed API Key passed in.') as string;
    expect([nothing.status, nothing.body]).toEqual([401, { detail }]);
    expect([token.status, token.body]).toEqual([401, { detail }]);
    expect(token.headers.get('www-authenticate')).toBeNull();
  });

  it('401: a server that takes tokens of its callers, without a token', async () => {
    const { status, body, headers } = await gateway.send(rpc('ping'), { path: '/delegated/mcp', headers: asKey() });
    const challenge = `Bearer ${document('/delegated/mcp')}`;
    expect([status, body, headers.get('www-authenticate')]).toEqual([401, { detail: 'Unauthorized' }, challenge]);
  });

  it('401: a server with stored tokens of users, without a stored token', async () => {
    const { status, body, headers } = await gateway.send(rpc('ping'), { path: '/managed/mcp', headers: asKey() });
    const challenge = `Bearer authorization_uri="${base()}/.well-known/oauth-authorization-server/managed"`;
    expect([status, body, headers.get('www-authenticate')]).toEqual([401, { detail: 'Unauthorized' }, challenge]);
  });

  it('403: initialize by a key that may use none of the servers', async () => {
    const { status, body } = await gateway.send(INITIALIZE, { path: '/closed/mcp', headers: asKey() });
    const error = 'The key is not allowed to access the requested MCP servers: closed';
    expect([status, body]).toEqual([403, { detail: { error } }]);
  });

  it('403: the session of another caller', async () => {
    const headers = { ...asKey(), 'mcp-session-id': await openSession() };
    const { status, body } = await gateway.send(rpc('ping'), { headers });
    const details = 'mcp-session-id is bound to a different caller.';
    expect([status, body]).toEqual([403, { error: 'Forbidden', details }]);
  });

  it('403: a page of another origin', async () => {
    const { status, body } = await gateway.send(rpc('ping'), { headers: { origin: 'https://evil.example' } });
    expect([status, body]).toEqual([403, { detail: 'Invalid Origin header' }]);
    expect((await gateway.send(rpc('ping'), { headers: { origin: base() } })).status).toBe(200);
  });

  it.each(['/nope/mcp', '/mcp/nope', '/toolset/nope/mcp'])('404: an unknown server at %s', async (path) => {
    const { status, body } = await gateway.send(rpc('tools/list'), { path });
    expect([status, body]).toEqual([404, { detail: "MCP server, toolset, or access group 'nope' not found" }]);
  });

  it('404: a session that an administrator has ended', async () => {
    const id = await openSession();
    await gateway.app.call('DELETE', `/v1/mcp/sessions?session_id_prefix=${id.slice(0, 12)}`);
    const details = 'mcp-session-id was terminated by an administrator. Send initialize to start a new session.';
    for (const message of [rpc('ping'), INITIALIZE]) {
      // oxlint-disable-next-line no-await-in-loop -- one request after another
      const { status, body } = await gateway.send(message, { headers: { 'mcp-session-id': id } });
      expect([status, body]).toEqual([404, { error: 'Not Found', details }]);
    }
    expect((await gateway.send(undefined, { method: 'DELETE', headers: { 'mcp-session-id': id } })).status).toBe(200);
  });

  it.each(['application/json', 'text/event-stream', 'text/*'])('406: a client that accepts only %s', async (accept) => {
    const { status, body } = await gateway.send(rpc('ping'), { headers: { accept } });
    const message = 'Not Acceptable: Client must accept application/json and text/event-stream';
    expect([status, body]).toEqual([406, rpcError(-32_600, message)]);
  });

  it('413: a body above 16 MB', async () => {
    const { status, body } = await gateway.send(`"${'x'.repeat(16 * 1024 * 1024)}"`);
    const message = 'Request size is too large. Request size is 16 MB. Max size is 16 MB';
    expect([status, body]).toEqual([413, rpcError(-32_600, message)]);
  });

  it('415: a body that is no JSON', async () => {
    const { status, body } = await gateway.send(rpc('ping'), { headers: { 'content-type': 'text/plain' } });
    const message = 'Unsupported Media Type: Content-Type must be application/json';
    expect([status, body]).toEqual([415, rpcError(-32_600, message)]);
  });
});

describe('mcpProtocol.end', () => {
  const end = (headers: Readonly<Record<string, string | null>>) =>
    gateway.send(undefined, { method: 'DELETE', headers: { 'content-type': null, ...headers } });

  it('200: the session is ended, also an unknown one', async () => {
    const id = await openSession();
    for (const session of [id, id, 'unknown']) {
      // oxlint-disable-next-line no-await-in-loop -- one request after another
      const { status, body } = await end({ 'mcp-session-id': session });
      expect([status, body]).toEqual([200, { message: 'Session terminated successfully' }]);
    }
    expect(
      (await gateway.send(rpc('ping'), { headers: { 'mcp-session-id': id } })).headers.get('mcp-session-id'),
    ).toBeNull();
  });

  it('400: no session', async () => {
    const { status, body } = await end({});
    expect([status, body]).toEqual([400, rpcError(-32_600, 'Bad Request: Missing session ID')]);
  });

  it('401: no key', async () => {
    const { status, body } = await end({ authorization: null });
    expect([status, body]).toEqual([401, needsKey]);
  });

  it('403: the session of another caller', async () => {
    const { status, body } = await end({ ...asKey(), 'mcp-session-id': await openSession() });
    const details = 'mcp-session-id is bound to a different caller.';
    expect([status, body]).toEqual([403, { error: 'Forbidden', details }]);
  });

  it('404: an unknown server', async () => {
    const { status, body } = await gateway.send(undefined, { method: 'DELETE', path: '/nope/mcp' });
    expect([status, body]).toEqual([404, { detail: "MCP server, toolset, or access group 'nope' not found" }]);
  });
});
