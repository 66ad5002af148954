import { defineEntity, p } from '@mikro-orm/core';
import type { SpendRow } from '../../domain/spend/spend-row.ts';

/** What one gateway call used and cost. Only ever appended: rows, not managed entities. Times are Unix ms. */
export const SpendRowSchema = defineEntity({
  name: 'SpendRowEntity',
  tableName: 'spend_row',
  properties: {
    id: p.text().primary(),
    callId: p.text().index(),
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
    traceId: p.text(),
    spanId: p.text(),
    errorCode: p.text().nullable(),
    errorMessage: p.text().nullable(),
  },
  indexes: [{ properties: ['traceId', 'spanId'] }, { properties: ['keyHash', 'startedAt'] }],
});

export class SpendRowEntity extends SpendRowSchema.class {}
SpendRowSchema.setClass(SpendRowEntity);
