import {
  createMcpServer,
  deleteMcpServer,
  getMcpServer,
  listMcpServers,
  listMcpSubmissions,
  reviewMcpServer,
  submitMcpServer,
  updateMcpServer,
} from '../resolvers/mcp-servers.ts';
import { Conflict, InvalidInput, NotFound } from '../src/domain/errors.ts';
import { mcpServerOf } from '../src/domain/mcp-servers/mcp-server-of.ts';
import type { McpServerDefinition } from '../src/domain/mcp-servers/mcp-server.ts';
import { labelOf } from '../src/domain/mcp/tool-names.ts';
import { isPublic } from '../src/domain/mcp-servers/shown-params.ts';
import { builder } from './base/builder.ts';
import { edgeType, pageType, totalCount } from './base/counted-pages.ts';
import { TAKES_EFFECT } from './base/descriptions.ts';
import { localId } from './base/global-id.ts';
import { readObject } from './base/json-inputs.ts';
import { nodesOf } from './base/node-loading.ts';
import { containsText, inOrder, matchesValue, valueOrder } from './base/order.ts';
import { pageCost, pageOf } from './base/paging.ts';

const TYPE = 'McpServer';
const SERVER_ID = 'The MCP server: global id or `serverId`.';
const PARAMS = 'Settings under their names in the HTTP API, such as `server_name`, `url`, `transport` and `auth_type`.';

const TransportType = builder.enumType('McpTransport', {
  description: 'How the gateway reaches an MCP server.',
  values: {
    HTTP: { value: 'http', description: 'Streamable HTTP.' },
    SSE: { value: 'sse', description: 'The older HTTP with server-sent events.' },
    STDIO: { value: 'stdio', description: 'A program that the gateway starts.' },
  } as const,
});

const ApprovalType = builder.enumType('McpApproval', {
  description: 'State of the review of an MCP server.',
  values: {
    ACTIVE: { value: 'active', description: 'The server is in force.' },
    PENDING_REVIEW: { value: 'pending_review', description: 'A team submitted the server for a review.' },
    REJECTED: { value: 'rejected', description: 'An administrator rejected the server.' },
  } as const,
});

const approvalOf = ({ params }: McpServerDefinition): typeof ApprovalType.$inferType => {
  const status = params['approval_status'];
  return status === 'pending_review' || status === 'rejected' ? status : 'active';
};

const McpServerType = builder.objectRef<McpServerDefinition>(TYPE);

builder.node(McpServerType, {
  description: 'A server of tools, resources and prompts, over the Model Context Protocol.',
  id: { resolve: ({ id }) => id },
  loadMany: nodesOf((id, { scope }) => getMcpServer(scope, { id })),
  fields: (t) => ({
    serverId: t.exposeString('id', { description: 'Local id, as in the HTTP API.' }),
    name: t.string({
      nullable: true,
      description: 'Name. Null for a server without one.',
      resolve: (one) => mcpServerOf(one).name,
    }),
    alias: t.string({
      nullable: true,
      description: 'Prefix of the names of its tools. Null for a server that has neither an alias nor a name.',
      resolve: (one) => mcpServerOf(one).alias,
    }),
    description: t.string({
      nullable: true,
      description: 'What the server is for. Null for none.',
      resolve: (one) => mcpServerOf(one).description,
    }),
    transport: t.field({
      type: TransportType,
      description: 'How the gateway reaches the server.',
      resolve: (one) => mcpServerOf(one).transport,
    }),
    url: t.string({
      nullable: true,
      description: 'Address. Null for `STDIO`, and for callers other than administrators.',
      resolve: (one) => mcpServerOf(one).url,
    }),
    accessGroups: t.stringList({
      description: 'Names of groups by which keys are granted the server.',
      resolve: (one) => [...mcpServerOf(one).accessGroups],
    }),
    allowedTools: t.stringList({
      description: 'Tools that callers see. Empty: all that are not disallowed.',
      resolve: (one) => [...mcpServerOf(one).allowedTools],
    }),
    allowsAllKeys: t.boolean({
      description: 'Whether every key may use the server, also keys without a grant.',
      resolve: (one) => mcpServerOf(one).allowsAllKeys,
    }),
    isPublic: t.boolean({ description: 'Whether everyone may see the server.', resolve: isPublic }),
    approval: t.field({ type: ApprovalType, description: 'State of its review.', resolve: approvalOf }),
    params: t.field({
      type: 'JSON',
      description: `${PARAMS} Secrets are \`REDACTED\`. Callers who are not administrators see some of them.`,
      resolve: ({ params }) => params,
    }),
    isFromConfig: t.exposeBoolean('isFromConfig', {
      description: 'Whether it is in the configuration file, so that it cannot be changed at run time.',
    }),
    createdAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it was stored. Null for a server of the configuration file.',
      resolve: ({ createdAt }) => createdAt,
    }),
    updatedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it was last changed. Null for a server of the configuration file.',
      resolve: ({ updatedAt }) => updatedAt,
    }),
  }),
});

const FilterType = builder.inputType('McpServerFilter', {
  description: 'Filter of MCP servers. All conditions must match; blank text is ignored.',
  fields: (t) => ({
    name: t.string({ description: 'Text that the name or the alias contains; letter case is ignored.' }),
    transport: t.field({ type: TransportType, description: 'Exact transport.' }),
    accessGroup: t.string({ description: 'Exact name of a group of the server.' }),
    isFromConfig: t.boolean({ description: 'Exact `isFromConfig`.' }),
  }),
});

const OrderType = valueOrder('McpServer', 'MCP servers', {
  NAME: { value: 'name', description: 'Alias, else the name, else the id.' },
  CREATED_AT: {
    value: 'created_at',
    description: 'When it was stored; servers of the configuration file are the earliest.',
  },
});

const ORDER_VALUES = {
  name: (row: McpServerDefinition) => labelOf(mcpServerOf(row)),
  created_at: (row: McpServerDefinition) => row.createdAt?.getTime() ?? 0,
};

const idOf = ({ id }: McpServerDefinition): string => id;

function matches(one: McpServerDefinition, filter: typeof FilterType.$inferInput | null | undefined): boolean {
  const { name, alias, transport, accessGroups } = mcpServerOf(one);
  return (
    containsText(`${name ?? ''} ${alias ?? ''}`, filter?.name) &&
    matchesValue(transport, filter?.transport) &&
    (!filter?.accessGroup || accessGroups.includes(filter.accessGroup)) &&
    matchesValue(one.isFromConfig, filter?.isFromConfig)
  );
}

builder.queryField('mcpServers', (t) =>
  t.connection(
    {
      type: McpServerType,
      nullable: true,
      description: 'MCP servers that the caller may use, by default those of the configuration file first.',
      complexity: pageCost,
      args: {
        filter: t.arg({ type: FilterType, description: 'All servers when absent.' }),
        orderBy: t.arg({ type: OrderType, description: 'Servers of the configuration file first when absent.' }),
      },
      resolve: async (_root, { filter, orderBy, ...args }, { scope }) => {
        const found = (await listMcpServers(scope, undefined)).filter((row) => matches(row, filter));
        return pageOf(inOrder(found, orderBy, ORDER_VALUES, idOf), args, idOf);
      },
    },
    { ...pageType('McpServer', 'MCP servers'), fields: (fields) => totalCount(fields, 'MCP servers') },
    edgeType('McpServer', 'MCP server'),
  ),
);

builder.queryField('mcpSubmissions', (t) =>
  t.field({
    type: [McpServerType],
    description: 'MCP servers that teams submitted. For proxy administrators with full or read-only access.',
    resolve: (_root, _args, { scope }) => [...listMcpSubmissions(scope, undefined).items],
  }),
);

const CreateInput = builder.inputType('CreateMcpServerInput', {
  description: 'An MCP server to store.',
  fields: (t) => ({
    serverId: t.string({ description: 'Its id; generated when absent.' }),
    params: t.field({ type: 'JSON', required: true, description: `${PARAMS} They are stored encrypted.` }),
  }),
});

const UpdateInput = builder.inputType('UpdateMcpServerInput', {
  description: 'Changes to an MCP server.',
  fields: (t) => ({
    server: t.id({ required: true, description: SERVER_ID }),
    params: t.field({
      type: 'JSON',
      required: true,
      description: 'Settings to change; null removes a setting. `REDACTED` leaves a secret unchanged.',
    }),
  }),
});

const DeleteInput = builder.inputType('DeleteMcpServerInput', {
  description: 'The MCP server to delete.',
  fields: (t) => ({ server: t.id({ required: true, description: SERVER_ID }) }),
});

const ReviewInput = builder.inputType('ReviewMcpServerInput', {
  description: 'A decision about a submitted MCP server.',
  fields: (t) => ({
    server: t.id({ required: true, description: SERVER_ID }),
    approved: t.boolean({ required: true, description: 'Whether the server comes into force.' }),
    notes: t.string({ description: 'Reason, for the team.' }),
  }),
});

builder.mutationFields((t) => ({
  createMcpServer: t.field({
    type: McpServerType,
    description: `Stores an MCP server. ${TAKES_EFFECT}`,
    args: { input: t.arg({ type: CreateInput, required: true, description: 'The server.' }) },
    errors: {
      types: [InvalidInput, Conflict],
      union: { name: 'CreateMcpServerResult', description: 'The server, or why it was not stored.' },
    },
    resolve: (_root, { input: { serverId, params } }, { scope }) =>
      createMcpServer(scope, { id: serverId ?? null, params: readObject(params, 'params') }),
  }),
  submitMcpServer: t.field({
    type: McpServerType,
    description: 'Stores an MCP server of the team of the key. It comes into force when an administrator approves it.',
    args: { input: t.arg({ type: CreateInput, required: true, description: 'The server.' }) },
    errors: {
      types: [InvalidInput, Conflict],
      union: { name: 'SubmitMcpServerResult', description: 'The server, or why it was not stored.' },
    },
    resolve: (_root, { input: { serverId, params } }, { scope }) =>
      submitMcpServer(scope, { id: serverId ?? null, params: readObject(params, 'params') }),
  }),
  updateMcpServer: t.field({
    type: McpServerType,
    description: `Changes a stored MCP server. ${TAKES_EFFECT}`,
    args: { input: t.arg({ type: UpdateInput, required: true, description: 'The server and its changes.' }) },
    errors: {
      types: [InvalidInput, NotFound, Conflict],
      union: { name: 'UpdateMcpServerResult', description: 'The changed server, or why it was not changed.' },
    },
    resolve: (_root, { input: { server, params } }, { scope }) =>
      updateMcpServer(scope, { id: localId(TYPE, server), params: readObject(params, 'params') }),
  }),
  reviewMcpServer: t.field({
    type: McpServerType,
    description: `Approves or rejects a submitted MCP server. ${TAKES_EFFECT}`,
    args: { input: t.arg({ type: ReviewInput, required: true, description: 'The decision.' }) },
    errors: {
      types: [NotFound, Conflict],
      union: { name: 'ReviewMcpServerResult', description: 'The reviewed server, or why it was not reviewed.' },
    },
    resolve: (_root, { input: { server, approved, notes } }, { scope }) =>
      reviewMcpServer(scope, { id: localId(TYPE, server), approved, notes: notes ?? null }),
  }),
  deleteMcpServer: t.field({
    type: McpServerType,
    description: `Deletes a stored MCP server. ${TAKES_EFFECT}`,
    args: { input: t.arg({ type: DeleteInput, required: true, description: 'The server.' }) },
    errors: {
      types: [NotFound, Conflict],
      union: { name: 'DeleteMcpServerResult', description: 'The deleted server, or why it was not deleted.' },
    },
    resolve: (_root, { input }, { scope }) => deleteMcpServer(scope, { id: localId(TYPE, input.server) }),
  }),
}));
