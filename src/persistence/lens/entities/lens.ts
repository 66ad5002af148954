import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { Finding } from '../../../domain/lens/finding.ts';
import type { Lens, LensRun, Reservation, RunHead } from '../../../domain/lens/lens.ts';
import { IsoTimeType } from '../../column-types/unix-ms.ts';
import { UsdTextType } from '../../column-types/usd-text.ts';

type LensData = Omit<Lens, 'id' | 'spent' | 'reservations'>;
type StoredReservation = Omit<Reservation, 'amount'> & { readonly amount: string };
type RunData = Omit<RunHead, 'id' | 'lensId' | 'status' | 'createdAt' | 'cost'>;
type FindingData = Omit<Finding, 'id' | 'status' | 'kind' | 'priority' | 'lastSeen'>;

/** A lens. Its times are ISO 8601 inside `data`; `dueAt` is Unix milliseconds. */
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
    /** Its latest run. */
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
