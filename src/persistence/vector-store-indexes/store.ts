import { indexExists, type VectorStoreIndexStore } from '../../domain/vector-store-indexes/vector-store-index.ts';
import type { Database } from '../database/database.ts';
import { createRowStore } from '../database/row-store.ts';
import { VectorStoreIndexEntity } from './entities.ts';

export const createVectorStoreIndexStore = (database: Database): VectorStoreIndexStore =>
  createRowStore(database, {
    entity: VectorStoreIndexEntity,
    noun: 'vector store index',
    audited: 'vector_store_index',
    conflictText: ({ name }) => indexExists(name).message,
  });
