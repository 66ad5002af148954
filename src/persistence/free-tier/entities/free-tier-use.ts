import { defineEntity, p } from '@mikro-orm/core';

/** Calls of one client on one day that are used, or that a process has reserved to hand out. Rows only. */
export const FreeTierUseSchema = defineEntity({
  name: 'FreeTierUseEntity',
  tableName: 'free_tier_use',
  properties: {
    /** UTC, `YYYY-MM-DD`: first in the key, so that a day that is over lies together. */
    day: p.text().primary(),
    ipHash: p.text().primary(),
    used: p.integer(),
    /** What the last reservation got, so that the statement that makes one can also tell it. */
    granted: p.integer(),
  },
});

export class FreeTierUseEntity extends FreeTierUseSchema.class {}
FreeTierUseSchema.setClass(FreeTierUseEntity);
