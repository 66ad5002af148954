import type { CommandLineLogins } from '../../src/domain/users/command-line-logins.ts';
import type { OneTimeCodes } from '../../src/domain/users/one-time-codes.ts';
import type { RateLimiter } from '../../src/domain/rate-limiter.ts';
import type { Session, SessionOpeners, StoredSignIn } from '../../src/domain/users/session.ts';
import type { SignInThrottle } from '../../src/domain/users/sign-in.ts';
import type { KeyRing } from '../../src/gateway/keys/key-ring.ts';
import type { UserPlatform } from './platform.ts';

/** Sign-in with name and password. */
export interface SignInPlatform extends UserPlatform {
  readonly keyRing: Pick<KeyRing, 'evict' | 'identify' | 'refresh'>;
  readonly signIns: {
    /** Name of the administrator. */
    readonly username: string;
    /** Whether a text is the configured password of the administrator. */
    isPassword(text: string): boolean;
    readonly throttle: SignInThrottle;
    readonly openers: SessionOpeners;
    /** Logins of command lines, how fast a network may start them, and how long their sessions last. */
    readonly logins: CommandLineLogins<StoredSignIn>;
    readonly loginRateLimiter: RateLimiter;
    readonly commandLineSeconds: number;
    /** Codes for sessions of another server; null where there is none. */
    readonly codes: OneTimeCodes<Session> | null;
  };
}
