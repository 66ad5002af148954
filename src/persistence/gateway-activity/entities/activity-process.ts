import { defineEntity, p } from '@mikro-orm/core';

/** The last batch of counts that a process committed. */
export const ActivityProcessEntity = defineEntity({
  name: 'ActivityProcessEntity',
  tableName: 'activity_process',
  properties: {
    id: p.text().primary(),
    lastBatch: p.integer(),
    /** Unix ms. */
    writtenAt: p.bigint('number'),
  },
});
