import { defineEntity, p } from '@mikro-orm/core';
import type { SpendRow } from '../../../domain/spend/spend-row.ts';

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
