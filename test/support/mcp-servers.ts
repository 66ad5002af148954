import type { McpServer } from '../../src/domain/mcp-servers/mcp-server.ts';

/** MCP server over HTTP without credentials, which no key may use unless it is granted. */
export function anMcpServer(overrides: Partial<McpServer> = {}): McpServer {
  return {
    id: 'server-1',
    name: 'files',
    alias: null,
    description: null,
    instructions: null,
    transport: 'http',
    url: 'http://127.0.0.1:9/mcp',
    command: null,
    args: [],
    env: {},
    auth: { kind: 'none' },
    staticHeaders: new Map(),
    forwardedHeaders: [],
    allowedTools: [],
    disallowedTools: [],
    allowedParams: new Map(),
    toolDisplayNames: new Map(),
    toolDescriptions: new Map(),
    accessGroups: [],
    allowsAllKeys: false,
    isOnPublicInternet: true,
    timeoutMs: null,
    maxConcurrentRequests: null,
    requestsPerMinute: null,
    prices: { perCall: null, byTool: new Map() },
    isFromConfig: false,
    ...overrides,
  };
}
