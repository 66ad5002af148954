import type { Caller } from '../caller.ts';
import type { KeyGenerator } from '../keys/virtual-key.ts';
import { nullIfBlank } from '../optional-text.ts';
import type { RowStore, Stamps } from '../row-store.ts';
import type { Role } from '../role.ts';
import { DEFAULT_USER_ID } from '../users/user.ts';

const DAY_MS = 24 * 3_600_000;
/** Time after the last renewal at which a session ends. */
const IDLE_MS = 30 * DAY_MS;
/** Time after the sign-in at which a session ends. */
const MAX_AGE_MS = 90 * DAY_MS;
/** Time in which the replaced refresh token may come again, from another process of the same client. */
const LEEWAY_MS = 10_000;
/** Maximum number of sessions of a user. A further one ends the oldest. */
export const MAX_SESSIONS_PER_USER = 50;

/**
 * A login with PKCE: a virtual key, and a refresh token that replaces both of them. Only hashes of refresh tokens are
 * stored. All refresh tokens of a session have the same first part, so that a replaced one is recognized.
 */
export interface CommandLineSession extends Stamps {
  readonly id: string;
  readonly userId: string;
  /** Role of the user at the sign-in. */
  readonly role: Role;
  /** Team of the keys; null for none. */
  readonly teamId: string | null;
  /** Whether the session ends when the user leaves the team. */
  readonly needsMembership: boolean;
  readonly clientName: string;
  /** Hash of the client id. */
  readonly clientHash: string;
  /** Credential of the sign-in (`SignedIn`). */
  readonly openedBy: string;
  /** Hash of the authorization code that opened the session. */
  readonly codeHash: string;
  /** Hash of the first part of the refresh tokens. */
  readonly familyHash: string;
  /** Hash of the current refresh token. */
  readonly secretHash: string;
  /** Hash of the refresh token before; null before the first renewal. */
  readonly previousSecretHash: string | null;
  /** Hash that identifies the current key. */
  readonly keyHash: string;
  /** The key before, which is valid until its expiry; null before the first renewal. */
  readonly previousKeyHash: string | null;
  readonly renewedAt: Date;
  /** When the refresh token expires. */
  readonly expiresAt: Date;
}

/** Filter of sessions. All conditions that are not null must match. */
export interface CommandLineSessionFilter {
  readonly userId: string | null;
  readonly familyHash: string | null;
  readonly codeHash: string | null;
  /** Sessions with this current key, or with this key before it. */
  readonly keyHash: string | null;
  /** Sessions that have expired at this time. */
  readonly expiredAt: Date | null;
  /** Sessions that have not expired at this time. */
  readonly validAt: Date | null;
}

export const ALL_SESSIONS: CommandLineSessionFilter = {
  userId: null,
  familyHash: null,
  codeHash: null,
  keyHash: null,
  expiredAt: null,
  validAt: null,
};

export type CommandLineSessionStore = RowStore<CommandLineSession, CommandLineSessionFilter>;

/** When a session that is renewed now expires. */
export const expiryOf = (createdAt: Date, now: Date): Date =>
  new Date(Math.min(now.getTime() + IDLE_MS, createdAt.getTime() + MAX_AGE_MS));

const REFRESH_TOKEN = /^(rt-[\w-]{32})\.[\w-]{32}$/;

/** A refresh token of a new family, or the next one of a family. */
export const newRefreshToken = (generator: Pick<KeyGenerator, 'token'>, family?: string): string =>
  `${family ?? `rt-${generator.token()}`}.${generator.token()}`;

/** First part of a refresh token, which all of its session have; null for any other text. */
export const familyOf = (refreshToken: string): string | null => REFRESH_TOKEN.exec(refreshToken)?.[1] ?? null;

/**
 * State of a refresh token of a session. `repeated`: it was replaced a moment ago, perhaps by another process of the
 * client. `reused`: it was replaced before, so that someone else may have it.
 */
export function refreshTokenState(
  session: CommandLineSession,
  hash: string,
  { now, generator }: { readonly now: Date; readonly generator: Pick<KeyGenerator, 'same'> },
): 'current' | 'expired' | 'repeated' | 'reused' {
  if (session.expiresAt <= now) return 'expired';
  if (generator.same(session.secretHash, hash)) return 'current';
  const isRecent = now.getTime() - session.renewedAt.getTime() <= LEEWAY_MS;
  const { previousSecretHash } = session;
  const isPrevious = previousSecretHash !== null && generator.same(previousSecretHash, hash);
  return isRecent && isPrevious ? 'repeated' : 'reused';
}

/** User whose sessions a caller may see and end; null for a key without a user. */
export const sessionUserOf = ({ userId, key }: Caller): string | null =>
  nullIfBlank(userId) ?? (key === null ? DEFAULT_USER_ID : null);
