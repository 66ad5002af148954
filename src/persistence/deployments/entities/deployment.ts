import { defineEntity, p } from '@mikro-orm/core';
import { objectColumn, stampColumns } from '../../column-types/shared-columns.ts';

/** A deployment made at run time: a managed entity. */
export const DeploymentEntity = defineEntity({
  name: 'DeploymentEntity',
  tableName: 'deployment',
  properties: {
    id: p.text().primary(),
    modelGroup: p.text(),
    info: objectColumn(),
    blocked: p.boolean(),
    /** Its parameters, encrypted, in Base64. */
    sealed: p.text(),
    ...stampColumns(),
  },
  indexes: [{ properties: ['createdAt', 'id'] }],
});
