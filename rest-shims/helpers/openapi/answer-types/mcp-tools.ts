import type { AnswerTypes } from './notation.ts';

/** Members of a tool of the protocol. Absent members are null. */
const TOOL =
  'name: string, title: string | null, description: string | null, inputSchema: object | null, outputSchema: object | null, icons: object[] | null, annotations: object | null, _meta: object | null, execution: object | null';

/** Answer types of the routes about tools of MCP servers, in the notation of `http/type-notation.ts`. */
export const MCP_TOOL_ANSWERS: AnswerTypes = {
  'mcpTools.call': `
    { _meta: object | null, content: object[], structuredContent: object | null, isError: boolean, resultType: string }
  `,
  'mcpTools.health': '{ server_id: string, status: string }[]',
  'mcpTools.list': `{ tools: { ${TOOL} }[] }`,
  'mcpTools.ofServers': `
    { tools: { ${TOOL}, mcp_info: { server_name: string | null, description: string | null, server_id: string,
    alias: string | null, mcp_server_cost_info: object | null } }[], error: string | null, message: string,
    server_outcomes?: Record<object> }
  `,
  'mcpTools.testConnection': '{ status: string, error?: boolean, message?: string }',
  'mcpTools.testList': `{ tools: { ${TOOL} }[], error: string | null, message: string }`,
};
