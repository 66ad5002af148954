import type { TagStore } from '../../domain/tags/tag.ts';
import type { Database } from '../database/database.ts';
import { among, createRowStore } from '../database/row-store.ts';
import { TagEntity } from './entities/tag.ts';

export const createTagStore = (database: Database): TagStore =>
  createRowStore(database, {
    entity: TagEntity,
    noun: 'tag',
    audited: 'tag',
    where: ({ ids }) => among('id', ids),
    conflictText: ({ id }) => `Tag ${id} already exists`,
  });
