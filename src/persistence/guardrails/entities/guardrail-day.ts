import { defineEntity, p } from '@mikro-orm/core';

/** Numbers of runs by day and guardrail. Rows only. */
export const GuardrailDayEntity = defineEntity({
  name: 'GuardrailDayEntity',
  tableName: 'guardrail_day',
  properties: {
    /** UTC, `YYYY-MM-DD`: first in the key, so that the rows of a period are adjacent. */
    day: p.text().primary(),
    guardrailId: p.text().primary(),
    name: p.text(),
    kind: p.text(),
    passed: p.bigint('number'),
    flagged: p.bigint('number'),
    intervened: p.bigint('number'),
    failed: p.bigint('number'),
    latencyMs: p.double().$type<number>(),
  },
});
