import { defineEntity, p } from '@mikro-orm/core';
import { objectColumn, stampColumns } from '../column-types/shared-columns.ts';

/** A search tool changes over time: a managed entity. */
export const SearchToolEntity = defineEntity({
  name: 'SearchToolEntity',
  tableName: 'search_tool',
  properties: {
    id: p.text().primary(),
    name: p.text().unique(),
    info: objectColumn().nullable(),
    /** The parameters of the tool as JSON, encrypted, in Base64. */
    sealed: p.text(),
    ...stampColumns(),
  },
  indexes: [{ properties: ['createdAt', 'id'] }],
});
