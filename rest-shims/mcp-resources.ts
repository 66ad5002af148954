import { findMcpResource, type McpResource } from '../resolvers/mcp-resources.ts';
import { RESOURCE_DOCUMENT } from './helpers/http/mcp-errors.ts';
import { type HttpAnswer, type HttpRequest, json, route, type RouteRow } from './helpers/http/route.ts';
import { requestBase } from './helpers/mcp/arrival.ts';

const OPEN = { surface: 'mcp', credential: 'none', method: 'GET', bodyLimit: 0, run: findMcpResource } as const;

const parse = ({ params, headers }: HttpRequest) => ({
  name: params['server'] ?? null,
  requestBase: requestBase(headers),
});

/** A document about a protected resource (RFC 9728), whose path follows the one of all documents. */
const render = ({ base }: McpResource, { path }: HttpRequest): HttpAnswer =>
  json({
    resource: `${base}${path.slice(RESOURCE_DOCUMENT.length)}`,
    authorization_servers: [`${base}/mcp`],
    scopes_supported: [],
  });

/** Documents about the protected resources of the gateway, to which challenges of its endpoints refer. */
export const mcpResourceRoutes: readonly RouteRow[] = [
  route({
    ...OPEN,
    name: 'mcpResources.gateway',
    paths: [RESOURCE_DOCUMENT, `${RESOURCE_DOCUMENT}/mcp`],
    statuses: [200],
    parse,
    render,
  }),
  route({
    ...OPEN,
    name: 'mcpResources.server',
    paths: [`${RESOURCE_DOCUMENT}/:server/mcp`, `${RESOURCE_DOCUMENT}/mcp/:server`],
    statuses: [200, 404],
    parse,
    render,
  }),
];
