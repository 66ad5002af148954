import { callMcpTool, showMcpTools } from '../resolvers/mcp-tools.ts';
import { InvalidInput, LimitExceeded, NotFound, Rejected, UpstreamFailed } from '../src/domain/errors.ts';
import {
  type ListedTool,
  type McpOutcome,
  type McpRequest,
  type McpTarget,
  type McpToolListing,
} from '../src/domain/mcp/mcp-request.ts';
import type { McpToolResult } from '../src/domain/mcp/mcp-upstream.ts';
import { prefixedName } from '../src/domain/mcp/tool-names.ts';
import { builder } from './base/builder.ts';
import { readObject } from './base/json-inputs.ts';
import { CALL_COST, LIST_LENGTH } from './base/limits.ts';

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);

const ToolType = builder.objectRef<ListedTool>('McpTool').implement({
  description: 'A tool of an MCP server.',
  fields: (t) => ({
    name: t.string({
      description: 'Name with the prefix of its server, as clients of the protocol see it.',
      resolve: ({ server, tool }) => prefixedName(server, tool.name),
    }),
    toolName: t.string({ description: 'Name without prefix.', resolve: ({ tool }) => tool.name }),
    serverId: t.string({ description: 'Local id of its MCP server.', resolve: ({ server }) => server.id }),
    title: t.string({
      nullable: true,
      description: 'Title for people; null when the server gives none.',
      resolve: ({ tool }) => textOf(tool['title']),
    }),
    description: t.string({
      nullable: true,
      description: 'Description for models; null when the server gives none.',
      resolve: ({ tool }) => textOf(tool['description']),
    }),
    inputSchema: t.field({
      type: 'JSON',
      nullable: true,
      description: 'JSON Schema of its arguments; null when the server gives none.',
      resolve: ({ tool }) => tool['inputSchema'] ?? null,
    }),
    outputSchema: t.field({
      type: 'JSON',
      nullable: true,
      description: 'JSON Schema of its structured result; null when the server gives none.',
      resolve: ({ tool }) => tool['outputSchema'] ?? null,
    }),
  }),
});

const STATUS_DESCRIPTIONS: Readonly<Record<McpOutcome['status'], string>> = {
  ok: 'The server answered with its tools.',
  auth_required: 'The server requires a credential, or refused that of the request.',
  forbidden: 'The server refused the caller.',
  rate_limited: 'A rate limit of the server, or of the gateway, is reached.',
  timeout: 'The server did not answer within the deadline.',
  unreachable: 'The gateway could not connect to the server.',
  upstream_error: 'The server answered with an error.',
  internal: 'The gateway failed.',
};

const StatusType = builder.enumType('McpOutcomeStatus', {
  description: 'How an MCP server answered a request for its tools.',
  values: Object.fromEntries(
    Object.entries(STATUS_DESCRIPTIONS).map(([value, description]) => [value.toUpperCase(), { value, description }]),
  ),
});

interface ServerOutcome {
  readonly id: string;
  readonly outcome: McpOutcome;
}

const OutcomeType = builder.objectRef<ServerOutcome>('McpServerOutcome').implement({
  description: 'Answer of one MCP server to a request for its tools.',
  fields: (t) => ({
    serverId: t.exposeString('id', { description: 'Local id of the MCP server.' }),
    status: t.field({
      type: StatusType,
      description: 'Whether the server answered, or why it did not.',
      resolve: ({ outcome }) => outcome.status,
    }),
    toolCount: t.int({
      nullable: true,
      description: 'Number of its tools that the caller may use; null after a failure.',
      resolve: ({ outcome }) => (outcome.status === 'ok' ? outcome.toolCount : null),
    }),
    httpStatus: t.int({
      nullable: true,
      description: 'HTTP status of a refusal; null otherwise.',
      resolve: ({ outcome }) => (outcome.status === 'ok' ? null : outcome.httpStatus),
    }),
  }),
});

const ListType = builder.objectRef<McpToolListing>('McpToolList').implement({
  description: 'Tools of MCP servers, and how each server answered.',
  fields: (t) => ({
    tools: t.field({
      type: [ToolType],
      description: 'The tools, by server.',
      complexity: { field: 1, multiplier: LIST_LENGTH },
      resolve: ({ tools }) => [...tools],
    }),
    outcomes: t.field({
      type: [OutcomeType],
      description: 'One for each server that was asked.',
      complexity: { field: 1, multiplier: LIST_LENGTH },
      resolve: ({ outcomes }) => [...outcomes].map(([id, outcome]) => ({ id, outcome })),
    }),
  }),
});

/** A request without headers of a client. */
const requestFor = (target: McpTarget): McpRequest => ({
  target,
  clientHeaders: {},
  callerToken: null,
  sessionId: null,
  clientAddress: null,
});

builder.queryField('mcpTools', (t) =>
  t.field({
    type: ListType,
    nullable: true,
    description:
      'Tools of MCP servers that the caller may use. Asks all servers, for at most 30 seconds. A server that does not answer has an outcome and no tools.',
    complexity: { field: CALL_COST, multiplier: 1 },
    args: {
      servers: t.arg.stringList({
        description: 'Ids, names, aliases or access groups of servers, or one toolset; all servers when absent.',
      }),
    },
    resolve: (_root, { servers }, { scope }) =>
      showMcpTools(scope, requestFor(servers ? { kind: 'servers', names: servers } : { kind: 'all' })),
  }),
);

const ResultType = builder.objectRef<McpToolResult>('McpToolCall').implement({
  description: 'Result of a call of a tool.',
  fields: (t) => ({
    content: t.field({
      type: ['JSON'],
      description: 'Parts of the result, in the format of the protocol.',
      resolve: ({ content }) => [...content],
    }),
    structuredContent: t.field({
      type: 'JSON',
      nullable: true,
      description: 'Structured result; null when the tool gives none.',
      resolve: ({ structuredContent }) => structuredContent ?? null,
    }),
    isError: t.boolean({
      description: 'Whether the tool reports a failure.',
      resolve: ({ isError }) => isError ?? false,
    }),
  }),
});

const CallInput = builder.inputType('CallMcpToolInput', {
  description: 'A call of a tool.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'Name with or without prefix.' }),
    server: t.string({
      description: 'Id, name or alias of the MCP server. The name of the tool selects it when absent.',
    }),
    arguments: t.field({ type: 'JSON', description: 'Arguments of the tool: an object; empty when absent.' }),
  }),
});

builder.mutationField('callMcpTool', (t) =>
  t.field({
    type: ResultType,
    description: 'Calls a tool of an MCP server. The call is charged and recorded as a call over HTTP.',
    complexity: { field: CALL_COST, multiplier: 1 },
    args: { input: t.arg({ type: CallInput, required: true, description: 'The call.' }) },
    errors: {
      types: [InvalidInput, NotFound, LimitExceeded, Rejected, UpstreamFailed],
      union: { name: 'CallMcpToolResult', description: 'The result of the tool, or why the call failed.' },
    },
    resolve: (_root, { input }, { scope }) =>
      callMcpTool(scope, {
        ...requestFor({ kind: 'all' }),
        name: input.name,
        serverId: input.server ?? null,
        args: readObject(input.arguments, 'arguments'),
      }),
  }),
);
