import { defineEntity, p } from '@mikro-orm/core';
import type { ObjectKind } from '../../../domain/upstream-objects/upstream-object.ts';

/** A file, batch or response stored at an upstream. Times are Unix ms. */
export const UpstreamObjectSchema = defineEntity({
  name: 'UpstreamObjectEntity',
  tableName: 'upstream_object',
  properties: {
    id: p.text().primary(),
    kind: p.text().$type<ObjectKind>(),
    deploymentId: p.text(),
    upstreamId: p.text(),
    teamId: p.text(),
    keyHash: p.text(),
    createdAt: p.bigint('number'),
    purpose: p.text().nullable(),
    /** JSON text of the upstream's last state. */
    shown: p.text().nullable(),
    /** JSON text of the labels of the call that made a batch. */
    labels: p.text().nullable(),
    /** JSON text of the calls of a batch or its file. */
    calls: p.text().nullable(),
    removedAt: p.bigint('number').nullable(),
  },
  uniques: [{ properties: ['deploymentId', 'upstreamId'] }],
  indexes: [
    { properties: ['kind', 'createdAt', 'id'] },
    { properties: ['kind', 'teamId', 'keyHash', 'createdAt', 'id'] },
  ],
});

export class UpstreamObjectEntity extends UpstreamObjectSchema.class {}
UpstreamObjectSchema.setClass(UpstreamObjectEntity);
