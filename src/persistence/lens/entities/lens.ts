import { defineEntity, p } from '@mikro-orm/core';
import { objectColumn } from '../../column-types/shared-columns.ts';
import { UsdTextType } from '../../column-types/usd-text.ts';

/** A lens. Its times are ISO 8601 inside `data`; `dueAt` is Unix milliseconds. */
const LensSchema = defineEntity({
  name: 'LensEntity',
  tableName: 'lens',
  properties: {
    id: p.text().primary(),
    data: objectColumn(),
    reservations: p.json().columnType('json').$type<readonly unknown[]>(),
    spent: p.type(UsdTextType),
    /** When the schedule queues a run; null while a run is active, and for a paused lens. */
    dueAt: p.double().nullable().index(),
    /** Its latest run. */
    runId: p.text(),
  },
});

export class LensEntity extends LensSchema.class {}
LensSchema.setClass(LensEntity);

/** A run of a lens. */
export const LensRunSchema = defineEntity({
  name: 'LensRunEntity',
  tableName: 'lens_run',
  properties: {
    id: p.text().primary(),
    lensId: p.text(),
    status: p.text(),
    createdAt: p.double(),
    cost: p.type(UsdTextType),
    data: objectColumn(),
    sample: p.json().columnType('json').$type<Readonly<Record<string, unknown>>>().nullable(),
  },
  indexes: [{ properties: ['lensId', 'createdAt', 'id'] }],
});

export class LensRunEntity extends LensRunSchema.class {}
LensRunSchema.setClass(LensRunEntity);

/** A finding of a lens; `place` is its position, from 0. */
export const LensFindingSchema = defineEntity({
  name: 'LensFindingEntity',
  tableName: 'lens_finding',
  properties: {
    id: p.text().primary(),
    lensId: p.text(),
    place: p.integer(),
    status: p.text(),
    kind: p.text(),
    priority: p.text(),
    lastSeen: p.double(),
    data: objectColumn(),
  },
  indexes: [{ properties: ['lensId', 'place'] }, { properties: ['lastSeen', 'id'] }],
});

export class LensFindingEntity extends LensFindingSchema.class {}
LensFindingSchema.setClass(LensFindingEntity);
