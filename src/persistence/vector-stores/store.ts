import { storeExists, type VectorStoreStore } from '../../domain/vector-stores/vector-store.ts';
import type { Database } from '../database/database.ts';
import { createRowStore } from '../database/row-store.ts';
import { VectorStoreEntity } from './entities.ts';

export const createVectorStoreStore = (database: Database): VectorStoreStore =>
  createRowStore(database, {
    entity: VectorStoreEntity,
    noun: 'vector store',
    audited: 'vector_store',
    conflictText: ({ id }) => storeExists(id).message,
  });
