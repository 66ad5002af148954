import { defineEntity, p } from '@mikro-orm/core';
import { limitColumns, objectColumn, stampColumns, textsColumn } from '../column-types/shared-columns.ts';
import { UsdTextType } from '../column-types/usd-text.ts';

/** Limits that other rows refer to: a managed entity. */
export const BudgetEntity = defineEntity({
  name: 'BudgetEntity',
  tableName: 'budget',
  properties: {
    id: p.text().primary(),
    modelMaxBudget: objectColumn().nullable(),
    allowedModels: textsColumn(),
    countsFrom: p.datetime().nullable(),
    tempBudgetIncrease: p.type(UsdTextType).nullable(),
    tempBudgetExpiry: p.datetime().nullable(),
    ...limitColumns(),
    ...stampColumns(),
  },
  indexes: [{ properties: ['createdAt', 'id'] }, { properties: ['budgetResetAt'] }],
});
