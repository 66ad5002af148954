import type { KeyHashes } from '../../domain/cache-changes.ts';
import type { Caller } from '../../domain/caller.ts';
import type { Peer } from '../../domain/keys/failed-keys.ts';

/** An owner of keys. */
export interface KeyOwner {
  readonly kind: 'userId' | 'teamId' | 'projectId' | 'organizationId';
  readonly id: string;
}

/** Authenticates credentials from memory. The store is read for a key that is not cached or whose cache entry is old (ADR 0056). */
export interface KeyRing {
  /**
   * The caller of a key: synchronous when the key is cached, else after one read of the store. With `peer`, wrong keys are
   * counted per connection address. Throws Unauthenticated, LimitExceeded for a peer with too many wrong keys, and
   * Unavailable when the store does not answer.
   */
  identify(key: string, peer?: Peer): Caller | Promise<Caller>;
  /**
   * The caller with the current state of its key, which may have been blocked, expired or changed. Mostly synchronous.
   * Throws Unauthenticated, and Unavailable.
   */
  current(caller: Caller): Caller | Promise<Caller>;
  /** Evicts the secrets of keys that were created or changed, so that the next call reads the store. */
  evict(...keys: readonly KeyHashes[]): void;
  /** Evicts the keys of owners that were changed, so that their next calls read the store. */
  evictOwner(...owners: readonly KeyOwner[]): void;
  /** Makes every key old, so that its next call reads the store. While the store is away, keys stay usable as before. */
  distrust(): void;
  /** Re-reads the keys used since the last refresh, a batch per statement. Never rejects. */
  refresh(): Promise<void>;
  /** Calls `listener` with the hash of each key that was evicted or whose rights changed. */
  onChange(listener: (keyHash: string) => void): void;
}

/** A key ring that also takes secrets by their hash, for credentials that another part has verified. */
export interface OpeningKeyRing extends KeyRing {
  /** The caller of a secret by its hash, as `identify`. `name` names the credential in errors. */
  open(secretHash: string, name: () => string): Caller | Promise<Caller>;
}
