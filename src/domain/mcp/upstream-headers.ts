import type { McpServer } from '../mcp-servers/mcp-server.ts';
import type { McpRequest } from './mcp-request.ts';

/** Headers that the gateway sets itself, or that belong to one connection. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'cookie',
  'expect',
  'host',
  'keep-alive',
  'last-event-id',
  'mcp-method',
  'mcp-name',
  'mcp-protocol-version',
  'mcp-session-id',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** The form of an alias in `x-mcp-<alias>-<header>`: lower case, other characters as underscores. */
const aliasForm = (text: string): string => text.toLowerCase().replaceAll(/[^a-z0-9]/g, '_');

/**
 * Headers for one server: those that it forwards, `x-mcp-<alias>-<header>` without the prefix, and the caller's token
 * where the server expects it. The later ones replace the earlier ones.
 */
export function upstreamHeaders(
  server: McpServer,
  { clientHeaders, callerToken }: Pick<McpRequest, 'clientHeaders' | 'callerToken'>,
): Readonly<Record<string, string>> {
  const headers = new Map<string, string>();
  if (server.auth.kind === 'caller_token' && callerToken !== null) headers.set('authorization', callerToken);
  for (const name of server.forwardedHeaders.map((one) => one.toLowerCase())) {
    const value = clientHeaders[name];
    if (value !== undefined && name !== 'authorization' && !OWN_HEADERS.has(name)) headers.set(name, value);
  }
  const aliases = [server.alias, server.name].flatMap((text) => (text === null ? [] : [aliasForm(text)]));
  for (const [name, value] of Object.entries(clientHeaders))
    for (const alias of aliases) {
      const prefix = `x-mcp-${alias}-`;
      const own = name.startsWith(prefix) ? name.slice(prefix.length) : '';
      if (own !== '' && !OWN_HEADERS.has(own)) headers.set(own, value);
    }
  return Object.fromEntries(headers);
}
