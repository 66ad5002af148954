import type { Caller } from '../domain/caller.ts';
import type { Peer } from '../domain/keys/failed-keys.ts';
import type { VirtualKey } from '../domain/keys/virtual-key.ts';

/** Recognises credentials from memory. The store is read for a key not seen before, or not read lately (ADR 0056). */
export interface KeyRing {
  /**
   * The caller behind a key: at once when memory knows it, else after one read of the store. `peer` is the connection it
   * came on, whose wrong keys are counted; absent, they are not. Throws Unauthenticated, LimitExceeded for a peer with too
   * many wrong keys, and Unavailable when the store does not answer.
   */
  identify(key: string, peer?: Peer): Caller | Promise<Caller>;
  /**
   * The caller as its key stands now: it may have been blocked, expired or changed since it was identified. As `identify`,
   * mostly at once. Throws Unauthenticated.
   */
  current(caller: Caller): Caller | Promise<Caller>;
  /** Evicts the secrets of a key that was created or changed in this process, so that the next call reads the store. */
  forget(...keys: readonly VirtualKey[]): void;
  /** Re-reads the keys used since the last refresh, a batch per statement. Never rejects. */
  refresh(): Promise<void>;
  /** Calls `listener` with the identity of each key that was forgotten or read with other rights. */
  onChange(listener: (keyHash: string) => void): void;
}
