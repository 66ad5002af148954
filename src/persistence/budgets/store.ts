import type { BudgetStore } from '../../domain/budgets/budget.ts';
import type { Database } from '../database/database.ts';
import { among, createRowStore } from '../database/row-store.ts';
import { BudgetEntity } from './entities/budget.ts';

export const createBudgetStore = (database: Database): BudgetStore =>
  createRowStore(database, {
    entity: BudgetEntity,
    noun: 'budget',
    audited: 'budget',
    where: ({ ids }) => among('id', ids),
    ranks: { created_at: 'created_at' },
    taken: ({ id }) => `Budget with id '${id}' already exists.`,
  });
