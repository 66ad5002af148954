/** Query for one page of a list of rows. Rows with an equal sort value are ordered by id, in the same direction. */
export interface RowPage<Filter, Sort extends string> {
  readonly filter: Filter;
  readonly sort: Sort;
  readonly descending: boolean;
  readonly limit: number;
  /** Rows to skip, or the place after which the page begins. */
  readonly from: number | RowPlace;
}

/** Place of a row in a list: its creation time with the sort `created_at`, else the text that the row is ordered by. */
export type RowPlace =
  | { readonly createdAt: Date; readonly id: string }
  | { readonly text: string; readonly id: string };

/** A row before and after a change. */
export interface ChangedRow<Row> {
  readonly before: Row;
  readonly after: Row;
}

/** Persistent rows of one kind, by id. */
export interface RowStore<Row, Filter, Sort extends string = 'created_at'> {
  /** Stores new rows in one transaction. Throws Conflict when an id or another unique value is taken. */
  add(...rows: readonly Row[]): Promise<void>;
  find(id: string): Promise<Row | null>;
  /** The rows of these ids that exist, in no particular order. */
  findMany(ids: readonly string[]): Promise<readonly Row[]>;
  /** All rows that match, the oldest first. */
  all(filter: Filter): Promise<readonly Row[]>;
  list(page: RowPage<Filter, Sort>): Promise<readonly Row[]>;
  count(filter: Filter): Promise<number>;
  /**
   * Changes a row in one transaction: `change` gets the stored row and returns the new one. It is called again after a
   * concurrent change. Returns null when no such row exists. Throws Conflict when a unique value is taken, and whatever
   * `change` throws. Throws Unavailable when every attempt conflicts with another change.
   */
  change(id: string, change: (row: Row) => Row): Promise<ChangedRow<Row> | null>;
  /** Removes rows in one transaction. Returns those that existed. */
  remove(ids: readonly string[]): Promise<readonly Row[]>;
}

/** The same store. It calls `changed` after each `add`, `change` and `remove` that did not fail. */
export function withChangeListener<Row, Filter, Sort extends string>(
  store: RowStore<Row, Filter, Sort>,
  changed: (how: 'added' | 'changed' | 'removed') => void,
): RowStore<Row, Filter, Sort> {
  return {
    ...store,
    async add(...rows) {
      await store.add(...rows);
      changed('added');
    },
    async change(id, change) {
      const result = await store.change(id, change);
      changed('changed');
      return result;
    },
    async remove(ids) {
      const removed = await store.remove(ids);
      changed('removed');
      return removed;
    },
  };
}

/** Author and times of a row. */
export interface Stamps {
  readonly createdAt: Date;
  readonly createdBy: string;
  readonly updatedAt: Date;
  readonly updatedBy: string;
}

/** Time and author of a change. */
export interface Authored {
  readonly now: Date;
  /** Id of the user, else the hash of the key, that makes the change. For the process itself, the name of a task. */
  readonly by: string;
}

export const newStamps = ({ now, by }: Authored): Stamps => ({
  createdAt: now,
  createdBy: by,
  updatedAt: now,
  updatedBy: by,
});
