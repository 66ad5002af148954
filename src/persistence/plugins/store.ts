import { pluginExists, type PluginStore } from '../../domain/plugins/plugin.ts';
import type { Database } from '../database/database.ts';
import { containing, createRowStore, matching } from '../database/row-store.ts';
import { PluginEntity } from './entities.ts';

export const createPluginStore = (database: Database): PluginStore =>
  createRowStore(database, {
    entity: PluginEntity,
    noun: 'plugin',
    audited: 'plugin',
    where: ({ name, nameContains, category, enabled }) => [
      ...matching({ name, category, enabled }),
      ...containing('name', nameContains),
    ],
    sortColumns: { name: 'name' },
    conflictText: ({ name }) => pluginExists(name),
  });
