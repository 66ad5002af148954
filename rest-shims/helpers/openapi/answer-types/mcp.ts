import type { AnswerTypes } from './notation.ts';

/** Answers of route rows about MCP servers and toolsets. */
export const MCP_ANSWERS: AnswerTypes = {
  'mcpServers.accessGroups': '{ access_groups: string[] }',
  'mcpServers.approve': 'McpServer',
  'mcpServers.clientAddress': '{ ip: string }',
  'mcpServers.create': 'McpServer',
  'mcpServers.delete': { 'text/plain': 'string' },
  'mcpServers.get': 'McpServer',
  'mcpServers.hub': `
    { server_id: string, name: string, server_name: string | null, alias: string | null, description: string | null,
    transport: string, auth_type: string | null, mcp_info: object | null }[]
  `,
  'mcpServers.list': 'McpServer[]',
  'mcpServers.publish': '{ message: string, public_mcp_servers: string[] }',
  'mcpServers.registry': '{ servers: { server: object }[] }',
  'mcpServers.reject': 'McpServer',
  'mcpServers.submissions': `
    { total: integer, pending_review: integer, active: integer, rejected: integer, items: McpServer[] }
  `,
  'mcpServers.submit': 'McpServer',
  'mcpServers.suggestedApis': '{ apis: object[] }',
  'mcpServers.suggestions': '{ servers: object[], categories: string[] }',
  'mcpServers.update': 'McpServer',
  'mcpServers.userValues': 'object[]',
  'mcpToolsets.create': 'McpToolset',
  'mcpToolsets.delete': { 'text/plain': 'string' },
  'mcpToolsets.get': 'McpToolset',
  'mcpToolsets.list': 'McpToolset[]',
  'mcpToolsets.update': 'McpToolset',
};

/** Types that answers about MCP refer to. Members of a server beyond these are those that it is configured with. */
export const MCP_TYPES: Readonly<Record<string, string>> = {
  McpServer: `
    { server_id: string, is_config: boolean, server_name: string | null, alias: string | null,
    description: string | null, url: string | null, spec_path: string | null, transport: string,
    auth_type: string | null, credentials: object | null, instructions: string | null, created_at: string | null,
    created_by: string | null, updated_at: string | null, updated_by: string | null, mcp_access_groups: string[],
    allowed_tools: string[], tool_name_to_display_name: object, tool_name_to_description: object,
    extra_headers: string[], mcp_info: object | null, static_headers: object, env_vars: object[], status: string,
    last_health_check: string | null, health_check_error: string | null, command: string | null, args: string[],
    env: object, allow_all_keys: boolean, available_on_public_internet: boolean, timeout: number | null,
    max_concurrent_requests: number | null, rpm: number | null, approval_status: string,
    submitted_by: string | null, submitted_at: string | null, reviewed_at: string | null,
    review_notes: string | null }
  `,
  McpToolset: `
    { toolset_id: string, toolset_name: string, description: string | null, tools: { server_id: string,
    tool_name: string }[], created_at: string, created_by: string, updated_at: string, updated_by: string }
  `,
};
