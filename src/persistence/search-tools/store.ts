import { type SearchToolStore, toolExists } from '../../domain/search-tools/search-tool.ts';
import type { Database } from '../database/database.ts';
import { createRowStore } from '../database/row-store.ts';
import { SearchToolEntity } from './entities.ts';

export const createSearchToolStore = (database: Database): SearchToolStore =>
  createRowStore(database, {
    entity: SearchToolEntity,
    noun: 'search tool',
    audited: 'search_tool',
    conflictText: ({ name }) => toolExists(name).message,
  });
