import type { PaidKeys } from '../../domain/free-tier/paid-keys.ts';
import type { Clock } from '../../domain/clock.ts';
import { Unavailable } from '../../domain/errors.ts';
import { evictOldest } from '../../domain/evict-oldest.ts';
import { CATALOG_KEY_PREFIX, type CheckoutStore, isEntitled } from '../../domain/checkout/checkout.ts';
import type { KeyGenerator } from '../../domain/keys/virtual-key.ts';

/**
 * Validates catalog keys from memory. A key that this process revokes is evicted immediately; one that another process
 * revokes stays cached for at most a minute.
 */
export interface CatalogKeyRing extends PaidKeys {
  /** Evicts a key, so that the next call reads it from the store. */
  evict(hash: string): void;
  /** Evicts all keys. */
  evictAll(): void;
}

/** Age up to which a valid key is accepted from memory, in ms. */
const CACHED_MS = 60_000;
/** Age from which a valid key is read again in the background, in ms. */
const STALE_MS = 30_000;
/** Time for which an invalid key is refused from memory, in ms. Short, because a payment makes it valid. */
const REFUSED_MS = 5_000;
/** Maximum numbers of valid and of invalid keys in memory. The oldest is evicted. */
const CACHED_LIMIT = 100_000;
const REFUSED_LIMIT = 10_000;
/** Longer credentials are invalid and are not hashed. */
const KEY_LENGTH_LIMIT = 128;

/** Creates a key ring for the catalog keys that checkouts have sold. */
export function createCatalogKeyRing(options: {
  readonly store: Pick<CheckoutStore, 'findByKey'>;
  readonly generator: KeyGenerator;
  readonly clock: Clock;
}): CatalogKeyRing {
  const { store, generator, clock } = options;
  /** Times of the reads that found a key valid or invalid, by key hash. */
  const valid = new Map<string, number>();
  const refused = new Map<string, number>();
  /** Running reads, by key hash. */
  const reading = new Map<string, Promise<boolean>>();

  function read(hash: string): Promise<boolean> {
    const running = reading.get(hash);
    if (running) return running;
    const readMs = clock.monotonicMs();
    const started = store
      .findByKey(hash)
      .then((checkout) => {
        const isValid = checkout !== null && isEntitled(checkout);
        // After `evict` this read may be stale: do not cache it.
        if (reading.get(hash) === started) cacheResult(hash, isValid, readMs);
        return isValid;
      })
      .catch((cause: unknown) => {
        throw new Unavailable('Keys cannot be checked now: the key store does not answer.', undefined, { cause });
      })
      .finally(() => {
        if (reading.get(hash) === started) reading.delete(hash);
      });
    reading.set(hash, started);
    return started;
  }

  function cacheResult(hash: string, isValid: boolean, readMs: number): void {
    valid.delete(hash);
    refused.delete(hash);
    if (isValid) cacheHash(valid, hash, readMs, CACHED_LIMIT);
    else cacheHash(refused, hash, readMs, REFUSED_LIMIT);
  }

  return {
    holds(credential) {
      if (!credential.startsWith(CATALOG_KEY_PREFIX) || credential.length > KEY_LENGTH_LIMIT) return false;
      const hash = generator.hash(credential);
      const nowMs = clock.monotonicMs();
      const ageMs = nowMs - (valid.get(hash) ?? -Infinity);
      if (ageMs < CACHED_MS) {
        if (ageMs > STALE_MS) read(hash).catch(() => {});
        return true;
      }
      if (nowMs - (refused.get(hash) ?? -Infinity) < REFUSED_MS) return false;
      return read(hash);
    },
    evict(hash) {
      valid.delete(hash);
      refused.delete(hash);
      reading.delete(hash);
    },
    evictAll() {
      valid.clear();
      refused.clear();
      reading.clear();
    },
  };
}

function cacheHash(map: Map<string, number>, hash: string, readMs: number, limit: number): void {
  map.set(hash, readMs);
  evictOldest(map, limit);
}
