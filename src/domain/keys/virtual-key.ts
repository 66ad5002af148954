import type { JsonObject } from '../json-object.ts';
import type { Role } from '../role.ts';
import { type DomainError, Forbidden, Unauthenticated } from '../errors.ts';
import type { Usd } from '../money.ts';
import { type KeyOwners, modelListsOf } from '../owners/key-owners.ts';
import type { KeySettings } from './key-settings.ts';

/** An issued credential. Only the hash of its secret is stored; the secret itself is shown once. */
export interface VirtualKey {
  /**
   * Identity: SHA-256 hex of the first secret. It stays when the key is rotated, so that the key keeps its spend and
   * everything it owns.
   */
  readonly hash: string;
  /** SHA-256 hex of the current secret. */
  readonly secretHash: string;
  /** The secret before the last rotation, valid before `until`; null without a rotation or a grace period. */
  readonly previousSecret: { readonly hash: string; readonly until: Date } | null;
  /** `sk-...` and the last characters of the secret, to recognise the key. */
  readonly name: string;
  /** Unique among keys that are not deleted; never blank, as all optional ids here. */
  readonly alias: string | null;
  readonly role: Role;
  readonly teamId: string | null;
  readonly userId: string | null;
  /** Model names the key may call; empty means every model. */
  readonly models: readonly string[];
  /** Budget in USD. Zero allows no priced call, null is unlimited. */
  readonly maxBudget: Usd | null;
  /** Reset interval of the spend, such as `1d`; null for never. */
  readonly budgetDuration: string | null;
  /** End of the current budget window; null without a budget duration. */
  readonly budgetResetAt: Date | null;
  /**
   * Total spend at the start of the current budget window, or when the spend was last set. The spend is the total minus
   * this value, and the budget limits the spend. Below zero when the spend was set above the total.
   */
  readonly spentBefore: Usd;
  readonly settings: KeySettings;
  readonly metadata: JsonObject;
  readonly blocked: boolean;
  readonly expiresAt: Date | null;
  readonly rotations: number;
  readonly rotatedAt: Date | null;
  readonly createdAt: Date;
  /** Hash of the key that created it; `default_user_id` for the admin key. */
  readonly createdBy: string;
  readonly updatedAt: Date;
  /** Hash of the key that changed it last; `default_user_id` for the admin key. */
  readonly updatedBy: string;
  /** A deleted key is not valid; its row stays for its spend and history. */
  readonly deletedAt: Date | null;
  readonly deletedBy: string | null;
  /** The owners of the key, as they were read with it; absent where the key was read without them. */
  readonly owners?: KeyOwners;
  /** MCP servers that access groups grant to the key; absent where the key was read without its groups. */
  readonly mcpServerIds?: readonly string[];
  /**
   * Access groups by model name, as deployments have them now; absent where the key was read without them. For an alias
   * also the names that allow its model.
   */
  readonly accessGroupsOf?: (model: string) => readonly string[];
  /** Ids of A2A agents that access groups grant to the key; absent where none does. */
  readonly agentGrants?: readonly string[];
  /**
   * Whether a name now selects a model of the team, and not a common model. Absent where the key was read without it.
   */
  readonly isTeamModel?: (teamId: string, model: string) => boolean;
  /** The model of a configured alias, else the name itself. Absent where the key was read without aliases. */
  readonly targetOf?: (name: string) => string;
  /** Creates the error of a key that is invalid for a reason outside of its row; absent for a valid key. */
  readonly refusal?: () => DomainError;
  /** Facts of the signed token that the key stands for; absent for stored keys. */
  readonly token?: TokenFacts;
}

/** Facts that a signed token adds to a key. */
interface TokenFacts {
  /** Customer on whose behalf the bearer calls. */
  readonly endUserId: string | null;
  /** Whether the token stands for a stored key that has an expiry. */
  readonly keyExpires?: boolean;
  /** Whether the token names a role. Otherwise the role of its user applies. */
  readonly hasRole: boolean;
  /**
   * The same bearer in its further teams, in the order of the token. A call uses the first one that allows its model.
   */
  readonly otherTeams: readonly VirtualKey[];
}

/** Filter of a list of keys. All conditions that are neither null nor absent must match. */
export interface KeyFilter {
  readonly hash: string | null;
  readonly alias: string | null;
  /** Text that the alias contains, ignoring letter case. */
  readonly aliasPart?: string | null;
  /** Only keys that have an alias. */
  readonly hasAlias?: boolean;
  readonly teamId: string | null;
  readonly userId: string | null;
  /** Whether `userId` and the user of `visibleTo` also select keys that a key of this user created. */
  readonly withCreated?: boolean;
  /**
   * Project and organization in the settings of a key, and an access group that the settings name or that names the
   * key. Absent or null for any.
   */
  readonly projectId?: string | null;
  readonly organizationId?: string | null;
  readonly accessGroupId?: string | null;
  readonly blocked: boolean | null;
  /** Null for all keys that are not deleted. */
  readonly status: KeyStatus | null;
  /** Only the keys a caller may list; null for an administrator. */
  readonly visibleTo: {
    readonly hash: string;
    readonly userId: string | null;
    /** Teams of which all keys are visible; absent for none. */
    readonly teamIds?: readonly string[];
  } | null;
}

/** `active`: neither blocked, expired nor deleted. `revoked`: blocked. */
export const KEY_STATUSES = ['active', 'expired', 'revoked', 'deleted'] as const;
export type KeyStatus = (typeof KEY_STATUSES)[number];

export const KEY_SORTS = ['spend', 'max_budget', 'created_at', 'updated_at', 'token', 'key_alias'] as const;
/** `budget_use`: see `budgetUse`. */
export type KeySort = (typeof KEY_SORTS)[number] | 'budget_use';

/**
 * Spend in the current budget window in millionths of the budget, approximately; -1 without a budget. Adding 1 to the
 * divisor prevents a division by zero. Stores compute the same value with SQL integers.
 */
export const budgetUse = (
  { maxBudget, spentBefore }: Pick<VirtualKey, 'maxBudget' | 'spentBefore'>,
  total: Usd,
): bigint => (maxBudget === null ? -1n : (total - spentBefore) / (maxBudget / 1_000_000n + 1n));

/** Position in a list of keys: the last key of the page before, by creation time or by use of the budget. */
export type KeyPlace = Pick<VirtualKey, 'createdAt' | 'hash'> | { readonly budgetUse: bigint; readonly hash: string };

/** Query for one page of a list of keys. Rows of equal rank are ordered by hash. */
export interface KeyPage {
  readonly filter: KeyFilter;
  /** Time that decides between the statuses `active` and `expired`. */
  readonly now: Date;
  readonly sort: KeySort;
  readonly descending: boolean;
  readonly limit: number;
  /**
   * Number of rows to skip, or the row after which the page begins. A row is accepted only with the sorts `created_at`
   * and `budget_use`.
   */
  readonly from: number | KeyPlace;
}

/** Persistent virtual keys. `hash` is the identity of a key, unless a method says that it is the hash of a secret. */
export interface KeyStore {
  /** Stores a new key. Throws Conflict when its secret was ever in use, or its alias is in use. */
  add(key: VirtualKey): Promise<void>;
  /**
   * The key with this current or previous secret, by the secret's hash; null when there is none. Finds blocked and
   * expired keys, and previous secrets after their grace period, but not deleted keys.
   */
  find(secretHash: string): Promise<VirtualKey | null>;
  /** The keys of these secrets, by the secret's hash; the same rule as `find`. */
  findBySecrets(secretHashes: readonly string[]): Promise<ReadonlyMap<string, VirtualKey>>;
  /** The keys of these hashes that exist, including deleted ones, in no particular order. */
  findMany(hashes: readonly string[]): Promise<readonly VirtualKey[]>;
  /** The keys with these aliases that are not deleted. */
  findAliases(aliases: readonly string[]): Promise<readonly VirtualKey[]>;
  /** The keys of these users or teams, without deleted keys, the oldest first. */
  findOwned(owner: 'userId' | 'teamId', ids: readonly string[]): Promise<readonly VirtualKey[]>;
  /** How many keys each of these users or teams has, without deleted keys; an owner without keys is absent. */
  countOwned(owner: 'userId' | 'teamId', ids: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** Hashes of the keys with a budget window that has ended, in the order of the ends. */
  dueForReset(now: Date, limit: number): Promise<readonly string[]>;
  list(page: KeyPage): Promise<readonly VirtualKey[]>;
  /** Number of keys that match. */
  count(filter: KeyFilter, now: Date): Promise<number>;
  /**
   * Changes a key in one transaction: `change` gets the stored row and returns the new one. It is called again after a
   * concurrent change. Returns the row before and after, or null when no such key exists or it is deleted. Throws
   * Conflict when the new secret was ever in use, or the new alias is in use, and whatever `change` throws. Throws
   * Unavailable when every attempt conflicts with another change.
   */
  change(hash: string, change: (key: VirtualKey) => VirtualKey): Promise<ChangedKey | null>;
}

/** A key before and after a change. */
export interface ChangedKey {
  readonly before: VirtualKey;
  readonly after: VirtualKey;
}

/** Makes and hashes keys. */
export interface KeyGenerator {
  /** A fresh unguessable key, beginning `sk-`. */
  make(): string;
  /** A fresh unguessable text. */
  token(): string;
  /** SHA-256 hex. */
  hash(key: string): string;
  /** Whether two hashes are equal, compared in constant time. */
  same(hash: string, other: string): boolean;
}

/**
 * Whether a secret is valid for a key now: the current secret, or the previous one within its grace period. Not for a
 * deleted key.
 */
export function acceptsSecret(key: VirtualKey, secretHash: string, now: Date): boolean {
  if (key.deletedAt !== null) return false;
  if (key.secretHash === secretHash) return true;
  return key.previousSecret !== null && key.previousSecret.hash === secretHash && key.previousSecret.until > now;
}

/** The status of a key at an instant. */
export function keyStatusOf(key: VirtualKey, now: Date): KeyStatus {
  if (key.deletedAt !== null) return 'deleted';
  if (key.blocked) return 'revoked';
  return key.expiresAt !== null && key.expiresAt <= now ? 'expired' : 'active';
}

/** The spend of a key in its current budget window. `total` is its total spend. */
export const keySpendOf = (key: Pick<VirtualKey, 'spentBefore'>, total: Usd): Usd => (total - key.spentBefore) as Usd;

/**
 * Throws Unauthenticated for a key that is blocked or expired, or whose team or project is blocked. Throws the
 * `refusal` of a key that has one.
 */
export function assertUsable(key: VirtualKey, now: Date): void {
  if (key.refusal !== undefined) throw key.refusal();
  if (key.blocked)
    throw new Unauthenticated("Key is blocked. Update via `/key/unblock` if you're an admin.", 'blocked');
  if (key.owners?.team?.blocked === true) {
    const message = `Team=${key.owners.team.id} is blocked. Update via \`/team/unblock\` if you're an admin.`;
    throw new Unauthenticated(message, 'blocked');
  }
  if (key.owners?.project?.blocked === true)
    throw new Unauthenticated(`Project=${key.owners.project.id} is blocked.`, 'blocked');
  if (key.expiresAt === null || key.expiresAt > now) return;
  if (key.token !== undefined) throw new Unauthenticated('Token Expired', 'expired');
  throw new Unauthenticated(`Expired Key. Key Expiry time ${key.expiresAt.toISOString()}`, 'expired', {
    keyName: `sk-...${key.hash.slice(-4)}`,
  });
}

/** Entries of a key's models that stand for every model. A team's own list is checked in addition. */
const EVERY_MODEL = new Set(['*', 'all-proxy-models', 'all-team-models']);

/** Whether a list allows a model by its name. An empty list allows every model. */
const allowsName = (models: readonly string[], model: string): boolean =>
  models.length === 0 ||
  models.includes(model) ||
  models.some(
    (allowed) => EVERY_MODEL.has(allowed) || (allowed.endsWith('/*') && model.startsWith(allowed.slice(0, -1))),
  );

/** Entries of a list, other than access groups and entries for every model, that allow a model by its name. */
export const namesAllowing = (model: string): readonly string[] => [
  model,
  ...[...model.matchAll(/\//g)].map(({ index }) => `${model.slice(0, index)}/*`),
];

/** Whether a list of models and access groups allows a model of these groups. An empty list allows every model. */
export const allowsModel = (models: readonly string[], model: string, groups: readonly string[]): boolean =>
  allowsName(models, model) || groups.some((group) => models.includes(group));

/** Access groups of a model; none where the key was read without them. */
export const accessGroupsFor = ({ accessGroupsOf }: VirtualKey, model: string): readonly string[] =>
  accessGroupsOf?.(model) ?? [];

/**
 * Access groups that admit a model of a key. Each model list of the key or its owners that does not allow the model by
 * name has one list of groups. A deployment must have a group of each list. Empty when all lists allow the model by
 * name, and for a model without groups.
 */
export function admittingGroups(key: VirtualKey, model: string): readonly (readonly string[])[] {
  const groups = accessGroupsFor(key, model);
  if (groups.length === 0) return [];
  return modelLists(key, model)
    .filter((models) => !allowsName(models, model))
    .map((models) => groups.filter((group) => models.includes(group)));
}

/**
 * Whether a key may call a model: its own list and those of its owners allow it. The entry `no-default-models` alone
 * allows none. A caller without a virtual key (null) may call all.
 */
export function mayCall(key: VirtualKey | null, model: string): boolean {
  return key === null || deniedBy(key, model) === null;
}

/** Whether a model belongs to the key's team. */
const isModelOfKeyTeam = ({ teamId, isTeamModel }: VirtualKey, model: string): boolean =>
  teamId !== null && isTeamModel?.(teamId, model) === true;

/** Model lists that must all allow a model. */
export const modelLists = (key: VirtualKey, model: string): readonly (readonly string[])[] => [
  key.models,
  ...(key.owners === undefined ? [] : modelListsOf(key.owners, isModelOfKeyTeam(key, model))).map(
    (list) => list.models,
  ),
];

/** The right that a key lacks for a model; null when it may call the model. */
function deniedBy(key: VirtualKey, model: string): 'model' | 'team_model' | 'user_model' | null {
  const { models, owners } = key;
  const groups = accessGroupsFor(key, model);
  if (!allowsModel(models, model, groups)) return 'model';
  if (owners === undefined) return null;
  return (
    modelListsOf(owners, isModelOfKeyTeam(key, model)).find((list) => !allowsModel(list.models, model, groups))
      ?.right ?? null
  );
}

/** Resolves a model name of a key: by an alias of the key, then by one of its team, else the name itself. */
export function resolveModelAlias(key: VirtualKey | null, name: string): string {
  for (const aliases of [key?.settings.aliases, key?.owners?.team?.modelAliases])
    if (aliases !== undefined && Object.hasOwn(aliases, name)) return aliases[name] ?? name;
  return name;
}

/** Throws Forbidden for a model that the key may not call. The message does not list other models. */
export function assertMayCall(key: VirtualKey | null, model: string): void {
  const right = key === null ? null : deniedBy(key, model);
  if (right !== null) throw modelNotAvailable(model, right);
}

/** Error for a model that the key may not call, by the name that the caller sent. */
export function modelNotAvailable(model: string, right: 'model' | 'team_model' | 'user_model' = 'model'): Forbidden {
  return new Forbidden(
    `The requested model '${model}' is not available for this API key, or the model name is invalid. Check the models available to you and try again.`,
    right,
  );
}
