import { defineEntity, p } from '@mikro-orm/core';

// Optional ids are blank where a call has none: they are part of the primary key.

/** Sums of calls of one day. */
const sums = () => ({
  calls: p.bigint('number'),
  failures: p.bigint('number'),
  inputTokens: p.bigint('number'),
  outputTokens: p.bigint('number'),
  cacheReadTokens: p.bigint('number'),
  cacheWriteTokens: p.bigint('number'),
  /** Picodollars. */
  cost: p.bigint('string'),
  /** Durations of successful calls. */
  successMs: p.bigint('number'),
  /** End of the last call, Unix ms. */
  lastMs: p.bigint('number'),
});

/** Sums of the calls of a day with equal values of these columns. Rows only. */
export const SpendDayEntity = defineEntity({
  name: 'SpendDayEntity',
  tableName: 'spend_day',
  properties: {
    /** Begin of the day, Unix ms. */
    startedAt: p.bigint('number').primary(),
    keyHash: p.text().primary(),
    teamId: p.text().primary(),
    userId: p.text().primary(),
    provider: p.text().primary(),
    model: p.text().primary(),
    modelGroup: p.text().primary(),
    callType: p.text().primary(),
    /** 1 for calls with tags. */
    tagged: p.integer().primary(),
    ...sums(),
  },
});

/** The same for the calls of a tag or an end user. Rows only. */
export const SpendDayLabelEntity = defineEntity({
  name: 'SpendDayLabelEntity',
  tableName: 'spend_day_label',
  properties: {
    /** `tag` or `end_user`. */
    kind: p.text().primary(),
    label: p.text().primary(),
    startedAt: p.bigint('number').primary(),
    keyHash: p.text().primary(),
    teamId: p.text().primary(),
    userId: p.text().primary(),
    provider: p.text().primary(),
    model: p.text().primary(),
    modelGroup: p.text().primary(),
    callType: p.text().primary(),
    ...sums(),
  },
});
