/** Stores rows in the background, after the calls that made them. */
export interface RowQueue<Row> {
  /** Queues a row. Never throws. */
  enqueue(row: Row): void;
  /** Resolves when all rows so far can be read, or after one second. */
  caughtUp(): Promise<unknown>;
}
