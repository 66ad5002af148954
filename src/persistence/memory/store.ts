import { raw } from '@mikro-orm/core';
import type { JsonObject } from '../../domain/json-object.ts';
import {
  type Memory,
  memoryExists,
  type MemoryFilter,
  type MemorySort,
  type MemoryStore,
} from '../../domain/memory/memory.ts';
import { storable } from '../../domain/storable.ts';
import type { Database } from '../database/database.ts';
import { createDatabaseMutex } from '../database/mutex.ts';
import { createRowStore, matching } from '../database/row-store.ts';
import { MemoryEntity } from './entities.ts';

/** Condition that a name begins with a prefix. `substr` counts code points on both engines, as `Array.from` does. */
const nameBeginsWith = (prefix: string): JsonObject => {
  const text = storable(prefix);
  return { [raw('substr(name, 1, cast(? as integer)) = cast(? as text)', [Array.from(text).length, text])]: [] };
};

export const createMemoryStore = (database: Database): MemoryStore => ({
  ...createRowStore<Memory, MemoryFilter, MemorySort>(database, {
    entity: MemoryEntity,
    noun: 'memory',
    where: ({ owners, name, namePrefix, search }) => [
      ...matching({ owner: owners, name }),
      ...(namePrefix === null ? [] : [nameBeginsWith(namePrefix)]),
      ...(search === null ? [] : [{ $or: [{ id: storable(search) }, nameBeginsWith(search)] }]),
    ],
    sortColumns: { name: 'name' },
    conflictText: ({ name }) => memoryExists(name).message,
  }),
  exclusively: createDatabaseMutex(database, 'memories'),
});
