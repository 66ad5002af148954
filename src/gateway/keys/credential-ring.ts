import type { Caller } from '../../domain/caller.ts';
import type { Clock } from '../../domain/clock.ts';
import { Unauthenticated, Unavailable } from '../../domain/errors.ts';
import { tokenIdentityOf } from '../../domain/identity/token-identity.ts';
import type { TokenRules } from '../../domain/identity/token-rules.ts';
import type { TokenVerifier } from '../../domain/identity/token-verifier.ts';
import type { VerifiedTokens } from '../../domain/identity/verified-tokens.ts';
import type { FailedKeys, Peer } from '../../domain/keys/failed-keys.ts';
import type { KeyGenerator } from '../../domain/keys/virtual-key.ts';
import type { KeyRing, HashKeyRing } from './key-ring.ts';
import { evictOldest } from '../../domain/evict-oldest.ts';
import { TraceSender } from '../../domain/lens/trace-sender.ts';
import { isExpired, TRACING_KEY_PREFIX, type TracingKey, type TracingKeyStore } from '../../domain/lens/tracing-key.ts';

/** Longer signed tokens are refused and not hashed. */
const TOKEN_LENGTH_LIMIT = 8_192;
/** Longer tracing keys are invalid and are not hashed. */
const TRACING_KEY_LENGTH_LIMIT = 512;

/** Headers that choose a team of the bearer, by id or alias. */
const TEAM_HEADERS = ['x-gateway-team-id', 'x-litellm-team-id'] as const;

/** Start of a signed token: the Base64url of a JSON object. */
const TOKEN_PREFIX = 'eyJ';
/** Three parts of Base64url, the first of which is a JSON object. */
const TOKEN = /^eyJ[\w-]*\.[\w-]+\.[\w-]*$/;

/** Age in ms up to which a cached tracing key is used without a read, even if another process has deleted the key. */
const FRESH_MS = 4_000;
/** Maximum number of tracing keys in memory. The oldest is evicted. */
const MAX_CACHED_KEYS = 10_000;

/** Verifier and rules for signed tokens of other issuers. */
export interface TokenAcceptance {
  readonly verifier: TokenVerifier;
  readonly rules: TokenRules;
}

/** A key ring that also knows signed tokens and tracing keys. */
export interface CredentialRing extends KeyRing {
  /** Evicts a tracing key that was deleted in this process. */
  evictTracingKey(tokenHash: string): void;
  /** Evicts all tracing keys. */
  evictTracingKeys(): void;
}

interface CredentialOptions {
  readonly generator: Pick<KeyGenerator, 'hash'>;
  readonly clock: Clock;
  readonly failures: FailedKeys;
}

/** Adds signed tokens and tracing keys to a ring of virtual keys. The prefix of a credential selects its kind. */
export function createCredentialRing(
  ring: HashKeyRing,
  options: CredentialOptions & {
    /** Null where no signed tokens are accepted. */
    readonly acceptance: TokenAcceptance | null;
    readonly tokens: VerifiedTokens;
    readonly tracingKeys: Pick<TracingKeyStore, 'all'>;
  },
): CredentialRing {
  const identifyToken = createTokenIdentification(ring, options);
  const tracing = createTracingKeys(options.tracingKeys, options);
  return {
    ...ring,
    identify(credential, peer) {
      if (credential.startsWith(TRACING_KEY_PREFIX)) return tracing.identify(credential, peer);
      return credential.startsWith(TOKEN_PREFIX) ? identifyToken(credential, peer) : ring.identify(credential, peer);
    },
    evictTracingKey: (tokenHash) => tracing.evict(tokenHash),
    evictTracingKeys: () => tracing.evictAll(),
  };
}

/**
 * Identifies signed tokens. The key ring handles a verified token as a key: the token, together with the chosen team,
 * is the secret of this key. The store of the ring builds the row of the key from the claims of the token. If the token
 * is mapped to a stored key, the store uses the row of that key.
 */
function createTokenIdentification(
  ring: Pick<HashKeyRing, 'identifyHash'>,
  {
    acceptance,
    tokens,
    generator,
    clock,
    failures,
  }: CredentialOptions & { readonly acceptance: TokenAcceptance | null; readonly tokens: VerifiedTokens },
): KeyRing['identify'] {
  const verifying = new Map<string, Promise<void>>();

  async function verify({ verifier, rules }: TokenAcceptance, sent: SentToken): Promise<void> {
    const { token, hash, chosenTeam, peer } = sent;
    try {
      tokens.set(hash, { identity: tokenIdentityOf(await verifier.verify(token), rules), chosenTeam });
    } catch (error) {
      if (error instanceof Unauthenticated && peer !== undefined) failures.count(peer);
      throw error;
    }
  }

  /** Verifies a token that is not in memory. Concurrent requests with one token share the verification. */
  async function verifyAndIdentify(accepting: TokenAcceptance, sent: SentToken): Promise<Caller> {
    const { hash } = sent;
    const started = verifying.get(hash) ?? verify(accepting, sent).finally(() => verifying.delete(hash));
    verifying.set(hash, started);
    await started;
    return ring.identifyHash(hash, tokenName);
  }

  return (token, peer) => {
    if (acceptance === null) throw notAccepted();
    assertToken(token);
    const chosenTeam = chosenTeamOf(peer);
    const hash = generator.hash(chosenTeam === null ? token : `${token}\n${chosenTeam}`);
    const known = tokens.use(hash);
    if (known !== undefined) {
      if (known.identity.expiresAt > clock.now()) return ring.identifyHash(hash, tokenName);
      tokens.delete(hash);
      throw new Unauthenticated('Token Expired', 'expired');
    }
    if (peer !== undefined) failures.admit(peer, { looksUp: true });
    return verifyAndIdentify(acceptance, { token, hash, chosenTeam, peer });
  };
}

interface SentToken {
  readonly token: string;
  readonly hash: string;
  readonly chosenTeam: string | null;
  readonly peer: Peer | undefined;
}

/** Name of a signed token in error messages. */
const tokenName = (): string => 'JWT';

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

/** Identifies tracing keys from memory, else from the store. Wrong tracing keys count as failed keys of their peer. */
function createTracingKeys(store: Pick<TracingKeyStore, 'all'>, { generator, clock, failures }: CredentialOptions) {
  const known = new Map<string, { readonly key: TracingKey; readonly readMs: number }>();
  /** Number of evictions. A read that began before the latest one does not fill the cache. */
  let generation = 0;

  function senderOf(key: TracingKey | undefined, peer: Peer | undefined): Caller {
    if (key !== undefined && !isExpired(key, clock.now())) return new TraceSender(key);
    if (key === undefined && peer !== undefined) failures.count(peer);
    throw new Unauthenticated(
      'The tracing key is not valid: it was deleted, has expired, or never existed.',
      'unknown',
    );
  }

  async function read(hash: string, peer: Peer | undefined): Promise<Caller> {
    const readMs = clock.monotonicMs();
    const startGeneration = generation;
    let key: TracingKey | undefined;
    try {
      [key] = await store.all({ tokenHash: hash });
    } catch (cause) {
      throw new Unavailable('Keys cannot be checked now: the key store does not answer.', undefined, { cause });
    }
    known.delete(hash);
    if (key !== undefined && startGeneration === generation) known.set(hash, { key, readMs });
    evictOldest(known, MAX_CACHED_KEYS);
    return senderOf(key, peer);
  }

  return {
    identify(token: string, peer: Peer | undefined): Caller | Promise<Caller> {
      if (token.length > TRACING_KEY_LENGTH_LIMIT) return senderOf(undefined, peer);
      const hash = generator.hash(token);
      const entry = known.get(hash);
      if (entry !== undefined && clock.monotonicMs() - entry.readMs <= FRESH_MS) return senderOf(entry.key, peer);
      if (peer !== undefined && entry === undefined) failures.admit(peer, { looksUp: true });
      return read(hash, peer);
    },
    evict(tokenHash: string): void {
      generation += 1;
      known.delete(tokenHash);
    },
    evictAll(): void {
      generation += 1;
      known.clear();
    },
  };
}
