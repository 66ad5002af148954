import type { Caller } from '../../domain/caller.ts';
import type { Clock } from '../../domain/clock.ts';
import { Unauthenticated } from '../../domain/errors.ts';
import { identityOf } from '../../domain/identity/token-identity.ts';
import type { TokenRules } from '../../domain/identity/token-rules.ts';
import type { TokenVerifier } from '../../domain/identity/token-verifier.ts';
import type { VerifiedTokens } from '../../domain/identity/verified-tokens.ts';
import type { FailedKeys, Peer } from '../../domain/keys/failed-keys.ts';
import type { KeyGenerator } from '../../domain/keys/virtual-key.ts';
import type { KeyRing, OpeningKeyRing } from './key-ring.ts';

/** Longer tokens are refused and not hashed. */
const TOKEN_LENGTH_LIMIT = 8_192;

/** Headers that choose a team of the bearer, by id or alias. */
const TEAM_HEADERS = ['x-gateway-team-id', 'x-litellm-team-id'] as const;

/** Three parts of Base64url, the first of which is a JSON object. */
const TOKEN = /^eyJ[\w-]*\.[\w-]+\.[\w-]*$/;

/** Acceptance of signed tokens of other issuers. */
export interface TokenAcceptance {
  readonly verifier: TokenVerifier;
  readonly rules: TokenRules;
}

/**
 * Adds signed tokens to a key ring. A verified token is a key with the hash of the token as its secret; the store of the ring
 * makes its row from the claims and the rows of its owners. `acceptance` is null where no tokens are accepted.
 */
export function withTokens(
  ring: OpeningKeyRing,
  options: {
    readonly acceptance: TokenAcceptance | null;
    readonly tokens: VerifiedTokens;
    readonly generator: Pick<KeyGenerator, 'hash'>;
    readonly clock: Clock;
    readonly failures: FailedKeys;
  },
): KeyRing {
  const { acceptance, tokens, generator, clock, failures } = options;
  const verifying = new Map<string, Promise<void>>();

  async function verify({ verifier, rules }: TokenAcceptance, sent: SentToken): Promise<void> {
    const { token, hash, chosenTeam, peer } = sent;
    try {
      tokens.set(hash, { identity: identityOf(await verifier.verify(token), rules), chosenTeam });
    } catch (error) {
      if (error instanceof Unauthenticated && peer !== undefined) failures.count(peer);
      throw error;
    }
  }

  /** Verifies a token that is not in memory. Concurrent requests with one token share the work. */
  async function admit(accepting: TokenAcceptance, sent: SentToken): Promise<Caller> {
    const { hash } = sent;
    const started = verifying.get(hash) ?? verify(accepting, sent).finally(() => verifying.delete(hash));
    verifying.set(hash, started);
    await started;
    return ring.open(hash, nameOf);
  }

  return {
    ...ring,
    identify(token, peer) {
      if (!token.startsWith('eyJ')) return ring.identify(token, peer);
      if (acceptance === null) throw notAccepted();
      assertToken(token);
      const chosenTeam = chosenTeamOf(peer);
      const hash = generator.hash(chosenTeam === null ? token : `${token}\n${chosenTeam}`);
      const known = tokens.use(hash);
      if (known !== undefined) {
        if (known.identity.expiresAt > clock.now()) return ring.open(hash, nameOf);
        tokens.delete(hash);
        throw new Unauthenticated('Token Expired', 'expired');
      }
      if (peer !== undefined) failures.admit(peer, true);
      return admit(acceptance, { token, hash, chosenTeam, peer });
    },
  };
}

interface SentToken {
  readonly token: string;
  readonly hash: string;
  readonly chosenTeam: string | null;
  readonly peer: Peer | undefined;
}

const nameOf = (): string => 'JWT';

function assertToken(token: string): void {
  if (token.length > TOKEN_LENGTH_LIMIT)
    throw new Unauthenticated(
      `Validation fails: the token is longer than ${TOKEN_LENGTH_LIMIT} characters.`,
      'malformed',
    );
  if (!TOKEN.test(token)) throw new Unauthenticated('Validation fails: the token is malformed.', 'malformed');
}

const notAccepted = (): Unauthenticated =>
  new Unauthenticated(
    'Malformed API Key passed in. Keys start with `sk-`. This looks like a JWT: set `general_settings.enable_jwt_auth` to accept it.',
    'malformed',
  );

function chosenTeamOf(peer: Peer | undefined): string | null {
  for (const name of TEAM_HEADERS) {
    const value = peer?.headers[name];
    if (typeof value === 'string' && value.trim() !== '') return value.trim();
  }
  return null;
}
