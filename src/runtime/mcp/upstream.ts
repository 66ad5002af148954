import type { Client } from '@modelcontextprotocol/client';
import type { Clock } from '../../domain/clock.ts';
import { TooLarge, UpstreamFailed } from '../../domain/errors.ts';
import type { HttpClient } from '../../domain/http.ts';
import type { McpServer } from '../../domain/mcp-servers/mcp-server.ts';
import type { McpTool, McpToolResult, McpUpstream, McpUpstreamCall } from '../../domain/mcp/mcp-upstream.ts';
import { labelOf } from '../../domain/mcp/tool-names.ts';
import type { Scheduler } from '../../domain/scheduler.ts';
import { headerSecrets } from '../../domain/secret-texts.ts';
import { MAX_MESSAGE_BYTES } from './bounded-body.ts';
import { createClientTokens } from './client-tokens.ts';
import { connectTo } from './connect.ts';
import { createConnections } from './connections.ts';
import { untilAborted } from '../../domain/until-aborted.ts';
import { upstreamFailure } from './failures.ts';

/** Maximum number of pages of a list, and of tools of all pages. */
const MAX_PAGES = 64;
const MAX_TOOLS = 5_000;
/** Interval of the search for idle connections, in ms. */
const SWEEP_MS = 60_000;
/** The library requires a deadline of each request. The signal of the call fires earlier. */
const NO_DEADLINE_MS = 2 ** 31 - 1;

/** Texts of the credentials that a request to a server has, without tokens that were requested for it. */
function secretsOf({ auth, staticHeaders }: McpServer, { headers }: McpUpstreamCall): readonly string[] {
  const fixed = [...staticHeaders.values()].map((value) => value.reveal());
  return headerSecrets([...Object.values(headers), ...fixed, ...(auth.kind === 'header' ? [auth.value.reveal()] : [])]);
}

/**
 * Connections to MCP servers over HTTP and over the standard streams of child processes. A session that a server has
 * ended is opened again once.
 */
export function createMcpUpstream(options: {
  readonly http: Pick<HttpClient, 'send' | 'post'>;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  /** Servers in force. Connections to others are closed. */
  readonly servers: () => readonly McpServer[];
}): McpUpstream {
  const { http, clock } = options;
  const tokens = createClientTokens(http, () => clock.now().getTime());
  const connections = createConnections((server, opening) => connectTo(server, { http, tokens, ...opening }), clock);
  const sweeping = options.scheduler.every({
    name: 'mcp-connections',
    everyMs: SWEEP_MS,
    run: () => connections.sweep(options.servers()),
  });

  /** Runs a request on a connection. Throws DomainErrors, and the reason of the call's signal. */
  async function request<Result>(
    server: McpServer,
    call: McpUpstreamCall,
    run: (client: Client) => Promise<Result>,
    isRepeated = false,
  ): Promise<Result> {
    try {
      const lease = await connections.lease(server, call, call.signal);
      let isBroken = false;
      try {
        return await untilAborted(run(lease.connection.client), call.signal);
      } catch (error) {
        // 404: the server has ended the session (Streamable HTTP, session management). The message was not processed.
        const hasEnded = error instanceof UpstreamFailed && error.upstreamStatus === 404;
        isBroken = hasEnded || error instanceof TooLarge;
        if (!hasEnded || lease.isNew || isRepeated) throw error;
      } finally {
        lease.release(isBroken);
      }
    } catch (error) {
      // A stopped call fails with an error of the transport.
      call.signal.throwIfAborted();
      throw upstreamFailure(labelOf(server), error, secretsOf(server, call));
    }
    return await request(server, call, run, true);
  }

  return {
    listTools: (server, call) => request(server, call, (client) => allTools(client, server, call.signal)),
    callTool: (server, { name, args }, call) =>
      request(server, call, async (client) => {
        const result = await client.callTool(
          { name, arguments: args },
          { signal: call.signal, timeout: NO_DEADLINE_MS, resetTimeoutOnProgress: false },
        );
        return result as McpToolResult;
      }),
    evict: (serverId) => connections.evict(serverId),
    async close() {
      await sweeping.stop();
      await connections.close();
    },
  };
}

/** The tools of all pages. Throws UpstreamFailed when a server has too many. */
async function allTools(client: Client, server: McpServer, signal: AbortSignal): Promise<readonly McpTool[]> {
  if (client.getServerCapabilities()?.tools === undefined) return [];
  const tools: McpTool[] = [];
  let characters = 0;
  let cursor: string | undefined;
  for (let pages = 0; pages < MAX_PAGES; pages += 1) {
    const page = await client.request(
      { method: 'tools/list', params: cursor === undefined ? {} : { cursor } },
      { signal, timeout: NO_DEADLINE_MS },
    );
    for (const tool of page.tools as readonly McpTool[]) tools.push(tool);
    if (tools.length > MAX_TOOLS) break;
    if (page.nextCursor === undefined || page.nextCursor === cursor) return tools;
    // The limit of a message bounds a list of one page. Together, all pages have the same limit.
    characters += JSON.stringify(page.tools).length;
    if (characters > MAX_MESSAGE_BYTES) break;
    cursor = page.nextCursor;
  }
  throw new UpstreamFailed(
    `The MCP server ${labelOf(server)} lists more than ${MAX_TOOLS} tools, ${MAX_PAGES} pages or ${MAX_MESSAGE_BYTES} characters.`,
    { provider: 'mcp', upstreamStatus: null, upstreamCode: 'too_many_tools' },
  );
}
