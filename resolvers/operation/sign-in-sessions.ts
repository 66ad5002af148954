import type { Caller } from '../../src/domain/caller.ts';
import type { KeyDraft } from '../../src/domain/keys/key-draft.ts';
import { isRefusedCredential } from '../../src/domain/keys/refused-credential.ts';
import type { VirtualKey } from '../../src/domain/keys/virtual-key.ts';
import { TraceSender } from '../../src/domain/lens/trace-sender.ts';
import { nullIfBlank } from '../../src/domain/optional-text.ts';
import { SystemCaller } from '../../src/domain/system-caller.ts';
import { SignInRefused, type SignIn } from '../../src/domain/users/sign-in.ts';
import { openedByKey, type Session, sessionBoundsOf, type SignedIn } from '../../src/domain/users/session.ts';
import { DEFAULT_USER_ID, emailKeyOf } from '../../src/domain/users/user.ts';
import { issueKey } from './key-issue.ts';
import type { SignInPlatform } from './sign-in-platform.ts';
import type { Scope } from './scope.ts';

const MS_PER_SECOND = 1_000;

/**
 * Checks a name and password. Returns the user, and in `openedBy` which credential was used, without its secret. Throws
 * SignInRefused, SignInThrottled, and Unavailable.
 */
export async function checkSignIn(scope: Scope<SignInPlatform>, { username, password }: SignIn): Promise<SignedIn> {
  const { throttle } = scope.platform.signIns;
  const attempt = { source: scope.client.network, name: username };
  await throttle.admit(attempt);
  const found = await userOf(scope, { username, password });
  if (found === null) {
    await throttle.failed(attempt);
    throw new SignInRefused();
  }
  await throttle.succeeded(attempt);
  return found;
}

async function userOf(scope: Scope<SignInPlatform>, { username, password }: SignIn): Promise<SignedIn | null> {
  const { signIns } = scope.platform;
  const isAdminName = username === signIns.username;
  const { openers } = signIns;
  if (isAdminName && signIns.isPassword(password))
    return { userId: DEFAULT_USER_ID, role: 'proxy_admin', key: null, openedBy: openers.of('password') };
  const caller = await callerOfKey(scope, password);
  if (caller === null || caller instanceof TraceSender) return null;
  const { key, role } = caller;
  if (key === null)
    return isAdminName ? { userId: DEFAULT_USER_ID, role, key, openedBy: openers.of('admin_key') } : null;
  // Signed tokens and sessions are not accepted as passwords: the new session would outlive them.
  if (key.token !== undefined || key.settings.session !== undefined) return null;
  const openedBy = openedByKey(key);
  const userId = nullIfBlank(caller.userId);
  if (userId === null) return null;
  if (username === userId) return { userId, role, key, openedBy };
  const email = emailKeyOf(username);
  const user = await scope.platform.stores.users.find(userId);
  return email !== null && user?.emailKey === email ? { userId, role, key, openedBy } : null;
}

/** The caller of a key; null for a key that is refused. */
export async function callerOfKey({ platform }: Scope<SignInPlatform>, key: string): Promise<Caller | null> {
  try {
    return await platform.keyRing.identify(key);
  } catch (error) {
    if (isRefusedCredential(error)) return null;
    throw error;
  }
}

/** Settings that a session of a key is created with. */
function boundsOf(key: VirtualKey | null): Pick<KeyDraft, 'models' | 'maxBudget' | 'metadata' | 'settings'> {
  if (key === null) return { models: [], maxBudget: null, metadata: { session: true } };
  const { settings, ...bounds } = sessionBoundsOf(key);
  // The row of a budget may be missing. Where it exists, the session has its limits when it is read.
  const { budgetId: _budgetId, ...copied } = settings;
  return { ...bounds, settings: copied };
}

/** Lifetime of a session in seconds: at least 1, at most `maxSeconds`, and no longer than the key. */
function secondsOf({ key }: SignedIn, maxSeconds: number, now: Date): number {
  if (!key?.expiresAt) return Math.max(1, maxSeconds);
  const keySeconds = Math.floor((key.expiresAt.getTime() - now.getTime()) / MS_PER_SECOND);
  return Math.max(1, Math.min(maxSeconds, keySeconds));
}

/** Creates the virtual key of a session, with a lifetime of at most `seconds`. */
export async function openSession(
  scope: Scope<SignInPlatform>,
  signed: SignedIn,
  options: {
    readonly seconds: number;
    readonly teamId: string | null;
    /** Whether the session is valid only while the user is a member of the team. */
    readonly needsMembership?: true;
  },
): Promise<Session> {
  const { userId, role, openedBy } = signed;
  const { teamId, needsMembership = false } = options;
  const bounds = boundsOf(signed.key);
  const seconds = secondsOf(signed, options.seconds, scope.platform.clock.now());
  const asSystem = { ...scope, caller: new SystemCaller('sign-in') };
  const { clearKey } = await scope.platform.signIns.authored(() =>
    issueKey(asSystem, {
      key: null,
      ...bounds,
      teamId,
      settings: { ...bounds.settings, session: { openedBy, needsMembership } },
      alias: null,
      role,
      userId,
      duration: `${seconds}s`,
    }),
  );
  return { token: clearKey, userId, role, seconds, csrfToken: scope.platform.ids.uuid() };
}
