/** Stored totals of counters, and which records of this process they include. */
export interface StoredTotals {
  /** Position of the latest record that was passed to the recorder. It grows by one with every record. */
  position(): number;
  /** Position up to which every record is stored or dropped. */
  storedThrough(): number;
  /**
   * Reads the totals of counters; a counter without stored records has none. `through` is the position up to which they
   * include the records of this process. The totals may include later records only when a commit of the database takes
   * longer than `commitWaitMs`. Rejects when the store does not answer in time.
   */
  read(counters: readonly string[], commitWaitMs: number): Promise<TotalsRead>;
}

interface TotalsRead {
  readonly totals: ReadonlyMap<string, bigint>;
  readonly through: number;
}
