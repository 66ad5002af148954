import { END_USER } from '../../domain/calls/call-labels.ts';
import type { CustomerPermissions } from '../../domain/object-permissions/permission-layers.ts';
import type { LabelBudget, LabelBudgets } from './label-budgets.ts';

/** The permission in the row of the customer. It is loaded with the budgets of the customer. */
const permissionIn = (budgets: readonly LabelBudget[]) =>
  budgets.find(({ scope }) => scope === 'end_user')?.objectPermission ?? null;

/**
 * Reads permissions of customers from the cache of their budgets, so a change of a row affects both at the same time.
 */
export const createCustomerPermissions = (labelBudgets: Pick<LabelBudgets, 'of'>): CustomerPermissions => ({
  of(customerId) {
    const found = labelBudgets.of({ [END_USER]: customerId }, null);
    return found instanceof Promise ? found.then(permissionIn) : permissionIn(found);
  },
});
