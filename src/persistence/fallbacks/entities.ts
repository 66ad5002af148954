import { defineEntity, p } from '@mikro-orm/core';
import type { FallbackType } from '../../domain/fallbacks/fallback.ts';
import { stampColumns, textsColumn } from '../column-types/shared-columns.ts';

/** The fallbacks of a model for one kind of failure: a managed entity. */
export const FallbackEntity = defineEntity({
  name: 'FallbackEntity',
  tableName: 'model_fallback',
  properties: {
    id: p.text().primary(),
    model: p.text(),
    type: p.text().$type<FallbackType>(),
    targets: textsColumn(),
    ...stampColumns(),
  },
  indexes: [{ properties: ['createdAt', 'id'] }],
});
