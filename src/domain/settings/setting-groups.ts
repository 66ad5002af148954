import { LITELLM_SETTINGS } from './shared-fields.ts';
import type { ValueKind } from './value-kinds.ts';

/** A setting within a group. */
export interface GroupField {
  readonly kind: ValueKind;
  readonly description: string;
  /** The built-in value; null for none. */
  readonly defaultValue: unknown;
  /** The only texts that the setting, or an item of its list, may be; null for any. */
  readonly choices: readonly string[] | null;
}

/** Settings that are read and written together. */
export interface SettingGroup {
  /** The section that they are stored in. */
  readonly section: string;
  /** The setting of the section that contains the group; null when the section contains only this group. */
  readonly member: string | null;
  readonly description: string;
  /** The settings by name; empty when the group accepts any name. */
  readonly fields: Readonly<Record<string, GroupField>>;
  /** `merge` keeps stored settings that a write leaves out, `replace` removes them. */
  readonly writes: 'merge' | 'replace';
}

type Row = readonly [
  kind: ValueKind,
  description: string,
  more?: { readonly defaultValue?: unknown; readonly choices?: readonly string[] },
];

interface GroupRow extends Omit<SettingGroup, 'fields' | 'writes'> {
  readonly fields: Readonly<Record<string, Row>>;
  readonly writes?: SettingGroup['writes'];
}

const USER_ROLES = ['proxy_admin', 'proxy_admin_viewer', 'internal_user', 'internal_user_viewer'] as const;

const MEMBER_ROUTES = [
  '/key/generate',
  '/key/update',
  '/key/delete',
  '/key/regenerate',
  '/key/service-account/generate',
  '/key/{key_id}/regenerate',
  '/key/block',
  '/key/unblock',
  '/key/{key_id}/reset_spend',
  '/key/info',
  '/key/health',
  '/key/list',
  '/key/aliases',
] as const;

const connection = (server: string): Readonly<Record<string, Row>> => ({
  host: ['text', `Host of the ${server}.`],
  username: ['text', `User of the ${server}.`],
  password: ['text', `Password of the ${server}.`],
  url: ['text', `Address of the ${server}, in place of host, port, user and password.`],
  ssl: ['flag', 'Connects over TLS.', { defaultValue: false }],
  sentinel_nodes: ['list', 'Hosts and ports of the sentinels.'],
  sentinel_password: ['text', 'Password of the sentinels.'],
  service_name: ['text', 'Name of the service at the sentinels.'],
  aws_iam_auth: ['flag', 'Authenticates with an AWS role.', { defaultValue: false }],
  aws_iam_user_name: ['text', 'User of the AWS authentication.'],
  aws_iam_cache_name: ['text', 'Cluster of the AWS authentication.'],
  aws_iam_region: ['text', 'Region of the AWS authentication.'],
  aws_iam_serverless: ['flag', 'The cluster is serverless.', { defaultValue: false }],
});

const flags = (rows: Readonly<Record<string, string>>): Readonly<Record<string, Row>> =>
  Object.fromEntries(
    Object.entries(rows).map(([name, description]): [string, Row] => [
      name,
      ['flag', description, { defaultValue: false }],
    ]),
  );

const GROUPS = {
  internalUser: {
    section: LITELLM_SETTINGS,
    member: 'default_internal_user_params',
    description: 'Settings of new users that a request leaves out.',
    fields: {
      user_role: ['text', 'Role of new users.', { choices: USER_ROLES }],
      max_budget: ['number', 'Budget of new users, in USD.'],
      budget_duration: ['window', 'Window of that budget, such as `30d`.'],
      models: ['texts', 'Models of new users. An empty list is every model.'],
      teams: ['list', 'Teams that new users join.'],
    },
  },
  defaultTeam: {
    section: LITELLM_SETTINGS,
    member: 'default_team_params',
    description: 'Settings of new teams that a request leaves out.',
    fields: {
      models: ['texts', 'Models of teams that a single sign-on creates.', { defaultValue: [] }],
      max_budget: ['number', 'Budget of new teams, in USD.'],
      budget_duration: ['window', 'Window of that budget, such as `30d`.'],
      budget_limits: ['windows', 'Budgets of further windows of new teams.'],
      tpm_limit: ['integer', 'Tokens a minute of new teams.'],
      rpm_limit: ['integer', 'Requests a minute of new teams.'],
      team_member_permissions: ['texts', 'Key routes that members of new teams may call.', { choices: MEMBER_ROUTES }],
      organization_id: ['text', 'Organization of new teams.'],
    },
  },
  sso: {
    section: 'sso_settings',
    member: null,
    description: 'Single sign-on. Not in force yet.',
    fields: {
      google_client_id: ['text', 'Client id at Google.'],
      google_client_secret: ['text', 'Client secret at Google.'],
      microsoft_client_id: ['text', 'Client id at Microsoft.'],
      microsoft_client_secret: ['text', 'Client secret at Microsoft.'],
      microsoft_tenant: ['text', 'Tenant at Microsoft.'],
      generic_client_id: ['text', 'Client id at another provider.'],
      generic_client_secret: ['text', 'Client secret at another provider.'],
      generic_authorization_endpoint: ['text', 'Address where users authorize.'],
      generic_token_endpoint: ['text', 'Address of tokens.'],
      generic_userinfo_endpoint: ['text', 'Address of user data.'],
      generic_scope: ['text', 'Scopes, separated by spaces.', { defaultValue: 'openid email profile' }],
      saml_idp_metadata_url: ['text', 'Address of the SAML metadata of the provider.'],
      saml_idp_metadata_xml: ['text', 'SAML metadata of the provider.'],
      saml_sp_entity_id: ['text', 'SAML entity id of this server.'],
      saml_allow_unsolicited: ['text', '`true` accepts SAML responses that no request asked for.'],
      proxy_base_url: ['text', 'Public address of this server.'],
      user_email: ['text', 'Email of the first administrator.'],
      ui_access_mode: ['any', 'Who may open the dashboard.'],
      role_mappings: ['map', 'Roles by group of the provider.'],
      team_mappings: ['map', 'Teams by group of the provider.'],
    },
  },
  ui: {
    section: 'ui_settings',
    member: null,
    description: 'Rights of users in the dashboard.',
    fields: flags({
      disable_model_add_for_internal_users: 'Only proxy administrators can add models, also models of teams.',
      disable_team_admin_delete_team_user: 'Team administrators cannot remove members.',
      require_auth_for_public_ai_hub: 'The public model list needs a key.',
      allow_public_health_readiness_details: 'Readiness gives details without a key.',
      forward_client_headers_to_llm_api: 'Forwards headers of clients to upstreams. Not in force yet.',
      forward_llm_provider_auth_headers: 'Forwards credentials of clients to upstreams. Not in force yet.',
      disable_agents_for_internal_users: 'Users who are not administrators cannot use agents. Not in force yet.',
      allow_agents_for_team_admins:
        'Team administrators can use agents also while `disable_agents_for_internal_users` is on. Not in force yet.',
      disable_vector_stores_for_internal_users:
        'Users who are not administrators cannot use vector stores. Not in force yet.',
      allow_vector_stores_for_team_admins:
        'Team administrators can use vector stores also while `disable_vector_stores_for_internal_users` is on. Not in force yet.',
      disable_custom_api_keys: 'Generated keys are always random.',
      disable_key_generate_for_org_admin: 'Organization administrators cannot generate keys.',
    }),
  },
  uiTheme: {
    section: LITELLM_SETTINGS,
    member: 'ui_theme_config',
    description: 'Appearance of the dashboard.',
    fields: {
      logo_url: ['address', 'Address of the logo.'],
      logo_url_dark: ['address', 'Address of the logo for dark screens.'],
      favicon_url: ['address', 'Address of the icon.'],
    },
  },
  userBanner: {
    section: 'user_banner',
    member: null,
    description: 'Message for all users.',
    fields: {
      enabled: ['flag', 'Shows the message.', { defaultValue: false }],
      message: ['text', 'The message.', { defaultValue: '' }],
      severity: [
        'text',
        'Severity of the message.',
        { defaultValue: 'info', choices: ['info', 'warning', 'error', 'success'] },
      ],
      revision: ['text', 'Changes with each write.', { defaultValue: '' }],
    },
  },
  mcpSemanticFilter: {
    section: LITELLM_SETTINGS,
    member: 'mcp_semantic_tool_filter',
    description: 'Selection of MCP tools by meaning. Not in force yet.',
    fields: {
      enabled: ['flag', 'Offers only the tools nearest to the request.', { defaultValue: false }],
      embedding_model: ['text', 'Model that embeds tools and requests.', { defaultValue: 'text-embedding-3-small' }],
      top_k: ['integer', 'Number of tools.', { defaultValue: 10 }],
      similarity_threshold: ['number', 'Minimum similarity, from 0 to 1.', { defaultValue: 0.3 }],
    },
  },
  mcpToolSearch: {
    section: LITELLM_SETTINGS,
    member: 'mcp_tool_search',
    description: 'Search of MCP tools. Not in force yet.',
    fields: {
      enabled: ['flag', 'Offers one tool that searches the others.', { defaultValue: false }],
      top_k: ['integer', 'Number of tools that a search finds.', { defaultValue: 5 }],
    },
  },
  websearch: {
    section: LITELLM_SETTINGS,
    member: 'websearch_interception_params',
    description: 'Web searches of models that the gateway makes. Not in force yet.',
    fields: {
      enabled: ['flag', 'Makes the searches here.', { defaultValue: false }],
      enabled_providers: ['texts', 'Providers whose searches are made here.', { defaultValue: [] }],
      search_tool_name: ['text', 'Search tool; the first one when empty.'],
      max_agentic_loops: ['integer', 'Maximum number of model calls that follow one request.'],
    },
  },
  costDiscount: {
    section: LITELLM_SETTINGS,
    member: 'cost_discount_config',
    description: 'Share of the price that is taken off, by provider.',
    fields: {},
    writes: 'replace',
  },
  costMargin: {
    section: LITELLM_SETTINGS,
    member: 'cost_margin_config',
    description: 'Share of the price, or fixed amount for each call, that is added, by provider or `global`.',
    fields: {},
    writes: 'replace',
  },
  blockUnpriced: {
    section: 'block_requests_for_models_without_pricing',
    member: null,
    description: 'Calls of models without a price.',
    fields: flags({ enabled: 'Refuses calls of models without a price.' }),
  },
  emailEvents: {
    section: 'email_event_settings',
    member: null,
    description: 'Events that send an email. Not in force yet.',
    fields: Object.fromEntries(
      [
        'Virtual Key Created',
        'New User Invitation',
        'Virtual Key Rotated',
        'Soft Budget Crossed',
        'Max Budget Alert',
      ].map((event): [string, Row] => [event, ['flag', `Sends an email: ${event}.`, { defaultValue: true }]]),
    ),
  },
  cloudZero: {
    section: 'cloudzero_settings',
    member: null,
    description: 'Export of spend to CloudZero. Not in force yet.',
    fields: {
      api_key: ['text', 'Key at CloudZero.'],
      connection_id: ['text', 'Connection at CloudZero.'],
      timezone: ['text', 'Time zone of the days of the exported spend.'],
    },
  },
  vantage: {
    section: 'vantage_settings',
    member: null,
    description: 'Export of spend to Vantage. Not in force yet.',
    fields: {
      api_key: ['text', 'Key at Vantage.'],
      integration_token: ['text', 'Token of the integration.'],
      base_url: ['text', 'Base address of the Vantage API.'],
    },
  },
  hashicorpVault: {
    section: 'hashicorp_vault',
    member: null,
    description: 'HashiCorp Vault as the source of secrets. Not in force yet.',
    fields: {
      vault_addr: ['text', 'Address of the vault.'],
      vault_token: ['text', 'Token of the vault.'],
      approle_role_id: ['text', 'Role id of an AppRole.'],
      approle_secret_id: ['text', 'Secret id of an AppRole.'],
      approle_mount_path: ['text', 'Mount path of the AppRole.'],
      client_cert: ['text', 'File of the client certificate.'],
      client_key: ['text', 'File of the key of the client certificate.'],
      vault_cert_role: ['text', 'Role of the client certificate.'],
      vault_namespace: ['text', 'Namespace.'],
      vault_login_namespace: ['text', 'Namespace of the login.'],
      vault_secret_namespace: ['text', 'Namespace of the secrets.'],
      vault_mount_name: ['text', 'Mount of the secrets.'],
      vault_path_prefix: ['text', 'Path in front of the names of secrets.'],
    },
  },
  cache: {
    section: 'cache_settings',
    member: null,
    description:
      'Server of the cache of answers. A stored host or address turns the cache on, unless the file sets `litellm_settings.cache`. Semantic caches are not supported.',
    fields: {
      redis_type: ['text', 'Kind of Redis.', { defaultValue: 'node', choices: ['node', 'cluster', 'sentinel'] }],
      port: ['text', 'Port of the cache.', { defaultValue: '6379' }],
      db: ['integer', 'Number of the Redis database.'],
      ...connection('cache'),
      namespace: ['text', 'Prefix of the keys.'],
      ttl: ['number', 'Age at which answers are evicted, in seconds.'],
      max_connections: ['integer', 'Maximum number of connections.'],
      redis_startup_nodes: ['list', 'Hosts and ports of a cluster.'],
      similarity_threshold: [
        'number',
        'Minimum similarity of a request that is answered from the cache.',
        { defaultValue: 0.8 },
      ],
      redis_semantic_cache_embedding: ['text', 'Model that embeds requests.'],
      semantic_cache_scope: [
        'text',
        'Scope of cached answers: one key, or one end user.',
        { defaultValue: 'key', choices: ['key', 'end_user'] },
      ],
      gcp_service_account: ['text', 'Google service account.'],
      gcp_ssl_ca_certs: ['text', 'File of the Google certificates.'],
      ssl_cert_reqs: ['text', 'How certificates are checked.'],
      ssl_check_hostname: ['flag', 'Checks the host name of certificates.'],
    },
  },
  coordinationRedis: {
    section: 'coordination_redis',
    member: null,
    description: 'Redis that several processes share. Not in force yet.',
    fields: {
      port: ['integer', 'Port of the Redis server.', { defaultValue: 6379 }],
      ...connection('Redis server'),
      startup_nodes: ['list', 'Hosts and ports of a cluster.'],
    },
  },
} satisfies Readonly<Record<string, GroupRow>>;

export type GroupName = keyof typeof GROUPS;

function groupOf({ fields, writes = 'merge', ...row }: GroupRow): SettingGroup {
  return {
    ...row,
    writes,
    fields: Object.fromEntries(
      Object.entries(fields).map(([name, [kind, description, more]]) => [
        name,
        { kind, description, defaultValue: more?.defaultValue ?? null, choices: more?.choices ?? null },
      ]),
    ),
  };
}

/** Every group by its name. */
export const SETTING_GROUPS: Readonly<Record<GroupName, SettingGroup>> = Object.fromEntries(
  Object.entries(GROUPS).map(([name, row]) => [name, groupOf(row)]),
) as Record<GroupName, SettingGroup>;
