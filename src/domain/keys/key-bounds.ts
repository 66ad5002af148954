import type { Caller } from '../caller.ts';
import type { Limits } from '../budgets/limits.ts';
import { nullIfBlank } from '../optional-text.ts';
import { weakerRole } from '../owners/key-owners.ts';
import type { Role } from '../role.ts';
import { instantAfter } from './durations.ts';
import { adminOnlyMemberOfNewKey, adminOnlyMemberOfKeyPatch, withKeptRights } from './granting-members.ts';
import type { KeyPatch } from './key-change.ts';
import type { KeyDraft } from './key-draft.ts';
import { keyOwnerRefusal } from './key-owner-refusal.ts';
import { METADATA_MEMBERS } from './key-settings.ts';
import type { VirtualKey } from './virtual-key.ts';

/** Routes of a key that may call models, and may do nothing else on behalf of its user. */
const MODELS_ONLY: readonly string[] = ['llm_api_routes'];

const isWeakerOrEqual = (role: Role, than: Role): boolean => weakerRole(role, than) === role;

/** Settings of a key that do not bound it, or whose bounds are checked separately. */
const NOT_BOUNDS = new Set(['keyType', 'allowedRoutes', 'aliases', 'softBudget', 'autoRotate', 'rotationInterval']);
/** Limits of calls that bound a key, unless a shared limit of its user is as low. */
const COUNTED = ['rpmLimit', 'tpmLimit', 'maxParallelRequests'] as const;

/** The limits that all keys of the caller's user share: those of the user, or of its membership in a team. */
function sharedLimits(key: VirtualKey, teamId: string | null): Limits | null {
  const limits = teamId === null ? key.owners?.user?.limits : key.owners?.member?.limits;
  return limits ?? null;
}

/** Whether a shared limit is at most the limit of the key. */
const covers = (shared: number | bigint | null | undefined, own: number | bigint): boolean =>
  shared !== null && shared !== undefined && shared <= own;

/**
 * Whether a key has a bound that another key of its user, in a team or without one, might not have. Models and routes
 * are checked separately.
 */
function isBounded(key: VirtualKey, teamId: string | null): boolean {
  const shared = sharedLimits(key, teamId);
  if (key.teamId !== null && key.teamId !== teamId) return true;
  // The expiry of a signed token bounds the token, not its bearer.
  if (key.expiresAt !== null && (key.token === undefined || key.token.keyExpires === true)) return true;
  if (METADATA_MEMBERS.some((member) => Object.hasOwn(key.metadata, member))) return true;
  if (key.maxBudget !== null) {
    const isSameWindow = shared?.budgetDuration === key.budgetDuration;
    if (!isSameWindow || !covers(shared.maxBudget, key.maxBudget)) return true;
  }
  const counted = COUNTED.filter((name) => key.settings[name] !== undefined);
  if (counted.some((name) => !covers(shared?.[name], key.settings[name] ?? 0))) return true;
  return Object.keys(key.settings).some((name) => !NOT_BOUNDS.has(name) && !COUNTED.some((one) => one === name));
}

/**
 * Throws Forbidden for a caller whose key has bounds: such a key must not create keys, nor replace the secret of
 * another key.
 */
export function assertUnbounded({ key }: Caller, teamId: string | null): void {
  if (key !== null && isBounded(key, teamId))
    throw keyOwnerRefusal(
      'A key with limits, a team or an expiry cannot create keys, nor replace the secret of another key.',
    );
}

/** Whether all wanted names are in a list. An empty list, also of wanted names, stands for every name. */
const isSubset = (wanted: readonly string[], of: readonly string[]): boolean =>
  of.length === 0 || (wanted.length > 0 && wanted.every((one) => of.includes(one)));

/** Refuses models beyond those of the caller's own key. */
function assertModels({ key }: Caller, models: readonly string[]): void {
  if (key !== null && !isSubset(models, key.models))
    throw keyOwnerRefusal('A key cannot give models that it may not call itself.');
}

/** Creator of a new key, and facts that the draft does not contain. */
interface KeyCreation {
  readonly caller: Caller;
  /** Null for a key of a team without a user. */
  readonly userId: string | null;
  /** Whether the caller administers the team of the key. */
  readonly isManager: boolean;
}

type DraftSettings = NonNullable<KeyDraft['settings']>;

/**
 * The settings of a new key with its allowed routes. The caller's own key bounds them. The key of another user gets
 * only model routes. Throws Forbidden for further routes.
 */
function routesFor({ caller, userId }: KeyCreation, settings: DraftSettings): DraftSettings {
  const ownRoutes = caller.key?.settings.allowedRoutes ?? [];
  const maxRoutes = userId === null || userId === nullIfBlank(caller.userId) ? ownRoutes : MODELS_ONLY;
  const isTyped = settings.keyType !== undefined && settings.keyType !== null && settings.keyType !== 'default';
  // Null for types with other routes than those of models. Such types are refused when the routes are bounded.
  const routesOfType = settings.keyType === 'llm_api' ? MODELS_ONLY : null;
  const wantedRoutes = (isTyped ? routesOfType : settings.allowedRoutes) ?? [];
  if (maxRoutes.length === 0) return settings;
  if (wantedRoutes.length === 0 && !isTyped) return { ...settings, allowedRoutes: maxRoutes };
  if (!isSubset(wantedRoutes, maxRoutes) || (ownRoutes.length > 0 && !isSubset(wantedRoutes, ownRoutes)))
    throw keyOwnerRefusal(
      'A key cannot allow routes that its maker may not call, nor more than model routes to another user.',
    );
  return settings;
}

/**
 * A draft of a caller who is not an administrator of the proxy, within the rights and bounds of the caller's own key.
 * Throws Forbidden.
 */
export function boundedDraft(creation: KeyCreation, draft: KeyDraft): KeyDraft {
  const { caller, userId, isManager } = creation;
  const { projectId = null, ...settings } = draft.settings ?? {};
  const adminOnly = adminOnlyMemberOfNewKey({ ...draft, settings: isManager ? settings : { ...settings, projectId } });
  if (adminOnly !== null) throw keyOwnerRefusal(`Only proxy admins set ${adminOnly} of a key.`);
  if (draft.role !== null && !isWeakerOrEqual(draft.role, caller.role))
    throw keyOwnerRefusal('Only proxy admins choose a role.');
  assertUnbounded(caller, nullIfBlank(draft.teamId));
  const models = draft.models.length === 0 ? (caller.key?.models ?? []) : draft.models;
  assertModels(caller, models);
  const routes = routesFor(creation, settings);
  return {
    ...draft,
    userId,
    models,
    role: draft.role ?? caller.role,
    settings: projectId === null ? routes : { ...routes, projectId },
  };
}

/** Refuses a change of members that only proxy administrators change. Throws Forbidden. */
function assertUnchangedMembers(before: VirtualKey, patch: KeyPatch): void {
  const wanted = { role: patch.role, user_id: patch.userId, team_id: patch.teamId };
  const stored = { role: before.role, user_id: before.userId, team_id: before.teamId };
  const reassigned = (['role', 'user_id', 'team_id'] as const).find(
    (name) => wanted[name] !== undefined && nullIfBlank(wanted[name]) !== stored[name],
  );
  const changed = reassigned ?? (patch.spend === undefined ? undefined : 'spend');
  if (changed !== undefined) throw keyOwnerRefusal(`Only proxy admins change the ${changed} of a key.`);
  const adminOnly = adminOnlyMemberOfKeyPatch(before, patch);
  if (adminOnly !== null) throw keyOwnerRefusal(`Only proxy admins change ${adminOnly} of a key.`);
  const routes = patch.settings?.allowedRoutes;
  if (routes !== undefined && !isSubset(routes ?? [], before.settings.allowedRoutes ?? []))
    throw keyOwnerRefusal('Only proxy admins allow a key further routes.');
}

/** Whether a wanted limit is unchanged (undefined) or at most the limit before. Null is no limit. */
const isNarrower = (wanted: number | bigint | null | undefined, than: number | bigint | null | undefined): boolean =>
  wanted === undefined || than === null || than === undefined || (wanted !== null && wanted <= than);

/** Refuses a change that lifts a bound of the key. Throws Forbidden. */
function assertNarrower(before: VirtualKey, patch: KeyPatch, now: Date): void {
  const { models, budgetDuration, blocked, settings = {} } = patch;
  const bounds: readonly (readonly [name: string, isLifted: boolean])[] = [
    ['models', models !== undefined && !isSubset(models, before.models)],
    ['max_budget', !isNarrower(patch.maxBudget, before.maxBudget)],
    ['budget_duration', budgetDuration !== undefined && budgetDuration !== before.budgetDuration],
    ['budget_limits', patch.budgetLimits !== undefined],
    ['model_max_budget', settings.modelMaxBudget !== undefined],
    ['budget_fallbacks', settings.budgetFallbacks !== undefined],
    ['blocked', blocked !== undefined && blocked !== before.blocked],
    ['tpd_limit', !isNarrower(settings.tpdLimit, before.settings.tpdLimit)],
    ...COUNTED.map((name) => [name, !isNarrower(settings[name], before.settings[name])] as const),
  ];
  const lifted =
    bounds.find(([, isLifted]) => isLifted)?.[0] ??
    (endsEarlier(before.expiresAt, patch.duration, now) ? undefined : 'duration');
  if (lifted !== undefined)
    throw keyOwnerRefusal(`Only administrators of the proxy, or of the team of a key, raise its limits: ${lifted}.`);
}

/** Whether a new duration ends by the expiry of the key. True without a new duration, and without an expiry. */
function endsEarlier(before: Date | null, duration: string | null | undefined, now: Date): boolean {
  if (duration === undefined || before === null) return true;
  return duration !== null && duration !== '-1' && instantAfter(duration, now, 'duration') <= before;
}

/**
 * A change of a key by a caller who is not an administrator of the proxy. Administrators of the key's team may change
 * its limits. Its own user may only make them narrower. Throws Forbidden.
 */
export function boundedPatch(
  caller: Caller,
  before: VirtualKey,
  { patch, isManager, now }: { readonly patch: KeyPatch; readonly isManager: boolean; readonly now: Date },
): KeyPatch {
  assertUnchangedMembers(before, patch);
  // A key with bounds must not raise its own bounds.
  const isBoundedCaller = caller.key !== null && isBounded(caller.key, before.teamId);
  if (!isManager || isBoundedCaller) assertNarrower(before, patch, now);
  if (patch.models !== undefined) assertModels(caller, patch.models);
  return withKeptRights(before.metadata, patch);
}

/**
 * Whether a key has rights that the caller's own credential lacks, by its role, user, models or routes. If so, the
 * caller must not learn its secret.
 */
export function hasMoreRights(row: VirtualKey, caller: Caller): boolean {
  if (caller.key === null || caller.keyHash === row.hash) return false;
  const isOfOther = nullIfBlank(row.userId) !== null && row.userId !== caller.userId;
  const routes = row.settings.allowedRoutes ?? [];
  return (
    !isWeakerOrEqual(row.role, caller.role) ||
    (isOfOther && !isSubset(routes, MODELS_ONLY)) ||
    !isSubset(row.models, caller.key.models) ||
    !isSubset(routes, caller.key.settings.allowedRoutes ?? [])
  );
}

/**
 * Whether the role of a key has a right that the caller's role lacks, so that only proxy administrators change the key.
 */
export const hasStrongerRole = (row: VirtualKey, caller: Caller): boolean => !isWeakerOrEqual(row.role, caller.role);
