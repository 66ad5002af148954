/** Knows the keys that lift the free tier's limit. */
export interface PaidKeys {
  /**
   * Whether this credential lifts the limit: at once when memory knows, else after a look into a store. Throws
   * Unavailable when the store does not answer; a credential that is unknown, expired or revoked is just none.
   */
  holds(credential: string): boolean | Promise<boolean>;
}
