import type { SignInPlatform } from '../../resolvers/operation/sign-in-platform.ts';
import type { LoginGrant, PendingGrant } from '../domain/command-line-sessions/authorization.ts';
import { createRateLimiter } from '../domain/rate-limiter.ts';
import { createCommandLineLogins } from '../domain/users/command-line-logins.ts';
import type { PendingSignInStore } from '../domain/users/pending-sign-ins.ts';
import { createOneTimeCodes } from '../domain/users/one-time-codes.ts';
import { createSessionOpeners, type SessionOpeners } from '../domain/users/session.ts';
import {
  createMemoryFailures,
  createStoredFailures,
  type SignInFailureCounts,
} from '../domain/users/failed-sign-ins.ts';
import { createSignInThrottle, retentionSecondsOf } from '../domain/users/sign-in.ts';
import { systemClock } from '../runtime/clock.ts';
import { createSealedClients } from '../runtime/credentials/sealed-clients.ts';
import { createSealedSignIns } from '../runtime/credentials/sealed-sign-ins.ts';
import { keyGenerator, randomIds } from '../runtime/identifiers.ts';
import { createSourceLimits } from '../runtime/network/source-limits.ts';
import { secretCheck } from '../runtime/same-secret.ts';
import type { Settings } from '../runtime/settings/settings.ts';
import type { Stores } from '../persistence/stores.ts';
import type { StartContext } from './context.ts';
import { systemAuthor } from './system-scope.ts';

/** Maximum number of command-line logins that one network may start in a minute. */
const LOGIN_RATE_LIMIT = { most: 30, windowMs: 60_000, what: 'logins' };

/** Current secrets that open sessions of administrators. */
export const sessionOpeners = ({ masterKey, signIn: { username, password } }: Settings): SessionOpeners =>
  createSessionOpeners({ adminKey: masterKey.reveal(), username, password: password?.reveal() ?? null }, keyGenerator);

/**
 * Limits of the clients of logins with PKCE that one network may register in a minute. The second one applies where no
 * trusted proxies are configured: the network may be that of a proxy. A registration takes no space.
 */
const REGISTRATION_RATE_LIMIT = { most: 30, windowMs: 60_000, what: 'registrations' };
const MAX_UNPROXIED_REGISTRATIONS = 300;
/** Limit of the token requests of one network without a registered client, and of one registered client. */
const TOKEN_RATE_LIMIT = { most: 300, windowMs: 60_000, what: 'token requests' };
/** Maximum number of token requests of all registered clients of one network in a minute. One may register many. */
const MAX_NETWORK_TOKEN_REQUESTS = 3_000;
/** Maximum number of sign-ins with PKCE of one user in a minute. Each stores a code. */
const AUTHORIZATION_RATE_LIMIT = { most: 100, windowMs: 60_000, what: 'sign-ins', from: 'this user' };
/** Maximum number of renewals of one session in ten minutes. */
const RENEWAL_RATE_LIMIT = { most: 20, windowMs: 600_000, what: 'renewals', from: 'this login' };
/** Time in which a person with several teams selects one, in seconds. */
const TEAM_CHOICE_SECONDS = 600;

const storedFailures = (store: PendingSignInStore, keptSeconds: number): SignInFailureCounts =>
  createStoredFailures({ store, generator: keyGenerator, clock: systemClock, keptSeconds });

/**
 * Parts of sign-in: the credentials of the administrator, the throttle of failed sign-ins, logins of command lines,
 * one-time codes.
 */
export function composeSignIns(
  { settings }: StartContext,
  {
    pendingSignIns: pending,
    admissionLedger,
    authorship,
  }: Pick<Stores, 'pendingSignIns' | 'admissionLedger' | 'authorship'>,
): SignInPlatform['signIns'] {
  const { username, password, limits, limitsBySource } = settings.signIn;
  const store = createSealedSignIns(pending, settings.saltSecrets.current);
  return {
    username,
    isPassword: password === null ? () => false : secretCheck(password),
    throttle: createSignInThrottle(
      { ...limits, limitOf: createSourceLimits(limitsBySource), countsSources: settings.trustedProxies.length > 0 },
      // Only SQLite has no ledger. No other process uses the database then, so failures are counted in memory.
      admissionLedger === null
        ? createMemoryFailures(systemClock)
        : storedFailures(pending, retentionSecondsOf(limits)),
    ),
    openers: sessionOpeners(settings),
    logins: createCommandLineLogins({ generator: keyGenerator, ids: randomIds, clock: systemClock, store }),
    loginRateLimiter: createRateLimiter({ ...LOGIN_RATE_LIMIT, clock: systemClock }),
    codes:
      settings.signIn.controlPlaneUrl === null
        ? null
        : createOneTimeCodes({ generator: keyGenerator, clock: systemClock, store }),
    ...pkceLogins({ settings }, store),
    commandLineSeconds: settings.signIn.commandLineHours * 3_600,
    authored: (work) => authorship.by(systemAuthor('sign-in'), work),
  };
}

/** Parts of logins with PKCE. */
const pkceLogins = ({ settings }: Pick<StartContext, 'settings'>, store: PendingSignInStore) => ({
  clients: createSealedClients(settings.saltSecrets, systemClock),
  registrationRateLimiter: createRateLimiter({
    ...REGISTRATION_RATE_LIMIT,
    ...(settings.trustedProxies.length === 0 ? { most: MAX_UNPROXIED_REGISTRATIONS } : {}),
    clock: systemClock,
  }),
  tokenRateLimiter: createRateLimiter({ ...TOKEN_RATE_LIMIT, clock: systemClock }),
  clientRateLimiter: createRateLimiter({ ...TOKEN_RATE_LIMIT, from: 'this client', clock: systemClock }),
  networkRateLimiter: createRateLimiter({ ...TOKEN_RATE_LIMIT, most: MAX_NETWORK_TOKEN_REQUESTS, clock: systemClock }),
  authorizationRateLimiter: createRateLimiter({ ...AUTHORIZATION_RATE_LIMIT, clock: systemClock }),
  renewalRateLimiter: createRateLimiter({ ...RENEWAL_RATE_LIMIT, clock: systemClock }),
  grants: createOneTimeCodes<LoginGrant>({ generator: keyGenerator, clock: systemClock, store, prefix: 'grant' }),
  teamChoices: createOneTimeCodes<PendingGrant>({
    generator: keyGenerator,
    clock: systemClock,
    store,
    prefix: 'choice',
    seconds: TEAM_CHOICE_SECONDS,
  }),
  publicUrl: settings.billing.publicUrl,
});
