import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { MCPMock } from '@copilotkit/aimock';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Unavailable, UpstreamFailed } from '../../src/domain/errors.ts';
import type { McpServer } from '../../src/domain/mcp-servers/mcp-server.ts';
import type { McpToolResult } from '../../src/domain/mcp/mcp-upstream.ts';
import { Secret } from '../../src/domain/secret.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { createHttpClient } from '../../src/runtime/http-client/client.ts';
import { createMcpUpstream } from '../../src/runtime/mcp/upstream.ts';
import { anMcpServer } from '../support/mcp-servers.ts';
import { type McpTestUpstream, startMcpUpstream } from '../support/mcp-upstream.ts';
import { POLLING } from '../support/polling.ts';
import { aScheduler } from '../support/scheduler.ts';

const NEVER = new AbortController().signal;
const CALL = { headers: {}, owner: 'k1', signal: NEVER };

const http = createHttpClient();
const scheduler = aScheduler();
const upstream = createMcpUpstream({ http, clock: systemClock, scheduler, servers: () => [] });
afterAll(async () => {
  await upstream.close();
  await http.close();
});

const textOf = ({ content }: McpToolResult): unknown => content[0]?.['text'];

async function call(server: McpServer, name: string, args: Record<string, unknown> = {}, options = CALL) {
  return await upstream.callTool(server, { name, args }, options);
}

describe('over streamable HTTP', () => {
  let remote: McpTestUpstream;
  let server: McpServer;
  beforeAll(async () => {
    remote = await startMcpUpstream();
    server = anMcpServer({ id: 'http', name: 'remote', url: remote.url });
  });
  afterAll(() => remote.stop());

  it('lists tools as the server describes them', async () => {
    const tools = await upstream.listTools(server, CALL);
    expect(tools.map(({ name }) => name)).toEqual(['echo', 'fail', 'big', 'slow', 'cut']);
    expect(tools[0]).toMatchObject({
      name: 'echo',
      description: 'Repeats a text.',
      inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    });
  });

  it('calls tools over one session, and opens no stream', async () => {
    expect(await call(server, 'echo', { text: 'hi' })).toMatchObject({ content: [{ type: 'text', text: 'echo: hi' }] });
    await Promise.all([call(server, 'echo', { text: '1' }), call(server, 'echo', { text: '2' })]);
    expect(remote.sessionCount()).toBe(1);
    expect(remote.received.filter(({ httpMethod }) => httpMethod === 'GET')).toEqual([]);
    expect(remote.received.filter(({ method }) => method === 'initialize')).toHaveLength(1);
  });

  it('returns a failed tool as a result', async () => {
    expect(await call(server, 'fail')).toMatchObject({ isError: true, content: [{ text: 'it failed' }] });
  });

  it('opens a new session when the server has dropped it', async () => {
    remote.dropSessions();
    expect(textOf(await call(server, 'echo', { text: 'again' }))).toBe('echo: again');
    expect(remote.sessionCount()).toBe(1);
  });

  it('ends the request at the server when the call is aborted', async () => {
    const controller = new AbortController();
    const calling = call(server, 'slow', {}, { ...CALL, signal: controller.signal });
    await expect.poll(() => remote.slow.waiting, POLLING).toBe(1);
    controller.abort(new Error('gone'));
    await expect(calling).rejects.toThrow('gone');
    await expect.poll(() => remote.slow, POLLING).toMatchObject({ waiting: 0, cancelled: 1 });
    await expect.poll(() => http.connections().active, POLLING).toBe(0);
  });

  it('fails when the stream ends without a response, and when an answer is too large', async () => {
    await expect(call(server, 'cut')).rejects.toMatchObject({ code: 'UPSTREAM_FAILED', upstreamStatus: null });
    await expect(call(server, 'big')).rejects.toThrow('The answer of the MCP server has more than 16777216 bytes.');
    expect(textOf(await call(server, 'echo', { text: 'after' }))).toBe('echo: after');
  });

  it('shares a connection with own headers only with the same caller', async () => {
    const before = remote.sessionCount();
    const asOwner = (owner: string, value: string) =>
      call(server, 'echo', { text: owner }, { owner, headers: { 'x-tenant': value }, signal: NEVER });
    await asOwner('k1', 'a');
    await asOwner('k1', 'a');
    await asOwner('k2', 'a');
    await asOwner('k1', 'b');
    expect(remote.sessionCount()).toBe(before + 3);
    expect(remote.received.at(-1)?.headers['x-tenant']).toBe('b');
  });

  it('ends the sessions of an evicted server', async () => {
    await upstream.evict('http');
    expect(remote.sessionCount()).toBe(0);
  });
});

describe('credentials', () => {
  it('are those of the server, in place of headers of the call', async () => {
    const remote = await startMcpUpstream({ authorization: 'Bearer right', json: true });
    const auth = { kind: 'header', name: 'Authorization', value: new Secret('Bearer right') } as const;
    const staticHeaders = new Map([['X-Static', new Secret('s')]]);
    const server = anMcpServer({ id: 'auth', url: remote.url, auth, staticHeaders });
    const headers = { authorization: 'Bearer wrong', 'x-static': 'no', 'x-own': 'yes' };
    expect(textOf(await call(server, 'echo', { text: 'a' }, { ...CALL, headers }))).toBe('echo: a');
    expect(remote.received.at(-1)?.headers).toMatchObject({ 'x-static': 's', 'x-own': 'yes' });
    await upstream.evict('auth');
    await remote.stop();
  });

  it('that the server refuses are reported with its status and challenge', async () => {
    const remote = await startMcpUpstream({ authorization: 'Bearer right' });
    const server = anMcpServer({ id: 'refused', url: remote.url });
    await expect(upstream.listTools(server, CALL)).rejects.toMatchObject({
      message: 'upstream authentication required (HTTP 401)',
      upstreamStatus: 401,
      upstreamHeaders: { 'www-authenticate': 'Bearer realm="upstream"' },
    });
    await remote.stop();
  });

  it('of an unsupported kind fail before a request', async () => {
    const server = anMcpServer({ id: 'kind', auth: { kind: 'unsupported', authType: 'aws_sigv4' }, name: 'x' });
    await expect(upstream.listTools(server, CALL)).rejects.toThrow(
      "The MCP server x cannot be called: the auth_type 'aws_sigv4' is not supported.",
    );
  });
});

describe('a server that does not answer', () => {
  it.each([
    ['over streamable HTTP', { transport: 'http', url: 'http://127.0.0.1:9/mcp' }],
    ['over HTTP with SSE', { transport: 'sse', url: 'http://127.0.0.1:9/sse' }],
    ['as a program that does not exist', { transport: 'stdio', url: null, command: 'lensgate-no-such-program' }],
    ['without an address', { transport: 'sse', url: null }],
  ] as const)('%s is unreachable', async (_title, members) => {
    const failure: unknown = await upstream
      .listTools(anMcpServer({ id: 'down', ...members }), CALL)
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(UpstreamFailed);
    expect(failure).toMatchObject({ upstreamStatus: null, upstreamCode: null, timedOut: false });
  });
});

describe('a server that accepts connections and never answers', () => {
  it.each(['http', 'sse'] as const)('over %s does not delay the end of the process', async (transport) => {
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const arrived = once(silent, 'connection');
    const own = createMcpUpstream({ http, clock: systemClock, scheduler, servers: () => [] });
    const { port } = silent.address() as AddressInfo;
    const server = anMcpServer({ id: 'silent', transport, url: `http://127.0.0.1:${port}/mcp` });
    const listing = own.listTools(server, CALL).catch((error: unknown) => error);
    const [socket] = (await arrived) as [Socket];
    const closed = once(socket.resume(), 'close');
    await own.close();
    expect(await listing).toBeInstanceOf(Unavailable);
    await closed;
    silent.close();
  });
});

describe('as a child process', () => {
  const server = anMcpServer({
    id: 'child',
    transport: 'stdio',
    url: null,
    command: process.execPath,
    args: [new URL('../support/stdio-mcp-server.ts', import.meta.url).pathname],
    env: { GIVEN: 'value' },
  });
  const isAlive = (pid: number): boolean => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  };

  it('has only the configured variables, restarts after its exit, and ends when it is evicted', async () => {
    vi.stubEnv('LENSGATE_SECRET_OF_TEST', 'secret');
    expect(textOf(await call(server, 'env', { name: 'GIVEN' }))).toBe('value');
    expect(textOf(await call(server, 'env', { name: 'LENSGATE_SECRET_OF_TEST' }))).toBe('(unset)');
    const first = Number(textOf(await call(server, 'pid')));
    await call(server, 'exit');
    await expect.poll(() => isAlive(first), POLLING).toBe(false);
    const second = Number(textOf(await call(server, 'pid')));
    expect(second).not.toBe(first);
    // Headers do not reach a program: other ones start no further process.
    const withHeaders = { headers: { 'x-own': '1' }, owner: 'k2', signal: NEVER };
    expect(Number(textOf(await call(server, 'pid', {}, withHeaders)))).toBe(second);
    await upstream.evict('child');
    expect(isAlive(second)).toBe(false);
    vi.unstubAllEnvs();
  });
});

describe('a mock that another project wrote', () => {
  it('lists and calls tools', async () => {
    const mock = new MCPMock();
    mock.addTool({ name: 'sum', description: 'Adds.', inputSchema: { type: 'object' } });
    mock.onToolCall('sum', () => '3');
    const server = anMcpServer({ id: 'mock', url: await mock.start() });
    expect(await upstream.listTools(server, CALL)).toMatchObject([{ name: 'sum', description: 'Adds.' }]);
    expect(await call(server, 'sum', { a: 1, b: 2 })).toMatchObject({ content: [{ type: 'text', text: '3' }] });
    await expect(call(server, 'nope')).rejects.toMatchObject({ code: 'UPSTREAM_FAILED', upstreamStatus: null });
    await upstream.evict('mock');
    await mock.stop();
  });
});
