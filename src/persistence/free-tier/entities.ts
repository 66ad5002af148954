import { defineEntity, p } from '@mikro-orm/core';

/** Calls of one client on one day that are used, or reserved by a process. Not a managed entity. */
export const FreeTierUseEntity = defineEntity({
  name: 'FreeTierUseEntity',
  tableName: 'free_tier_use',
  properties: {
    /** UTC, `YYYY-MM-DD`: first in the key, so that the rows of past days are adjacent. */
    day: p.text().primary(),
    ipHash: p.text().primary(),
    used: p.integer(),
    /** Calls that the most recent reservation granted, so that the statement that reserves can return them. */
    granted: p.integer(),
  },
});
