import type { Role } from '../role.ts';
import { Forbidden, Unauthenticated } from '../errors.ts';
import type { Usd } from '../money.ts';

/** A credential we issue. Only its hash is kept; the key itself is shown once. */
export interface VirtualKey {
  /** SHA-256 hex of the key: its identity everywhere but in the caller's hands. */
  readonly hash: string;
  /** `sk-...` and the last four characters, for people to recognise it by. */
  readonly name: string;
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
  readonly createdAt: Date;
  /** Hash of the key that created it. */
  readonly createdBy: string;
}

/** Where virtual keys are kept. */
export interface KeyStore {
  /** Stores a new key. Throws Conflict when the hash or the alias is taken. */
  add(key: VirtualKey): Promise<void>;
  /** The key with this hash, or null. */
  find(hash: string): Promise<VirtualKey | null>;
  /** Those of the keys that are there, in no particular order. */
  findMany(hashes: readonly string[]): Promise<readonly VirtualKey[]>;
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
