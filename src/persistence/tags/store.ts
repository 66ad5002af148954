import type { TagStore } from '../../domain/tags/tag.ts';
import type { Database } from '../database/database.ts';
import { createRowStore, matching } from '../database/row-store.ts';
import { TagEntity } from './entities.ts';

export const createTagStore = (database: Database): TagStore =>
  createRowStore(database, {
    entity: TagEntity,
    noun: 'tag',
    audited: 'tag',
    where: ({ ids }) => matching({ id: ids }),
    conflictText: ({ id }) => `Tag ${id} already exists`,
  });
