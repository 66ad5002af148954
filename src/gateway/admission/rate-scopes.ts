import type { RateLimit } from '../../domain/admission/rate-limits.ts';
import type { RateScope } from '../../domain/admission/scopes.ts';
import type { OwnerLimits } from '../../domain/budgets/limits.ts';
import { throttled } from '../../domain/keys/budget-throttle.ts';
import { modelLimit, ownsModelLimits } from '../../domain/keys/key-settings.ts';
import type { VirtualKey } from '../../domain/keys/virtual-key.ts';
import type { LabelBudget } from './label-budgets.ts';

/** Labels of a call that limits use. */
export interface CallNames {
  readonly tags: readonly string[];
  /** The tags and the end user that have limits. */
  readonly labels: readonly LabelBudget[];
  /** Part of its own limits that the key keeps, because its budget is used up; all of them when absent. */
  readonly keptPart?: number | undefined;
}

const NO_NAMES: CallNames = Object.freeze({ tags: [], labels: [] });

/**
 * The limits of a call, in the order in which they are checked: of its key, the owners of the key, its end user, the
 * model, and its tags.
 */
export function rateScopesOf(
  key: VirtualKey | null,
  model: string,
  { tags, labels, keptPart }: CallNames = NO_NAMES,
): readonly RateLimit[] {
  const scopes: RateLimit[] = [];
  if (key !== null) addScope(scopes, keyScope(key, keptPart));
  const owners = key?.owners;
  if (key !== null && owners !== undefined) {
    addScope(scopes, ownerScope('user', owners.user?.id, owners.user?.limits));
    addScope(scopes, ownerScope('team', owners.team?.id, owners.team?.limits));
    addScope(scopes, ownerScope('team_member', `${key.teamId}:${key.userId}`, owners.member?.limits));
  }
  addLabels(scopes, 'end_user', labels);
  if (key !== null) {
    addScope(scopes, modelOfKey(key, model));
    if (owners !== undefined) {
      addScope(scopes, modelOfTeam(key, model));
      addScope(scopes, ownerScope('organization', owners.organization?.id, owners.organization?.limits));
      addScope(scopes, modelOfOwner('model_per_organization', owners.organization, model));
      addScope(scopes, ownerScope('project', owners.project?.id, owners.project?.limits));
      addScope(scopes, modelOfOwner('model_per_project', owners.project, model));
    }
  }
  addLabels(scopes, 'tag', labels);
  if (key !== null && tags.length > 0) addTagsOfKey(scopes, key, tags);
  return scopes;
}

function addLabels(scopes: RateLimit[], scope: LabelBudget['scope'], labels: readonly LabelBudget[]): void {
  for (const label of labels) if (label.scope === scope) addScope(scopes, ownerScope(scope, label.id, label.limits));
}

/** Requests a minute of single tags for one key (`tag_rpm_limit`). */
function addTagsOfKey(scopes: RateLimit[], { hash, metadata }: VirtualKey, tags: readonly string[]): void {
  const limits = metadata['tag_rpm_limit'];
  if (typeof limits !== 'object' || limits === null) return;
  for (const tag of tags) {
    const requests: unknown = Object.hasOwn(limits, tag) ? (limits as Readonly<Record<string, unknown>>)[tag] : null;
    if (typeof requests === 'number') addScope(scopes, { scope: 'tag_per_key', id: `${hash}:${tag}`, requests });
  }
}

function addScope(scopes: RateLimit[], scope: RateLimit | null): void {
  if (scope === null) return;
  const { requests, tokens, parallel } = scope;
  if (requests !== undefined || tokens !== undefined || parallel !== undefined) scopes.push(scope);
}

/** The limits of the key; where it has none, those of the budget that it names. */
function keyScope({ hash, settings, owners }: VirtualKey, keptPart: number | undefined): RateLimit {
  const requests = settings.rpmLimit ?? owners?.budget?.rpmLimit ?? undefined;
  const tokens = settings.tpmLimit ?? owners?.budget?.tpmLimit ?? undefined;
  const parallel = settings.maxParallelRequests ?? owners?.budget?.maxParallelRequests ?? undefined;
  const kept = (limit: number | undefined): number | undefined =>
    limit === undefined || keptPart === undefined ? limit : throttled(limit, keptPart);
  return { scope: 'api_key', id: hash, requests: kept(requests), tokens: kept(tokens), parallel };
}

function ownerScope(
  scope: RateScope,
  id: string | undefined,
  limits: OwnerLimits | null | undefined,
): RateLimit | null {
  if (id === undefined || limits === null || limits === undefined) return null;
  return {
    scope,
    id,
    requests: limits.rpmLimit ?? undefined,
    tokens: limits.tpmLimit ?? undefined,
    parallel: limits.maxParallelRequests ?? undefined,
  };
}

type ModelMember = 'model_rpm_limit' | 'model_tpm_limit';

/** The same limits in the budgets of single models of a key. */
const IN_BUDGET = { model_rpm_limit: 'rpmLimit', model_tpm_limit: 'tpmLimit' } as const;

/** The key's own limit of a model: of its metadata, else, when that has no limits of models, of its budget of the model. */
function ownLimit({ metadata, settings }: VirtualKey, member: ModelMember, model: string): number | null {
  if (ownsModelLimits(metadata, member)) return modelLimit(metadata, member, model);
  const budgets = settings.modelMaxBudget;
  return budgets !== undefined && Object.hasOwn(budgets, model) ? (budgets[model]?.[IN_BUDGET[member]] ?? null) : null;
}

const ownsLimits = ({ metadata, settings }: VirtualKey, member: ModelMember): boolean =>
  ownsModelLimits(metadata, member) ||
  Object.values(settings.modelMaxBudget ?? {}).some((budget) => budget[IN_BUDGET[member]] !== undefined);

/** Limit of a model for one key: its own, else, when it has none of this kind for any model, that of the team's map. */
function limitOfKey(key: VirtualKey, member: ModelMember, model: string): number | undefined {
  if (ownsLimits(key, member)) return ownLimit(key, member, model) ?? undefined;
  return modelLimit(key.owners?.team?.metadata ?? {}, member, model) ?? undefined;
}

/** Limit of a model for all keys of a team. A key with a limit of its own for the model is not counted in it. */
function limitOfTeam(key: VirtualKey, member: ModelMember, model: string): number | undefined {
  if (ownLimit(key, member, model) !== null) return undefined;
  return modelLimit(key.owners?.team?.metadata ?? {}, member, model) ?? undefined;
}

/** Limit of a model for all keys of an organization or a project. */
function modelOfOwner(
  scope: 'model_per_organization' | 'model_per_project',
  owner: { readonly id: string; readonly metadata?: Readonly<Record<string, unknown>> } | null,
  model: string,
): RateLimit | null {
  const metadata = owner?.metadata;
  if (!owner || metadata === undefined) return null;
  if (!ownsModelLimits(metadata, 'model_rpm_limit') && !ownsModelLimits(metadata, 'model_tpm_limit')) return null;
  const limitOf = (member: ModelMember): number | undefined => modelLimit(metadata, member, model) ?? undefined;
  const limits = { requests: limitOf('model_rpm_limit'), tokens: limitOf('model_tpm_limit') };
  return { scope, id: `${owner.id}:${model}`, ...limits };
}

const modelOfKey = (key: VirtualKey, model: string): RateLimit => ({
  scope: 'model_per_key',
  id: `${key.hash}:${model}`,
  requests: limitOfKey(key, 'model_rpm_limit', model),
  tokens: limitOfKey(key, 'model_tpm_limit', model),
});

const modelOfTeam = (key: VirtualKey, model: string): RateLimit => ({
  scope: 'model_per_team',
  id: `${key.teamId}:${model}`,
  requests: limitOfTeam(key, 'model_rpm_limit', model),
  tokens: limitOfTeam(key, 'model_tpm_limit', model),
});
