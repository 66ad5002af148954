import type { Caller } from '../caller.ts';
import type { KeySettings, SessionFacts } from '../keys/key-settings.ts';
import type { KeyGenerator, VirtualKey } from '../keys/virtual-key.ts';
import { type Usd, ZERO_USD } from '../money.ts';
import type { Role } from '../role.ts';

/** Maximum lifetime of a session in a browser, in seconds. */
export const SESSION_SECONDS = 24 * 3_600;

/** The user that signed in. */
export interface SignedIn {
  readonly userId: string;
  readonly role: Role;
  /** The key that was used as a password; null for an administrator without one. */
  readonly key: VirtualKey | null;
  /**
   * Identifies the credential that opened the session, without its secret. The session ends when the credential becomes
   * invalid.
   */
  readonly openedBy: string;
}

/** A sign-in as it is stored until the session is opened. */
export interface StoredSignIn extends Pick<SignedIn, 'userId' | 'role' | 'openedBy'> {
  /** Hash of the secret of the key; null for an administrator without one. */
  readonly secretHash: string | null;
}

/**
 * A session. Its token is a virtual key of the user, which is valid only while the user exists and keeps its role. The
 * session has the current rights and limits of the key that was used as a password. Its calls count in the rate limits
 * of that key. Where that key has a budget, the session has a budget of zero. A session counts its own spend, so a
 * copied budget could be spent twice.
 */
export interface Session {
  readonly token: string;
  readonly userId: string;
  readonly role: Role;
  /** Lifetime of the token, in seconds. */
  readonly seconds: number;
  /** Text that pages send in a header, in addition to the session cookie. */
  readonly csrfToken: string;
}

/** Secret that opened a session of an administrator without a key. */
type AdminSecret = 'password' | 'admin_key';

/** Current secrets that open sessions of administrators. A changed name, password or admin key ends the sessions. */
export interface SessionOpeners {
  /** The `openedBy` of sessions that this secret opens. */
  of(secret: AdminSecret): string;
  /** Whether `openedBy` is of a current secret. */
  holds(openedBy: string): boolean;
}

/** Creates the openers. The admin key is part of each hash, so that a stored hash does not reveal a short password. */
export function createSessionOpeners(
  secrets: { readonly adminKey: string; readonly username: string; readonly password: string | null },
  generator: Pick<KeyGenerator, 'hash'>,
): SessionOpeners {
  const { adminKey, username, password } = secrets;
  const openedByOf = (...parts: readonly string[]): string =>
    `admin:${generator.hash(JSON.stringify(['session', adminKey, ...parts]))}`;
  const openedBySecret: Readonly<Record<AdminSecret, string>> = {
    admin_key: openedByOf('admin_key'),
    password: openedByOf('password', username, password ?? ''),
  };
  return {
    of: (secret) => openedBySecret[secret],
    holds: (openedBy) =>
      openedBy === openedBySecret.admin_key || (password !== null && openedBy === openedBySecret.password),
  };
}

/** The `openedBy` of a session that a key opened: identity and hash of the secret. */
const OPENED_BY_KEY = /^key:([^:]+):([^:]+)$/;

/** The `openedBy` of a session that a key opens. */
export const openedByKey = ({ hash, secretHash }: VirtualKey): string => `key:${hash}:${secretHash}`;

/**
 * Identity and hash of the secret of the key that opened a session; null for a session of an administrator without a
 * key.
 */
export function openingKey({ openedBy }: SessionFacts): { readonly hash: string; readonly secretHash: string } | null {
  const [, hash, secretHash] = OPENED_BY_KEY.exec(openedBy) ?? [];
  return hash === undefined || secretHash === undefined ? null : { hash, secretHash };
}

/**
 * Hash under which the limits of a key count, and by which rules name it. A session counts as the key that opened it,
 * so that several sessions do not multiply the limits of that key.
 */
export function limitedHash({ hash, settings: { session } }: Pick<VirtualKey, 'hash' | 'settings'>): string {
  return session === undefined ? hash : (openingKey(session)?.hash ?? hash);
}

/** As `limitedHash`, for any caller. */
export const limitedHashOf = ({ key, keyHash }: Pick<Caller, 'key' | 'keyHash'>): string =>
  key === null ? keyHash : limitedHash(key);

/** Alias by which rules name a key. That of a session is the alias of the key that opened it. */
export const ruledAlias = ({ alias, settings: { session } }: Pick<VirtualKey, 'alias' | 'settings'>): string | null =>
  session?.opener === undefined ? alias : session.opener.alias;

const hasBudget = ({ maxBudget, settings }: VirtualKey): boolean =>
  maxBudget !== null || [settings.budgetId, settings.budgetLimits, settings.modelMaxBudget].some(Boolean);

/** Rights and limits of a session. A budget of null is unlimited. */
interface SessionBounds extends Pick<VirtualKey, 'models' | 'maxBudget' | 'metadata'> {
  readonly settings: KeySettings;
}

/** Rights and limits that a key gives to its sessions. */
export function sessionBoundsOf(key: VirtualKey): SessionBounds {
  // The routes of a key type would replace the copied routes, so the type is not copied.
  const {
    keyType: _keyType,
    softBudget: _softBudget,
    autoRotate: _autoRotate,
    rotationInterval: _interval,
    session: _session,
    ...settings
  } = key.settings;
  // A temporary increase would raise the budget of each session above zero.
  const { temp_budget_increase: _increase, temp_budget_expiry: _expiry, ...metadata } = key.metadata;
  const maxBudget: Usd | null = hasBudget(key) ? ZERO_USD : null;
  return { models: key.models, maxBudget, metadata: { ...metadata, session: true }, settings };
}
