/** Components of the OpenAPI document for types that answers share: keys, their owners and budgets, the audit log. */
export const OWNER_TYPES: Readonly<Record<string, string>> = {
  AccessGroup: `
    { access_group_id: string, access_group_name: string, description: string | null, access_model_names: string[],
    access_mcp_server_ids: string[], access_agent_ids: string[], assigned_team_ids: string[],
    assigned_key_ids: string[], access_mcp_servers: unknown[], access_agents: unknown[], assigned_teams: {
    team_id: string, team_alias: string | null }[], assigned_keys: { token: string, key_alias: unknown,
    key_name: string | null }[], created_at: string, created_by: string, updated_at: string, updated_by: string | null }
  `,
  AuditEntry: `
    { id: string, updated_at: string, changed_by: string, actor: string | null, changed_by_api_key: string, action: string,
    table_name: string, object_id: string, before_value: object | null, updated_values: object | null }
  `,
  Budget: `
    { budget_id: string | null, max_budget: number | null, soft_budget: number | null,
    max_parallel_requests: integer | null, tpm_limit: integer | null, rpm_limit: integer | null,
    tpd_limit: integer | null, model_max_budget: object | null, budget_duration: string | null,
    budget_reset_at: string | null, allowed_models: unknown[], temp_budget_increase: unknown,
    temp_budget_expiry: unknown, created_at: string, created_by: string, updated_at: string, updated_by: string | null,
    organization: unknown, projects: unknown, keys: unknown, end_users: unknown, tags: unknown,
    model_access_groups: unknown, team_membership: unknown, organization_membership: unknown }
  `,
  Customer: `
    { user_id: string, blocked: boolean, alias: string | null, spend: number, allowed_model_region: string | null,
    default_model: string | null, models: unknown[], budget_id: string | null,
    litellm_budget_table: LinkedBudget | null, object_permission_id: unknown, object_permission: unknown }
  `,
  Invitation: `
    { id: string, user_id: string, is_accepted: boolean, accepted_at: string | null, expires_at: string,
    created_at: string, created_by: string, updated_at: string, updated_by: string | null }
  `,
  Key: `
    { key?: string, token: string | null, token_id?: string | null, model_rpm_limit?: unknown,
    model_tpm_limit?: unknown, mcp_rpm_limit?: unknown, tag_rpm_limit?: unknown, rpm_limit_type?: unknown,
    tpm_limit_type?: unknown, tags?: unknown, enforced_params?: unknown,
    default_estimated_output_tokens?: unknown, default_estimated_output_tokens_per_model?: unknown,
    allowed_passthrough_routes?: unknown, denied_passthrough_routes?: unknown, allowed_vector_store_indexes?: unknown,
    throttle_on_budget_exceeded?: unknown, disable_global_guardrails?: unknown, key_name: string | null,
    key_alias: string | null, models: string[], max_budget: number | null, expires: string | null,
    user_id: string | null, team_id: string | null, user_role?: string | null, metadata: object,
    blocked: boolean | null, aliases: object, config: object, permissions: object, agent_id: string | null,
    project_id: string | null, max_parallel_requests: integer | null, tpm_limit: integer | null,
    rpm_limit: integer | null, tpd_limit: integer | null, budget_duration: string | null, budget_limits: unknown,
    budget_id: string | null, budget_fallbacks: object | null, model_max_budget: object,
    allowed_cache_controls: string[], allowed_routes: string[], key_type: string | null,
    access_group_ids: string[] | null, created_at: string, created_by: string | null, updated_at: string,
    updated_by: string | null, spend: number, duration?: unknown, guardrails?: unknown, policies?: unknown[] | null,
    prompts?: unknown, enable_prompt_caching?: unknown, end_user_budget_id?: string | null,
    object_permission: object | null, organization_id?: string | null, router_settings: object | null,
    litellm_budget_table: Budget | null, user_email?: string | null, user_alias?: string | null,
    teams?: string[] | null, total_spend?: number, soft_budget_cooldown?: boolean, budget_reset_at?: string | null,
    model_spend?: object, object_permission_id?: string | null, settings_updated_at?: string | null,
    last_active?: unknown, rotation_count?: integer, auto_rotate?: boolean, rotation_interval?: string | null,
    last_rotation_at?: string | null, key_rotation_at?: unknown, org_id?: unknown,
    litellm_organization_table?: unknown, litellm_project_table?: unknown, jwt_key_mappings?: unknown, id?: string,
    deleted_at?: string, deleted_by?: string | null, deleted_by_api_key?: string | null, litellm_changed_by?: unknown,
    team_alias?: string | null }
  `,
  KeyInfo: `
    { key_name: string | null, key_alias: string | null, models: string[], max_budget: number | null, expires: string | null,
    user_id: string | null, team_id: string | null, metadata: object, blocked: boolean | null, aliases: object,
    config: object, permissions: object, agent_id: string | null, project_id: unknown,
    max_parallel_requests: integer | null, tpm_limit: integer | null, rpm_limit: integer | null,
    tpd_limit: integer | null, budget_duration: string | null, budget_limits: unknown, budget_id: string | null,
    budget_fallbacks: object, model_max_budget: object, allowed_cache_controls: string[], allowed_routes: string[],
    key_type: string, access_group_ids: unknown[], created_at: string, created_by: string, updated_at: string,
    updated_by: string | null, spend: number, total_spend: number, soft_budget_cooldown: boolean,
    budget_reset_at: string | null, model_spend: object, object_permission_id: string | null,
    object_permission: object | null, settings_updated_at: string | null, last_active: unknown,
    rotation_count: integer, auto_rotate: boolean, rotation_interval: string | null, last_rotation_at: string | null,
    key_rotation_at: unknown, router_settings: object, litellm_budget_table: Budget | null, policies: unknown[],
    organization_id: unknown, litellm_organization_table: unknown, litellm_project_table: unknown,
    jwt_key_mappings: unknown, status?: string, user_role?: string | null }
  `,
  LinkedBudget: `
    { budget_id: string | null, soft_budget: number | null, max_budget: number | null, tpm_limit: integer | null,
    rpm_limit: integer | null, budget_duration: string | null, budget_reset_at: string | null,
    max_parallel_requests: integer | null, tpd_limit: integer | null, model_max_budget: object | null,
    allowed_models: unknown[], temp_budget_increase: unknown, temp_budget_expiry: unknown, created_at: string }
  `,
  Organization: `
    { organization_id: string, organization_alias: string, budget_id: string | null, models: string[], metadata: object,
    spend?: number, model_spend: object, object_permission: unknown, created_at: string, created_by: string, updated_at: string,
    updated_by: string | null, litellm_budget_table?: LinkedBudget | null, members?: OrganizationMember[], teams?: {
    team_alias: unknown, team_id: string, organization_id: string | null, admins: unknown[], members: unknown[],
    team_member_permissions: unknown[], metadata: object, max_budget: number | null, tpm_limit: unknown,
    rpm_limit: unknown, budget_duration: unknown, budget_reset_at: unknown, max_parallel_requests: unknown,
    tpd_limit: unknown, soft_budget: unknown, budget_limits: unknown, models: string[], blocked: boolean,
    router_settings: object, access_group_ids: unknown[], default_team_member_models: unknown[], model_id: unknown,
    model_spend: object, model_max_budget: object, policies: unknown[], allow_team_guardrail_config: boolean,
    litellm_model_table: unknown, object_permission: unknown, object_permission_id: unknown, updated_at: string,
    created_at: string }[] }
  `,
  OrganizationMember: `
    { user_id: string, organization_id: string, user_role: string | null, budget_id: string | null,
    litellm_budget_table: LinkedBudget | null, created_at: string, updated_at: string }
  `,
  Project: `
    { project_id: string | null, project_alias: string | null, description: string | null, team_id: string,
    budget_id: string | null, litellm_budget_table: LinkedBudget | null, models: string[], tags: string[],
    metadata: object, spend: number, model_spend: object, blocked: boolean, object_permission: unknown, created_at: string,
    created_by: string, updated_at: string, updated_by: string | null }
  `,
  Tag: `
    { name: string, description: string | null, models: string[], model_info: object, created_at: string,
    updated_at: string, created_by: string, litellm_budget_table?: Budget }
  `,
  Team: `
    { team_alias: string | null, team_id: string, organization_id: string | null, admins: unknown[],
    members: unknown[], team_member_permissions: string[], metadata: object, max_budget: number | null,
    tpm_limit: integer | null, rpm_limit: integer | null, budget_duration: string | null,
    budget_reset_at: string | null, max_parallel_requests: unknown, tpd_limit: unknown, soft_budget: unknown,
    budget_limits: { budget_duration: string, max_budget: number, reset_at: string }[] | null, models: string[], blocked: boolean, router_settings: object, access_group_ids: unknown[],
    default_team_member_models: unknown[], model_id: unknown, model_spend: object, model_max_budget: object,
    policies: unknown[], allow_team_guardrail_config: boolean, litellm_model_table: { id: string,
    model_aliases: object, created_by: string, updated_by: string | null, team: unknown } | null, object_permission: unknown,
    object_permission_id: unknown, updated_at: string, created_at: string, members_with_roles: { user_id: string,
    user_email: string | null, role: string, user_alias?: string | null }[], spend: number,
    litellm_organization_table?: unknown, projects?: unknown, team_memberships?: TeamMembership[], keys?: Key[],
    team_member_budget_table?: LinkedBudget | null, access_group_models?: unknown,
    access_group_mcp_server_ids?: unknown, access_group_agent_ids?: unknown, access_group_details?: unknown,
    organization_models?: unknown, model_max_budget_usage?: object, caller_edit_access?: { kind: string },
    members_count?: integer, keys_count?: integer, updated_users?: User[],
    updated_team_memberships?: TeamMembership[] }
  `,
  TeamMembership: `
    { user_id: string, team_id: string, budget_id: string | null, spend: number, total_spend: number,
    litellm_budget_table: LinkedBudget | null, budget_source?: string, role?: string }
  `,
  TokenMapping: `
    { id: string, jwt_claim_name: string, jwt_claim_value: string, description: string | null, is_active: boolean,
    created_at: string, updated_at: string, created_by: string, updated_by: string }
  `,
  User: `
    { user_id: string, user_alias: string | null, team_id?: unknown, sso_user_id: string | null,
    organization_id?: unknown, object_permission_id?: unknown, password_reset_required?: unknown,
    last_breach_check_at?: unknown, user_role: string | null, max_budget: number | null, tpm_limit: integer | null,
    rpm_limit: integer | null, budget_duration: string | null, budget_reset_at: string | null,
    max_parallel_requests?: integer | null, user_email: string | null, models: string[], metadata: object,
    allowed_cache_controls?: unknown[], policies?: unknown[], model_spend?: object, model_max_budget: object,
    created_at: string, updated_at: string, object_permission: unknown, teams: string[], spend: number,
    organization_memberships?: unknown[] | null, key_count?: integer, verified_subjects?: unknown,
    litellm_organization_table?: unknown, invitations_created?: unknown, invitations_updated?: unknown,
    invitations_user?: unknown, model_max_budget_usage?: object }
  `,
  UserKeys: `
    { user_id: string, user_info: User, keys: Key[], teams: { team_alias: unknown, team_id: string,
    organization_id: unknown, admins: unknown[], members: unknown[], team_member_permissions: unknown[],
    metadata: object, max_budget: number | null, tpm_limit: integer | null, rpm_limit: integer | null,
    budget_duration: unknown, budget_reset_at: unknown, max_parallel_requests: unknown, tpd_limit: unknown,
    soft_budget: unknown, budget_limits: unknown, models: unknown[], blocked: boolean, router_settings: object,
    access_group_ids: unknown[], default_team_member_models: unknown[], model_id: unknown, model_spend: object,
    model_max_budget: object, policies: unknown[], allow_team_guardrail_config: boolean, litellm_model_table: unknown,
    object_permission: unknown, object_permission_id: unknown, updated_at: string, created_at: string }[] }
  `,
};
