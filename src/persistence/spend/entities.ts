import { defineEntity, p } from '@mikro-orm/core';
import type { SpendRow } from '../../domain/spend/spend-row.ts';

/**
 * Usage and cost of one gateway call. Append-only rows, no managed entities. Times are Unix ms. The key begins with the
 * trace id, and our trace ids begin with the time: rows of one time are adjacent, and a span needs no further index
 * (ADR 0018).
 */
export const SpendRowEntity = defineEntity({
  name: 'SpendRowEntity',
  tableName: 'spend_row',
  indexes: [{ properties: ['startedAt'] }],
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
  },
});

/**
 * Spend in one window of a budget of a provider, a deployment or a single model, updated in the commit of its spend rows.
 * Picodollars.
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
 * Total spend of a key, updated in the commit of its spend rows, so that a total is one row to read. Picodollars in 64 bits
 * hold nine million dollars per key.
 */
export const KeySpendEntity = defineEntity({
  name: 'KeySpendEntity',
  tableName: 'key_spend',
  properties: {
    keyHash: p.text().primary(),
    total: p.bigint('string'),
  },
});

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
