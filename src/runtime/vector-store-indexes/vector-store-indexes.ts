import type {
  VectorStoreIndex,
  VectorStoreIndexes,
  VectorStoreIndexStore,
} from '../../domain/vector-store-indexes/vector-store-index.ts';
import { orderedReads } from '../tasks/ordered-reads.ts';

/** Indexes of vector stores in memory over their rows. */
export function createVectorStoreIndexes(store: VectorStoreIndexStore): VectorStoreIndexes {
  let byName: ReadonlyMap<string, VectorStoreIndex> = new Map();
  let byStore: ReadonlyMap<string, readonly VectorStoreIndex[]> = new Map();
  const refresh = orderedReads(
    () => store.all(null),
    (rows) => {
      byName = new Map(rows.map((row) => [row.name, row]));
      byStore = Map.groupBy(rows, ({ storeId }) => storeId);
    },
  );
  return {
    list: () => [...byName.values()],
    named: (name) => byName.get(name) ?? null,
    ofStore: (storeId) => byStore.get(storeId) ?? [],
    async add(index) {
      await store.add(index);
      await refresh();
      return index;
    },
    async remove(name) {
      // Another process may have added it.
      const found = byName.get(name) ?? (await store.all(null)).find((one) => one.name === name);
      const [removed] = found === undefined ? [] : await store.remove([found.id]);
      await refresh();
      return removed ?? null;
    },
    refresh,
  };
}
