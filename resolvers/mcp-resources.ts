import { NotFound } from '../src/domain/errors.ts';
import { admissionKindOf, namedServers } from '../src/domain/mcp/admission.ts';
import { anyone } from './operation/access.ts';
import type { McpSessionPlatform } from './operation/mcp-session-platform.ts';
import { operation } from './operation/operation.ts';
import type { Scope } from './operation/scope.ts';

/** The protected resource of the gateway at a path. */
export interface McpResource {
  /** Address of the gateway for its clients. */
  readonly base: string;
}

/**
 * The resource that the gateway protects: all servers with the name null, else one of them. Throws NotFound for an
 * unknown server, and for one that authenticates its callers itself.
 */
export const findMcpResource = operation({
  name: 'findMcpResource',
  access: anyone,
  run(
    { platform }: Scope<Pick<McpSessionPlatform, 'mcpServers' | 'mcpEndpoint'>>,
    { name, requestBase }: { readonly name: string | null; readonly requestBase: string },
  ): McpResource {
    const base = platform.mcpEndpoint.publicUrl ?? requestBase;
    if (name === null) return { base };
    const named = namedServers(platform.mcpServers.servers(), { kind: 'servers', names: [name] });
    const kind = admissionKindOf(named);
    if (named.length > 0 && (kind === 'gateway' || kind === 'managed')) return { base };
    throw new NotFound('mcp_resource', name, `MCP server '${name}' is not an OAuth-protected resource`);
  },
});
