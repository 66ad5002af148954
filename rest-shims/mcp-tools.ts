import {
  callMcpTool,
  checkMcpServers,
  listToolsOfMcpServer,
  showMcpTools,
  testMcpServer,
} from '../resolvers/mcp-tools.ts';
import type { Scope } from '../resolvers/operation/scope.ts';
import { InvalidInput } from '../src/domain/errors.ts';
import type { McpRequest, McpTarget, McpToolListing, ServerTools } from '../src/domain/mcp/mcp-request.ts';
import type { McpToolResult } from '../src/domain/mcp/mcp-upstream.ts';
import { prefixedTool, renderOutcomes, renderTool, renderToolOfServer } from './helpers/answers/mcp-tools.ts';
import { members, object, orNull, parseObject, text as bodyText } from './helpers/http/body-fields.ts';
import { upstreamAuthorization, withoutKeys } from './helpers/http/credential.ts';
import { flag, query, text } from './helpers/http/query.ts';
import { type HttpAnswer, type HttpRequest, json, route, type RouteRow } from './helpers/http/route.ts';
import { MANAGEMENT_CHANGE, MANAGEMENT_READ } from './helpers/http/row-facts.ts';

const FORM = { failureForm: { body: 'mcp' } } as const satisfies Partial<RouteRow>;
/** Message of a list without an error, as in the reference. */
const LISTED = 'Successfully retrieved tools';

/** A request for tools, without a session. */
const requestFor = ({ headers }: HttpRequest, target: McpTarget): McpRequest => ({
  target,
  clientHeaders: withoutKeys(headers),
  callerToken: upstreamAuthorization(headers),
  sessionId: null,
  clientAddress: null,
});

const readQuery = query({
  server_id: text,
  mcp_server_name: text,
  toolset_name: text,
  include_disabled_tools: flag,
});

function parseList(request: HttpRequest) {
  const { server_id: id, mcp_server_name: name, toolset_name: toolset, ...flags } = readQuery(request.search);
  const target: McpTarget = toolset === null ? { kind: 'all' } : { kind: 'toolset', name: toolset };
  const includesDisabled = flags.include_disabled_tools ?? false;
  return { request: requestFor(request, target), server: id ?? name, includesDisabled };
}

/** One server, the servers of a toolset, or all. */
function runList(scope: Scope, { request, server, includesDisabled }: ReturnType<typeof parseList>) {
  return server === null
    ? showMcpTools(scope, request)
    : listToolsOfMcpServer(scope, { request, server, includesDisabled });
}

/** A list of tools. It is an error only when no server was asked, or when it is empty after a failure. */
function renderList(listing: McpToolListing): HttpAnswer {
  if (listing.outcomes.size === 0)
    return json({ tools: [], error: 'unexpected_error', message: 'The key is not allowed to access any MCP server.' });
  const hasFailure = [...listing.outcomes.values()].some(({ status }) => status !== 'ok');
  const body = { tools: listing.tools.map(renderToolOfServer), server_outcomes: renderOutcomes(listing) };
  if (listing.tools.length === 0 && hasFailure)
    return json({ ...body, error: 'partial_failure', message: 'No MCP server listed tools. See server_outcomes.' });
  return json({ ...body, error: null, message: LISTED });
}

const readCall = members({ server_id: bodyText, name: bodyText, arguments: orNull(object) });

const missing = (name: string): InvalidInput =>
  new InvalidInput(`${name} is required in request body`, [], { field: 'mcp_parameter' });

function parseCall(request: HttpRequest) {
  const { server_id: serverId, name, arguments: args } = readCall(parseObject(request.body));
  if (serverId === null || serverId === '') throw missing('server_id');
  if (name === null || name === '') throw missing('name');
  return { ...requestFor(request, { kind: 'all' }), serverId, name, args: args ?? {} };
}

const renderResult = ({ content, structuredContent, isError, _meta }: McpToolResult): HttpAnswer =>
  json({
    _meta: _meta ?? null,
    content: content.map((part) => ({
      ...part,
      annotations: part['annotations'] ?? null,
      _meta: part['_meta'] ?? null,
    })),
    structuredContent: structuredContent ?? null,
    isError: isError ?? false,
    resultType: 'complete',
  });

const readTested = members({ server_name: bodyText, url: bodyText, transport: bodyText, auth_type: bodyText });

function parseTested({ body }: HttpRequest) {
  const params = parseObject(body);
  // Refuses wrong types. The operation reads all members.
  readTested(params);
  return { params };
}

const renderTested = ({ failure }: ServerTools): HttpAnswer =>
  json(failure === null ? { status: 'ok' } : { status: 'error', error: true, message: failure.message });

const renderTestedTools = ({ tools, outcome, failure }: ServerTools): HttpAnswer =>
  json(
    failure === null
      ? { tools: tools.map(renderTool), error: null, message: LISTED }
      : { tools: [], error: outcome.status, message: failure.message },
  );

/** `server_ids` may be repeated. */
const parseHealth = (request: HttpRequest) => ({
  ids: new URLSearchParams(request.search).getAll('server_ids'),
  request: requestFor(request, { kind: 'all' }),
});

/** Facts of the rows that test a server which is not stored. */
const TESTED = {
  ...MANAGEMENT_CHANGE,
  ...FORM,
  bodySchema: readTested.schema,
  statuses: [200, 400, 401, 422],
} as const;

/** Tools of MCP servers: lists, calls, and checks of servers. */
export const mcpToolRoutes: readonly RouteRow[] = [
  route({
    ...MANAGEMENT_READ,
    ...FORM,
    name: 'mcpTools.list',
    paths: ['/v1/mcp/tools'],
    statuses: [200, 401],
    parse: (request) => requestFor(request, { kind: 'all' }),
    run: showMcpTools,
    render: ({ tools }) => json({ tools: tools.map((one) => renderTool(prefixedTool(one))) }),
  }),
  route({
    ...MANAGEMENT_READ,
    ...FORM,
    name: 'mcpTools.ofServers',
    paths: ['/mcp-rest/tools/list'],
    statuses: [200, 401, 403, 404, 422, 502],
    querySchema: readQuery.schema,
    parse: parseList,
    run: runList,
    render: renderList,
  }),
  route({
    ...MANAGEMENT_CHANGE,
    ...FORM,
    name: 'mcpTools.call',
    paths: ['/mcp-rest/tools/call'],
    bodyLimit: 'setting',
    statuses: [200, 400, 401, 403, 404, 422, 429, 502, 504],
    bodySchema: readCall.schema,
    parse: parseCall,
    run: callMcpTool,
    render: renderResult,
  }),
  route({
    ...TESTED,
    name: 'mcpTools.testConnection',
    paths: ['/mcp-rest/test/connection'],
    parse: parseTested,
    run: testMcpServer,
    render: renderTested,
  }),
  route({
    ...TESTED,
    name: 'mcpTools.testList',
    paths: ['/mcp-rest/test/tools/list'],
    parse: parseTested,
    run: testMcpServer,
    render: renderTestedTools,
  }),
  route({
    ...MANAGEMENT_READ,
    ...FORM,
    name: 'mcpTools.health',
    paths: ['/v1/mcp/server/health'],
    statuses: [200, 401],
    querySchema: { type: 'object', properties: { server_ids: { type: 'array', items: { type: 'string' } } } },
    parse: parseHealth,
    run: checkMcpServers,
    render: (checked) =>
      json(
        checked.map(({ server, failure }) => ({
          server_id: server.id,
          status: failure === null ? 'healthy' : 'unhealthy',
        })),
      ),
  }),
];
