import { Forbidden } from '../../src/domain/errors.ts';
import { type Access, isAdmin, isAnyAdmin, requireCaller } from './access.ts';

/** Proxy administrators, for sessions of MCP clients. */
export const mcpSessionAdmin: Access = {
  name: 'mcpSessionAdmin',
  description: 'Proxy administrators.',
  check(caller) {
    if (!isAdmin(requireCaller(caller)))
      throw new Forbidden('Only proxy admins can end sessions of MCP clients.', 'mcp_sessions');
  },
};

/** Proxy administrators with full or read-only access, for sessions of MCP clients. */
export const mcpSessionViewer: Access = {
  name: 'mcpSessionViewer',
  description: 'Proxy administrators with full or read-only access.',
  check(caller) {
    if (!isAnyAdmin(requireCaller(caller)))
      throw new Forbidden('Only proxy admins can see sessions of MCP clients.', 'mcp_sessions');
  },
};
