/**
 * Reads that may run at the same time. `use` gets the result of each read, unless the result of a later read is in use
 * already. The returned function starts a read, and resolves when its result is used or ignored.
 */
export function orderedReads<Value>(read: () => Promise<Value>, use: (value: Value) => void): () => Promise<void> {
  let startedReads = 0;
  /** Number of the read whose result is in use. */
  let readInUse = 0;
  return async () => {
    startedReads += 1;
    const readNumber = startedReads;
    const value = await read();
    if (readNumber < readInUse) return;
    readInUse = readNumber;
    use(value);
  };
}
