import { defineEntity, p } from '@mikro-orm/core';
import type { ActivityCategory } from '../../domain/gateway-activity/gateway-activity.ts';

/** Numbers of requests by day, category and route. Not a managed entity. */
export const GatewayActivityEntity = defineEntity({
  name: 'GatewayActivityEntity',
  tableName: 'gateway_activity',
  properties: {
    /** UTC, `YYYY-MM-DD`: first in the key, so that the rows of a period are adjacent. */
    day: p.text().primary(),
    category: p.text().$type<ActivityCategory>().primary(),
    route: p.text().primary(),
    succeeded: p.bigint('number'),
    failed: p.bigint('number'),
  },
});

/** Number of the batch that a counter of a process committed most recently. Not a managed entity. */
export const ActivityProcessEntity = defineEntity({
  name: 'ActivityProcessEntity',
  tableName: 'activity_process',
  properties: {
    /** Id of the counter. */
    id: p.text().primary(),
    lastBatch: p.integer(),
    /** Unix ms. */
    writtenAt: p.bigint('number'),
  },
});
