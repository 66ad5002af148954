import type { RouteGroup } from '../../../src/domain/keys/route-rights.ts';
import type { Surface } from '../../errors.ts';
import type { RouteFacts } from './route.ts';

/** Groups by the surface of a route. */
const BY_SURFACE: Readonly<Record<Surface, readonly RouteGroup[]>> = {
  catalog: [],
  management: ['management_routes'],
  proxy: ['llm_api_routes', 'openai_routes'],
  anthropic: ['llm_api_routes', 'anthropic_routes'],
  gemini: ['llm_api_routes', 'google_routes'],
  a2a: ['llm_api_routes'],
  traces: ['llm_api_routes'],
  otlp: ['llm_api_routes'],
  lens: ['management_routes'],
  mcp: ['llm_api_routes', 'mcp_routes'],
};

/** Groups by row name, for rows whose groups differ from those of their surface. */
const BY_NAME: Readonly<Record<string, readonly RouteGroup[]>> = {
  // No group: `allowed_routes` names the path of a pass-through endpoint.
  'passThrough.call': [],
  'keys.info': ['management_routes', 'info_routes'],
  'keys.infos': ['management_routes', 'info_routes'],
  'keys.list': ['management_routes', 'info_routes'],
  'keys.health': ['management_routes', 'info_routes'],
  'mcpTools.list': ['llm_api_routes', 'mcp_routes'],
  'mcpTools.ofServers': ['llm_api_routes', 'mcp_routes'],
  'mcpTools.call': ['llm_api_routes', 'mcp_routes'],
  'models.list': ['llm_api_routes', 'openai_routes', 'info_routes'],
  'models.info': ['info_routes'],
  'models.groups': ['info_routes'],
  'models.page': ['info_routes'],
  'models.deprecations': ['info_routes'],
  // They call models, as the rows of the surface `proxy`.
  'rag.ingest': ['llm_api_routes', 'openai_routes'],
  'rag.query': ['llm_api_routes', 'openai_routes'],
  'health.deployments': ['info_routes'],
};

/** Route groups that contain a row. `allowed_routes` of a key may name a group. */
export const groupsOf = ({ name, surface }: Pick<RouteFacts, 'name' | 'surface'>): readonly RouteGroup[] =>
  BY_NAME[name] ?? BY_SURFACE[surface];
