/** Keys that remove the free tier's limit. */
export interface PaidKeys {
  /**
   * Whether this credential removes the limit. Synchronous when cached, else after a store query. Throws Unavailable
   * when the store does not answer; false for an unknown, expired or revoked credential.
   */
  holds(credential: string): boolean | Promise<boolean>;
}
