import { defineEntity, p } from '@mikro-orm/core';

/** Calls of one client on one day that are used, or reserved by a process. Not a managed entity. */
export const FreeTierUseEntity = defineEntity({
  name: 'FreeTierUseEntity',
  tableName: 'free_tier_use',
  properties: {
    /** UTC, `YYYY-MM-DD`: first in the key, so that past days are adjacent. */
    day: p.text().primary(),
    ipHash: p.text().primary(),
    used: p.integer(),
    /** Result of the last reservation, so that the statement that reserves can return it. */
    granted: p.integer(),
  },
});
