import type { AccessGroupStore } from '../../domain/access-groups/access-group.ts';
import type { Database } from '../database/database.ts';
import { among, createRowStore } from '../database/row-store.ts';
import { AccessGroupEntity } from './entities/access-group.ts';

export const createAccessGroupStore = (database: Database): AccessGroupStore =>
  createRowStore(database, {
    entity: AccessGroupEntity,
    noun: 'access group',
    audited: 'access_group',
    where: ({ ids }) => among('id', ids),
    conflictText: ({ name }) => `Access group '${name}' already exists`,
  });
