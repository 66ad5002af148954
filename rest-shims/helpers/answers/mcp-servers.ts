import { jsonObjectOf } from '../../../src/domain/json-object.ts';
import { DEFAULT_MCP_TRANSPORT } from '../../../src/domain/mcp-servers/mcp-server-of.ts';
import type { McpServerDefinition } from '../../../src/domain/mcp-servers/mcp-server.ts';
import type { McpToolset } from '../../../src/domain/mcp-toolsets/mcp-toolset.ts';

/** Members of an answer with their values where a server has none, in the order of the reference. */
const DEFAULTS: Readonly<Record<string, unknown>> = {
  server_name: null,
  alias: null,
  description: null,
  url: null,
  spec_path: null,
  transport: DEFAULT_MCP_TRANSPORT,
  auth_type: null,
  credentials: null,
  instructions: null,
  created_at: null,
  created_by: null,
  updated_at: null,
  updated_by: null,
  teams: [],
  mcp_access_groups: [],
  allowed_tools: [],
  tool_name_to_display_name: {},
  tool_name_to_description: {},
  pinned_tools: null,
  extra_headers: [],
  mcp_info: null,
  static_headers: {},
  env_vars: [],
  status: 'unknown',
  last_health_check: null,
  health_check_error: null,
  command: null,
  args: [],
  env: {},
  issuer: null,
  authorization_url: null,
  token_url: null,
  registration_url: null,
  oauth2_flow: null,
  token_exchange_endpoint: null,
  audience: null,
  subject_token_type: null,
  token_exchange_profile: null,
  allow_all_keys: false,
  available_on_public_internet: true,
  delegate_auth_to_upstream: false,
  oauth_passthrough: false,
  dcr_bridge: null,
  per_server_oauth_discovery: false,
  is_byok: false,
  byok_description: [],
  byok_api_key_help_url: null,
  has_user_credential: null,
  connected_app_reachable: null,
  source_url: null,
  timeout: null,
  max_concurrent_requests: null,
  rpm: null,
  approval_status: 'active',
  submitted_by: null,
  submitted_at: null,
  reviewed_at: null,
  review_notes: null,
};

/** Whether everyone may see a server, as the member `mcp_info` has it. */
const publicity = { is_public: false, is_public_explicit: false };

/** `mcp_info` of an answer. It is null only in the view of a key without a user. */
const infoOf = (info: unknown): object | null => (info === null ? null : { ...publicity, ...jsonObjectOf(info) });

/** A server in the form of the reference. Secrets are redacted already. */
export const renderMcpServer = (one: McpServerDefinition) => ({
  server_id: one.id,
  is_config: one.isFromConfig,
  ...DEFAULTS,
  ...one.params,
  mcp_info: infoOf(one.params['mcp_info']),
  created_at: one.createdAt?.toISOString() ?? null,
  created_by: one.createdBy,
  updated_at: one.updatedAt?.toISOString() ?? null,
  updated_by: one.updatedBy,
});

/** A public server for everyone. */
export const renderPublicServer = ({ id, params }: McpServerDefinition) => ({
  server_id: id,
  name: params['alias'] ?? params['server_name'] ?? id,
  server_name: params['server_name'] ?? null,
  alias: params['alias'] ?? null,
  description: params['description'] ?? null,
  transport: params['transport'] ?? DEFAULT_MCP_TRANSPORT,
  auth_type: params['auth_type'] ?? null,
  mcp_info: params['mcp_info'] ?? null,
});

const withoutTrailingSlash = (address: string): string => address.replace(/\/+$/, '');

/** The registry of public servers, with their addresses at this gateway. */
export const renderRegistry = ({
  base,
  servers,
}: {
  readonly base: string;
  readonly servers: readonly McpServerDefinition[];
}) => ({
  servers: servers.map((server) => {
    const { name, description } = renderPublicServer(server);
    const url = `${withoutTrailingSlash(base)}/mcp/${encodeURIComponent(String(name))}`;
    return {
      server: {
        name,
        title: server.params['server_name'] ?? name,
        description: description ?? '',
        version: '1.0.0',
        remotes: [{ type: 'streamable-http', url }],
      },
    };
  }),
});

export const renderMcpToolset = (toolset: McpToolset) => ({
  toolset_id: toolset.id,
  toolset_name: toolset.name,
  description: toolset.description,
  tools: toolset.tools.map(({ serverId, toolName }) => ({ server_id: serverId, tool_name: toolName })),
  created_at: toolset.createdAt.toISOString(),
  created_by: toolset.createdBy,
  updated_at: toolset.updatedAt.toISOString(),
  updated_by: toolset.updatedBy,
});
