/** Lets long work yield to the event loop between two steps. */
export interface Turns {
  /** Null: continue, this turn of the event loop has time left. Else a promise to wait for, which resolves in a later turn. */
  due(): Promise<void> | null;
}
