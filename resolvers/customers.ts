import type { Budget } from '../src/domain/budgets/budget.ts';
import { type Customer, type CustomerPatch, newCustomer, patchedCustomer } from '../src/domain/customers/customer.ts';
import { Conflict, NotFound } from '../src/domain/errors.ts';
import type { Usd } from '../src/domain/money.ts';
import type { Authored } from '../src/domain/row-store.ts';
import { tenantAdmin, tenantViewer } from './operation/access.ts';
import { authored } from './operation/authored.ts';
import { operation } from './operation/operation.ts';
import {
  addWithBudgets,
  changeWithBudget,
  createdBudgets,
  saveBudget,
  type WantedBudget,
} from './operation/owned-budgets.ts';
import type { CustomerPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';
import { budgetedRows } from './operation/window-spend.ts';

/** A customer with its budget. */
export interface CustomerView {
  readonly customer: Customer;
  readonly budget: Budget | null;
  /** Cost of the customer's calls in the window of the budget; without a budget, of all its calls. */
  readonly spend: Usd;
}

const unknownCustomer = (id: string): NotFound =>
  new NotFound('customer', id, `End User Id=${id} does not exist in db`);

async function viewsOf(
  scope: Scope<CustomerPlatform>,
  customers: readonly Customer[],
): Promise<readonly CustomerView[]> {
  const rows = await budgetedRows(scope, 'end_user', customers);
  return rows.map(({ row: customer, ...view }) => ({ customer, ...view }));
}

async function viewOf(scope: Scope<CustomerPlatform>, customer: Customer): Promise<CustomerView> {
  const [view] = await viewsOf(scope, [customer]);
  if (view === undefined) throw unknownCustomer(customer.id);
  return view;
}

/** A customer and its settings. */
export interface CustomerChange {
  readonly id: string;
  readonly patch: CustomerPatch;
  readonly budget: WantedBudget;
}

/** Creates a customer. Throws Conflict when the id is taken, and InvalidInput. */
export const createCustomer = operation({
  name: 'createCustomer',
  access: tenantAdmin,
  async run(scope: Scope<CustomerPlatform>, { id, patch, budget }: CustomerChange): Promise<CustomerView> {
    const { customers } = scope.platform.stores;
    if ((await customers.find(id)) !== null)
      throw new Conflict(`Customer already exists, passed user_id=${id}. Please pass a new user_id.`);
    const budgetId = await saveBudget(scope, budget, null);
    const customer = newCustomer({ ...patch, budgetId }, { ...authored(scope), id });
    await addWithBudgets(scope, createdBudgets(budget, budgetId), () => customers.add(customer));
    return viewOf(scope, customer);
  },
});

/** Reads a customer. Throws NotFound. */
export const getCustomer = operation({
  name: 'getCustomer',
  access: tenantViewer,
  async run(scope: Scope<CustomerPlatform>, { id }: { readonly id: string }): Promise<CustomerView> {
    const customer = await scope.platform.stores.customers.find(id);
    if (customer === null) throw unknownCustomer(id);
    return viewOf(scope, customer);
  },
});

/** Lists all customers, the oldest first. */
export const listCustomers = operation({
  name: 'listCustomers',
  access: tenantViewer,
  run: async (scope: Scope<CustomerPlatform>): Promise<readonly CustomerView[]> =>
    viewsOf(scope, await scope.platform.stores.customers.all({ ids: null })),
});

/** Changes a customer. Throws NotFound and InvalidInput. */
export const updateCustomer = operation({
  name: 'updateCustomer',
  access: tenantAdmin,
  async run(scope: Scope<CustomerPlatform>, { id, patch, budget }: CustomerChange): Promise<CustomerView> {
    const { customers } = scope.platform.stores;
    const authorship = authored(scope);
    const current = await customers.find(id);
    if (current === null) throw unknownCustomer(id);
    const done = await changeWithBudget(scope, customers, current, {
      wanted: budget,
      budgetOf: ({ budgetId }) => budgetId,
      change: (row, budgetId) => patchedCustomer(row, { ...patch, budgetId }, authorship),
    });
    if (done === null) throw unknownCustomer(id);
    return viewOf(scope, done.after);
  },
});

/**
 * Blocks or unblocks a customer. Blocking creates an unknown customer. Resolves to null when an unknown customer is
 * unblocked.
 */
async function setBlocked(
  { stores: { customers } }: Pick<CustomerPlatform, 'stores'>,
  { id, blocked }: { readonly id: string; readonly blocked: boolean },
  authorship: Authored,
): Promise<Customer | null> {
  const change = () => customers.change(id, (row) => patchedCustomer(row, { blocked }, authorship));
  const done = await change();
  if (done !== null) return done.after;
  if (!blocked) return null;
  const created = newCustomer({ blocked }, { ...authorship, id });
  try {
    await customers.add(created);
    return created;
  } catch (error) {
    if (!(error instanceof Conflict)) throw error;
    // Another request created the customer after the first attempt to change it.
    const changed = await change();
    if (changed === null) throw error;
    return changed.after;
  }
}

/**
 * Blocks or unblocks customers. Unknown customers are created when blocked, and ignored when unblocked. Returns the
 * changed customers.
 */
export const blockCustomers = operation({
  name: 'blockCustomers',
  access: tenantAdmin,
  async run(
    scope: Scope<CustomerPlatform>,
    { ids, blocked }: { readonly ids: readonly string[]; readonly blocked: boolean },
  ): Promise<readonly CustomerView[]> {
    const authorship = authored(scope);
    const changed: Customer[] = [];
    for (const id of new Set(ids)) {
      const customer = await setBlocked(scope.platform, { id, blocked }, authorship);
      if (customer !== null) changed.push(customer);
    }
    return viewsOf(scope, changed);
  },
});

/** Deletes customers. Returns their number. Throws NotFound for unknown ones, before any is deleted. */
export const deleteCustomers = operation({
  name: 'deleteCustomers',
  access: tenantAdmin,
  async run(scope: Scope<CustomerPlatform>, ids: readonly string[]): Promise<number> {
    const { customers } = scope.platform.stores;
    const known = new Set((await customers.findMany(ids)).map(({ id }) => id));
    const missing = ids.filter((id) => !known.has(id)).join(', ');
    if (missing !== '') throw new NotFound('customer', missing, `End User Id(s)=${missing} do not exist in db`);
    return (await customers.remove(ids)).length;
  },
});
