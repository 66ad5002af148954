import { Forbidden } from '../../src/domain/errors.ts';
import { type Access, isAdmin, isAnyAdmin, isReadOnly, requireCaller } from './access.ts';

/** Proxy administrators, for MCP servers and toolsets. */
export const mcpAdmin: Access = {
  name: 'mcpAdmin',
  description: 'Proxy administrators.',
  check(caller) {
    if (!isAdmin(requireCaller(caller)))
      throw new Forbidden('Only proxy administrators may change MCP servers and toolsets.', 'mcp_admin');
  },
};

/** Proxy administrators with full or read-only access, for submitted MCP servers. */
export const mcpViewer: Access = {
  name: 'mcpViewer',
  description: 'Proxy administrators with full or read-only access.',
  check(caller) {
    if (!isAnyAdmin(requireCaller(caller)))
      throw new Forbidden('Only proxy administrators may see submitted MCP servers.', 'mcp_admin');
  },
};

/** Keys that are not read-only, without administrators. The operation checks that the key has a team. */
export const mcpSubmitter: Access = {
  name: 'mcpSubmitter',
  description: 'Every key of a team that is not read-only. Administrators create servers directly.',
  check(caller) {
    if (isAdmin(requireCaller(caller)))
      throw new Forbidden('Administrators create MCP servers directly: POST /v1/mcp/server.', 'mcp_admin');
    if (isReadOnly(requireCaller(caller)))
      throw new Forbidden('Read-only keys cannot submit MCP servers.', 'mcp_admin');
  },
};
