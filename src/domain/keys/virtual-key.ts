import type { Role } from '../role.ts';
import { Forbidden, Unauthenticated } from '../errors.ts';
import type { Usd } from '../money.ts';

/** A credential we issue. Only the hash of its secret is kept; the secret itself is shown once. */
export interface VirtualKey {
  /**
   * Identity: SHA-256 hex of the first secret. It stays when the key is rotated, so that the key keeps its spend and
   * everything it owns.
   */
  readonly hash: string;
  /** SHA-256 hex of the secret that opens the key. */
  readonly secretHash: string;
  /** The secret before the last rotation; null when its grace period is over or it had none. */
  readonly previousSecret: { readonly hash: string; readonly until: Date } | null;
  /** `sk-...` and the last characters of the secret, for people to recognise it by. */
  readonly name: string;
  /** Unique among keys that are not deleted; never blank, as all optional ids here. */
  readonly alias: string | null;
  readonly role: Role;
  readonly teamId: string | null;
  readonly userId: string | null;
  /** Model names the key may call; empty means every model. */
  readonly models: readonly string[];
  /** Allowance in USD; zero is zero, null is unlimited. */
  readonly maxBudget: Usd | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly blocked: boolean;
  readonly expiresAt: Date | null;
  readonly rotations: number;
  readonly rotatedAt: Date | null;
  readonly createdAt: Date;
  /** Hash of the key that created it. */
  readonly createdBy: string;
  readonly updatedAt: Date;
  /** Hash of the key that changed it last. */
  readonly updatedBy: string;
  /** A deleted key opens nothing; its row stays for its spend and history. */
  readonly deletedAt: Date | null;
  readonly deletedBy: string | null;
}

/** Filter of a list of keys. All conditions that are not null must match. */
export interface KeyFilter {
  readonly hash: string | null;
  readonly alias: string | null;
  readonly teamId: string | null;
  readonly userId: string | null;
  readonly blocked: boolean | null;
  readonly status: KeyStatus | null;
  /** Only the keys a caller may list; null for an administrator. */
  readonly visibleTo: { readonly hash: string; readonly userId: string | null } | null;
}

/** `active`: neither blocked, expired nor deleted. `revoked`: blocked. No status lists all that are not deleted. */
export const KEY_STATUSES = ['active', 'expired', 'revoked', 'deleted'] as const;
export type KeyStatus = (typeof KEY_STATUSES)[number];

export const KEY_SORTS = ['spend', 'max_budget', 'created_at', 'updated_at', 'token', 'key_alias'] as const;
export type KeySort = (typeof KEY_SORTS)[number];

/** One page of a list of keys. Rows of equal rank are ordered by hash. */
export interface KeyPage {
  readonly filter: KeyFilter;
  /** Reads the expiry of `active` and `expired`. */
  readonly now: Date;
  readonly sort: KeySort;
  readonly descending: boolean;
  readonly limit: number;
  /** Rows to skip, or the row after which the page begins; the latter with the sort `created_at` only. */
  readonly from: number | Pick<VirtualKey, 'createdAt' | 'hash'>;
}

/** Persistent virtual keys. A hash is an identity, except where it is called a secret's. */
export interface KeyStore {
  /** Stores a new key. Throws Conflict when its secret was ever in use, or its alias is. */
  add(key: VirtualKey): Promise<void>;
  /** The key that a secret opens, by the secret's hash, or null. Blocked and expired keys are found, deleted ones not. */
  find(secretHash: string): Promise<VirtualKey | null>;
  /** The keys that these secrets open, by the secret's hash; the same rule as `find`. */
  findBySecrets(secretHashes: readonly string[]): Promise<ReadonlyMap<string, VirtualKey>>;
  /** Those of the keys that exist, deleted ones too, in no particular order. */
  findMany(hashes: readonly string[]): Promise<readonly VirtualKey[]>;
  /** The hashes of the keys with these aliases; deleted keys have none. */
  findAliases(aliases: readonly string[]): Promise<readonly VirtualKey[]>;
  list(page: KeyPage): Promise<readonly VirtualKey[]>;
  /** Number of keys that match. */
  count(filter: KeyFilter, now: Date): Promise<number>;
  /**
   * Changes a key in one transaction: `change` gets the stored row and returns the new one. Concurrent changes of one key
   * run one after another. Returns the row before and after, or null when no such key exists or it is deleted. Throws
   * Conflict when the new secret was ever in use, or the new alias is, and whatever `change` throws.
   */
  change(hash: string, change: (key: VirtualKey) => VirtualKey): Promise<ChangedKey | null>;
}

/** A key before and after a change. */
export interface ChangedKey {
  readonly before: VirtualKey;
  readonly after: VirtualKey;
}

/** Makes and hashes keys. */
export interface KeySmith {
  /** A fresh unguessable key, beginning `sk-`. */
  make(): string;
  /** A fresh unguessable text. */
  token(): string;
  /** SHA-256 hex. */
  hash(key: string): string;
}

/** Whether a secret opens a key now: its current secret, or the previous one within its grace period. */
export function opens(key: VirtualKey, secretHash: string, now: Date): boolean {
  if (key.deletedAt !== null) return false;
  if (key.secretHash === secretHash) return true;
  return key.previousSecret !== null && key.previousSecret.hash === secretHash && key.previousSecret.until > now;
}

/** What a key is at an instant. */
export function statusOf(key: VirtualKey, now: Date): KeyStatus {
  if (key.deletedAt !== null) return 'deleted';
  if (key.blocked) return 'revoked';
  return key.expiresAt !== null && key.expiresAt <= now ? 'expired' : 'active';
}

/** Refuses a key that is blocked or past its expiry. */
export function assertUsable(key: VirtualKey, now: Date): void {
  if (key.blocked)
    throw new Unauthenticated("Key is blocked. Update via `/key/unblock` if you're an admin.", 'blocked');
  if (key.expiresAt !== null && key.expiresAt <= now)
    throw new Unauthenticated(`Expired Key. Key Expiry time ${key.expiresAt.toISOString()}`, 'expired');
}

/** Whether a key may call a model; the admin key (null) may call all. */
export function mayCall(key: VirtualKey | null, model: string): boolean {
  if (key === null || key.models.length === 0 || key.models.includes(model)) return true;
  return key.models.some((allowed) => allowed.endsWith('/*') && model.startsWith(allowed.slice(0, -1)));
}

/** Refuses a model that is not among those the key may call. Neutral text: it must not list the others. */
export function assertMayCall(key: VirtualKey | null, model: string): void {
  if (!mayCall(key, model)) throw notAvailable(model);
}

/** The refusal of a model by the name it was asked for. */
export function notAvailable(model: string): Forbidden {
  return new Forbidden(
    `The requested model '${model}' is not available for this API key, or the model name is invalid. Check the models available to you and try again.`,
    'model',
  );
}
