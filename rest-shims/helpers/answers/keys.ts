import type { KeyInfo } from '../../../resolvers/operation/key-lookup.ts';
import type { GeneratedKey } from '../../../resolvers/operation/key-issue.ts';
import type { Budget } from '../../../src/domain/budgets/budget.ts';
import { METADATA_MEMBERS } from '../../../src/domain/keys/key-settings.ts';
import { spendOf, type VirtualKey } from '../../../src/domain/keys/virtual-key.ts';
import { type Usd, usdNumber, ZERO_USD } from '../../../src/domain/money.ts';
import { renderWindow, renderBudget, isoOf, NO_RELATIONS, usdOf } from './limits.ts';
import { shownMetadata } from '../../../src/domain/settings/redaction.ts';

/** Settings of a router as the reference lists them for a new key. */
const ROUTER_SETTINGS = {
  routing_strategy_args: null,
  routing_strategy: null,
  routing_groups: null,
  retry_policy: null,
  model_group_retry_policy: null,
  model_group_affinity_config: null,
  allowed_fails: null,
  cooldown_time: null,
  num_retries: null,
  timeout: null,
  max_retries: null,
  retry_after: null,
  fallbacks: null,
  context_window_fallbacks: null,
  model_group_alias: {},
  enable_tag_filtering: null,
  weights: null,
  tag_routing_prefix: null,
  optional_pre_call_checks: null,
};

/** The budget row that the reference makes for a soft budget; null without one. */
function budgetTable({ settings, createdAt, createdBy, updatedAt, updatedBy }: VirtualKey) {
  const { softBudget, budgetId } = settings;
  if (softBudget === undefined) return null;
  return {
    budget_id: budgetId ?? null,
    max_budget: null,
    soft_budget: Number(softBudget),
    max_parallel_requests: null,
    tpm_limit: null,
    rpm_limit: null,
    tpd_limit: null,
    model_max_budget: {},
    budget_duration: null,
    budget_reset_at: null,
    allowed_models: [],
    temp_budget_increase: null,
    temp_budget_expiry: null,
    created_at: createdAt.toISOString(),
    created_by: createdBy,
    updated_at: updatedAt.toISOString(),
    updated_by: updatedBy,
    ...NO_RELATIONS,
  };
}

/** The budget that a key names; null without one. */
const namedBudget = (budget: Budget | null | undefined) => (budget ? renderBudget(budget) : null);

const windowsOf = ({ settings }: VirtualKey) => settings.budgetLimits?.map(renderWindow) ?? null;

const modelBudgetsOf = ({ settings }: VirtualKey) =>
  Object.fromEntries(
    Object.entries(settings.modelMaxBudget ?? {}).map(([model, { budgetLimit, timePeriod, rpmLimit, tpmLimit }]) => [
      model,
      {
        budget_limit: budgetLimit === null ? null : Number(budgetLimit),
        time_period: timePeriod,
        ...(rpmLimit === undefined ? {} : { rpm_limit: rpmLimit }),
        ...(tpmLimit === undefined ? {} : { tpm_limit: tpmLimit }),
      },
    ]),
  );

/** Members that every form of a key has. A key that was never blocked has no `blocked`. */
function sharedMembers(row: VirtualKey) {
  const { settings } = row;
  return {
    key_name: row.name,
    key_alias: row.alias,
    models: row.models,
    max_budget: usdOf(row.maxBudget),
    expires: isoOf(row.expiresAt),
    user_id: row.userId,
    team_id: row.teamId,
    // The role of most keys; the reference has roles of users only.
    ...(row.role === 'internal_user' ? {} : { user_role: row.role }),
    metadata: shownMetadata(row.metadata),
    blocked: row.blocked ? true : null,
    aliases: settings.aliases ?? {},
    config: settings.config ?? {},
    permissions: settings.permissions ?? {},
    agent_id: settings.agentId ?? null,
    project_id: settings.projectId ?? null,
    max_parallel_requests: settings.maxParallelRequests ?? null,
    tpm_limit: settings.tpmLimit ?? null,
    rpm_limit: settings.rpmLimit ?? null,
    tpd_limit: settings.tpdLimit ?? null,
    budget_duration: row.budgetDuration,
    budget_limits: windowsOf(row),
    budget_id: settings.budgetId ?? null,
    budget_fallbacks: settings.budgetFallbacks ?? {},
    model_max_budget: modelBudgetsOf(row),
    allowed_cache_controls: settings.allowedCacheControls ?? [],
    allowed_routes: settings.allowedRoutes ?? [],
    key_type: settings.keyType ?? 'default',
    access_group_ids: settings.accessGroupIds ?? [],
    created_at: row.createdAt.toISOString(),
    created_by: row.createdBy,
    updated_at: row.updatedAt.toISOString(),
    updated_by: row.updatedBy,
  };
}

type ShownKey = Pick<KeyInfo, 'row' | 'spend' | 'total'>;

/** Members of a stored key; `organizationMember` differs between the routes of the reference. */
function storedMembers({ row, spend, total }: ShownKey) {
  const { settings } = row;
  return {
    ...sharedMembers(row),
    spend: usdNumber(spend),
    total_spend: usdNumber(total),
    soft_budget_cooldown: false,
    budget_reset_at: isoOf(row.budgetResetAt),
    model_spend: {},
    object_permission_id: settings.objectPermission === undefined ? null : row.hash,
    object_permission: settings.objectPermission ?? null,
    settings_updated_at: row.updatedAt > row.createdAt ? row.updatedAt.toISOString() : null,
    last_active: null,
    rotation_count: row.rotations,
    auto_rotate: settings.autoRotate ?? false,
    rotation_interval: settings.rotationInterval ?? null,
    last_rotation_at: isoOf(row.rotatedAt),
    key_rotation_at: null,
    router_settings: settings.routerSettings ?? {},
    litellm_budget_table: null,
  };
}

/** A new key, or a new secret of one. */
export function renderGenerated({ clearKey, row, budget }: GeneratedKey, spend: Usd = spendOf(row, ZERO_USD)) {
  const { settings } = row;
  const stored = shownMetadata(row.metadata);
  const nulls = Object.fromEntries(METADATA_MEMBERS.map((member) => [member, null]));
  delete nulls['temp_budget_increase'];
  delete nulls['temp_budget_expiry'];
  delete nulls['opted_out_global_guardrails'];
  return {
    key: clearKey,
    token: row.hash,
    token_id: row.hash,
    ...nulls,
    ...sharedMembers(row),
    spend: usdNumber(spend),
    duration: null,
    guardrails: stored['guardrails'] ?? null,
    policies: null,
    prompts: null,
    enable_prompt_caching: null,
    end_user_budget_id: settings.endUserBudgetId ?? null,
    object_permission: null,
    organization_id: settings.organizationId ?? null,
    router_settings: { ...ROUTER_SETTINGS, ...settings.routerSettings },
    litellm_budget_table: namedBudget(budget) ?? budgetTable(row),
  };
}

/** A key as `/key/info`, `/key/update` and `/key/unblock` show it. */
export const renderStored = (info: ShownKey) => ({
  ...storedMembers(info),
  policies: [],
  organization_id: info.row.settings.organizationId ?? null,
  litellm_organization_table: null,
  litellm_project_table: null,
  jwt_key_mappings: null,
});

export const renderInfo = (info: KeyInfo) => ({
  ...renderStored(info),
  litellm_budget_table: namedBudget(info.budget) ?? budgetTable(info.row),
  status: info.status,
});

/** A key as `/key/block` and a list show it. */
export const renderListed = (info: KeyInfo) => ({
  token: info.row.hash,
  ...storedMembers(info),
  org_id: info.row.settings.organizationId ?? null,
  ...(info.row.deletedAt === null
    ? {}
    : {
        id: info.row.hash,
        organization_id: info.row.settings.organizationId ?? null,
        deleted_at: info.row.deletedAt.toISOString(),
        deleted_by: info.row.deletedBy,
        deleted_by_api_key: info.row.deletedBy,
        litellm_changed_by: null,
      }),
});
