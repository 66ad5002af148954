import type { RateLimit } from '../../domain/admission/rate-limits.ts';
import type { JsonObject } from '../../domain/json-object.ts';
import { modelLimit, ownsModelLimits } from '../../domain/keys/key-settings.ts';
import type { VirtualKey } from '../../domain/keys/virtual-key.ts';
import { limitedHash } from '../../domain/users/session.ts';

type ModelLimitField = 'model_rpm_limit' | 'model_tpm_limit';

/** Name of each limit in a key's budget for a model. */
const IN_BUDGET = { model_rpm_limit: 'rpmLimit', model_tpm_limit: 'tpmLimit' } as const;

/** The key's own limit of a model: from the limits in its metadata; without these, from its budget for the model. */
function ownKeyLimit({ metadata, settings }: VirtualKey, field: ModelLimitField, model: string): number | null {
  if (ownsModelLimits(metadata, field)) return modelLimit(metadata, field, model);
  const budgets = settings.modelMaxBudget;
  return budgets !== undefined && Object.hasOwn(budgets, model) ? (budgets[model]?.[IN_BUDGET[field]] ?? null) : null;
}

/** Whether the key has its own limits of this kind, for whatever model. An empty map in its metadata counts. */
const limitsAnyModel = ({ metadata, settings }: VirtualKey, field: ModelLimitField): boolean =>
  ownsModelLimits(metadata, field) ||
  (settings.modelMaxBudget !== undefined &&
    Object.values(settings.modelMaxBudget).some((budget) => budget[IN_BUDGET[field]] !== undefined));

/**
 * Limit of a model for a single key. A key without own limits of this kind uses the limit that its team sets for the
 * model.
 */
function limitForOneKey(key: VirtualKey, field: ModelLimitField, model: string): number | undefined {
  if (limitsAnyModel(key, field)) return ownKeyLimit(key, field, model) ?? undefined;
  return limitInTeamMetadata(key, field, model);
}

/** Limit of a model in the metadata of the team of a key. */
function limitInTeamMetadata({ owners }: VirtualKey, field: ModelLimitField, model: string): number | undefined {
  const metadata = owners?.team?.metadata;
  return metadata === undefined ? undefined : (modelLimit(metadata, field, model) ?? undefined);
}

/**
 * Limit of a model for all keys of a team together. The limit that a team sets thus applies to each key and to the sum
 * of them. Calls of a key with its own limit for the model do not count.
 */
function limitForTeam(key: VirtualKey, field: ModelLimitField, model: string): number | undefined {
  return ownKeyLimit(key, field, model) === null ? limitInTeamMetadata(key, field, model) : undefined;
}

/** Limit of a model for all keys of an organization or a project. */
export function modelScopeOfOwner(
  scope: 'model_per_organization' | 'model_per_project',
  owner: { readonly id: string; readonly metadata?: JsonObject } | null,
  model: string,
): RateLimit | null {
  const metadata = owner?.metadata;
  if (!owner || metadata === undefined) return null;
  if (!ownsModelLimits(metadata, 'model_rpm_limit') && !ownsModelLimits(metadata, 'model_tpm_limit')) return null;
  const limitOf = (field: ModelLimitField): number | undefined => modelLimit(metadata, field, model) ?? undefined;
  const limits = { requests: limitOf('model_rpm_limit'), tokens: limitOf('model_tpm_limit') };
  return { scope, id: `${owner.id}:${model}`, ...limits };
}

/**
 * Id by which the calls of a key count in the limits that its team sets for each key. Sessions of one key count
 * together where they are in one team. Those of a key without a team may be in several teams.
 */
function idInTeam(key: VirtualKey): string {
  const { session } = key.settings;
  const hash = limitedHash(key);
  return session === undefined || session.opener?.teamId === key.teamId ? hash : `${hash}:${key.teamId}`;
}

/**
 * Limits of a model for a single key: its own ones, else those of its team. A session counts as its key. Each team also
 * limits the sum of its keys.
 */
export function modelScopeOfKey(key: VirtualKey, model: string): RateLimit | null {
  const requests = limitForOneKey(key, 'model_rpm_limit', model);
  const tokens = limitForOneKey(key, 'model_tpm_limit', model);
  if (requests === undefined && tokens === undefined) return null;
  const isOwn = limitsAnyModel(key, 'model_rpm_limit') || limitsAnyModel(key, 'model_tpm_limit');
  return { scope: 'model_per_key', id: `${isOwn ? limitedHash(key) : idInTeam(key)}:${model}`, requests, tokens };
}

/** Limits of a model for all keys of a team together. */
export function modelScopeOfTeam(key: VirtualKey, model: string): RateLimit | null {
  const requests = limitForTeam(key, 'model_rpm_limit', model);
  const tokens = limitForTeam(key, 'model_tpm_limit', model);
  if (requests === undefined && tokens === undefined) return null;
  return { scope: 'model_per_team', id: `${key.teamId}:${model}`, requests, tokens };
}
