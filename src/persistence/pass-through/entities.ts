import { defineEntity, p } from '@mikro-orm/core';
import type { EndpointSettings } from '../../domain/pass-through/endpoint.ts';
import { stampColumns } from '../column-types/shared-columns.ts';

/** A pass-through endpoint changes over time: a managed entity. */
export const PassThroughEndpointEntity = defineEntity({
  name: 'PassThroughEndpointEntity',
  tableName: 'pass_through_endpoint',
  properties: {
    id: p.text().primary(),
    path: p.text(),
    target: p.text(),
    sealedHeaders: p.text(),
    settings: p.json().columnType('json').$type<EndpointSettings>(),
    ...stampColumns(),
  },
  indexes: [{ properties: ['createdAt', 'id'] }],
});
