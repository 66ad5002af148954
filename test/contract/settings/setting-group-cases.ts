import type { Json } from '../../support/tenancy-client.ts';

/** Settings group with a body to write and the expected responses. */
interface Group {
  /** End of the names of its two routes, such as `Ui` of `settings.getUi` and `settings.updateUi`. */
  readonly row: string;
  readonly read: string;
  readonly write: readonly [method: 'PATCH' | 'POST' | 'PUT', path: string];
  readonly requestBody: Json;
  /** Expected response to the write. */
  readonly writeAnswer: Json;
  /** Expected response to a read after the write. */
  readonly readAnswer: Json;
}

const dashboard = (path: string) => ({ read: `/get/${path}`, write: ['PATCH', `/update/${path}`] as const });
const messageOf = (subject: string, members: Json = {}): Json => ({
  message: `${subject} updated successfully`,
  status: 'success',
  ...members,
});

/** Default values of all SSO settings, except `google_client_id`. */
const SSO_DEFAULTS = Object.fromEntries(
  [
    'google_client_secret',
    'microsoft_client_id',
    'microsoft_client_secret',
    'microsoft_tenant',
    'generic_client_id',
    'generic_client_secret',
    'generic_authorization_endpoint',
    'generic_token_endpoint',
    'generic_userinfo_endpoint',
    'generic_scope',
    'saml_idp_metadata_url',
    'saml_idp_metadata_xml',
    'saml_sp_entity_id',
    'saml_allow_unsolicited',
    'proxy_base_url',
    'user_email',
    'ui_access_mode',
    'role_mappings',
    'team_mappings',
  ].map((name) => [name, name === 'generic_scope' ? 'openid email profile' : null]),
);

/** Default values of all UI settings. */
const UI_DEFAULTS = Object.fromEntries(
  [
    'disable_model_add_for_internal_users',
    'disable_team_admin_delete_team_user',
    'require_auth_for_public_ai_hub',
    'allow_public_health_readiness_details',
    'forward_client_headers_to_llm_api',
    'forward_llm_provider_auth_headers',
    'disable_agents_for_internal_users',
    'allow_agents_for_team_admins',
    'disable_vector_stores_for_internal_users',
    'allow_vector_stores_for_team_admins',
    'disable_custom_api_keys',
    'disable_key_generate_for_org_admin',
  ].map((name) => [name, false]),
);

/** Email events, except `Virtual Key Created`. */
const OTHER_EVENTS = ['New User Invitation', 'Virtual Key Rotated', 'Soft Budget Crossed', 'Max Budget Alert'];

/** All settings groups with a read path and a write path, except the user banner. */
export const SETTING_GROUP_CASES: readonly Group[] = [
  {
    row: 'InternalUser',
    ...dashboard('internal_user_settings'),
    requestBody: { max_budget: 5, user_role: 'internal_user', unknown: 1 },
    writeAnswer: messageOf('Internal user settings', { settings: { max_budget: 5, user_role: 'internal_user' } }),
    readAnswer: {
      values: { user_role: 'internal_user', max_budget: 5, budget_duration: null, models: null, teams: null },
    },
  },
  {
    row: 'DefaultTeam',
    ...dashboard('default_team_settings'),
    requestBody: { max_budget: 7, team_member_permissions: ['/key/info'] },
    writeAnswer: messageOf('Default team settings', {
      settings: { max_budget: 7, team_member_permissions: ['/key/info'] },
    }),
    readAnswer: {
      values: {
        models: [],
        max_budget: 7,
        budget_duration: null,
        budget_limits: null,
        tpm_limit: null,
        rpm_limit: null,
        team_member_permissions: ['/key/info'],
        organization_id: null,
      },
    },
  },
  {
    row: 'Sso',
    ...dashboard('sso_settings'),
    requestBody: { google_client_id: 'abc', google_client_secret: 'very-secret-text' },
    writeAnswer: messageOf('SSO settings', { settings: { google_client_id: 'abc', google_client_secret: 'REDACTED' } }),
    readAnswer: {
      values: { ...SSO_DEFAULTS, google_client_id: 'abc', google_client_secret: 'REDACTED' },
      provenance: {
        ...Object.fromEntries(Object.keys(SSO_DEFAULTS).map((name) => [name, 'unset'])),
        generic_scope: 'default',
        google_client_id: 'db',
        google_client_secret: 'db',
      },
    },
  },
  {
    row: 'Ui',
    ...dashboard('ui_settings'),
    requestBody: { disable_custom_api_keys: true },
    writeAnswer: messageOf('UI settings', { settings: { disable_custom_api_keys: true } }),
    readAnswer: { values: { ...UI_DEFAULTS, disable_custom_api_keys: true } },
  },
  {
    row: 'UiTheme',
    ...dashboard('ui_theme_settings'),
    requestBody: { logo_url: 'http://x/y.png' },
    writeAnswer: {
      message: 'UI theme settings updated successfully.',
      status: 'success',
      theme_config: { logo_url: 'http://x/y.png' },
    },
    readAnswer: { values: { logo_url: 'http://x/y.png', logo_url_dark: null, favicon_url: null } },
  },
  {
    row: 'McpSemanticFilter',
    ...dashboard('mcp_semantic_filter_settings'),
    requestBody: { top_k: 3 },
    writeAnswer: messageOf('MCP semantic filter settings', { settings: { top_k: 3 } }),
    readAnswer: {
      values: { enabled: false, embedding_model: 'text-embedding-3-small', top_k: 3, similarity_threshold: 0.3 },
    },
  },
  {
    row: 'McpToolSearch',
    ...dashboard('mcp_tool_search_settings'),
    requestBody: { enabled: true },
    writeAnswer: messageOf('MCP tool search settings', { settings: { enabled: true } }),
    readAnswer: { values: { enabled: true, top_k: 5 } },
  },
  {
    row: 'Websearch',
    ...dashboard('websearch_interception_settings'),
    requestBody: { enabled_providers: ['bedrock'] },
    writeAnswer: messageOf('Web search interception settings', { settings: { enabled_providers: ['bedrock'] } }),
    readAnswer: {
      values: { enabled: false, enabled_providers: ['bedrock'], search_tool_name: null, max_agentic_loops: null },
      active_on_this_pod: false,
    },
  },
  {
    row: 'CostDiscount',
    read: '/config/cost_discount_config',
    write: ['PATCH', '/config/cost_discount_config'],
    requestBody: { openai: 0.05 },
    writeAnswer: messageOf('Cost discount configuration', { values: { openai: 0.05 } }),
    readAnswer: { values: { openai: 0.05 } },
  },
  {
    row: 'CostMargin',
    read: '/config/cost_margin_config',
    write: ['PATCH', '/config/cost_margin_config'],
    requestBody: { openai: { percentage: 0.1, fixed_amount: 0.001 } },
    writeAnswer: messageOf('Cost margin configuration', {
      values: { openai: { percentage: 0.1, fixed_amount: 0.001 } },
    }),
    readAnswer: { values: { openai: { percentage: 0.1, fixed_amount: 0.001 } } },
  },
  {
    row: 'BlockUnpriced',
    read: '/config/block_requests_for_models_without_pricing',
    write: ['PATCH', '/config/block_requests_for_models_without_pricing'],
    requestBody: { enabled: false },
    writeAnswer: messageOf('Blocking of models without pricing', { enabled: false }),
    readAnswer: { enabled: false },
  },
  {
    row: 'EmailEvents',
    read: '/email/event_settings',
    write: ['PATCH', '/email/event_settings'],
    requestBody: { settings: [{ event: 'Virtual Key Created', enabled: false }] },
    writeAnswer: {
      message: 'Email event settings updated successfully',
      settings: [
        { event: 'Virtual Key Created', enabled: false },
        ...OTHER_EVENTS.map((event) => ({ event, enabled: true })),
      ],
    },
    readAnswer: {
      settings: [
        { event: 'Virtual Key Created', enabled: false },
        ...OTHER_EVENTS.map((event) => ({ event, enabled: true })),
      ],
    },
  },
  {
    row: 'CloudZero',
    read: '/cloudzero/settings',
    write: ['PUT', '/cloudzero/settings'],
    requestBody: { api_key: 'very-secret-text', timezone: 'UTC' },
    writeAnswer: messageOf('CloudZero settings'),
    readAnswer: { api_key_masked: 'REDACTED', connection_id: null, timezone: 'UTC', status: 'configured' },
  },
  {
    row: 'Vantage',
    read: '/vantage/settings',
    write: ['PUT', '/vantage/settings'],
    requestBody: { base_url: 'https://api.vantage.example' },
    writeAnswer: messageOf('Vantage settings'),
    readAnswer: {
      api_key_masked: null,
      integration_token_masked: null,
      base_url: 'https://api.vantage.example',
      status: 'configured',
    },
  },
  {
    row: 'HashicorpVault',
    read: '/config_overrides/hashicorp_vault',
    write: ['POST', '/config_overrides/hashicorp_vault'],
    requestBody: { vault_addr: 'https://vault.example:8200', vault_token: 'very-secret-text' },
    writeAnswer: messageOf('HashiCorp Vault configuration'),
    readAnswer: {
      config_type: 'hashicorp_vault',
      values: {
        vault_addr: 'https://vault.example:8200',
        vault_token: 'REDACTED',
        approle_role_id: null,
        approle_secret_id: null,
        approle_mount_path: null,
        client_cert: null,
        client_key: null,
        vault_cert_role: null,
        vault_namespace: null,
        vault_login_namespace: null,
        vault_secret_namespace: null,
        vault_mount_name: null,
        vault_path_prefix: null,
      },
    },
  },
  {
    row: 'Cache',
    read: '/cache/settings',
    write: ['POST', '/cache/settings'],
    requestBody: { ttl: 60 },
    writeAnswer: messageOf('Cache settings', { settings: { ttl: 60 } }),
    readAnswer: { current_values: { ttl: 60 } },
  },
  {
    row: 'CoordinationRedis',
    read: '/coordination_redis/settings',
    write: ['POST', '/coordination_redis/settings'],
    requestBody: { host: 'redis.example', password: 'very-secret-text' },
    writeAnswer: messageOf('Coordination Redis settings', {
      settings: { host: 'redis.example', password: 'REDACTED' },
    }),
    readAnswer: { values: { host: 'redis.example', password: 'REDACTED' }, source: 'db' },
  },
];
