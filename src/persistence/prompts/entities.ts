import { defineEntity, p } from '@mikro-orm/core';
import { objectColumn, stampColumns } from '../column-types/shared-columns.ts';

/** A version of a prompt changes over time: a managed entity. */
export const PromptEntity = defineEntity({
  name: 'PromptEntity',
  tableName: 'prompt',
  properties: {
    id: p.text().primary(),
    promptId: p.text(),
    version: p.integer(),
    params: objectColumn(),
    info: objectColumn(),
    environment: p.text(),
    ...stampColumns(),
  },
  indexes: [{ properties: ['createdAt', 'id'] }],
});
