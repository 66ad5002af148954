import type { PaidKeys } from '../../domain/free-tier/paid-keys.ts';

/**
 * Validates catalog keys from memory. A key that this process revokes is evicted at once; one that another process
 * revokes stays cached for at most a minute.
 */
export interface CatalogKeyRing extends PaidKeys {
  /** Evicts a key, so that the next call reads it from the store. */
  evict(hash: string): void;
  /** Evicts all keys. */
  evictAll(): void;
}
