import type { RateLimit } from '../domain/admission/rate-limits.ts';
import type { RateScope } from '../domain/admission/scopes.ts';
import type { Limits } from '../domain/budgets/limits.ts';
import { modelLimit, ownsModelLimits } from '../domain/keys/key-settings.ts';
import type { VirtualKey } from '../domain/keys/virtual-key.ts';

type OwnerLimits = Pick<Limits, 'rpmLimit' | 'tpmLimit' | 'maxParallelRequests'>;

/** The limits of a call, in the order in which they are checked: of its key, the owners of the key, and the model. */
export function rateScopesOf(key: VirtualKey | null, model: string): readonly RateLimit[] {
  if (key === null) return [];
  const scopes: RateLimit[] = [];
  addScope(scopes, keyScope(key));
  const { owners } = key;
  if (owners === undefined) {
    addScope(scopes, modelOfKey(key, model));
    return scopes;
  }
  const { user, team, member, organization, project } = owners;
  addScope(scopes, ownerScope('user', user?.id, user?.limits));
  addScope(scopes, ownerScope('team', team?.id, team?.limits));
  addScope(scopes, ownerScope('team_member', `${key.teamId}:${key.userId}`, member?.limits));
  addScope(scopes, modelOfKey(key, model));
  addScope(scopes, modelOfTeam(key, model));
  addScope(scopes, ownerScope('organization', organization?.id, organization?.limits));
  addScope(scopes, ownerScope('project', project?.id, project?.limits));
  return scopes;
}

function addScope(scopes: RateLimit[], scope: RateLimit | null): void {
  if (scope === null) return;
  const { requests, tokens, parallel } = scope;
  if (requests !== undefined || tokens !== undefined || parallel !== undefined) scopes.push(scope);
}

/** The limits of the key; where it has none, those of the budget that it names. */
const keyScope = ({ hash, settings, owners }: VirtualKey): RateLimit => ({
  scope: 'api_key',
  id: hash,
  requests: settings.rpmLimit ?? owners?.budget?.rpmLimit ?? undefined,
  tokens: settings.tpmLimit ?? owners?.budget?.tpmLimit ?? undefined,
  parallel: settings.maxParallelRequests ?? owners?.budget?.maxParallelRequests ?? undefined,
});

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

/** Limit of a model for one key: of the key's own map, else, when it has none, of the team's map. */
function limitOfKey({ metadata, owners }: VirtualKey, member: ModelMember, model: string): number | undefined {
  const source = ownsModelLimits(metadata, member) ? metadata : (owners?.team?.metadata ?? {});
  return modelLimit(source, member, model) ?? undefined;
}

/** Limit of a model for all keys of a team. A key with a limit of its own for the model is not counted in it. */
function limitOfTeam({ metadata, owners }: VirtualKey, member: ModelMember, model: string): number | undefined {
  if (modelLimit(metadata, member, model) !== null) return undefined;
  return modelLimit(owners?.team?.metadata ?? {}, member, model) ?? undefined;
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
