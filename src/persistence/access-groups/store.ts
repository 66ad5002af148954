import type { AccessGroupStore } from '../../domain/access-groups/access-group.ts';
import type { Database } from '../database/database.ts';
import { createRowStore, matching } from '../database/row-store.ts';
import { AccessGroupEntity } from './entities.ts';

export const createAccessGroupStore = (database: Database): AccessGroupStore =>
  createRowStore(database, {
    entity: AccessGroupEntity,
    noun: 'access group',
    audited: 'access_group',
    where: ({ ids }) => matching({ id: ids }),
    conflictText: ({ name }) => `Access group '${name}' already exists`,
  });
