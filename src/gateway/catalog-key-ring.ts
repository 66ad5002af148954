import type { PaidKeys } from '../domain/free-tier/paid-keys.ts';

/**
 * Recognises catalog keys from memory. What this process takes back it forgets at once; what another takes back is
 * believed for a minute at most.
 */
export interface CatalogKeyRing extends PaidKeys {
  /** Forgets a key, so that the next call reads it afresh. */
  forget(hash: string): void;
  /** Evicts all keys. */
  forgetAll(): void;
}
