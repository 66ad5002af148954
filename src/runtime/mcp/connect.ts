import type { Client } from '@modelcontextprotocol/client';
import { UpstreamFailed } from '../../domain/errors.ts';
import type { HttpClient } from '../../domain/http.ts';
import type { McpServer } from '../../domain/mcp-servers/mcp-server.ts';
import { unsupportedAuth } from '../../domain/mcp-servers/mcp-server-of.ts';
import { labelOf } from '../../domain/mcp/tool-names.ts';
import { VERSION } from '../../domain/version.ts';
import type { ClientTokens } from './client-tokens.ts';
import { untilAborted } from '../../domain/until-aborted.ts';
import { timeoutFailure } from './failures.ts';
import { createMcpFetch, type McpFetch } from './mcp-fetch.ts';
import { MAX_MESSAGE_BYTES } from './bounded-body.ts';

/** Deadline of the handshake, in ms. */
const HANDSHAKE_MS = 30_000;
/** Deadline of the message that ends a session, in ms. */
const GOODBYE_MS = 2_000;

/** An open connection to a server. */
export interface McpConnection {
  readonly client: Client;
  /** Ends the session at the server, and the child process. Never throws. */
  close(): Promise<void>;
}

interface ConnectOptions {
  readonly http: Pick<HttpClient, 'send'>;
  readonly tokens: ClientTokens;
  /** Headers of this connection only, with lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** Called when the server ends the connection. It may be called repeatedly. */
  readonly ended: () => void;
  /** Aborts the handshake. */
  readonly signal: AbortSignal;
}

/**
 * Connects to a server and initializes the session. The library is loaded here, at the first use. Throws errors of the
 * transport.
 */
export async function connectTo(server: McpServer, options: ConnectOptions): Promise<McpConnection> {
  if (server.auth.kind === 'unsupported')
    throw new UpstreamFailed(
      `The MCP server ${labelOf(server)} cannot be called: ${unsupportedAuth(server.auth.authType)}.`,
      { provider: 'mcp', upstreamStatus: null, upstreamCode: 'unsupported_auth_type' },
    );
  const { Client: McpClient } = await import('@modelcontextprotocol/client');
  const { transport, goodbye } = await transportTo(server, options);
  const client = new McpClient({ name: 'lensgate', version: VERSION }, { capabilities: {} });
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the client is no event target
  client.onclose = options.ended;
  // The deadline of the library does not include the wait for the stream of the transport `sse`.
  const late = AbortSignal.timeout(HANDSHAKE_MS);
  const stop = AbortSignal.any([options.signal, late]);
  try {
    await untilAborted(client.connect(transport, { timeout: HANDSHAKE_MS, signal: stop }), stop);
  } catch (error) {
    await transport.close().catch(() => undefined);
    throw late.aborted ? timeoutFailure(labelOf(server), error) : error;
  }
  return {
    client,
    async close() {
      await goodbye();
      await client.close().catch(() => undefined);
    },
  };
}

/** A transport, and a function that sends the message that ends its session. */
async function transportTo(server: McpServer, options: ConnectOptions) {
  if (server.transport === 'stdio') return { transport: await processTransport(server), goodbye: nothing };
  const url = addressOf(server);
  const fetch = fetchFor(server, options);
  const library = await import('@modelcontextprotocol/client');
  if (server.transport === 'sse')
    return { transport: new library.SSEClientTransport(url, { fetch }), goodbye: nothing };
  const transport = new library.StreamableHTTPClientTransport(url, { fetch });
  return {
    transport,
    async goodbye() {
      const late = AbortSignal.timeout(GOODBYE_MS);
      const stopped = new Promise<void>((resolve) => {
        late.addEventListener('abort', () => resolve(), { once: true });
      });
      if (transport.sessionId !== undefined)
        await Promise.race([transport.terminateSession().catch(() => undefined), stopped]);
    },
  };
}

const nothing = (): Promise<void> => Promise.resolve();

function addressOf(server: McpServer): URL {
  const url = server.url === null ? null : URL.parse(server.url);
  if (url !== null) return url;
  throw new UpstreamFailed(`The MCP server ${labelOf(server)} has no valid address.`, {
    provider: 'mcp',
    upstreamStatus: null,
  });
}

/** A child process with the configured environment, and the default variables that programs need, such as `PATH`. */
async function processTransport(server: McpServer) {
  if (server.command === null)
    throw new UpstreamFailed(`The MCP server ${labelOf(server)} has no command.`, {
      provider: 'mcp',
      upstreamStatus: null,
    });
  const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
  return new StdioClientTransport({
    command: server.command,
    args: [...server.args],
    env: { ...server.env },
    stderr: 'ignore',
    maxBufferSize: MAX_MESSAGE_BYTES,
  });
}

function fetchFor(server: McpServer, { http, tokens, headers, ended }: ConnectOptions): McpFetch {
  const { auth, staticHeaders } = server;
  const fixed = Object.fromEntries(
    [...staticHeaders].map(([name, value]) => [name.toLowerCase(), value.reveal()] as const),
  );
  const send = createMcpFetch({
    http,
    server: labelOf(server),
    hasOpenStream: server.transport === 'sse',
    streamEnded: ended,
    async headers() {
      const own = { ...headers, ...fixed };
      if (auth.kind === 'header') return { ...own, [auth.name.toLowerCase()]: auth.value.reveal() };
      if (auth.kind !== 'client_credentials') return own;
      const token = await tokens.for(auth);
      return { ...own, authorization: `Bearer ${token.reveal()}` };
    },
  });
  if (auth.kind !== 'client_credentials') return send;
  return async (url, init) => {
    try {
      return await send(url, init);
    } catch (error) {
      if (error instanceof UpstreamFailed && error.upstreamStatus === 401) tokens.evict(auth);
      throw error;
    }
  };
}
