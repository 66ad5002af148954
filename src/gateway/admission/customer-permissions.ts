import { END_USER } from '../../domain/calls/call-labels.ts';
import type { CustomerPermissions } from '../../domain/object-permissions/permission-layers.ts';
import type { LabelBudget, LabelBudgets } from './label-budgets.ts';

const permissionIn = (budgets: readonly LabelBudget[]) =>
  budgets.find(({ scope }) => scope === 'end_user')?.objectPermission ?? null;

/** Permissions of customers, from the cache of their budgets: a change has the same age for both. */
export const createCustomerPermissions = (labelBudgets: Pick<LabelBudgets, 'of'>): CustomerPermissions => ({
  of(customerId) {
    const found = labelBudgets.of({ [END_USER]: customerId }, null);
    return found instanceof Promise ? found.then(permissionIn) : permissionIn(found);
  },
});
