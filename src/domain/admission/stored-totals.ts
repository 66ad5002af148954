/** Stored totals of counters, and how far they lag behind what this process has counted. */
export interface StoredTotals {
  /** Position of the latest record that was handed to the recorder. It grows by one with every record. */
  position(): number;
  /** Position up to which every record is stored, or given up. */
  storedThrough(): number;
  /**
   * Reads the totals of counters; one that nothing is stored for has none. `through` is the position up to which they
   * include the records of this process. They may include later ones only when a commit takes longer than `commitWaitMs`.
   * Rejects when the store does not answer in time.
   */
  read(counters: readonly string[], commitWaitMs: number): Promise<TotalsRead>;
}

interface TotalsRead {
  readonly totals: ReadonlyMap<string, bigint>;
  readonly through: number;
}
