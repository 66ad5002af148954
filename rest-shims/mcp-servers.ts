import {
  createMcpServer,
  deleteMcpServer,
  getMcpServer,
  listMcpAccessGroups,
  listMcpServers,
  listMcpSubmissions,
  listMcpUserValues,
  listPublicMcpServers,
  publishMcpServers,
  readMcpClientAddress,
  readMcpRegistry,
  reviewMcpServer,
  submitMcpServer,
  updateMcpServer,
} from '../resolvers/mcp-servers.ts';
import type { JsonObject } from '../src/domain/json-object.ts';
import { MCP_TRANSPORTS } from '../src/domain/mcp-servers/mcp-server.ts';
import { aliasFrom, MCP_AUTH_TYPES, MCP_OAUTH_FLOWS } from '../src/domain/mcp-servers/server-params.ts';
import {
  MCP_CREDENTIAL_MEMBERS,
  MCP_SERVER_MEMBERS,
  mcpMemberName,
  type MemberKind,
} from '../src/domain/mcp-servers/server-members.ts';
import { SUCCESS } from './errors.ts';
import { renderMcpServer, renderPublicServer, renderRegistry } from './helpers/answers/mcp-servers.ts';
import { SUGGESTED_APIS, SUGGESTED_SERVERS } from './helpers/answers/mcp-suggestions.ts';
import {
  type FieldReader,
  fields,
  flag,
  listOf,
  members,
  missingField,
  number,
  object,
  oneOf,
  optional,
  orNull,
  parseObject,
  recordOf,
  requiredTexts,
  text,
  texts,
} from './helpers/http/body-fields.ts';
import { emptyAnswer, type HttpAnswer, type HttpRequest, json, route, type RouteRow } from './helpers/http/route.ts';
import { MANAGEMENT_CHANGE, MANAGEMENT_READ } from './helpers/http/row-facts.ts';
import { described } from './helpers/http/schema.ts';

const anyValue: FieldReader<unknown> = described({}, (input) => ({ value: input }));

/** Readers of members, by the types of their values. */
const READERS: Readonly<Record<MemberKind, FieldReader<unknown>>> = {
  text,
  texts: orNull(texts),
  flag,
  number,
  textMap: recordOf(text),
  textsMap: recordOf(texts),
  object: orNull(object),
  objects: listOf(orNull(object)),
  any: anyValue,
};

const readersOf = (kinds: Readonly<Record<string, MemberKind>>): Readonly<Record<string, FieldReader<unknown>>> =>
  Object.fromEntries(Object.entries(kinds).map(([name, kind]) => [name, optional(READERS[kind])]));

/** Reads a server. Every member may be absent, and unknown members are ignored. */
const readServer = members<JsonObject>({
  ...readersOf({ ...MCP_SERVER_MEMBERS, ...MCP_CREDENTIAL_MEMBERS }),
  transport: optional(oneOf(MCP_TRANSPORTS)),
  auth_type: optional(oneOf(MCP_AUTH_TYPES)),
  oauth2_flow: optional(oneOf(MCP_OAUTH_FLOWS)),
  authentication_token: optional(text),
  access_groups: optional(orNull(texts)),
  server_id: optional(text),
});
const readReview = members({ review_notes: text });
const readPublished = fields({ mcp_server_ids: requiredTexts });

const isCredential = (name: string): boolean => Object.hasOwn(MCP_CREDENTIAL_MEMBERS, mcpMemberName(name));

/** Sent members of a server. Unknown members of `credentials` are ignored, as all unknown members. */
function parseServer({ body }: HttpRequest): { readonly id: string | null; readonly params: JsonObject } {
  const { server_id: id, ...sent } = readServer(parseObject(body));
  const params = Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== undefined));
  const { credentials } = params;
  if (typeof credentials === 'object' && credentials !== null)
    params['credentials'] = Object.fromEntries(Object.entries(credentials).filter(([name]) => isCredential(name)));
  return { id: typeof id === 'string' ? id : null, params };
}

/** A change of a server. As in the reference, a new name without an alias also sets the alias. */
function parseChange(request: HttpRequest) {
  const { id: sentId, params } = parseServer(request);
  const id = request.params['id'] ?? sentId;
  if (id === null) throw missingField('server_id');
  const { server_name: name, alias } = params;
  const isRenamed = typeof name === 'string' && (alias === undefined || alias === null);
  return { id, params: isRenamed ? { ...params, alias: aliasFrom(name) } : params };
}

const idIn = ({ params }: HttpRequest): { readonly id: string } => ({ id: params['id'] ?? '' });

function parseReview(approved: boolean) {
  return ({ body, params }: HttpRequest) => {
    const { review_notes: notes } = body.length === 0 ? { review_notes: null } : readReview(parseObject(body));
    return { id: params['id'] ?? '', approved, notes };
  };
}

const created = (value: unknown): HttpAnswer => ({ ...json(value), status: SUCCESS.created });
const accepted = (value: unknown): HttpAnswer => ({ ...json(value), status: SUCCESS.accepted });

const FORM = { failureForm: { body: 'detail' } } as const satisfies Partial<RouteRow>;
const READ = { ...MANAGEMENT_READ, ...FORM, statuses: [200, 401] } as const;
const CHANGE = { ...MANAGEMENT_CHANGE, ...FORM } as const;
const OPEN = { ...MANAGEMENT_READ, credential: 'none' } as const;

/** MCP servers: lists, changes, submissions of teams, and public lists. */
export const mcpServerRoutes: readonly RouteRow[] = [
  route({
    ...READ,
    name: 'mcpServers.list',
    paths: ['/v1/mcp/server'],
    parse: () => undefined,
    run: listMcpServers,
    render: (servers) => json(servers.map(renderMcpServer)),
  }),
  route({
    ...CHANGE,
    name: 'mcpServers.create',
    paths: ['/v1/mcp/server'],
    statuses: [201, 400, 401, 403, 422],
    bodySchema: readServer.schema,
    parse: parseServer,
    run: createMcpServer,
    render: (server) => created(renderMcpServer(server)),
  }),
  route({
    ...CHANGE,
    method: 'PUT',
    name: 'mcpServers.update',
    paths: ['/v1/mcp/server', '/v1/mcp/server/:id'],
    statuses: [202, 400, 401, 403, 404, 422],
    bodySchema: readServer.schema,
    parse: parseChange,
    run: updateMcpServer,
    render: (server) => accepted(renderMcpServer(server)),
  }),
  route({
    ...CHANGE,
    name: 'mcpServers.submit',
    paths: ['/v1/mcp/server/register'],
    statuses: [201, 400, 401, 403, 422],
    bodySchema: readServer.schema,
    parse: parseServer,
    run: submitMcpServer,
    render: (server) => created(renderMcpServer(server)),
  }),
  route({
    ...READ,
    name: 'mcpServers.submissions',
    paths: ['/v1/mcp/server/submissions'],
    statuses: [200, 401, 403],
    parse: () => undefined,
    run: listMcpSubmissions,
    render: ({ items, pending, active, rejected }) =>
      json({ total: items.length, pending_review: pending, active, rejected, items: items.map(renderMcpServer) }),
  }),
  ...([true, false] as const).map((approved) =>
    route({
      ...CHANGE,
      method: 'PUT' as const,
      name: approved ? 'mcpServers.approve' : 'mcpServers.reject',
      paths: [`/v1/mcp/server/:id/${approved ? 'approve' : 'reject'}`] as const,
      statuses: [200, 401, 403, 404, 422],
      bodySchema: readReview.schema,
      parse: parseReview(approved),
      run: reviewMcpServer,
      render: (server) => json(renderMcpServer(server)),
    }),
  ),
  route({
    ...READ,
    name: 'mcpServers.get',
    paths: ['/v1/mcp/server/:id'],
    statuses: [200, 401, 404],
    parse: idIn,
    run: getMcpServer,
    render: (server) => json(renderMcpServer(server)),
  }),
  route({
    ...READ,
    method: 'DELETE',
    name: 'mcpServers.delete',
    paths: ['/v1/mcp/server/:id'],
    statuses: [202, 400, 401, 403, 404],
    parse: idIn,
    run: deleteMcpServer,
    render: () => emptyAnswer(SUCCESS.accepted),
  }),
  route({
    ...CHANGE,
    name: 'mcpServers.publish',
    paths: ['/v1/mcp/make_public'],
    statuses: [200, 400, 401, 403, 404, 422],
    bodySchema: readPublished.schema,
    parse: ({ body }) => ({ ids: readPublished(body).mcp_server_ids }),
    run: publishMcpServers,
    render: (ids) => json({ message: 'The public MCP servers were changed.', public_mcp_servers: ids }),
  }),
  route({
    ...READ,
    name: 'mcpServers.accessGroups',
    paths: ['/v1/mcp/access_groups'],
    parse: () => undefined,
    run: listMcpAccessGroups,
    render: (names) => json({ access_groups: names }),
  }),
  route({
    ...READ,
    name: 'mcpServers.clientAddress',
    paths: ['/v1/mcp/network/client-ip'],
    parse: () => undefined,
    run: readMcpClientAddress,
    render: (ip) => json({ ip }),
  }),
  route({
    ...READ,
    name: 'mcpServers.userValues',
    paths: ['/v1/mcp/user-credentials', '/v1/mcp/user-env-vars/status'],
    parse: () => undefined,
    run: listMcpUserValues,
    render: (none) => json(none),
  }),
  route({
    ...READ,
    name: 'mcpServers.suggestions',
    paths: ['/v1/mcp/discover'],
    parse: () => undefined,
    // The operation only checks the caller.
    run: listMcpUserValues,
    render: () => json(SUGGESTED_SERVERS),
  }),
  route({
    ...READ,
    name: 'mcpServers.suggestedApis',
    paths: ['/v1/mcp/openapi-registry'],
    parse: () => undefined,
    // The operation only checks the caller.
    run: listMcpUserValues,
    render: () => json(SUGGESTED_APIS),
  }),
  route({
    ...OPEN,
    failureForm: { body: 'text' },
    name: 'mcpServers.registry',
    paths: ['/v1/mcp/registry.json'],
    statuses: [200, 404],
    parse: () => undefined,
    run: readMcpRegistry,
    render: (registry) => json(renderRegistry(registry)),
  }),
  route({
    ...OPEN,
    name: 'mcpServers.hub',
    paths: ['/public/mcp_hub'],
    statuses: [200],
    parse: () => undefined,
    run: listPublicMcpServers,
    render: (servers) => json(servers.map(renderPublicServer)),
  }),
];
