import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { CallLabels } from '../../domain/calls/call-labels.ts';
import type { BatchCalls } from '../../domain/upstream-objects/batch-calls.ts';
import type { ObjectKind, ShownObject } from '../../domain/upstream-objects/upstream-object.ts';
import { JsonTextType } from '../column-types/json-text.ts';
import { UnixMsType } from '../column-types/unix-ms.ts';
import { UsdTextType } from '../column-types/usd-text.ts';

/** A file, batch or response stored at an upstream: a managed entity. */
export const UpstreamObjectEntity = defineEntity({
  name: 'UpstreamObjectEntity',
  tableName: 'upstream_object',
  properties: {
    id: p.text().primary(),
    kind: p.text().$type<ObjectKind>(),
    deploymentId: p.text(),
    upstreamId: p.text(),
    teamId: p.text(),
    keyHash: p.text(),
    createdAt: p.type(UnixMsType),
    purpose: p.text().nullable(),
    /** The most recently known state at the upstream. */
    shown: p.type(JsonTextType).$type<ShownObject>().nullable(),
    /** User of the call that created a batch; null for none. */
    userId: p.text().nullable(),
    /** Labels of the call that created a batch; null for none. */
    labels: p.type(JsonTextType).$type<CallLabels>().nullable(),
    /** Calls of a batch, or of its input file; null if they were not counted. */
    calls: p.type(JsonTextType).$type<BatchCalls>().nullable(),
    removedAt: p.type(UnixMsType).nullable(),
    /** Expected cost while the cost is not recorded; null for an object that has ended or is not charged later. */
    openCost: p.type(UsdTextType).nullable(),
  },
  uniques: [{ properties: ['deploymentId', 'upstreamId'] }],
  indexes: [
    { properties: ['kind', 'createdAt', 'id'] },
    { properties: ['kind', 'teamId', 'keyHash', 'createdAt', 'id'] },
    {
      name: 'upstream_object_open_index',
      properties: ['kind', 'createdAt', 'id'],
      where: '"open_cost" is not null',
    },
  ],
});

export type UpstreamObjectEntity = InferEntity<typeof UpstreamObjectEntity>;
