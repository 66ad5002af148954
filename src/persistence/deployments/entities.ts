import { defineEntity, p } from '@mikro-orm/core';
import type { Probe } from '../../domain/deployments/probe.ts';
import { objectColumn, stampColumns } from '../column-types/shared-columns.ts';

/** A deployment created at run time: a managed entity. */
export const DeploymentEntity = defineEntity({
  name: 'DeploymentEntity',
  tableName: 'deployment',
  properties: {
    id: p.text().primary(),
    modelGroup: p.text(),
    info: objectColumn(),
    blocked: p.boolean(),
    /** The parameters of the deployment, encrypted, in Base64. */
    sealed: p.text(),
    ...stampColumns(),
  },
  indexes: [{ properties: ['createdAt', 'id'] }],
});

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
