import type { RowStore } from '../domain/row-store.ts';
import { orderedReads } from './tasks/ordered-reads.ts';

/** All rows of a store, in memory. */
export interface RowCache<Row> {
  /** The rows of the last read, the oldest first. */
  rows(): readonly Row[];
  /** Reads the rows again. An older read never replaces a newer one. */
  refresh(): Promise<void>;
}

/** `changed` is called when the result of a read replaces the rows. */
export function createRowCache<Row>(
  store: Pick<RowStore<Row, null>, 'all'>,
  changed: () => void = () => undefined,
): RowCache<Row> {
  let rows: readonly Row[] = [];
  return {
    rows: () => rows,
    refresh: orderedReads(
      () => store.all(null),
      (read) => {
        rows = read;
        changed();
      },
    ),
  };
}
