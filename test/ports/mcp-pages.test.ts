import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { UpstreamFailed } from '../../src/domain/errors.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { createHttpClient } from '../../src/runtime/http-client/client.ts';
import { createMcpUpstream } from '../../src/runtime/mcp/upstream.ts';
import { anMcpServer } from '../support/mcp-servers.ts';
import { aScheduler } from '../support/scheduler.ts';

interface RpcRequest {
  readonly id?: number;
  readonly method: string;
  readonly params?: { readonly cursor?: string; readonly protocolVersion?: string };
}

/** Number of pages, of tools on each page, and of characters of each description. */
const paged = { pages: 3, tools: 1, characters: 1 };
let asked = 0;

function resultOf({ method, params }: RpcRequest): unknown {
  if (method === 'initialize') {
    const protocolVersion = params?.protocolVersion;
    return { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'pages', version: '1' } };
  }
  asked += 1;
  const page = Number(params?.cursor ?? 0);
  const description = 'x'.repeat(paged.characters);
  const inputSchema = { type: 'object' };
  const tools = Array.from({ length: paged.tools }, (_, at) => ({
    name: `tool${page * paged.tools + at}`,
    description,
    inputSchema,
  }));
  return { tools, ...(page + 1 < paged.pages ? { nextCursor: String(page + 1) } : {}) };
}

const server = createServer((request, response) => {
  void text(request).then((body) => {
    const message = JSON.parse(body) as RpcRequest;
    if (message.id === undefined) return response.writeHead(202).end();
    response.writeHead(200, { 'content-type': 'application/json' });
    return response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result: resultOf(message) }));
  });
});
const http = createHttpClient();
const upstream = createMcpUpstream({ http, clock: systemClock, scheduler: aScheduler(), servers: () => [] });
const listed = () => {
  const { port } = server.address() as AddressInfo;
  const one = anMcpServer({ id: 'pages', name: 'pages', url: `http://127.0.0.1:${port}/mcp` });
  return upstream.listTools(one, { headers: {}, owner: 'k1', signal: new AbortController().signal });
};

beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
});
afterAll(async () => {
  await upstream.close();
  await http.close();
  server.close();
});

it('a list has the tools of all pages', async () => {
  expect((await listed()).map(({ name }) => name)).toEqual(['tool0', 'tool1', 'tool2']);
});

it('pages that have more than the limit of a message together are refused', async () => {
  Object.assign(paged, { pages: 60, tools: 1, characters: 6 * 1024 * 1024 });
  asked = 0;
  await expect(listed()).rejects.toThrow(UpstreamFailed);
  expect(asked).toBe(3);
});

it('a list has at most 5,000 tools, also on one page', async () => {
  Object.assign(paged, { pages: 1, tools: 5_000, characters: 1 });
  expect(await listed()).toHaveLength(5_000);
  Object.assign(paged, { tools: 5_001 });
  await expect(listed()).rejects.toThrow('lists more than 5000 tools');
});
