import type { VectorStoreIndexes } from '../domain/vector-store-indexes/vector-store-index.ts';
import type { Stores } from '../persistence/stores.ts';
import { createVectorStoreIndexes } from '../runtime/vector-store-indexes/vector-store-indexes.ts';

/** Names for vector stores, from the database. */
export async function composeVectorStoreIndexes(
  stores: Pick<Stores, 'vectorStoreIndexes'>,
): Promise<VectorStoreIndexes> {
  const indexes = createVectorStoreIndexes(stores.vectorStoreIndexes);
  await indexes.refresh();
  return indexes;
}
