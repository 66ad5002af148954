/** Stores rows behind the calls that made them. */
export interface RowQueue<Row> {
  /** Queues a row. Never throws. */
  keep(row: Row): void;
  /** Resolves when the rows so far can be read; at the latest after a second. */
  caughtUp(): Promise<unknown>;
}
