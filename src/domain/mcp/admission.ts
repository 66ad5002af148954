import type { Caller } from '../caller.ts';
import { Unauthenticated } from '../errors.ts';
import type { McpServer } from '../mcp-servers/mcp-server.ts';
import type { McpTarget } from './mcp-request.ts';
import { isSelected } from './tool-names.ts';

/** Where a client finds out how to authenticate. */
export type McpChallengeTarget =
  /** The document about the resource at a path of the gateway. `hasInvalidToken`: a credential was refused. */
  | { readonly kind: 'resource'; readonly path: string; readonly hasInvalidToken: boolean }
  /** The authorization server for tokens of one server, by the name in the request. */
  | { readonly kind: 'authorization_server'; readonly server: string };

/** The request needs a credential, or another one. The answer has a `WWW-Authenticate` header. */
export class McpChallenge extends Unauthenticated {
  /** Address of the gateway for its clients, without a trailing slash. */
  readonly base: string;
  readonly target: McpChallengeTarget;
  /** Whether a credential of the gateway is missing, and not a token of the server. */
  readonly isForGateway: boolean;
  constructor(about: {
    readonly base: string;
    readonly target: McpChallengeTarget;
    readonly isForGateway: boolean;
    readonly cause?: unknown;
  }) {
    const message = about.isForGateway ? 'Authenticate with the gateway to use the MCP endpoint.' : 'Unauthorized';
    super(message, 'missing', { cause: about.cause });
    this.name = 'McpChallenge';
    this.base = about.base;
    this.target = about.target;
    this.isForGateway = about.isForGateway;
  }
}

/**
 * Who authenticates a request.
 *
 * - `gateway`: a key of the gateway
 * - `managed`: a key, and a stored token of the user
 * - `delegate`: a key, and a token of the server from the caller
 * - `passthrough`: the server itself, with a token from the caller
 */
export type McpAdmissionKind = 'gateway' | 'managed' | 'delegate' | 'passthrough';

function kindOfServer({ auth }: McpServer): McpAdmissionKind {
  if (auth.kind === 'caller_token') return auth.requiresKey ? 'delegate' : 'passthrough';
  return auth.kind === 'unsupported' && auth.authType === 'oauth2' ? 'managed' : 'gateway';
}

/** How a request is admitted, by the servers that it names. Several servers need no key only if none of them does. */
export function admissionKindOf(servers: readonly McpServer[]): McpAdmissionKind {
  const [first, ...others] = servers;
  if (first === undefined) return 'gateway';
  if (others.length === 0) return kindOfServer(first);
  return servers.every((server) => kindOfServer(server) === 'passthrough') ? 'passthrough' : 'gateway';
}

/** Servers that a request names. They decide which credentials it needs, before any right is checked. */
export const namedServers = (servers: readonly McpServer[], target: McpTarget): readonly McpServer[] =>
  target.kind === 'servers' ? servers.filter((server) => target.names.some((name) => isSelected(server, name))) : [];

/** Credentials of a request. */
export interface McpCredentials {
  /** Null without a valid key. */
  readonly caller: Caller | null;
  /** Why the key in `Authorization` is refused; null without one, and for a valid key. */
  readonly refusedKey: Unauthenticated | null;
  /** Value of `Authorization` for the server; null when it has the key of the gateway or is absent. */
  readonly callerToken: string | null;
}

/** Throws McpChallenge or Unauthenticated for a request without the credentials that its servers need. */
export function assertAdmitted(
  kind: McpAdmissionKind,
  { caller, refusedKey, callerToken }: McpCredentials,
  about: { readonly base: string; readonly resourcePath: string; readonly name: string },
): void {
  const { base, resourcePath: path, name } = about;
  const challenge = (target: McpChallengeTarget, isForGateway: boolean): McpChallenge =>
    new McpChallenge({ base, target, isForGateway, cause: refusedKey ?? undefined });

  const needsToken = kind === 'passthrough' || kind === 'delegate';
  if (caller === null && kind !== 'passthrough') {
    // A client of these servers needs two credentials. The text says which one is missing.
    if (kind === 'delegate') throw refusedKey ?? missingKey();
    throw challenge({ kind: 'resource', path, hasInvalidToken: refusedKey !== null }, true);
  }
  if (kind === 'managed') throw challenge({ kind: 'authorization_server', server: name }, false);
  if (needsToken && callerToken === null) throw challenge({ kind: 'resource', path, hasInvalidToken: false }, false);
}

const missingKey = (): Unauthenticated =>
  new Unauthenticated(
    'Malformed API Key passed in. Ensure Key has `Bearer ` prefix, followed by a key that starts with `sk-`.',
    'missing',
  );
