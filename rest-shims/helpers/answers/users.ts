import type { CreatedUser, UserDetails } from '../../../resolvers/users.ts';
import type { UserView } from '../../../resolvers/operation/user-views.ts';
import { usdNumber } from '../../../src/domain/money.ts';
import type { Invitation } from '../../../src/domain/users/invitation.ts';
import type { User } from '../../../src/domain/users/user.ts';
import { renderGenerated, renderStored } from './keys.ts';
import { isoOrNull, renderLimits, usdOrNull } from './limits.ts';
import { renderPermission } from './object-permission.ts';
import { teamColumns } from './teams.ts';
import { redactedMetadata } from '../../../src/domain/settings/redaction.ts';

/** Columns of a user in lists, details and the answers to updates. `/v2/user/info` has fewer. */
const userColumns = (user: User) => ({
  user_id: user.id,
  user_alias: user.alias,
  team_id: null,
  sso_user_id: user.ssoUserId,
  organization_id: null,
  ...renderPermission(user),
  password_reset_required: null,
  last_breach_check_at: null,
  user_role: user.role,
  ...renderLimits(user),
  user_email: user.email,
  models: user.models,
  metadata: redactedMetadata(user.metadata),
  allowed_cache_controls: user.allowedCacheControls,
  policies: [],
  model_spend: {},
  model_max_budget: user.modelMaxBudget,
  created_at: user.createdAt.toISOString(),
  updated_at: user.updatedAt.toISOString(),
});

/** A user in a list. */
export const renderUserRow = ({ user, teamIds, spend }: Pick<UserView, 'user' | 'teamIds' | 'spend'>) => ({
  ...userColumns(user),
  teams: teamIds,
  spend: usdNumber(spend),
  organization_memberships: null,
});

/** A user with the relations of the reference, which are null. */
const renderUserTable = (view: UserView) => ({
  verified_subjects: null,
  ...renderUserRow(view),
  litellm_organization_table: null,
  invitations_created: null,
  invitations_updated: null,
  invitations_user: null,
});

export const renderChangedUser = (view: UserView) => ({ user_id: view.user.id, data: renderUserTable(view) });

export const renderUserInfo = (details: UserDetails) => ({
  user_id: details.user.id,
  user_info: { ...renderUserTable(details), organization_memberships: [], model_max_budget_usage: {} },
  keys: details.keys.map((info) => ({ token: info.row.hash, ...renderStored(info), team_alias: 'None' })),
  teams: details.teams.map(teamColumns),
});

/** The flat form of `/v2/user/info`. */
export function renderFlatUser({ user, teamIds, spend }: UserDetails) {
  return {
    user_id: user.id,
    user_email: user.email,
    user_alias: user.alias,
    user_role: user.role,
    spend: usdNumber(spend),
    max_budget: usdOrNull(user.maxBudget),
    tpm_limit: user.tpmLimit,
    rpm_limit: user.rpmLimit,
    models: user.models,
    budget_duration: user.budgetDuration,
    budget_reset_at: isoOrNull(user.budgetResetAt),
    metadata: redactedMetadata(user.metadata),
    created_at: user.createdAt.toISOString(),
    updated_at: user.updatedAt.toISOString(),
    sso_user_id: user.ssoUserId,
    teams: teamIds,
    object_permission: user.objectPermission,
    model_max_budget: user.modelMaxBudget,
    model_max_budget_usage: {},
  };
}

/** Members of a key that are null in the answer for a user without a key. */
const KEY_MEMBERS = [
  'key_alias',
  'duration',
  'team_id',
  'agent_id',
  'budget_limits',
  'budget_fallbacks',
  'model_rpm_limit',
  'model_tpm_limit',
  'mcp_rpm_limit',
  'tag_rpm_limit',
  'guardrails',
  'policies',
  'prompts',
  'blocked',
  'object_permission',
  'tpd_limit',
  'default_estimated_output_tokens',
  'default_estimated_output_tokens_per_model',
  'budget_id',
  'end_user_budget_id',
  'tags',
  'disable_global_guardrails',
  'enable_prompt_caching',
  'throttle_on_budget_exceeded',
  'enforced_params',
  'allowed_passthrough_routes',
  'denied_passthrough_routes',
  'allowed_vector_store_indexes',
  'rpm_limit_type',
  'tpm_limit_type',
  'router_settings',
  'access_group_ids',
  'key_name',
  'key_type',
  'expires',
  'token_id',
  'organization_id',
  'project_id',
  'litellm_budget_table',
  'token',
  'created_by',
  'updated_by',
] as const;

const NO_KEY = {
  ...(Object.fromEntries(KEY_MEMBERS.map((member) => [member, null])) as Record<(typeof KEY_MEMBERS)[number], null>),
  key: '',
  allowed_cache_controls: [],
  allowed_routes: [],
  config: {},
  permissions: {},
  aliases: {},
  spend: 0,
};

/** A new user: the members of the key, replaced by those of the user where the names are equal. */
export function renderNewUser({ user, key }: CreatedUser, teamIds: readonly string[]) {
  const { budget_reset_at: _resetAt, ...limits } = renderLimits(user);
  return {
    ...NO_KEY,
    ...(key === null ? {} : renderGenerated(key)),
    ...limits,
    user_id: user.id,
    user_email: user.email,
    user_alias: user.alias,
    user_role: user.role,
    models: user.models,
    metadata: redactedMetadata(user.metadata),
    model_max_budget: user.modelMaxBudget,
    teams: teamIds.length === 0 ? null : teamIds,
    created_at: user.createdAt.toISOString(),
    updated_at: user.updatedAt.toISOString(),
  };
}

export const renderInvitation = (invitation: Invitation) => ({
  id: invitation.id,
  user_id: invitation.userId,
  is_accepted: invitation.isAccepted,
  accepted_at: isoOrNull(invitation.acceptedAt),
  expires_at: invitation.expiresAt.toISOString(),
  created_at: invitation.createdAt.toISOString(),
  created_by: invitation.createdBy,
  updated_at: invitation.updatedAt.toISOString(),
  updated_by: invitation.updatedBy,
});
