import {
  createMcpToolset,
  deleteMcpToolset,
  getMcpToolset,
  listMcpToolsets,
  updateMcpToolset,
} from '../resolvers/mcp-toolsets.ts';
import { Conflict, InvalidInput, NotFound } from '../src/domain/errors.ts';
import type { McpToolReference, McpToolset, McpToolsetPatch } from '../src/domain/mcp-toolsets/mcp-toolset.ts';
import { builder } from './base/builder.ts';
import { edgeType, pageType, totalCount } from './base/counted-pages.ts';
import { localId } from './base/global-id.ts';
import { nodesOf } from './base/node-loading.ts';
import { containsText } from './base/order.ts';
import { pageCost, pageOf } from './base/paging.ts';

const TYPE = 'McpToolset';
const TOOLSET_ID = 'The toolset: global id or `toolsetId`.';
const NAME = 'Name, a part of the path `/toolset/{name}/mcp`.';
const SERVER_ID = 'Server of the tool: local id.';
const TOOL_NAME = 'Name of the tool without prefix.';

const ToolType = builder.objectRef<McpToolReference>('McpToolsetTool').implement({
  description: 'One tool of a toolset.',
  fields: (t) => ({
    serverId: t.exposeString('serverId', { description: SERVER_ID }),
    toolName: t.exposeString('toolName', { description: TOOL_NAME }),
  }),
});

const ToolsetType = builder.objectRef<McpToolset>(TYPE);

builder.node(ToolsetType, {
  description: 'A named selection of tools of several MCP servers.',
  id: { resolve: ({ id }) => id },
  loadMany: nodesOf((id, { scope }) => getMcpToolset(scope, { id })),
  fields: (t) => ({
    toolsetId: t.exposeString('id', { description: 'Local id, as in the HTTP API.' }),
    name: t.exposeString('name', { description: NAME }),
    description: t.string({
      nullable: true,
      description: 'What the toolset is for. Null for none.',
      resolve: ({ description }) => description,
    }),
    tools: t.field({ type: [ToolType], description: 'The selected tools.', resolve: ({ tools }) => [...tools] }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was stored.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it was last changed.' }),
  }),
});

const idOf = ({ id }: McpToolset): string => id;

builder.queryField('mcpToolsets', (t) =>
  t.connection(
    {
      type: ToolsetType,
      nullable: true,
      description: 'Toolsets that the caller may use, the oldest first.',
      complexity: pageCost,
      args: { name: t.arg.string({ description: 'Text that the name contains; letter case is ignored.' }) },
      resolve: async (_root, { name, ...args }, { scope }) => {
        const found = await listMcpToolsets(scope, undefined);
        return pageOf(
          found.filter((toolset) => containsText(toolset.name, name)),
          args,
          idOf,
        );
      },
    },
    { ...pageType('McpToolset', 'toolsets'), fields: (fields) => totalCount(fields, 'toolsets') },
    edgeType('McpToolset', 'toolset'),
  ),
);

const ToolInput = builder.inputType('McpToolsetToolInput', {
  description: 'One tool of a toolset.',
  fields: (t) => ({
    serverId: t.string({ required: true, description: SERVER_ID }),
    toolName: t.string({ required: true, description: TOOL_NAME }),
  }),
});

const CreateInput = builder.inputType('CreateMcpToolsetInput', {
  description: 'A toolset to store.',
  fields: (t) => ({
    name: t.string({ required: true, description: `${NAME} Unique without regard to case.` }),
    description: t.string({ description: 'What the toolset is for.' }),
    tools: t.field({ type: [ToolInput], description: 'The selected tools; none when absent.' }),
  }),
});

const UpdateInput = builder.inputType('UpdateMcpToolsetInput', {
  description: 'Changes to a toolset. Absent members stay as they are.',
  fields: (t) => ({
    toolset: t.id({ required: true, description: TOOLSET_ID }),
    name: t.string({ description: `${NAME} Unique without regard to case.` }),
    description: t.string({ description: 'What the toolset is for. Null removes it.' }),
    tools: t.field({ type: [ToolInput], description: 'Replaces the selected tools.' }),
  }),
});

const DeleteInput = builder.inputType('DeleteMcpToolsetInput', {
  description: 'The toolset to delete.',
  fields: (t) => ({ toolset: t.id({ required: true, description: TOOLSET_ID }) }),
});

const patchOf = ({ name, description, tools }: typeof UpdateInput.$inferInput): McpToolsetPatch => ({
  ...(name === null || name === undefined ? {} : { name }),
  ...(description === undefined ? {} : { description }),
  ...(tools === null || tools === undefined ? {} : { tools }),
});

builder.mutationFields((t) => ({
  createMcpToolset: t.field({
    type: ToolsetType,
    description: 'Stores a toolset.',
    args: { input: t.arg({ type: CreateInput, required: true, description: 'The toolset.' }) },
    errors: {
      types: [InvalidInput, Conflict],
      union: { name: 'CreateMcpToolsetResult', description: 'The toolset, or why it was not stored.' },
    },
    resolve: (_root, { input: { name, description, tools } }, { scope }) =>
      createMcpToolset(scope, { name, description: description ?? null, tools: tools ?? [] }),
  }),
  updateMcpToolset: t.field({
    type: ToolsetType,
    description: 'Changes a toolset.',
    args: { input: t.arg({ type: UpdateInput, required: true, description: 'The toolset and its changes.' }) },
    errors: {
      types: [InvalidInput, NotFound, Conflict],
      union: { name: 'UpdateMcpToolsetResult', description: 'The changed toolset, or why it was not changed.' },
    },
    resolve: (_root, { input }, { scope }) =>
      updateMcpToolset(scope, { id: localId(TYPE, input.toolset), patch: patchOf(input) }),
  }),
  deleteMcpToolset: t.field({
    type: ToolsetType,
    description: 'Deletes a toolset.',
    args: { input: t.arg({ type: DeleteInput, required: true, description: 'The toolset.' }) },
    errors: {
      types: [NotFound],
      union: { name: 'DeleteMcpToolsetResult', description: 'The deleted toolset, or why it was not deleted.' },
    },
    resolve: (_root, { input }, { scope }) => deleteMcpToolset(scope, { id: localId(TYPE, input.toolset) }),
  }),
}));
