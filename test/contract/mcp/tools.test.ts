import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { POLLING } from '../../support/polling.ts';
import { ACCEPT, INITIALIZE, type Json, type McpGateway, rpc, startMcpGateway } from './mcp-gateway.ts';

let gateway: McpGateway;

beforeAll(async () => {
  gateway = await startMcpGateway();
});
afterAll(() => gateway.stop());

const asKey = (): { readonly authorization: string } => ({ authorization: `Bearer ${gateway.key}` });
const call = (name: string, args: Json = {}, id: number | string = 1): Json =>
  rpc('tools/call', { name, arguments: args }, id);
const needsKey = {
  detail: { error: 'authentication_required', message: 'Authenticate with the gateway to use the MCP endpoint.' },
};

/** The result of the only message of an answer. */
async function resultOf(body: unknown, options: Parameters<McpGateway['send']>[1] = {}): Promise<Json> {
  const answer = await gateway.send(body, options);
  const [message] = answer.body as readonly { readonly result: Json }[];
  return message?.result ?? {};
}

const namesOf = ({ tools }: Json): readonly string[] =>
  (tools as readonly { readonly name: string }[]).map(({ name }) => name);

/** Opens the stream of a session, or one without a session. */
function listen(headers: Readonly<Record<string, string>> = {}, path = '/mcp/'): Promise<Response> {
  const sent = { accept: 'text/event-stream', authorization: `Bearer ${gateway.app.adminKey}`, ...headers };
  return fetch(`${gateway.app.url}${path}`, { headers: sent });
}

async function openSession(headers: Readonly<Record<string, string>> = {}): Promise<string> {
  const { headers: sent } = await gateway.send(INITIALIZE, { headers });
  return sent.get('mcp-session-id') ?? '';
}

describe('tools of a client', () => {
  it('have the prefix of their server, and the outcome of each server', async () => {
    const result = await resultOf(rpc('tools/list'), { path: '/notes/mcp', headers: asKey() });
    expect(namesOf(result)).toEqual(['notes-echo', 'notes-fail', 'notes-big', 'notes-slow', 'notes-cut']);
    const [outcome] = Object.values((result['_meta'] as Json)['litellm.ai/server_outcomes'] as Json);
    expect(outcome).toEqual({ status: 'ok', tool_count: 5 });
  });

  it.each(['notes-echo', 'echo'])('are called by the name %s', async (name) => {
    const result = await resultOf(call(name, { text: 'hi' }), { path: '/mcp/notes', headers: asKey() });
    expect(result).toEqual({ content: [{ type: 'text', text: 'echo: hi' }], isError: false });
  });

  it('are those of the servers in a header', async () => {
    const result = await resultOf(rpc('tools/list'), { headers: { ...asKey(), 'x-mcp-servers': 'notes, unknown' } });
    expect(namesOf(result)[0]).toBe('notes-echo');
  });

  it('are called with the token of the caller', async () => {
    const headers = { authorization: 'Bearer upstream-token', 'x-litellm-api-key': `Bearer ${gateway.key}` };
    const result = await resultOf(call('echo', { text: 'hi' }), { path: '/delegated/mcp', headers });
    expect(result['isError']).toBe(false);
    const last = gateway.upstream.received.findLast(({ method }) => method === 'tools/call');
    expect(last?.headers.authorization).toBe('Bearer upstream-token');
    expect(JSON.stringify(gateway.upstream.received)).not.toContain(gateway.key);
  });

  it('of a server that authenticates its callers itself need no key', async () => {
    const options = { path: '/passed/mcp', headers: { authorization: 'Bearer upstream-token' } };
    expect(namesOf(await resultOf(rpc('tools/list'), options))).toContain('passed-echo');
    expect(await resultOf(call('echo', { text: 'hi' }), options)).toMatchObject({ isError: false });
    const last = gateway.upstream.received.findLast(({ method }) => method === 'tools/call');
    expect(last?.headers.authorization).toBe('Bearer upstream-token');
    const opened = await gateway.send(INITIALIZE, options);
    expect([opened.status, opened.headers.get('mcp-session-id')]).toEqual([200, null]);
    const several = await gateway.send(rpc('ping'), { ...options, path: '/passed,notes/mcp' });
    expect(several.status).toBe(401);
  });

  it('of such a server do not receive a key of the gateway that is blocked', async () => {
    const created = await gateway.app.call('POST', '/key/generate', { blocked: true });
    const { key } = (await created.json()) as { readonly key: string };
    await gateway.app.call('POST', '/key/block', { key });
    const headers = { authorization: `Bearer ${key}` };
    const refused = await gateway.send(rpc('tools/list'), { path: '/passed/mcp', headers });
    expect([refused.status, refused.body]).toEqual([401, { detail: 'Unauthorized' }]);
    expect(JSON.stringify(gateway.upstream.received)).not.toContain(key);
  });

  it('that fail have a result', async () => {
    const failed = await resultOf(call('fail'), { path: '/notes/mcp', headers: asKey() });
    expect(failed).toEqual({ content: [{ type: 'text', text: 'it failed' }], isError: true });
    const refused = await resultOf(call('echo'), { path: '/closed/mcp', headers: asKey() });
    const text = 'Error: User not allowed to call this tool.';
    expect(refused).toEqual({ content: [{ type: 'text', text }], isError: true });
  });

  it('of a server that the key may not use are an error of JSON-RPC', async () => {
    const { status, body } = await gateway.send(rpc('tools/list'), { path: '/closed/mcp', headers: asKey() });
    const message = 'The key is not allowed to access the requested MCP servers: closed';
    expect([status, body]).toEqual([200, [{ jsonrpc: '2.0', id: 1, error: { code: -32_600, message } }]]);
  });

  it('are those of a toolset', async () => {
    const servers = (await (await gateway.app.call('GET', '/v1/mcp/server')).json()) as readonly Json[];
    const id = servers.find((one) => one['server_name'] === 'notes')?.['server_id'];
    const toolset = { toolset_name: 'reading', tools: [{ server_id: id, tool_name: 'echo' }] };
    expect((await gateway.app.call('POST', '/v1/mcp/toolset', toolset)).status).toBe(201);
    for (const path of ['/toolset/reading/mcp', '/reading/mcp', '/mcp/reading'])
      // oxlint-disable-next-line no-await-in-loop -- one request after another
      expect(namesOf(await resultOf(rpc('tools/list'), { path }))).toEqual(['notes-echo']);
  });
});

it('a configured pass-through path precedes the route of a server', async () => {
  const { status, headers } = await gateway.send(INITIALIZE, { path: '/forwarded/mcp' });
  // The session is that of the upstream, whose ids are UUIDs.
  expect([status, headers.get('mcp-session-id')]).toEqual([200, expect.stringMatching(/^[\da-f-]{36}$/)]);
});

describe('a running call is aborted', () => {
  const slow = () => gateway.upstream.slow;

  it('when its client disconnects', async () => {
    const { cancelled } = slow();
    const client = new AbortController();
    const calling = gateway.send(call('slow'), { path: '/notes/mcp', signal: client.signal });
    await vi.waitFor(() => expect(slow().waiting).toBe(1), POLLING);
    client.abort();
    await expect(calling).rejects.toThrow(/abort/);
    await vi.waitFor(() => expect(slow()).toMatchObject({ waiting: 0, cancelled: cancelled + 1 }), POLLING);
  });

  it('when its client cancels it', async () => {
    const { cancelled } = slow();
    const headers = { 'mcp-session-id': await openSession() };
    const calling = gateway.send(call('slow', {}, 'c'), { path: '/notes/mcp', headers });
    await vi.waitFor(() => expect(slow().waiting).toBe(1), POLLING);
    const notification = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'c' } };
    expect((await gateway.send(notification, { headers })).status).toBe(202);
    expect(await calling).toMatchObject({ status: 200, body: [] });
    await vi.waitFor(() => expect(slow()).toMatchObject({ waiting: 0, cancelled: cancelled + 1 }), POLLING);
  });

  it('when an administrator ends its session', async () => {
    const { cancelled } = slow();
    const id = await openSession();
    const calling = gateway.send(call('slow'), { path: '/notes/mcp', headers: { 'mcp-session-id': id } });
    await vi.waitFor(() => expect(slow().waiting).toBe(1), POLLING);
    await gateway.app.call('DELETE', `/v1/mcp/sessions?session_id_prefix=${id}`);
    expect(await calling).toMatchObject({ status: 200, body: [] });
    await vi.waitFor(() => expect(slow()).toMatchObject({ waiting: 0, cancelled: cancelled + 1 }), POLLING);
  });
});

describe('mcpProtocol.listen', () => {
  it('200: a stream that ends with its session; the next stream is possible', async () => {
    const id = await openSession();
    const stream = await listen({ 'mcp-session-id': id });
    expect([stream.status, stream.headers.get('content-type'), stream.headers.get('mcp-session-id')]).toEqual([
      200,
      'text/event-stream',
      id,
    ]);
    await gateway.send(undefined, { method: 'DELETE', headers: { 'mcp-session-id': id } });
    expect(await stream.text()).toBe('');
  });

  it('401: no key', async () => {
    const answer = await fetch(`${gateway.app.url}/mcp`, { headers: { accept: ACCEPT } });
    expect([answer.status, await answer.json()]).toEqual([401, needsKey]);
  });

  it('403: a server that the key may not use', async () => {
    const answer = await listen(asKey(), '/closed/mcp');
    const error = 'The key is not allowed to access the requested MCP servers: closed';
    expect([answer.status, await answer.json()]).toEqual([403, { detail: { error } }]);
  });

  it('404: an unknown server', async () => {
    const answer = await listen({}, '/nope/mcp');
    const detail = "MCP server, toolset, or access group 'nope' not found";
    expect([answer.status, await answer.json()]).toEqual([404, { detail }]);
  });

  it('406: a client that accepts no events', async () => {
    const answer = await listen({ accept: 'application/json' });
    const message = 'Not Acceptable: Client must accept text/event-stream';
    const body = { jsonrpc: '2.0', id: null, error: { code: -32_600, message } };
    expect([answer.status, await answer.json()]).toEqual([406, body]);
  });

  it('409: a second stream of a session, until the first is closed', async () => {
    const id = await openSession();
    const first = await listen({ 'mcp-session-id': id });
    const second = await listen({ 'mcp-session-id': id });
    const detail = 'Conflict: Only one SSE stream is allowed per session';
    expect([second.status, await second.json()]).toEqual([409, { detail }]);
    await first.body?.cancel();
    await vi.waitFor(async () => {
      const third = await listen({ 'mcp-session-id': id });
      await third.body?.cancel();
      expect(third.status).toBe(200);
    }, POLLING);
  });
});

describe('sessions of a key', () => {
  it('mcpProtocol.send 429: all of them are in use', async () => {
    const streams: Response[] = [];
    for (let count = 0; count < 100; count += 1) {
      // oxlint-disable-next-line no-await-in-loop -- one session after another
      const id = await openSession(asKey());
      // oxlint-disable-next-line no-await-in-loop -- one stream after another
      streams.push(await listen({ ...asKey(), 'mcp-session-id': id }));
    }
    const { status, body } = await gateway.send(INITIALIZE, { headers: asKey() });
    const details = 'At most 100 sessions may be open. End one with DELETE.';
    expect([status, body]).toEqual([429, { error: 'Too Many Requests', details }]);
    await Promise.all(streams.map(async (stream) => await stream.body?.cancel()));
  });
});

describe('the shutdown', () => {
  it('ends open streams, and calls that run', async () => {
    const closing = await startMcpGateway();
    const headers = { accept: ACCEPT, authorization: `Bearer ${closing.app.adminKey}` };
    const stream = await fetch(`${closing.app.url}/mcp`, { headers });
    const calling = closing.send(call('slow'), { path: '/notes/mcp' });
    await vi.waitFor(() => expect(closing.upstream.slow.waiting).toBe(1), POLLING);
    const stopping = closing.app.stop();
    expect(await stream.text()).toBe('');
    const error = { code: -32_603, message: 'The process is shutting down.' };
    expect(await calling).toMatchObject({ status: 200, body: [{ jsonrpc: '2.0', id: 1, error }] });
    await stopping;
    await closing.upstream.stop();
  });
});
