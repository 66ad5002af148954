import type { Caller } from '../src/domain/caller.ts';
import { Forbidden, Unauthenticated } from '../src/domain/errors.ts';
import type { KeyDraft } from '../src/domain/keys/key-draft.ts';
import type { VirtualKey } from '../src/domain/keys/virtual-key.ts';
import { TraceSender } from '../src/domain/lens/trace-sender.ts';
import { type Usd, ZERO_USD } from '../src/domain/money.ts';
import { idOrNull } from '../src/domain/optional-id.ts';
import type { Role } from '../src/domain/role.ts';
import { SystemCaller } from '../src/domain/system-caller.ts';
import { SignInRefused } from '../src/domain/users/sign-in.ts';
import { DEFAULT_USER_ID, emailKeyOf } from '../src/domain/users/user.ts';
import { deleteKeys, generateKey } from './keys.ts';
import { anyKey, anyone } from './operation/access.ts';
import { callerOf, operation } from './operation/operation.ts';
import type { SignInPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';

/** Lifetime of a session. */
export const SESSION_SECONDS = 24 * 3_600;
const MS = 1_000;

/** User name, and password or key. */
export interface SignIn {
  readonly username: string;
  readonly password: string;
}

/**
 * A session. Its token is a virtual key of the user, which holds only as long as the user and its role do. It has the
 * bounds of the key that was used as a password.
 */
export interface Session {
  readonly token: string;
  readonly userId: string;
  readonly role: Role;
  /** Text that pages repeat in a header beside the cookie of the session. */
  readonly csrfToken: string;
}

/**
 * Signs a user in. Administrators give the configured name with the configured password or the admin key; others their id
 * or email with one of their keys. Throws SignInRefused, SignInThrottled, and Unavailable.
 */
export const signIn = operation({
  name: 'signIn',
  access: anyone,
  async run(scope: Scope<SignInPlatform>, { username, password }: SignIn): Promise<Session> {
    const { signIns } = scope.platform;
    const attempt = { source: scope.client.network, name: username };
    signIns.throttle.admit(attempt);
    const found = await userOf(scope, { username, password });
    if (found === null) {
      signIns.throttle.failed(attempt);
      throw new SignInRefused();
    }
    signIns.throttle.succeeded(attempt);
    return openSession(scope, found);
  },
});

/** Ends the session whose token the caller sent. Throws Forbidden for a key that is no session. */
export const signOut = operation({
  name: 'signOut',
  access: anyKey,
  async run(scope: Scope<SignInPlatform>, _input: undefined): Promise<void> {
    const { key } = callerOf(scope);
    if (key?.metadata['session'] !== true) throw new Forbidden('Only a session can be signed out.');
    await deleteKeys({ ...scope, caller: new SystemCaller('sign-in') }, { keys: [key.hash], aliases: [] });
  },
});

interface Found extends Pick<Session, 'userId' | 'role'> {
  /** The key that was used as a password; null for an administrator without one. */
  readonly key: VirtualKey | null;
}

async function userOf(scope: Scope<SignInPlatform>, { username, password }: SignIn): Promise<Found | null> {
  const { signIns } = scope.platform;
  const isAdminName = username === signIns.username;
  if (isAdminName && signIns.isPassword(password)) return { userId: DEFAULT_USER_ID, role: 'proxy_admin', key: null };
  const caller = await callerOfKey(scope, password);
  if (caller === null || caller instanceof TraceSender) return null;
  const { key, role } = caller;
  if (key === null) return isAdminName ? { userId: DEFAULT_USER_ID, role, key } : null;
  const userId = idOrNull(caller.userId);
  if (userId === null) return null;
  if (username === userId) return { userId, role, key };
  const email = emailKeyOf(username);
  const user = await scope.platform.stores.users.find(userId);
  return email !== null && user?.emailKey === email ? { userId, role, key } : null;
}

async function callerOfKey({ platform }: Scope<SignInPlatform>, key: string): Promise<Caller | null> {
  try {
    return await platform.keyRing.identify(key);
  } catch (error) {
    if (error instanceof Unauthenticated) return null;
    throw error;
  }
}

/** Whether a key has a budget. The session counts on its own, so that it would have the budget once more. */
const isBudgeted = ({ maxBudget, settings }: VirtualKey): boolean =>
  maxBudget !== null || [settings.budgetId, settings.budgetLimits, settings.modelMaxBudget].some(Boolean);

/** What a session takes over from a key. It makes no calls that cost where the key has a budget. */
function boundsOf(key: VirtualKey | null): Pick<KeyDraft, 'teamId' | 'models' | 'maxBudget' | 'metadata' | 'settings'> {
  if (key === null) return { teamId: null, models: [], maxBudget: null, metadata: {} };
  const without = { keyType: null, budgetId: null, softBudget: null, autoRotate: null, rotationInterval: null };
  const settings = { ...key.settings, ...without };
  const maxBudget: Usd | null = isBudgeted(key) ? ZERO_USD : null;
  return { teamId: key.teamId, models: key.models, maxBudget, metadata: key.metadata, settings };
}

/** Seconds that a session lasts: no longer than the key. */
function secondsOf({ key }: Found, now: Date): number {
  const left = key?.expiresAt ? Math.floor((key.expiresAt.getTime() - now.getTime()) / MS) : SESSION_SECONDS;
  return Math.max(1, Math.min(SESSION_SECONDS, left));
}

async function openSession(scope: Scope<SignInPlatform>, found: Found): Promise<Session> {
  const { userId, role } = found;
  const bounds = boundsOf(found.key);
  const asSystem = { ...scope, caller: new SystemCaller('sign-in') };
  const { clearKey } = await generateKey(asSystem, {
    key: null,
    ...bounds,
    alias: null,
    role,
    userId,
    duration: `${secondsOf(found, scope.platform.clock.now())}s`,
    metadata: { ...bounds.metadata, session: true },
  });
  return { token: clearKey, userId, role, csrfToken: scope.platform.ids.uuid() };
}
