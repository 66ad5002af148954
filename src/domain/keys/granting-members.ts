import type { JsonObject } from '../json-object.ts';
import { sameValue } from '../catalog/same-value.ts';
import type { KeySettings, SettingsPatch } from './key-settings.ts';

/**
 * Members of the metadata of a key that give rights or lift limits of its owners. Only proxy administrators set them.
 */
const GRANTING: ReadonlySet<string> = new Set([
  'model_rpm_limit',
  'model_tpm_limit',
  'mcp_rpm_limit',
  'rpm_limit_type',
  'tpm_limit_type',
  'throttle_on_budget_exceeded',
  'allowed_passthrough_routes',
  'allowed_vector_store_indexes',
  'temp_budget_increase',
  'temp_budget_expiry',
  'default_estimated_output_tokens',
  'default_estimated_output_tokens_per_model',
  'batch_enqueued_token_limit',
  'store_decisions',
  'session',
]);

/** Members of the metadata that restrict a key. Only proxy administrators change them. */
const RESTRICTING: ReadonlySet<string> = new Set([
  'tags',
  'tag_rpm_limit',
  'enforced_params',
  'denied_passthrough_routes',
  'allowed_tools',
  'guardrails',
  'policies',
  'prompts',
  'disable_global_guardrails',
  'disable_global_guardrail',
  'opted_out_global_guardrails',
  'service_account_id',
]);

/**
 * Settings of a key that every creator of keys may set, `modelMaxBudget` only without limits per minute. Only proxy
 * administrators set the others; team administrators may also set the project of a new key, see `boundedDraft`.
 */
const OPEN_SETTINGS: ReadonlySet<string> = new Set<keyof KeySettings>([
  'keyType',
  'allowedRoutes',
  'aliases',
  'rpmLimit',
  'tpmLimit',
  'tpdLimit',
  'maxParallelRequests',
  'softBudget',
  'budgetLimits',
  'modelMaxBudget',
  'budgetFallbacks',
  'autoRotate',
  'rotationInterval',
]);

const isEmpty = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  value === false ||
  value === '' ||
  (typeof value === 'object' && Object.keys(value).length === 0);

/** A change of metadata: a replacement of the whole, and changes of single members. */
interface MetadataPatch {
  readonly metadata?: JsonObject;
  readonly metadataMembers?: JsonObject;
}

/** Whether a sent value differs from the stored one. All empty values are equal. */
const isChanged = (sent: unknown, stored: unknown): boolean =>
  !(isEmpty(sent) && isEmpty(stored)) && !sameValue(sent, stored ?? null);

/** Members that a patch sets to another value. */
function changedIn(before: JsonObject, { metadata = {}, metadataMembers = {} }: MetadataPatch): readonly string[] {
  const sent = { ...metadata, ...metadataMembers };
  return Object.keys(sent).filter((name) => isChanged(sent[name], before[name]));
}

/** Whether settings have limits of single models, which replace those of the team. */
const hasModelRates = (settings: SettingsPatch): boolean =>
  Object.values(settings.modelMaxBudget ?? {}).some(
    ({ rpmLimit, tpmLimit }) => rpmLimit !== undefined || tpmLimit !== undefined,
  );

/** The first changed setting that only proxy administrators set; null where there is none. */
function grantingSetting(before: KeySettings, patch: SettingsPatch): string | null {
  const changed = Object.entries(patch)
    .filter(([name, value]) => isChanged(value, before[name as keyof KeySettings]))
    .map(([name]) => name);
  const closed = changed.find((name) => !OPEN_SETTINGS.has(name));
  if (closed !== undefined) return closed;
  const changesModelBudgets = changed.includes('modelMaxBudget');
  return changesModelBudgets && (hasModelRates(patch) || hasModelRates(before)) ? 'modelMaxBudget' : null;
}

/** A member of a new key that only proxy administrators set; null where there is none. */
export const adminOnlyMemberOfNewKey = (draft: MetadataPatch & { readonly settings?: SettingsPatch }): string | null =>
  changedIn({}, draft).find((name) => GRANTING.has(name)) ?? grantingSetting({}, draft.settings ?? {});

/** A member of a key that a patch changes and that only proxy administrators may change; null where there is none. */
export const adminOnlyMemberOfKeyPatch = (
  before: { readonly metadata: JsonObject; readonly settings: KeySettings },
  patch: MetadataPatch & { readonly settings?: SettingsPatch },
): string | null =>
  changedIn(before.metadata, patch).find((name) => GRANTING.has(name) || RESTRICTING.has(name)) ??
  grantingSetting(before.settings, patch.settings ?? {});

/** Members of the metadata of a team that name guardrails. Other rules decide who changes them. */
const OF_GUARDRAILS: ReadonlySet<string> = new Set([
  'guardrails',
  'disable_global_guardrails',
  'disable_global_guardrail',
  'opted_out_global_guardrails',
]);
/** Limits that a new team may have without an administrator, because its organization limits the team, too. */
const LIMITS_OF_TEAMS: ReadonlySet<string> = new Set(['model_rpm_limit', 'model_tpm_limit', 'mcp_rpm_limit']);

/**
 * Whether a member of the metadata of a team is a right, limit or restriction that only proxy administrators change.
 */
const isGuardedOfTeam = (name: string): boolean =>
  (GRANTING.has(name) || RESTRICTING.has(name)) && !OF_GUARDRAILS.has(name);

/** A right in the metadata of a new team that only proxy administrators give; null where there is none. */
export const adminOnlyMetadataOfNewTeam = (draft: MetadataPatch): string | null =>
  changedIn({}, draft).find((name) => GRANTING.has(name) && !LIMITS_OF_TEAMS.has(name)) ?? null;

/**
 * A right, limit or restriction in the metadata of a team that only proxy administrators change; null where there is
 * none.
 */
export const adminOnlyMetadataOfTeamPatch = (before: JsonObject, patch: MetadataPatch): string | null =>
  changedIn(before, patch).find(isGuardedOfTeam) ?? null;

/** A patch of a team whose `metadata` has the stored rights, limits and restrictions in place of sent ones. */
export function withKeptRightsOfTeam<Patch extends MetadataPatch>(before: JsonObject, patch: Patch): Patch {
  if (patch.metadata === undefined) return patch;
  const keptMembers = Object.entries(before).filter(([name]) => isGuardedOfTeam(name));
  return { ...patch, metadata: { ...patch.metadata, ...Object.fromEntries(keptMembers) } };
}

/** A patch of a key whose `metadata` has the stored rights and restrictions in place of sent ones. */
export function withKeptRights<Patch extends MetadataPatch>(before: JsonObject, patch: Patch): Patch {
  if (patch.metadata === undefined) return patch;
  const keptMembers = Object.entries(before).filter(([name]) => GRANTING.has(name) || RESTRICTING.has(name));
  return { ...patch, metadata: { ...patch.metadata, ...Object.fromEntries(keptMembers) } };
}
