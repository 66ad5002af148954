import { defineEntity, p } from '@mikro-orm/core';

/** The last batch of counts that a process committed. */
export const ActivityProcessSchema = defineEntity({
  name: 'ActivityProcessEntity',
  tableName: 'activity_process',
  properties: {
    id: p.text().primary(),
    lastBatch: p.integer(),
    /** Unix ms. */
    writtenAt: p.bigint('number'),
  },
});

export class ActivityProcessEntity extends ActivityProcessSchema.class {}
ActivityProcessSchema.setClass(ActivityProcessEntity);
