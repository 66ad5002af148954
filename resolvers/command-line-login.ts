import { nullIfBlank } from '../src/domain/optional-text.ts';
import type { StartedLogin } from '../src/domain/users/command-line-logins.ts';
import type { SignIn } from '../src/domain/users/sign-in.ts';
import { anyone } from './operation/access.ts';
import { chosenTeam, type NamedTeam, teamsOf, withKey } from './operation/login-teams.ts';
import { operation } from './operation/operation.ts';
import type { SignInPlatform } from './operation/sign-in-platform.ts';
import type { Scope } from './operation/scope.ts';
import { openSession, checkSignIn } from './operation/sign-in-sessions.ts';

/** Starts a login of a command line. A person completes the login in a browser. Throws LimitExceeded. */
export const startLogin = operation({
  name: 'startLogin',
  access: anyone,
  run(scope: Scope<SignInPlatform>, _input: undefined): Promise<StartedLogin> {
    const { loginRateLimiter, logins } = scope.platform.signIns;
    loginRateLimiter.count(scope.client.network);
    return logins.start();
  },
});

/** Name and password of a person, and the code that the command line shows. */
interface LoginForm extends SignIn {
  readonly loginId: string;
  readonly userCode: string;
}

/** Completes a login. Throws InvalidInput for an unknown login and a wrong code, and what `signIn` throws. */
export const completeLogin = operation({
  name: 'completeLogin',
  access: anyone,
  async run(scope: Scope<SignInPlatform>, { loginId, userCode, ...signIn }: LoginForm): Promise<void> {
    const { logins } = scope.platform.signIns;
    await logins.assertOpen(loginId);
    const { userId, role, openedBy, key } = await checkSignIn(scope, signIn);
    await logins.complete(loginId, userCode, { userId, role, openedBy, secretHash: key?.secretHash ?? null });
  },
});

/** State of a login. With `choose`, the person must select one of the teams. The session (`token`) is returned once. */
export type LoginState =
  | { readonly status: 'pending' }
  | { readonly status: 'choose'; readonly userId: string; readonly teams: readonly NamedTeam[] }
  | {
      readonly status: 'ready';
      readonly token: string;
      readonly userId: string;
      readonly teamId: string | null;
      readonly teams: readonly NamedTeam[];
    };

interface Poll {
  readonly loginId: string;
  readonly pollSecret: string;
  /**
   * Team of the session. `skip` selects the first team. Null selects the only team; with several, the answer lists
   * them.
   */
  readonly teamId: string | null;
}

/**
 * The state of a login, for the command line that started it. Throws InvalidInput for an unknown login. Throws
 * Forbidden for a wrong secret, and for a team of which the user is not a member. Also throws Forbidden when the key of
 * the sign-in was deleted or rotated.
 */
export const collectLogin = operation({
  name: 'collectLogin',
  access: anyone,
  async run(scope: Scope<SignInPlatform>, { loginId, pollSecret, teamId }: Poll): Promise<LoginState> {
    const { logins, commandLineSeconds } = scope.platform.signIns;
    const stored = await logins.read(loginId, pollSecret);
    if (stored === null) return { status: 'pending' };
    const signed = await withKey(scope, stored);
    const { userId } = signed;
    const teams = await teamsOf(scope, signed);
    if (teamId === null && teams.length > 1) return { status: 'choose', userId, teams };
    const team = chosenTeam(teams, teamId);
    // A concurrent poll may have collected the session.
    if (!(await logins.take(loginId))) return { status: 'pending' };
    const { token } = await openSession(scope, signed, {
      seconds: commandLineSeconds,
      teamId: team?.id ?? nullIfBlank(signed.key?.teamId),
      // The session of a team ends with the membership of the user.
      ...(team === null ? {} : { needsMembership: true }),
    });
    return { status: 'ready', token, userId, teamId: team?.id ?? null, teams };
  },
});
