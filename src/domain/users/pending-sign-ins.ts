/**
 * State of a sign-in that all processes read. It is a login of a command line, a code that is exchanged for a session,
 * or a count of failed sign-ins.
 */
export interface PendingSignIn {
  readonly id: string;
  readonly kind: 'login' | 'code' | 'failures';
  /** Content, as the caller of the store wrote it. */
  readonly content: string;
  /** When it ends, Unix ms. */
  readonly untilMs: number;
}

/** Pending sign-ins of all processes of an installation. Entries that have ended are never returned. */
export interface PendingSignInStore {
  /**
   * Adds an entry. Returns false where `most` entries of its kind are open. Rejects when an entry with its id is open.
   */
  add(pending: PendingSignIn, bounds: { readonly nowMs: number; readonly most: number }): Promise<boolean>;
  /** The content, and a number that changes with it. Null for none. */
  find(id: string, nowMs: number): Promise<{ readonly content: string; readonly revision: number } | null>;
  /**
   * Replaces the content of a revision, and its end if one is given. Returns false where it was replaced or removed
   * since.
   */
  replace(id: string, revision: number, content: string, untilMs?: number): Promise<boolean>;
  /**
   * Removes an entry and returns its content; null for none. Only one of several concurrent callers gets the content.
   */
  take(id: string, nowMs: number): Promise<string | null>;
}
