/** Shares the event loop: long work asks, between two steps, whether it has to let others run. */
export interface Turns {
  /** Null while this turn of the event loop has time left; else a promise that resolves in a later turn. */
  due(): Promise<void> | null;
}
