import { defineEntity, p } from '@mikro-orm/core';
import type { Pipeline } from '../../domain/policies/pipeline.ts';
import type { VersionStatus } from '../../domain/policies/policy.ts';
import { objectColumn, stampColumns, textsColumn } from '../column-types/shared-columns.ts';

/** A version of a policy changes over time: a managed entity. */
export const PolicyEntity = defineEntity({
  name: 'PolicyEntity',
  tableName: 'policy',
  properties: {
    id: p.text().primary(),
    name: p.text(),
    version: p.integer(),
    status: p.text().$type<VersionStatus>(),
    parentId: p.text().nullable(),
    publishedAt: p.datetime().nullable(),
    productionAt: p.datetime().nullable(),
    description: p.text().nullable(),
    inherit: p.text().nullable(),
    guardrailsAdd: textsColumn(),
    guardrailsRemove: textsColumn(),
    condition: objectColumn().nullable(),
    pipeline: p.json().columnType('json').$type<Pipeline>().nullable(),
    ...stampColumns(),
  },
  uniques: [{ properties: ['name', 'version'] }],
  indexes: [{ properties: ['createdAt', 'id'] }],
});

export const PolicyAttachmentEntity = defineEntity({
  name: 'PolicyAttachmentEntity',
  tableName: 'policy_attachment',
  properties: {
    id: p.text().primary(),
    policyName: p.text(),
    scope: p.text().nullable(),
    teams: textsColumn(),
    keys: textsColumn(),
    models: textsColumn(),
    tags: textsColumn(),
    priority: p.integer().nullable(),
    isDefault: p.boolean(),
    ...stampColumns(),
  },
  indexes: [{ properties: ['createdAt', 'id'] }],
});
