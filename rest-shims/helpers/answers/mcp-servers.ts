import { jsonObjectOf } from '../../../src/domain/json-object.ts';
import { DEFAULT_MCP_TRANSPORT } from '../../../src/domain/mcp-servers/mcp-server-of.ts';
import type { McpServerDefinition } from '../../../src/domain/mcp-servers/mcp-server.ts';
import type { McpToolset } from '../../../src/domain/mcp-toolsets/mcp-toolset.ts';

const NO_TEXT = null as string | null;
const NO_NUMBER = null as number | null;
const NO_OBJECT = null as object | null;
const NO_TEXTS: readonly string[] = [];
const NO_OBJECTS: readonly object[] = [];
const EMPTY: object = {};

/** Members of an answer with their values where a server has none, in the order of the reference. */
const DEFAULTS = {
  server_name: NO_TEXT,
  alias: NO_TEXT,
  description: NO_TEXT,
  url: NO_TEXT,
  spec_path: NO_TEXT,
  transport: DEFAULT_MCP_TRANSPORT as string,
  auth_type: NO_TEXT,
  credentials: NO_OBJECT,
  instructions: NO_TEXT,
  created_at: NO_TEXT,
  created_by: NO_TEXT,
  updated_at: NO_TEXT,
  updated_by: NO_TEXT,
  teams: NO_OBJECTS,
  mcp_access_groups: NO_TEXTS,
  allowed_tools: NO_TEXTS,
  tool_name_to_display_name: EMPTY,
  tool_name_to_description: EMPTY,
  pinned_tools: null,
  extra_headers: NO_TEXTS,
  mcp_info: NO_OBJECT,
  static_headers: EMPTY,
  env_vars: NO_OBJECTS,
  status: 'unknown',
  last_health_check: NO_TEXT,
  health_check_error: NO_TEXT,
  command: NO_TEXT,
  args: NO_TEXTS,
  env: EMPTY,
  issuer: NO_TEXT,
  authorization_url: NO_TEXT,
  token_url: NO_TEXT,
  registration_url: NO_TEXT,
  oauth2_flow: NO_TEXT,
  token_exchange_endpoint: NO_TEXT,
  audience: NO_TEXT,
  subject_token_type: NO_TEXT,
  token_exchange_profile: NO_TEXT,
  allow_all_keys: false as boolean,
  available_on_public_internet: true as boolean,
  delegate_auth_to_upstream: false as boolean,
  oauth_passthrough: false as boolean,
  dcr_bridge: null,
  per_server_oauth_discovery: false as boolean,
  is_byok: false as boolean,
  byok_description: NO_TEXTS,
  byok_api_key_help_url: NO_TEXT,
  has_user_credential: null,
  connected_app_reachable: null,
  source_url: NO_TEXT,
  timeout: NO_NUMBER,
  max_concurrent_requests: NO_NUMBER,
  rpm: NO_NUMBER,
  approval_status: 'active',
  submitted_by: NO_TEXT,
  submitted_at: NO_TEXT,
  reviewed_at: NO_TEXT,
  review_notes: NO_TEXT,
};

/** Members of `mcp_info` of a server that is not public. */
const NOT_PUBLIC = { is_public: false, is_public_explicit: false };

/** `mcp_info` of an answer. It is null only in the view of a key without a user. */
const infoOf = (info: unknown): object | null => (info === null ? null : { ...NOT_PUBLIC, ...jsonObjectOf(info) });

/** A server in the form of the reference. Secrets are redacted already. */
export const renderMcpServer = (one: McpServerDefinition) => ({
  server_id: one.id,
  is_config: one.isFromConfig,
  ...DEFAULTS,
  ...(one.params as Partial<typeof DEFAULTS>),
  mcp_info: infoOf(one.params['mcp_info']),
  created_at: one.createdAt?.toISOString() ?? null,
  created_by: one.createdBy,
  updated_at: one.updatedAt?.toISOString() ?? null,
  updated_by: one.updatedBy,
});

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);

/** A public server for everyone. */
export const renderPublicServer = ({ id, params }: McpServerDefinition) => ({
  server_id: id,
  name: textOf(params['alias']) ?? textOf(params['server_name']) ?? id,
  server_name: textOf(params['server_name']),
  alias: textOf(params['alias']),
  description: textOf(params['description']),
  transport: textOf(params['transport']) ?? DEFAULT_MCP_TRANSPORT,
  auth_type: textOf(params['auth_type']),
  mcp_info: jsonObjectOf(params['mcp_info']),
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
    const url = `${withoutTrailingSlash(base)}/mcp/${encodeURIComponent(name)}`;
    return {
      server: {
        name,
        title: textOf(server.params['server_name']) ?? name,
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
