import type { Caller } from '../domain/caller.ts';

/** Recognises credentials from memory; only a key never seen before costs a look into the store. */
export interface KeyRing {
  /**
   * The caller behind a key, at once when it is known to memory, else after one look into the store.
   * Throws Unauthenticated.
   */
  identify(key: string): Caller | Promise<Caller>;
  /**
   * Who a caller is by now: the key may have been blocked, expired or changed since it was identified. As `identify`,
   * mostly at once. Throws Unauthenticated.
   */
  current(caller: Caller): Caller | Promise<Caller>;
  /** Forgets a key, so that the next call reads it afresh. */
  forget(hash: string): void;
}
