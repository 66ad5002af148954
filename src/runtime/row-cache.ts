import type { RowStore } from '../domain/row-store.ts';

/** All rows of a store, in memory. */
export interface RowCache<Row> {
  /** The rows of the last read, the oldest first. */
  rows(): readonly Row[];
  /** Reads the rows again. An older read never replaces a newer one. */
  refresh(): Promise<void>;
}

/** `changed` is called after each read whose rows are in use. */
export function createRowCache<Row>(
  store: Pick<RowStore<Row, null>, 'all'>,
  changed: () => void = () => undefined,
): RowCache<Row> {
  let rows: readonly Row[] = [];
  /** Number of reads that were started. */
  let startedReads = 0;
  /** Number of the read whose rows are in use. */
  let readInUse = 0;
  return {
    rows: () => rows,
    async refresh() {
      startedReads += 1;
      const readNumber = startedReads;
      const read = await store.all(null);
      if (readNumber < readInUse) return;
      readInUse = readNumber;
      rows = read;
      changed();
    },
  };
}
