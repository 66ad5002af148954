import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { McpServer, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';
import { z } from 'zod';

/** A message that the upstream received. */
interface ReceivedMessage {
  readonly httpMethod: string;
  readonly headers: IncomingMessage['headers'];
  /** Method of the JSON-RPC message; null without a body. */
  readonly method: string | null;
}

/** MCP server over streamable HTTP, built from the official library. */
export interface McpTestUpstream {
  readonly url: string;
  /** Messages in the order of their arrival. */
  readonly received: readonly ReceivedMessage[];
  /** Number of open sessions. */
  sessionCount(): number;
  /** Ends all sessions without telling the client, as a restart does. */
  dropSessions(): void;
  /** Calls of the tool `slow` that wait, and those that were cancelled. */
  readonly slow: { readonly waiting: number; readonly cancelled: number };
  /** Lets the waiting calls of the tool `slow` answer. */
  release(): void;
  stop(): Promise<void>;
}

interface UpstreamOptions {
  /** Value of `Authorization` that requests must have; none when absent. */
  readonly authorization?: string;
  /** Answers with JSON instead of events. */
  readonly json?: boolean;
}

type SlowCalls = { waiting: number; cancelled: number; released: PromiseWithResolvers<void> };

/** Tools: `echo`, `fail`, `slow`, `big` (more than 16 MiB) and `cut` (the stream ends without a response). */
function aServer(slow: SlowCalls, cut: () => void): McpServer {
  const server = new McpServer({ name: 'test-upstream', version: '1.0.0' });
  server.registerTool(
    'echo',
    { description: 'Repeats a text.', inputSchema: z.object({ text: z.string() }) },
    ({ text }) => ({ content: [{ type: 'text', text: `echo: ${text}` }] }),
  );
  server.registerTool('fail', { description: 'Fails.' }, () => ({
    content: [{ type: 'text', text: 'it failed' }],
    isError: true,
  }));
  server.registerTool('big', {}, () => ({ content: [{ type: 'text', text: 'x'.repeat(17 * 1024 * 1024) }] }));
  server.registerTool('slow', {}, async (context) => {
    slow.waiting += 1;
    const { promise: cancelled, resolve } = Promise.withResolvers<void>();
    context.mcpReq.signal.addEventListener('abort', () => resolve(), { once: true });
    await Promise.race([slow.released.promise, cancelled]);
    slow.waiting -= 1;
    if (context.mcpReq.signal.aborted) slow.cancelled += 1;
    return { content: [{ type: 'text', text: 'done' }] };
  });
  server.registerTool('cut', {}, async () => {
    cut();
    return await new Promise<never>(() => undefined);
  });
  return server;
}

export async function startMcpUpstream({
  authorization,
  json = false,
}: UpstreamOptions = {}): Promise<McpTestUpstream> {
  const received: ReceivedMessage[] = [];
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();
  const slow: SlowCalls = { waiting: 0, cancelled: 0, released: Promise.withResolvers<void>() };
  const open = new Set<ServerResponse>();

  async function newSession(): Promise<WebStandardStreamableHTTPServerTransport> {
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      enableJsonResponse: json,
      onsessioninitialized: (id) => {
        sessions.set(id, transport);
      },
      onsessionclosed: (id) => {
        sessions.delete(id);
      },
    });
    await aServer(slow, () => {
      for (const response of open) response.destroy();
    }).connect(transport);
    return transport;
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = Buffer.concat(await request.toArray());
    const message: unknown = body.length === 0 ? null : JSON.parse(body.toString('utf8'));
    const method = typeof message === 'object' && message !== null && 'method' in message ? message.method : null;
    received.push({
      httpMethod: request.method ?? '',
      headers: request.headers,
      method: typeof method === 'string' ? method : null,
    });
    if (authorization !== undefined && request.headers.authorization !== authorization) {
      response.writeHead(401, { 'www-authenticate': 'Bearer realm="upstream"' }).end('{}');
      return;
    }
    const id = request.headers['mcp-session-id'];
    const session = typeof id === 'string' ? sessions.get(id) : await newSession();
    if (session === undefined) {
      response.writeHead(404).end('{}');
      return;
    }
    const answer = await session.handleRequest(
      new Request(`http://${request.headers.host}${request.url}`, {
        method: request.method ?? 'GET',
        headers: Object.entries(request.headers).map(([name, value]): [string, string] => [name, String(value)]),
        ...(body.length === 0 ? {} : { body }),
      }),
    );
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    response.flushHeaders();
    if (answer.body === null) response.end();
    else await pipeline(Readable.fromWeb(answer.body as Parameters<typeof Readable.fromWeb>[0]), response);
  }

  const server = createServer((request, response) => {
    open.add(response);
    response.on('close', () => open.delete(response));
    serve(request, response).catch(() => response.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    received,
    sessionCount: () => sessions.size,
    dropSessions: () => sessions.clear(),
    slow,
    release: () => slow.released.resolve(),
    async stop() {
      slow.released.resolve();
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
