import type { BulkOutcome } from '../../../resolvers/key-upkeep.ts';
import type { KeyInfo } from '../../../resolvers/operation/key-lookup.ts';
import type { GeneratedKey } from '../../../resolvers/operation/key-issue.ts';
import type { Budget } from '../../../src/domain/budgets/budget.ts';
import { METADATA_MEMBERS } from '../../../src/domain/keys/key-settings.ts';
import { keySpendOf, type VirtualKey } from '../../../src/domain/keys/virtual-key.ts';
import { type Usd, usdNumber, ZERO_USD } from '../../../src/domain/money.ts';
import { renderWindow, renderBudget, isoOrNull, NO_RELATIONS, usdOrNull } from './limits.ts';
import { redactedMetadata } from '../../../src/domain/settings/redaction.ts';

/** Default router settings in the answer for a new key, as in the reference. */
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

/** The soft budget of a key in the form of a budget row, as in the reference; null without one. */
function softBudgetTable({ settings, createdAt, createdBy, updatedAt, updatedBy }: VirtualKey) {
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

const renderBudgetOrNull = (budget: Budget | null | undefined) => (budget ? renderBudget(budget) : null);

const renderWindows = ({ settings }: VirtualKey) => settings.budgetLimits?.map(renderWindow) ?? null;

const renderModelBudgets = ({ settings }: VirtualKey) =>
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

/** Members that every form of a key has. `blocked` is null for a key that is not blocked, as in the reference. */
function sharedMembers(row: VirtualKey) {
  const { settings } = row;
  return {
    key_name: row.name,
    key_alias: row.alias,
    models: row.models,
    max_budget: usdOrNull(row.maxBudget),
    expires: isoOrNull(row.expiresAt),
    user_id: row.userId,
    team_id: row.teamId,
    // The reference has no roles of keys: the default role is left out.
    ...(row.role === 'internal_user' ? {} : { user_role: row.role }),
    metadata: redactedMetadata(row.metadata),
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
    budget_limits: renderWindows(row),
    budget_id: settings.budgetId ?? null,
    budget_fallbacks: settings.budgetFallbacks ?? {},
    model_max_budget: renderModelBudgets(row),
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

/** A key with its spend in the budget window (`spend`) and of all time (`total`). */
type ShownKey = Pick<KeyInfo, 'row' | 'spend' | 'total'>;

/** Members of a stored key, except the organization id, whose member name differs between the routes. */
function storedMembers({ row, spend, total }: ShownKey) {
  const { settings } = row;
  return {
    ...sharedMembers(row),
    spend: usdNumber(spend),
    total_spend: usdNumber(total),
    soft_budget_cooldown: false,
    budget_reset_at: isoOrNull(row.budgetResetAt),
    model_spend: {},
    object_permission_id: settings.objectPermission === undefined ? null : row.hash,
    object_permission: settings.objectPermission ?? null,
    settings_updated_at: row.updatedAt > row.createdAt ? row.updatedAt.toISOString() : null,
    last_active: null,
    rotation_count: row.rotations,
    auto_rotate: settings.autoRotate ?? false,
    rotation_interval: settings.rotationInterval ?? null,
    last_rotation_at: isoOrNull(row.rotatedAt),
    key_rotation_at: null,
    router_settings: settings.routerSettings ?? {},
    litellm_budget_table: null,
  };
}

/**
 * A new key, or an existing key with a new secret. The answer contains the secret. `spend` defaults to that of a key
 * without calls.
 */
export function renderGenerated({ clearKey, row, budget }: GeneratedKey, spend: Usd = keySpendOf(row, ZERO_USD)) {
  const { settings } = row;
  const metadata = redactedMetadata(row.metadata);
  // As in the reference, members of the metadata are null outside of it. Only `guardrails` has its value, and three are
  // absent.
  const nullMembers = Object.fromEntries(METADATA_MEMBERS.map((member) => [member, null]));
  delete nullMembers['temp_budget_increase'];
  delete nullMembers['temp_budget_expiry'];
  delete nullMembers['opted_out_global_guardrails'];
  return {
    key: clearKey,
    token: row.hash,
    token_id: row.hash,
    ...nullMembers,
    ...sharedMembers(row),
    spend: usdNumber(spend),
    duration: null,
    guardrails: metadata['guardrails'] ?? null,
    policies: (metadata['policies'] ?? null) as readonly unknown[] | null,
    prompts: (metadata['prompts'] ?? null) as readonly unknown[] | null,
    enable_prompt_caching: null,
    end_user_budget_id: settings.endUserBudgetId ?? null,
    object_permission: null,
    organization_id: settings.organizationId ?? null,
    router_settings: { ...ROUTER_SETTINGS, ...settings.routerSettings },
    litellm_budget_table: renderBudgetOrNull(budget) ?? softBudgetTable(row),
  };
}

/** A stored key in the answer to a change, and in reports about users, teams and spend. */
export const renderStored = (info: ShownKey) => ({
  ...storedMembers(info),
  policies: [],
  organization_id: info.row.settings.organizationId ?? null,
  litellm_organization_table: null,
  litellm_project_table: null,
  jwt_key_mappings: null,
});

/** A key as `/key/info` shows it: with its budget and status. */
export const renderInfo = (info: KeyInfo) => ({
  ...renderStored(info),
  litellm_budget_table: renderBudgetOrNull(info.budget) ?? softBudgetTable(info.row),
  status: info.status,
});

/** A key as `/key/block` and `/key/list` show it. A deleted key also has the members about its deletion. */
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

/** Outcomes of the changes of several keys. */
export const renderOutcomes = (outcomes: readonly BulkOutcome[]) => ({
  total_requested: outcomes.length,
  successful_updates: outcomes.flatMap(({ key, info }) =>
    info === null ? [] : [{ key, key_info: renderStored(info) }],
  ),
  failed_updates: outcomes.flatMap(({ key, failure }) =>
    failure === null ? [] : [{ key, key_info: null, failed_reason: failure }],
  ),
});
