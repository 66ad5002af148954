import { Forbidden, NotFound, Unauthenticated } from '../src/domain/errors.ts';
import { SystemCaller } from '../src/domain/system-caller.ts';
import type { SignIn } from '../src/domain/users/sign-in.ts';
import { type Session, SESSION_SECONDS } from '../src/domain/users/session.ts';
import { deleteKeys } from './keys.ts';
import { anyKey, anyone } from './operation/access.ts';
import { callerOf, operation } from './operation/operation.ts';
import type { SignInPlatform } from './operation/sign-in-platform.ts';
import type { Scope } from './operation/scope.ts';
import { checkSignIn, openSession } from './operation/sign-in-sessions.ts';

/**
 * Signs a user in. Administrators send the configured name with the configured password or the admin key. Other users
 * send their id or email with one of their keys. Throws SignInRefused, SignInThrottled, and Unavailable.
 */
export const signIn = operation({
  name: 'signIn',
  access: anyone,
  async run(scope: Scope<SignInPlatform>, input: SignIn): Promise<Session> {
    const signed = await checkSignIn(scope, input);
    return openSession(scope, signed, { seconds: SESSION_SECONDS, teamId: signed.key?.teamId ?? null });
  },
});

/**
 * The store of sign-in codes. Throws NotFound without `control_plane_url`, the address of another server whose users
 * sign in at this one.
 */
function codesOf({ platform }: Scope<SignInPlatform>) {
  const { codes } = platform.signIns;
  if (codes === null)
    throw new NotFound('sign-in', 'code', 'Sign-in by code needs `general_settings.control_plane_url`.');
  return codes;
}

/**
 * As `signIn`, but returns a code. Another server of the operator exchanges the code for the session within a minute.
 */
export const signInForCode = operation({
  name: 'signInForCode',
  access: anyone,
  async run(scope: Scope<SignInPlatform>, input: SignIn): Promise<string> {
    const codes = codesOf(scope);
    return await codes.issue(await signIn(scope, input));
  },
});

/**
 * The session of a code. Throws NotFound without `control_plane_url`, and Unauthenticated for an unknown, used or
 * expired code.
 */
export const exchangeCode = operation({
  name: 'exchangeCode',
  access: anyone,
  async run(scope: Scope<SignInPlatform>, code: string): Promise<Session> {
    const session = await codesOf(scope).take(code);
    // The fault `malformed` becomes the `error.type` `auth_error` of the answer.
    if (session === null) throw new Unauthenticated('The code is unknown, was used or has expired.', 'malformed');
    return session;
  },
});

/** Deletes the session key of the caller. Throws Forbidden for a key that is not a session. */
export const signOut = operation({
  name: 'signOut',
  access: anyKey,
  async run(scope: Scope<SignInPlatform>, _input: undefined): Promise<void> {
    const { key } = callerOf(scope);
    if (key?.metadata['session'] !== true) throw new Forbidden('Only a session can be signed out.');
    await deleteKeys({ ...scope, caller: new SystemCaller('sign-in') }, { keys: [key.hash], aliases: [] });
  },
});
