import type { CatalogEntry } from './catalog.ts';
import { contextWindowOf } from './narrow-entries.ts';
import { startingPricesOf } from './tariffs.ts';

/** Sort keys of entries. */
export type EntryOrder = 'catalog' | 'id' | 'input_price' | 'output_price' | 'context_window';

export interface EntrySort {
  readonly by: EntryOrder;
  readonly direction: 'ascending' | 'descending';
}

type Key = string | number | bigint;

const KEYS: Readonly<Record<Exclude<EntryOrder, 'catalog'>, (entry: CatalogEntry) => Key | null>> = {
  id: ({ id }) => id,
  input_price: (entry) => startingPricesOf(entry).input,
  output_price: (entry) => startingPricesOf(entry).output,
  context_window: contextWindowOf,
};

/** The entries in this order. Null values sort last in both directions; equal values keep the order of the catalog. */
export function sortEntries(entries: readonly CatalogEntry[], { by, direction }: EntrySort): readonly CatalogEntry[] {
  if (by === 'catalog') return direction === 'ascending' ? entries : entries.toReversed();
  const keyOf = KEYS[by];
  const sign = direction === 'ascending' ? 1 : -1;
  return entries
    .map((entry) => ({ entry, key: keyOf(entry) }))
    .toSorted(({ key: left }, { key: right }) => {
      if (left === null || right === null) return Number(left === null) - Number(right === null);
      if (left === right) return 0;
      return left < right ? -sign : sign;
    })
    .map(({ entry }) => entry);
}
