import { defineEntity, p } from '@mikro-orm/core';
import type { SpendRow } from '../../domain/spend/spend-row.ts';

/**
 * Usage and cost of one gateway call. Times are Unix ms. Only the removal of error texts changes a row. The primary key
 * begins with the trace id, and trace ids that the gateway creates begin with the time. So rows of the same time are
 * adjacent, and look-ups by span need no further index (docs/performance.md). Not a managed entity.
 */
export const SpendRowEntity = defineEntity({
  name: 'SpendRowEntity',
  tableName: 'spend_row',
  indexes: [
    { properties: ['startedAt'] },
    {
      name: 'spend_row_cache_hit_index',
      expression: `create index "spend_row_cache_hit_index" on "spend_row" ("started_at") where cache_hit_key is not null`,
    },
    { name: 'spend_row_routed_index', properties: ['startedAt'], where: `"routing" is not null` },
  ],
  properties: {
    traceId: p.text().primary(),
    spanId: p.text().primary(),
    id: p.text().primary(),
    callId: p.text(),
    responseId: p.text().nullable(),
    callType: p.text(),
    keyHash: p.text(),
    teamId: p.text().nullable(),
    userId: p.text().nullable(),
    modelGroup: p.text(),
    model: p.text(),
    deploymentId: p.text(),
    provider: p.text(),
    // The five counts are null together, when no usage was reported.
    inputTokens: p.bigint('number').nullable(),
    outputTokens: p.bigint('number').nullable(),
    cacheReadTokens: p.bigint('number').nullable(),
    cacheWriteTokens: p.bigint('number').nullable(),
    reasoningTokens: p.bigint('number').nullable(),
    /** Picodollars. */
    cost: p.bigint('string').nullable(),
    status: p.text().$type<SpendRow['status']>(),
    startedAt: p.bigint('number'),
    endedAt: p.bigint('number'),
    firstByteAt: p.bigint('number').nullable(),
    errorCode: p.text().nullable(),
    errorMessage: p.text().nullable(),
    endUser: p.text().nullable(),
    sessionId: p.text().nullable(),
    /** JSON list of texts; null for none. */
    tags: p.text().nullable(),
    /** JSON list of runs of guardrails; null for none. */
    guardrails: p.text().nullable(),
    /** Key of the cached answer of the call; null for other calls. */
    cacheHitKey: p.text().nullable(),
    /** JSON of the decision of an auto router; null for none. */
    routing: p.text().nullable(),
  },
});

/**
 * Total of one budget window: picodollars, or tokens for windows of batch tokens. Updated in the commit of its spend
 * rows. The name contains the scope (`budgetWindowOf`).
 */
export const BudgetWindowEntity = defineEntity({
  name: 'BudgetWindowEntity',
  tableName: 'budget_window',
  properties: {
    name: p.text().primary(),
    total: p.bigint('string'),
    /** End of the window, Unix ms; 0 for a budget that is never reset. */
    endMs: p.bigint('number').index('budget_window_end_ms_index'),
  },
});

/**
 * Total spend of a key, updated in the commit of its spend rows, so that a total is one row to read. 64 bits of
 * picodollars allow nine million dollars per key.
 */
export const KeySpendEntity = defineEntity({
  name: 'KeySpendEntity',
  tableName: 'key_spend',
  properties: {
    keyHash: p.text().primary(),
    total: p.bigint('string'),
  },
});

/** Sum columns of the calls of one day. */
const sums = () => ({
  calls: p.bigint('number'),
  failures: p.bigint('number'),
  inputTokens: p.bigint('number'),
  outputTokens: p.bigint('number'),
  cacheReadTokens: p.bigint('number'),
  cacheWriteTokens: p.bigint('number'),
  /** Picodollars. */
  cost: p.bigint('string'),
  /** Total duration of successful calls, ms. */
  successMs: p.bigint('number'),
  /** End of the call that ended last, Unix ms. */
  lastMs: p.bigint('number'),
});

/**
 * Sums of the calls of a day with equal key columns. A key column is an empty text for calls without its value. Not a
 * managed entity.
 */
export const SpendDayEntity = defineEntity({
  name: 'SpendDayEntity',
  tableName: 'spend_day',
  properties: {
    /** Start of the day, Unix ms. */
    startedAt: p.bigint('number').primary(),
    keyHash: p.text().primary(),
    teamId: p.text().primary(),
    userId: p.text().primary(),
    provider: p.text().primary(),
    model: p.text().primary(),
    modelGroup: p.text().primary(),
    callType: p.text().primary(),
    /** 1 for calls with tags, 0 for calls without tags. */
    tagged: p.integer().primary(),
    ...sums(),
  },
});

/** Sums of the calls of a day with a tag or an end user, and equal key columns. Not a managed entity. */
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
