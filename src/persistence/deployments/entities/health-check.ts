import { defineEntity, p } from '@mikro-orm/core';
import type { Probe } from '../../../domain/deployments/probe.ts';
import { stampColumns } from '../../column-types/shared-columns.ts';

/** Result of a probe of a deployment: a managed entity. */
export const HealthCheckEntity = defineEntity({
  name: 'HealthCheckEntity',
  tableName: 'health_check',
  properties: {
    id: p.text().primary(),
    deploymentId: p.text(),
    modelGroup: p.text(),
    latencyMs: p.double(),
    failure: p.json().columnType('json').$type<NonNullable<Probe['failure']>>().nullable(),
    ...stampColumns(),
  },
  indexes: [{ properties: ['createdAt', 'id'] }, { properties: ['deploymentId', 'createdAt'] }],
});
