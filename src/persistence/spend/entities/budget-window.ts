import { defineEntity, p } from '@mikro-orm/core';

/**
 * Spend in one window of a budget of a provider, a deployment or a single model, updated in the commit of its spend rows.
 * Picodollars.
 */
export const BudgetWindowEntity = defineEntity({
  name: 'BudgetWindowEntity',
  tableName: 'budget_window',
  properties: {
    name: p.text().primary(),
    total: p.bigint('string'),
    /** End of the window, Unix ms; 0 for a budget that is never reset. */
    endMs: p.bigint('number').index('budget_window_end_ms_index'),
  },
});
