import type { BudgetStore } from '../../domain/budgets/budget.ts';
import type { Database } from '../database/database.ts';
import { containing, createRowStore, matching, until } from '../database/row-store.ts';
import { BudgetEntity } from './entities.ts';

export const createBudgetStore = (database: Database): BudgetStore =>
  createRowStore(database, {
    entity: BudgetEntity,
    noun: 'budget',
    audited: 'budget',
    where: ({ ids, idPart, resetDueBy }) => [
      ...matching({ id: ids }),
      ...containing('id', idPart),
      ...until('budgetResetAt', resetDueBy),
    ],
    sortColumns: { budget_id: 'id' },
    conflictText: ({ id }) => `Budget with id '${id}' already exists.`,
  });
