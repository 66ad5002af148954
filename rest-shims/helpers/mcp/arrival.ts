import type { IncomingHttpHeaders } from 'node:http';
import type { McpArrival } from '../../../resolvers/mcp-protocol.ts';
import type { CredentialFault } from '../../../src/domain/errors.ts';
import type { McpTarget } from '../../../src/domain/mcp/mcp-request.ts';
import { ASSUMED_MCP_VERSION, isMcpVersion, MCP_VERSIONS, McpProtocolError } from '../../../src/domain/mcp/protocol.ts';
import type { McpVersion } from '../../../src/domain/mcp/protocol.ts';
import { upstreamAuthorization, withoutKeys } from '../http/credential.ts';
import type { HttpRequest } from '../http/route.ts';

const SESSION_HEADER = 'mcp-session-id';
const VERSION_HEADER = 'mcp-protocol-version';

/** The first value of a header; null without one. */
const textOf = (value: string | string[] | undefined): string | null =>
  (Array.isArray(value) ? value[0] : value) ?? null;

const namesIn = (list: string): readonly string[] =>
  list.split(',').flatMap((name) => (name.trim() === '' ? [] : [name.trim()]));

/** Host and port of a request. Other characters could end the quoted text of a header. */
const HOST = /^[\w.:[\]-]+$/;

/** Address that the client used, without a trailing slash. */
export function requestBase(headers: IncomingHttpHeaders): string {
  const scheme = textOf(headers['x-forwarded-proto']) === 'https' ? 'https' : 'http';
  const host = headers.host ?? '';
  return `${scheme}://${HOST.test(host) ? host : 'localhost'}`;
}

/** Servers that a request addresses: by its path, else by its headers, else all. */
function targetOf({ params, headers }: HttpRequest): McpTarget {
  const { servers, toolset } = params;
  if (toolset !== undefined) return { kind: 'toolset', name: toolset };
  const names =
    servers === undefined
      ? [headers['x-mcp-servers'], headers['x-mcp-access-groups']].flatMap((value) => namesIn(textOf(value) ?? ''))
      : namesIn(servers);
  return names.length === 0 ? { kind: 'all' } : { kind: 'servers', names };
}

/** Path of the endpoint whose document a challenge names. */
const resourcePathOf = ({ params: { servers }, path }: HttpRequest): string =>
  servers === undefined ? '/mcp' : path.replace(/\/$/, '');

export const sessionIdOf = ({ headers }: HttpRequest): string | null => textOf(headers[SESSION_HEADER]);

/** Faults of credentials that the gateway has issued or accepted before. They never reach a server. */
const OWN_KEY_FAULTS: ReadonlySet<CredentialFault> = new Set<CredentialFault>(['blocked', 'expired']);

/** A value of `Authorization` that is no key of the gateway is a token for a server. */
function callerTokenOf({ headers, refusedKey = null }: HttpRequest): string | null {
  if (refusedKey === null) return upstreamAuthorization(headers);
  return OWN_KEY_FAULTS.has(refusedKey.fault) ? null : (headers.authorization ?? null);
}

/** `session`: whether the session of the request is used. */
export function arrivalOf(request: HttpRequest, { session }: { readonly session: boolean }): McpArrival {
  const { headers, refusedKey = null } = request;
  return {
    target: targetOf(request),
    clientHeaders: withoutKeys(headers),
    callerToken: callerTokenOf(request),
    resourcePath: resourcePathOf(request),
    requestBase: requestBase(headers),
    refusedKey,
    sessionId: session ? sessionIdOf(request) : null,
    origin: headers.origin ?? null,
  };
}

/** The version of the protocol that a request has. Throws McpProtocolError for one that is not served. */
export function versionOf({ headers }: HttpRequest): McpVersion {
  const version = textOf(headers[VERSION_HEADER]) ?? ASSUMED_MCP_VERSION;
  if (isMcpVersion(version)) return version;
  throw new McpProtocolError(
    'request',
    `Unsupported MCP-Protocol-Version ${version.slice(0, 64)}; supported: ${MCP_VERSIONS.join(', ')}`,
  );
}

/** Throws McpProtocolError if a client does not accept one of the media types. */
export function assertAccepts({ headers }: HttpRequest, types: readonly string[]): void {
  const { accept = '*/*' } = headers;
  const ranges = accept.split(',').map((range) => (range.split(';', 1)[0] ?? '').trim().toLowerCase());
  const accepted = new Set(ranges);
  const accepts = (type: string): boolean =>
    accepted.has('*/*') || accepted.has(type) || accepted.has(`${type.split('/', 1)[0]}/*`);
  if (types.every(accepts)) return;
  throw new McpProtocolError('accept', `Not Acceptable: Client must accept ${types.join(' and ')}`);
}

/** Throws McpProtocolError for a body that is not declared as JSON. */
export function assertJsonBody({ headers }: HttpRequest): void {
  const [type = ''] = (headers['content-type'] ?? '').split(';', 1);
  if (type.trim().toLowerCase() === 'application/json') return;
  throw new McpProtocolError('media_type', 'Unsupported Media Type: Content-Type must be application/json');
}
