import type { Caller } from '../src/domain/caller.ts';
import { Forbidden, type Unauthenticated } from '../src/domain/errors.ts';
import { ANONYMOUS_MCP_CALLER } from '../src/domain/mcp/anonymous-caller.ts';
import { admissionKindOf, assertAdmitted, namedServers } from '../src/domain/mcp/admission.ts';
import type { McpRequest, ResolvedMcpTarget } from '../src/domain/mcp/mcp-request.ts';
import type { McpClientInfo, McpSession } from '../src/domain/mcp-sessions/session.ts';
import { anyone } from './operation/access.ts';
import type { McpSessionPlatform } from './operation/mcp-session-platform.ts';
import { operation } from './operation/operation.ts';
import type { Scope } from './operation/scope.ts';
import { resolveMcpTarget } from './mcp-tools.ts';

/** A request to an endpoint of the protocol, before its body is read. */
export interface McpArrival extends Pick<McpRequest, 'target' | 'clientHeaders' | 'callerToken'> {
  /** Path of the endpoint in the form of the request, such as `/files/mcp`. */
  readonly resourcePath: string;
  /** Address that the client used, without a trailing slash. */
  readonly requestBase: string;
  /** Why the key in `Authorization` is refused; null without one, and for a valid key. */
  readonly refusedKey: Unauthenticated | null;
  /** Value of `mcp-session-id`; null without one. */
  readonly sessionId: string | null;
  /** Value of `Origin`; null without one, as from clients that are no browsers. */
  readonly origin: string | null;
}

/** An admitted request. */
export interface McpExchange {
  /** The caller, or `ANONYMOUS_MCP_CALLER` at servers that need no key. */
  readonly caller: Caller;
  readonly request: McpRequest;
  /** Servers that the caller may use; null when it may use none of those that the request names. */
  readonly resolved: ResolvedMcpTarget | null;
  /** Why `resolved` is null; null otherwise. */
  readonly refusal: Forbidden | null;
  /** Null for a stateless request. */
  readonly session: McpSession | null;
}

type Platform = McpSessionPlatform & Parameters<typeof resolveMcpTarget>[0]['platform'];

/**
 * Admits a request to an endpoint of the protocol. Throws McpChallenge and Unauthenticated without the credentials that
 * its servers need. Throws NotFound for unknown servers, and Forbidden for an origin or a session that it may not use.
 */
export const admitMcpRequest = operation({
  name: 'admitMcpRequest',
  access: anyone,
  async run(scope: Scope<Platform>, arrival: McpArrival): Promise<McpExchange> {
    const { platform, client } = scope;
    const { target, clientHeaders, callerToken } = arrival;
    assertOrigin(scope, arrival);
    admit(scope, arrival);
    const caller = scope.caller ?? ANONYMOUS_MCP_CALLER;
    const session = arrival.sessionId === null ? null : platform.mcpSessions.find(arrival.sessionId, caller);
    const sessionId = session?.facts.id ?? null;
    const request = { target, clientHeaders, callerToken, sessionId, clientAddress: client.address };
    try {
      const resolved = await resolveMcpTarget({ ...partsOf(scope), caller }, request);
      return { caller, request, session, resolved, refusal: null };
    } catch (error) {
      if (error instanceof Forbidden) return { caller, request, session, resolved: null, refusal: error };
      throw error;
    }
  },
});

/** A scope as an object, whose members a copy can replace. */
const partsOf = <Slice>({ platform, caller, client, signal, loaders }: Scope<Slice>): Scope<Slice> => ({
  platform,
  caller,
  client,
  signal,
  loaders,
});

/** Checks the credentials of a request. Throws McpChallenge and Unauthenticated. */
function admit({ platform, caller }: Scope<Platform>, arrival: McpArrival): void {
  const { target, requestBase, resourcePath, refusedKey, callerToken } = arrival;
  const kind = admissionKindOf(namedServers(platform.mcpServers.servers(), target));
  const base = platform.mcpEndpoint.publicUrl ?? requestBase;
  const name = target.kind === 'servers' ? target.names.join(',') : '';
  assertAdmitted(kind, { caller, refusedKey, callerToken }, { base, resourcePath, name });
}

/** Throws Forbidden for a page of another origin, unless the configuration allows the origin. */
function assertOrigin({ platform }: Scope<McpSessionPlatform>, { origin, requestBase }: McpArrival): void {
  const { origins, publicUrl } = platform.mcpEndpoint;
  const allowed = new Set([...origins, publicUrl ?? requestBase]);
  if (origin === null || allowed.has('*') || allowed.has(origin)) return;
  throw new Forbidden('Invalid Origin header', 'origin');
}

/**
 * Opens a session of a client; null for an anonymous caller, who is not known again. Throws Forbidden for a caller that
 * may use no server, and LimitExceeded.
 */
export const openMcpSession = operation({
  name: 'openMcpSession',
  access: anyone,
  run(
    scope: Scope<McpSessionPlatform>,
    { exchange, client }: { readonly exchange: McpExchange; readonly client: McpClientInfo },
  ): McpSession | null {
    const { caller, refusal, request } = exchange;
    if (refusal !== null) throw refusal;
    if (caller === ANONYMOUS_MCP_CALLER) return null;
    const { clientAddress } = request;
    return scope.platform.mcpSessions.open({ caller, client, clientAddress });
  },
});

/** Ends a session of the caller. An unknown session is ended, too. */
export const closeMcpSession = operation({
  name: 'closeMcpSession',
  access: anyone,
  run: ({ platform, caller }: Scope<Pick<McpSessionPlatform, 'mcpSessions'>>, id: string): void =>
    platform.mcpSessions.close(id, caller),
});

/** Signals that end a stream of messages to a client: the end of its session, and that of the process. */
export const watchMcpSession = operation({
  name: 'watchMcpSession',
  access: anyone,
  run: (
    { platform }: Scope<Pick<McpSessionPlatform, 'mcpSessions'>>,
    session: McpSession | null,
  ): readonly AbortSignal[] => [platform.mcpSessions.closing, ...(session === null ? [] : [session.ended])],
});
