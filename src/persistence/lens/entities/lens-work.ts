import { defineEntity, p } from '@mikro-orm/core';
import type { Review } from '../../../domain/lens/review.ts';
import type { PaidAnswer } from '../../../domain/lens/store.ts';
import { stampColumns } from '../../column-types/shared-columns.ts';

/** A review of one execution, to be used again while its trace does not change. */
export const LensReviewEntity = defineEntity({
  name: 'LensReviewEntity',
  tableName: 'lens_review',
  properties: {
    id: p.text().primary(),
    lensId: p.text(),
    criteriaKey: p.text(),
    executionId: p.text(),
    contentVersion: p.text(),
    at: p.double().index(),
    data: p.json().columnType('json').$type<Review>(),
  },
  indexes: [{ properties: ['lensId', 'criteriaKey', 'executionId'] }],
});

/** An answer of a model that a run has paid for. */
export const LensAnswerEntity = defineEntity({
  name: 'LensAnswerEntity',
  tableName: 'lens_answer',
  properties: {
    id: p.text().primary(),
    runId: p.text().index(),
    data: p.json().columnType('json').$type<Omit<PaidAnswer, 'id' | 'runId'>>(),
    at: p.double().index(),
  },
});

/** A worker of lens runs. Only the hash of its token is stored; the worker of this process has none. */
export const LensWorkerEntity = defineEntity({
  name: 'LensWorkerEntity',
  tableName: 'lens_worker',
  properties: {
    id: p.text().primary(),
    name: p.text(),
    tokenHash: p.text().nullable().unique(),
    analysisKeyId: p.text().nullable(),
    lastSeen: p.datetime(),
    revoked: p.boolean(),
    ...stampColumns(),
  },
  indexes: [{ properties: ['createdAt', 'id'] }],
});
