import type { LoginGrant, PendingGrant } from '../../src/domain/command-line-sessions/authorization.ts';
import type { LoginClients } from '../../src/domain/command-line-sessions/login-client.ts';
import type { CommandLineLogins } from '../../src/domain/users/command-line-logins.ts';
import type { OneTimeCodes } from '../../src/domain/users/one-time-codes.ts';
import type { RateLimiter } from '../../src/domain/rate-limiter.ts';
import type { Session, SessionOpeners, StoredSignIn } from '../../src/domain/users/session.ts';
import type { SignInThrottle } from '../../src/domain/users/sign-in.ts';
import type { KeyRing } from '../../src/gateway/keys/key-ring.ts';
import type { UserPlatform } from './platform.ts';
import type { Stores } from './stores.ts';

/** Sign-in with name and password, in browsers and for command lines. */
export interface SignInPlatform extends UserPlatform {
  readonly stores: UserPlatform['stores'] & Pick<Stores, 'commandLineSessions'>;
  readonly keyRing: Pick<KeyRing, 'evict' | 'identify' | 'refresh'>;
  readonly signIns: {
    /** Name of the administrator. */
    readonly username: string;
    /** Whether a text is the configured password of the administrator. */
    isPassword(text: string): boolean;
    readonly throttle: SignInThrottle;
    readonly openers: SessionOpeners;
    /** Command-line logins in progress. */
    readonly logins: CommandLineLogins<StoredSignIn>;
    /** Limits how often one network may start a command-line login. */
    readonly loginRateLimiter: RateLimiter;
    /** Lifetime of the session of a command-line login, in seconds. */
    readonly commandLineSeconds: number;
    /** Clients of logins with PKCE. */
    readonly clients: LoginClients;
    /** Limits how often one network may register clients. */
    readonly registrationRateLimiter: RateLimiter;
    /** Limits how often one network may ask for tokens without a registered client. */
    readonly tokenRateLimiter: RateLimiter;
    /** Limits how often one registered client may ask for tokens, from any network. */
    readonly clientRateLimiter: RateLimiter;
    /** Limits how often all registered clients of one network may ask for tokens together. */
    readonly networkRateLimiter: RateLimiter;
    /** Limits how often one user may sign in with PKCE. */
    readonly authorizationRateLimiter: RateLimiter;
    /** Limits how often one session may be renewed. Each renewal stores a key. */
    readonly renewalRateLimiter: RateLimiter;
    /** Authorization codes of logins with PKCE. */
    readonly grants: OneTimeCodes<LoginGrant>;
    /** Sign-ins of persons who have not selected a team yet. */
    readonly teamChoices: OneTimeCodes<PendingGrant>;
    /** Configured address of the server; null: clients use the address of their request. */
    readonly publicUrl: string | null;
    /** Codes that another server exchanges for sessions; null where no other server uses this one. */
    readonly codes: OneTimeCodes<Session> | null;
    /** Runs work whose changes have the author `system: sign-in` in the audit log. */
    authored<Result>(work: () => Result): Result;
  };
}
