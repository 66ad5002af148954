import type { Caller } from '../src/domain/caller.ts';
import { Unauthenticated } from '../src/domain/errors.ts';
import { idOrNull } from '../src/domain/optional-id.ts';
import type { Role } from '../src/domain/role.ts';
import { SystemCaller } from '../src/domain/system-caller.ts';
import { SignInRefused } from '../src/domain/users/sign-in.ts';
import { DEFAULT_USER_ID, emailKeyOf } from '../src/domain/users/user.ts';
import { generateKey } from './keys.ts';
import { anyone } from './operation/access.ts';
import { operation } from './operation/operation.ts';
import type { SignInPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';

/** Lifetime of a session. */
const SESSION_HOURS = 24;
export const SESSION_SECONDS = SESSION_HOURS * 3_600;

/** What was typed in: a name, and a password or a key. */
export interface SignIn {
  readonly username: string;
  readonly password: string;
}

/** A session. Its token is a virtual key of the user, which holds only as long as the user and its role do. */
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
    const attempt = { source: scope.client.address, name: username };
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

type Found = Pick<Session, 'userId' | 'role'>;

async function userOf(scope: Scope<SignInPlatform>, { username, password }: SignIn): Promise<Found | null> {
  const { signIns } = scope.platform;
  const isAdminName = username === signIns.username;
  if (isAdminName && signIns.isPassword(password)) return { userId: DEFAULT_USER_ID, role: 'proxy_admin' };
  const caller = await callerOfKey(scope, password);
  if (caller === null) return null;
  if (caller.key === null) return isAdminName ? { userId: DEFAULT_USER_ID, role: caller.role } : null;
  const userId = idOrNull(caller.userId);
  if (userId === null) return null;
  if (username === userId) return { userId, role: caller.role };
  const email = emailKeyOf(username);
  const user = await scope.platform.stores.users.find(userId);
  return email !== null && user?.emailKey === email ? { userId, role: caller.role } : null;
}

async function callerOfKey({ platform }: Scope<SignInPlatform>, key: string): Promise<Caller | null> {
  try {
    return await platform.keyRing.identify(key);
  } catch (error) {
    if (error instanceof Unauthenticated) return null;
    throw error;
  }
}

async function openSession(scope: Scope<SignInPlatform>, { userId, role }: Found): Promise<Session> {
  const asSystem = { ...scope, caller: new SystemCaller('sign-in') };
  const { clearKey } = await generateKey(asSystem, {
    key: null,
    alias: null,
    role,
    teamId: null,
    userId,
    models: [],
    maxBudget: null,
    duration: `${SESSION_HOURS}h`,
    metadata: { session: true },
  });
  return { token: clearKey, userId, role, csrfToken: scope.platform.ids.uuid() };
}
