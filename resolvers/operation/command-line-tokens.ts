import { isVerifier, type LoginGrant } from '../../src/domain/command-line-sessions/authorization.ts';
import {
  ALL_SESSIONS,
  type CommandLineSession,
  expiryOf,
  familyOf,
  MAX_SESSIONS_PER_USER,
  newRefreshToken,
  refreshTokenState,
} from '../../src/domain/command-line-sessions/command-line-session.ts';
import { OauthFailure } from '../../src/domain/command-line-sessions/oauth-failure.ts';
import { Forbidden } from '../../src/domain/errors.ts';
import { isRefusedCredential } from '../../src/domain/keys/refused-credential.ts';
import { acceptsSecret, keyStatusOf } from '../../src/domain/keys/virtual-key.ts';
import { nullIfBlank } from '../../src/domain/optional-text.ts';
import { newStamps } from '../../src/domain/row-store.ts';
import { SystemCaller } from '../../src/domain/system-caller.ts';
import { openingKey, type SignedIn } from '../../src/domain/users/session.ts';
import { removeKeys } from './key-removal.ts';
import { withKey } from './login-teams.ts';
import { removeOldest } from './row-pages.ts';
import type { Scope } from './scope.ts';
import type { SignInPlatform } from './sign-in-platform.ts';
import { callerOfKey, openSession } from './sign-in-sessions.ts';

type SignInScope = Scope<SignInPlatform>;

/** Maximum number of expired sessions that a new one removes. */
const EXPIRED_AT_ONCE = 100;

/** A key and the refresh token that replaces it. Both are shown once. */
export interface IssuedTokens {
  readonly token: string;
  readonly refreshToken: string;
  /** Lifetime of the key in seconds. */
  readonly seconds: number;
  readonly userId: string;
  readonly teamId: string | null;
}

const asSystem = (scope: SignInScope): SignInScope => ({ ...scope, caller: new SystemCaller('sign-in') });

const refusedGrant = (message: string): OauthFailure => new OauthFailure('invalid_grant', message);
const UNKNOWN_CODE = 'The code is unknown, was used or has expired.';
const UNKNOWN_TOKEN = 'The refresh token is unknown, was revoked or has expired.';
const ENDED = 'The sign-in is no longer valid. Sign in again.';

const keysOf = (sessions: readonly CommandLineSession[]): readonly string[] =>
  sessions.flatMap(({ keyHash, previousKeyHash }) => [keyHash, ...(previousKeyHash === null ? [] : [previousKeyHash])]);

/**
 * Ends sessions with their keys. Returns those that existed. The keys are deleted first: a session without its key
 * cannot be renewed, so that a failure in between leaves nothing that can be used.
 */
export async function endSessions(
  scope: SignInScope,
  sessions: readonly CommandLineSession[],
): Promise<readonly CommandLineSession[]> {
  if (sessions.length === 0) return [];
  const ender = scope.caller === null ? asSystem(scope) : scope;
  const known = keysOf(sessions);
  await removeKeys(ender, known);
  const removed = await scope.platform.stores.commandLineSessions.remove(sessions.map(({ id }) => id));
  // A concurrent renewal may have replaced the keys.
  await removeKeys(
    ender,
    keysOf(removed).filter((hash) => !known.includes(hash)),
  );
  return removed;
}

/** As `endSessions`, in the name of the process. */
const endAsSystem = (scope: SignInScope, sessions: readonly CommandLineSession[]) =>
  scope.platform.signIns.authored(() => endSessions(asSystem(scope), sessions));

interface NewKey {
  readonly token: string;
  readonly hash: string;
  readonly seconds: number;
}

const removeKey = (scope: SignInScope, hash: string) =>
  scope.platform.signIns.authored(() => removeKeys(asSystem(scope), [hash]));

/** Creates the key of a session. Throws OauthFailure when the user, its role, team or credential is no longer valid. */
async function openKey(
  scope: SignInScope,
  signed: SignedIn,
  { teamId, needsMembership }: Pick<LoginGrant, 'teamId' | 'needsMembership'>,
): Promise<NewKey> {
  const { signIns, keyGenerator, keyRing } = scope.platform;
  const { token, seconds } = await openSession(scope, signed, {
    seconds: signIns.commandLineSeconds,
    teamId,
    ...(needsMembership ? { needsMembership } : {}),
  });
  const hash = keyGenerator.hash(token);
  try {
    await keyRing.identify(token);
    return { token, hash, seconds };
  } catch (error) {
    await removeKey(scope, hash);
    throw isRefusedCredential(error) ? refusedGrant(ENDED) : error;
  }
}

/** The sign-in of a grant with its current key. Throws OauthFailure when the key was deleted or rotated. */
async function signedInOf(scope: SignInScope, { signed }: LoginGrant): Promise<SignedIn> {
  try {
    return await withKey(scope, signed);
  } catch (error) {
    throw error instanceof Forbidden ? refusedGrant(ENDED) : error;
  }
}

/** A valid token of a session: a key, or the current refresh token. */
export interface LoginToken {
  readonly kind: 'access_token' | 'refresh_token';
  readonly session: CommandLineSession;
  readonly expiresAt: Date | null;
}

/** The valid token of a session; null for any other text. */
export async function findLoginToken(scope: SignInScope, token: string): Promise<LoginToken | null> {
  const { stores, keyGenerator, clock } = scope.platform;
  const [now, hash] = [clock.now(), keyGenerator.hash(token)];
  const refreshed = await sessionOfToken(scope, token);
  if (refreshed !== null) {
    const isCurrent = refreshTokenState(refreshed, hash, { now, generator: keyGenerator }) === 'current';
    return isCurrent ? { kind: 'refresh_token', session: refreshed, expiresAt: refreshed.expiresAt } : null;
  }
  const key = await stores.keys.find(hash);
  const isActive = key !== null && acceptsSecret(key, hash, now) && keyStatusOf(key, now) === 'active';
  const session = isActive ? await sessionOfKey(scope, token) : null;
  // A call may be refused for a reason outside of the row of the key, such as a blocked team.
  if (session === null || (await callerOfKey(scope, token)) === null) return null;
  return { kind: 'access_token', session, expiresAt: key?.expiresAt ?? null };
}

/** Parameters of a token request with an authorization code. */
export interface CodeExchange {
  readonly clientId: string;
  readonly code: string;
  readonly redirectUri: string;
  readonly verifier: string;
}

/**
 * Exchanges an authorization code for tokens, once. A code that was used ends the session that it opened (RFC 6749,
 * section 4.1.2). Throws OauthFailure.
 */
export async function exchangeGrant(scope: SignInScope, exchange: CodeExchange): Promise<IssuedTokens> {
  const { stores, signIns, keyGenerator, clock, ids } = scope.platform;
  const { hash } = keyGenerator;
  const { code, clientId, redirectUri, verifier } = exchange;
  const grant = await signIns.grants.take(code);
  const codeHash = hash(code);
  if (grant === null) {
    await endAsSystem(scope, await stores.commandLineSessions.all({ ...ALL_SESSIONS, codeHash }));
    throw refusedGrant(UNKNOWN_CODE);
  }
  if (!keyGenerator.same(hash(clientId), grant.clientHash)) throw refusedGrant('The code is of another client.');
  if (redirectUri !== grant.redirectUri)
    throw refusedGrant('redirect_uri is not the one of the authorization request.');
  if (!isVerifier(verifier, grant.codeChallenge, keyGenerator))
    throw refusedGrant('code_verifier does not match the code_challenge.');
  const { signed, teamId, needsMembership, clientName, clientHash } = grant;
  const { userId, role, openedBy } = signed;
  const key = await openKey(scope, await signedInOf(scope, grant), grant);
  const refreshToken = newRefreshToken(keyGenerator);
  const now = clock.now();
  const session: CommandLineSession = {
    id: ids.uuid(),
    userId,
    role,
    teamId,
    needsMembership,
    clientName,
    clientHash,
    openedBy,
    codeHash,
    familyHash: hash(familyOf(refreshToken) ?? ''),
    secretHash: hash(refreshToken),
    previousSecretHash: null,
    keyHash: key.hash,
    previousKeyHash: null,
    renewedAt: now,
    expiresAt: expiryOf(now, now),
    ...newStamps({ now, by: userId }),
  };
  try {
    await addSession(scope, session);
  } catch (error) {
    await removeKey(scope, key.hash);
    throw error;
  }
  return { token: key.token, refreshToken, seconds: key.seconds, userId, teamId };
}

/** Stores a session, removes expired ones, and ends the oldest of the user beyond the limit. */
async function addSession(scope: SignInScope, session: CommandLineSession): Promise<void> {
  const { stores, signIns } = scope.platform;
  const { commandLineSessions } = stores;
  await signIns.authored(async () => {
    await commandLineSessions.add(session);
    await removeOldest(commandLineSessions, { ...ALL_SESSIONS, expiredAt: session.createdAt }, EXPIRED_AT_ONCE);
  });
  const ofUser = await commandLineSessions.all({ ...ALL_SESSIONS, userId: session.userId });
  await endAsSystem(scope, ofUser.slice(0, -MAX_SESSIONS_PER_USER));
}

/** The session of a refresh token; null for an unknown one. */
export async function sessionOfToken(
  { platform: { stores, keyGenerator } }: SignInScope,
  refreshToken: string,
): Promise<CommandLineSession | null> {
  const family = familyOf(refreshToken);
  if (family === null) return null;
  const [session] = await stores.commandLineSessions.all({
    ...ALL_SESSIONS,
    familyHash: keyGenerator.hash(family),
  });
  return session ?? null;
}

/** The session of its current key, or of the key before; null for any other key. */
export async function sessionOfKey(scope: SignInScope, token: string): Promise<CommandLineSession | null> {
  const { stores, keyGenerator } = scope.platform;
  const key = await stores.keys.find(keyGenerator.hash(token));
  if (key === null) return null;
  const [session] = await stores.commandLineSessions.all({ ...ALL_SESSIONS, keyHash: key.hash });
  return session ?? null;
}

/** Parameters of a token request with a refresh token. */
export interface Renewal {
  readonly clientId: string;
  readonly refreshToken: string;
}

/**
 * Replaces the refresh token and the key of a session. A refresh token that was replaced before ends the session (RFC
 * 9700, section 4.14). Throws OauthFailure and LimitExceeded.
 */
export async function renewSession(scope: SignInScope, { clientId, refreshToken }: Renewal): Promise<IssuedTokens> {
  const { stores, signIns, keyGenerator, clock } = scope.platform;
  const session = await sessionOfToken(scope, refreshToken);
  if (session === null) throw refusedGrant(UNKNOWN_TOKEN);
  if (!keyGenerator.same(keyGenerator.hash(clientId), session.clientHash))
    throw refusedGrant('The refresh token is of another client.');
  await assertCurrent(scope, session, refreshToken);
  signIns.renewalRateLimiter.count(session.id);
  const signed = await signedInNow(scope, session);
  const key = signed === null ? null : await openKeyOrEnd(scope, signed, session);
  if (key === null) {
    await endAsSystem(scope, [session]);
    throw refusedGrant(ENDED);
  }
  const next = newRefreshToken(keyGenerator, familyOf(refreshToken) ?? '');
  const now = clock.now();
  const replaced = await signIns
    .authored(() =>
      stores.commandLineSessions.change(session.id, (row) => {
        if (!keyGenerator.same(row.secretHash, session.secretHash))
          throw refusedGrant('Another request renews the refresh token.');
        return {
          ...row,
          secretHash: keyGenerator.hash(next),
          previousSecretHash: row.secretHash,
          keyHash: key.hash,
          previousKeyHash: row.keyHash,
          renewedAt: now,
          expiresAt: expiryOf(row.createdAt, now),
          updatedAt: now,
          updatedBy: row.userId,
        };
      }),
    )
    .catch(async (error: unknown) => {
      await removeKey(scope, key.hash);
      throw error;
    });
  if (replaced === null) {
    await removeKey(scope, key.hash);
    throw refusedGrant(UNKNOWN_TOKEN);
  }
  const { previousKeyHash, userId, teamId } = replaced.before;
  // The key before stays valid until its expiry, because programs may still use it.
  if (previousKeyHash !== null) await removeKey(scope, previousKeyHash);
  return { token: key.token, refreshToken: next, seconds: key.seconds, userId, teamId };
}

/** Throws OauthFailure unless the refresh token is the current one. Ends the session of an expired or reused one. */
async function assertCurrent(scope: SignInScope, session: CommandLineSession, refreshToken: string): Promise<void> {
  const { keyGenerator, clock } = scope.platform;
  const state = refreshTokenState(session, keyGenerator.hash(refreshToken), {
    now: clock.now(),
    generator: keyGenerator,
  });
  if (state === 'current') return;
  if (state === 'repeated') throw refusedGrant('The refresh token was replaced a moment ago.');
  await endAsSystem(scope, [session]);
  throw refusedGrant(
    state === 'expired' ? UNKNOWN_TOKEN : 'The refresh token was used before. The session has ended: sign in again.',
  );
}

/** The credential of the sign-in, if it and the last key of the session are still valid; else null. */
async function signedInNow(
  scope: SignInScope,
  { keyHash, openedBy, userId, role, teamId, needsMembership }: CommandLineSession,
): Promise<SignedIn | null> {
  const { stores, signIns, clock } = scope.platform;
  const now = clock.now();
  const [last] = await stores.keys.findMany([keyHash]);
  // A deleted or blocked key of the session ends it. An expired one is what a renewal replaces.
  if (last === undefined || last.deletedAt !== null || last.blocked) return null;
  const opener = openingKey({ openedBy, needsMembership: false });
  if (opener === null) return signIns.openers.holds(openedBy) ? { userId, role, key: null, openedBy } : null;
  const key = await stores.keys.find(opener.secretHash);
  const isValid =
    key !== null &&
    key.hash === opener.hash &&
    acceptsSecret(key, opener.secretHash, now) &&
    keyStatusOf(key, now) === 'active';
  if (!isValid) return null;
  // A key of a team opens sessions of that team only, also after the key was moved.
  const teamOfKey = nullIfBlank(key.teamId);
  const hasTeam = teamOfKey === nullIfBlank(teamId) || (teamOfKey === null && needsMembership);
  return hasTeam ? { userId, role, key, openedBy } : null;
}

/** The next key of a session; null when its user may no longer have one. */
async function openKeyOrEnd(
  scope: SignInScope,
  signed: SignedIn,
  { teamId, needsMembership }: CommandLineSession,
): Promise<NewKey | null> {
  try {
    return await openKey(scope, signed, { teamId: nullIfBlank(teamId), needsMembership });
  } catch (error) {
    if (error instanceof OauthFailure) return null;
    throw error;
  }
}
