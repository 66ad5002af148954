import { defineEntity, p } from '@mikro-orm/core';
import type { PluginAuthor, PluginSource } from '../../domain/plugins/plugin.ts';
import { stampColumns, textsColumn } from '../column-types/shared-columns.ts';

/** A plugin changes over time: a managed entity. */
export const PluginEntity = defineEntity({
  name: 'PluginEntity',
  tableName: 'plugin',
  properties: {
    id: p.text().primary(),
    name: p.text().unique(),
    source: p.json().columnType('json').$type<PluginSource>(),
    version: p.text().nullable(),
    description: p.text().nullable(),
    author: p.json().columnType('json').$type<PluginAuthor | null>().nullable(),
    homepage: p.text().nullable(),
    keywords: textsColumn(),
    category: p.text().nullable(),
    domain: p.text().nullable(),
    namespace: p.text().nullable(),
    enabled: p.boolean(),
    ...stampColumns(),
  },
  indexes: [{ properties: ['createdAt', 'id'] }],
});
