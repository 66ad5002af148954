import {
  createMcpToolset,
  deleteMcpToolset,
  getMcpToolset,
  listMcpToolsets,
  updateMcpToolset,
} from '../resolvers/mcp-toolsets.ts';
import type { McpToolReference } from '../src/domain/mcp-toolsets/mcp-toolset.ts';
import { SUCCESS } from './errors.ts';
import { renderMcpToolset } from './helpers/answers/mcp-servers.ts';
import {
  fields,
  type FieldReader,
  listOf,
  NOT_AN_OBJECT,
  optional,
  requiredText,
  text,
} from './helpers/http/body-fields.ts';
import { emptyAnswer, type HttpRequest, json, route, type RouteRow } from './helpers/http/route.ts';
import { MANAGEMENT_CHANGE, MANAGEMENT_READ } from './helpers/http/row-facts.ts';
import { described, objectSchema } from './helpers/http/schema.ts';

const TEXT = { type: 'string' } as const;

/** One tool: an object with the texts `server_id` and `tool_name`. */
const tool: FieldReader<McpToolReference> = described(
  objectSchema({ server_id: TEXT, tool_name: TEXT }, ['server_id', 'tool_name']),
  (input) => {
    if (typeof input !== 'object' || input === null) return NOT_AN_OBJECT;
    const { server_id: serverId, tool_name: toolName } = input as Readonly<Record<string, unknown>>;
    if (typeof serverId === 'string' && typeof toolName === 'string') return { value: { serverId, toolName } };
    return { rule: 'string_type', message: 'Input should have the strings server_id and tool_name' };
  },
);

const readToolset = fields({ toolset_name: requiredText, description: text, tools: listOf(tool) });
const readPatch = fields({
  toolset_id: requiredText,
  toolset_name: text,
  description: optional(text),
  tools: listOf(tool),
});

function parseNew({ body }: HttpRequest) {
  const { toolset_name: name, description, tools } = readToolset(body);
  return { name, description, tools: tools ?? [] };
}

function parsePatch({ body }: HttpRequest) {
  const { toolset_id: id, toolset_name: name, description, tools } = readPatch(body);
  const patch = {
    ...(name === null ? {} : { name }),
    ...(description === undefined ? {} : { description }),
    ...(tools === null ? {} : { tools }),
  };
  return { id, patch };
}

const idIn = ({ params }: HttpRequest): { readonly id: string } => ({ id: params['id'] ?? '' });

const FORM = { failureForm: { body: 'detail' } } as const satisfies Partial<RouteRow>;
const READ = { ...MANAGEMENT_READ, ...FORM } as const;
const CHANGE = { ...MANAGEMENT_CHANGE, ...FORM } as const;
const PATH = '/v1/mcp/toolset';

/** Toolsets: named selections of tools of MCP servers. */
export const mcpToolsetRoutes: readonly RouteRow[] = [
  route({
    ...READ,
    name: 'mcpToolsets.list',
    paths: [PATH],
    statuses: [200, 401],
    parse: () => undefined,
    run: listMcpToolsets,
    render: (toolsets) => json(toolsets.map(renderMcpToolset)),
  }),
  route({
    ...CHANGE,
    name: 'mcpToolsets.create',
    paths: [PATH],
    statuses: [201, 400, 401, 403, 422],
    bodySchema: readToolset.schema,
    parse: parseNew,
    run: createMcpToolset,
    render: (toolset) => ({ ...json(renderMcpToolset(toolset)), status: SUCCESS.created }),
  }),
  route({
    ...CHANGE,
    method: 'PUT',
    name: 'mcpToolsets.update',
    paths: [PATH],
    statuses: [202, 400, 401, 403, 404, 422],
    bodySchema: readPatch.schema,
    parse: parsePatch,
    run: updateMcpToolset,
    render: (toolset) => ({ ...json(renderMcpToolset(toolset)), status: SUCCESS.accepted }),
  }),
  route({
    ...READ,
    name: 'mcpToolsets.get',
    paths: [`${PATH}/:id`],
    statuses: [200, 401, 404],
    parse: idIn,
    run: getMcpToolset,
    render: (toolset) => json(renderMcpToolset(toolset)),
  }),
  route({
    ...READ,
    method: 'DELETE',
    name: 'mcpToolsets.delete',
    paths: [`${PATH}/:id`],
    statuses: [202, 401, 403, 404],
    parse: idIn,
    run: deleteMcpToolset,
    render: () => emptyAnswer(SUCCESS.accepted),
  }),
];
