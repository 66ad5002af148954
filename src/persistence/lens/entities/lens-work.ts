import { defineEntity, p } from '@mikro-orm/core';
import { objectColumn, stampColumns } from '../../column-types/shared-columns.ts';

/** A review of one execution, to be used again while its trace does not change. */
export const LensReviewSchema = defineEntity({
  name: 'LensReviewEntity',
  tableName: 'lens_review',
  properties: {
    id: p.text().primary(),
    lensId: p.text(),
    criteriaKey: p.text(),
    executionId: p.text(),
    contentVersion: p.text(),
    at: p.double().index(),
    data: objectColumn(),
  },
  indexes: [{ properties: ['lensId', 'criteriaKey', 'executionId'] }],
});

export class LensReviewEntity extends LensReviewSchema.class {}
LensReviewSchema.setClass(LensReviewEntity);

/** An answer of a model that a run has paid for. */
export const LensAnswerSchema = defineEntity({
  name: 'LensAnswerEntity',
  tableName: 'lens_answer',
  properties: {
    id: p.text().primary(),
    runId: p.text().index(),
    data: objectColumn(),
    at: p.double().index(),
  },
});

export class LensAnswerEntity extends LensAnswerSchema.class {}
LensAnswerSchema.setClass(LensAnswerEntity);

/** A worker of lens runs. Only the hash of its token is stored; the worker of this process has none. */
const LensWorkerSchema = defineEntity({
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

export class LensWorkerEntity extends LensWorkerSchema.class {}
LensWorkerSchema.setClass(LensWorkerEntity);
