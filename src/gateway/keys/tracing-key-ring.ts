import type { Caller } from '../../domain/caller.ts';
import type { Clock } from '../../domain/clock.ts';
import { Unauthenticated, Unavailable } from '../../domain/errors.ts';
import { evictOldest } from '../../domain/evict-oldest.ts';
import type { FailedKeys, Peer } from '../../domain/keys/failed-keys.ts';
import type { KeyGenerator } from '../../domain/keys/virtual-key.ts';
import { TraceSender } from '../../domain/lens/trace-sender.ts';
import { isExpired, TRACING_KEY_PREFIX, type TracingKey, type TracingKeyStore } from '../../domain/lens/tracing-key.ts';
import type { KeyRing } from './key-ring.ts';

/** Age up to which a cached key is used without a read. A key that another process deletes is refused after this time. */
const FRESH_MS = 4_000;
const MOST_KNOWN = 10_000;
/** Longer tokens are invalid and are not hashed. */
const TOKEN_LENGTH_LIMIT = 512;

/** A key ring that also knows tracing keys. */
export interface TracingKeyRing extends KeyRing {
  /** Evicts a tracing key that was deleted in this process. */
  evictTracingKey(tokenHash: string): void;
  /** Evicts all tracing keys. */
  evictTracingKeys(): void;
}

/** Adds tracing keys to a key ring. Wrong ones count like wrong virtual keys. */
export function withTracingKeys(
  ring: KeyRing,
  options: {
    readonly store: Pick<TracingKeyStore, 'all'>;
    readonly generator: Pick<KeyGenerator, 'hash'>;
    readonly clock: Clock;
    readonly failures: FailedKeys;
  },
): TracingKeyRing {
  const { store, generator, clock, failures } = options;
  const known = new Map<string, { readonly key: TracingKey; readonly readMs: number }>();

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
    let key: TracingKey | undefined;
    try {
      [key] = await store.all({ tokenHash: hash });
    } catch (cause) {
      throw new Unavailable('Keys cannot be checked now: the key store does not answer.', undefined, { cause });
    }
    known.delete(hash);
    if (key !== undefined) known.set(hash, { key, readMs });
    evictOldest(known, MOST_KNOWN);
    return senderOf(key, peer);
  }

  return {
    ...ring,
    identify(token, peer) {
      if (!token.startsWith(TRACING_KEY_PREFIX)) return ring.identify(token, peer);
      if (token.length > TOKEN_LENGTH_LIMIT) return senderOf(undefined, peer);
      const hash = generator.hash(token);
      const entry = known.get(hash);
      if (entry !== undefined && clock.monotonicMs() - entry.readMs <= FRESH_MS) return senderOf(entry.key, peer);
      if (peer !== undefined && entry === undefined) failures.admit(peer, true);
      return read(hash, peer);
    },
    evictTracingKey(tokenHash) {
      known.delete(tokenHash);
    },
    evictTracingKeys() {
      known.clear();
    },
  };
}
