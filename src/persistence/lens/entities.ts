import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { DatasetCase } from '../../domain/lens/dataset.ts';
import type { Finding } from '../../domain/lens/finding.ts';
import type { Lens, LensRun, BudgetReservation, RunHead } from '../../domain/lens/lens.ts';
import type { Review } from '../../domain/lens/review.ts';
import type { Signal, TraceSignals } from '../../domain/lens/signals.ts';
import type { PaidAnswer } from '../../domain/lens/store.ts';
import { stampColumns } from '../column-types/shared-columns.ts';
import { IsoTimeType } from '../column-types/unix-ms.ts';
import { UsdTextType } from '../column-types/usd-text.ts';

type LensData = Omit<Lens, 'id' | 'spent' | 'reservations'>;
type StoredReservation = Omit<BudgetReservation, 'amount'> & { readonly amount: string };
type RunData = Omit<RunHead, 'id' | 'lensId' | 'status' | 'createdAt' | 'cost'>;
type FindingData = Omit<Finding, 'id' | 'status' | 'kind' | 'priority' | 'lastSeen'>;

/** A lens. Times in `data` are ISO 8601; `dueAt` is Unix ms. */
export const LensEntity = defineEntity({
  name: 'LensEntity',
  tableName: 'lens',
  properties: {
    id: p.text().primary(),
    data: p.json().columnType('json').$type<LensData>(),
    reservations: p.json().columnType('json').$type<readonly StoredReservation[]>(),
    spent: p.type(UsdTextType),
    /** When the schedule queues a run; null while a run is active, and for a paused lens. */
    dueAt: p.double().nullable().index(),
    /** Id of the latest run. */
    runId: p.text(),
  },
});

export type LensEntity = InferEntity<typeof LensEntity>;

/** A run of a lens. */
export const LensRunEntity = defineEntity({
  name: 'LensRunEntity',
  tableName: 'lens_run',
  properties: {
    id: p.text().primary(),
    lensId: p.text(),
    status: p.text().$type<LensRun['status']>(),
    createdAt: p.type(IsoTimeType),
    cost: p.type(UsdTextType),
    data: p.json().columnType('json').$type<RunData>(),
    sample: p.json().columnType('json').$type<NonNullable<LensRun['sample']>>().nullable(),
  },
  indexes: [{ properties: ['lensId', 'createdAt', 'id'] }],
});

export type LensRunEntity = InferEntity<typeof LensRunEntity>;

/** A finding of a lens; `place` is its position, from 0. */
export const LensFindingEntity = defineEntity({
  name: 'LensFindingEntity',
  tableName: 'lens_finding',
  properties: {
    id: p.text().primary(),
    lensId: p.text(),
    place: p.integer(),
    status: p.text().$type<Finding['status']>(),
    kind: p.text().$type<Finding['kind']>(),
    priority: p.text().$type<Finding['priority']>(),
    lastSeen: p.type(IsoTimeType),
    data: p.json().columnType('json').$type<FindingData>(),
  },
  indexes: [{ properties: ['lensId', 'place'] }, { properties: ['lastSeen', 'id'] }],
});

export type LensFindingEntity = InferEntity<typeof LensFindingEntity>;

/** A named list of test cases. */
export const DatasetEntity = defineEntity({
  name: 'DatasetEntity',
  tableName: 'lens_dataset',
  properties: {
    id: p.text().primary(),
    name: p.text(),
    agentName: p.text(),
    teamId: p.text(),
    /** Number of the latest revision. */
    latest: p.integer(),
    caseCount: p.integer(),
    ...stampColumns(),
  },
  indexes: [{ properties: ['createdAt', 'id'] }],
});

/** The cases of one revision of a dataset. */
export const DatasetRevisionEntity = defineEntity({
  name: 'DatasetRevisionEntity',
  tableName: 'lens_dataset_revision',
  properties: {
    id: p.text().primary(),
    datasetId: p.text(),
    number: p.integer(),
    cases: p.json().columnType('json').$type<readonly DatasetCase[]>(),
    ...stampColumns(),
  },
  uniques: [{ properties: ['datasetId', 'number'] }],
});

/** A review of one execution, which later runs reuse while the trace is unchanged. */
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

/** A worker of lens runs. Only the hash of its token is stored; null for the built-in worker, which has no token. */
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

/** Questions about new traces. */
export const SignalConfigEntity = defineEntity({
  name: 'SignalConfigEntity',
  tableName: 'lens_signal_config',
  properties: {
    id: p.text().primary(),
    model: p.text(),
    threshold: p.double(),
    signals: p.json().columnType('json').$type<readonly Signal[]>(),
    ...stampColumns(),
  },
});

/** Answers about one trace. */
export const TraceSignalEntity = defineEntity({
  name: 'TraceSignalEntity',
  tableName: 'lens_trace_signal',
  properties: {
    id: p.text().primary(),
    traceId: p.text(),
    traceRef: p.text(),
    configKey: p.text(),
    spanCount: p.integer(),
    status: p.text().$type<TraceSignals['status']>(),
    model: p.text(),
    scores: p.json().columnType('json').$type<TraceSignals['scores']>(),
    traceStartMs: p.bigint('number'),
    askedMs: p.bigint('number'),
    ...stampColumns(),
  },
  indexes: [{ properties: ['traceStartMs'] }],
});

/** A key that may only send traces. Only the hash of its token is stored. */
export const TracingKeyEntity = defineEntity({
  name: 'TracingKeyEntity',
  tableName: 'lens_tracing_key',
  properties: {
    id: p.text().primary(),
    name: p.text(),
    tokenHash: p.text().unique(),
    teamId: p.text(),
    userId: p.text(),
    organizationId: p.text(),
    expiresAt: p.datetime().nullable(),
    ...stampColumns(),
  },
  indexes: [{ properties: ['createdAt', 'id'] }],
});
