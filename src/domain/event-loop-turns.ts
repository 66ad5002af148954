/** Lets long work yield to the event loop between two steps. */
export interface Turns {
  /** Null while this turn of the event loop has time left; else a promise that resolves in a later turn. */
  due(): Promise<void> | null;
}
