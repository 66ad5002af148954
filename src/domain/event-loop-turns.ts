/** Lets long work yield to the event loop between two steps. */
export interface Turns {
  /**
   * Null: go on, because this turn of the event loop has time left. A promise: wait for it before the next step. It
   * resolves in a later turn.
   */
  due(): Promise<void> | null;
}
