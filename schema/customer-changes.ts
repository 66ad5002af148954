import { createBudget, deleteBudget, updateBudget } from '../resolvers/budgets.ts';
import {
  blockCustomers,
  createCustomer,
  type CustomerView,
  deleteCustomers,
  updateCustomer,
} from '../resolvers/customers.ts';
import type { CustomerPatch } from '../src/domain/customers/customer.ts';
import { Conflict, InvalidInput, NotFound } from '../src/domain/errors.ts';
import { builder, type InputFields } from './base/builder.ts';
import { localId, localIds } from './base/global-id.ts';
import { reloadOwnersAfter, DeletedOwnersType } from './base/owner-changes.ts';
import { limitsOf, OwnerLimitsInput } from './base/owner-limits.ts';
import { PERMISSION_INPUT, permissionOf } from './base/object-permission.ts';
import { BudgetType, CustomerType } from './base/refs.ts';

/** Fields of a new customer and of a change. */
const customerFields = (t: InputFields) => ({
  alias: t.string({ description: 'Display name; null removes it.' }),
  blocked: t.boolean({ description: 'Whether calls that name the customer are refused; null changes nothing.' }),
  defaultModel: t.string({
    description: 'Model of calls whose own model has no deployment in the region of the customer; null removes it.',
  }),
  limits: t.field({ type: OwnerLimitsInput, description: 'Budget and limits.' }),
  objectPermission: t.field({ type: 'JSON', description: PERMISSION_INPUT }),
  budgetId: t.id({
    description: 'Existing budget instead of `limits`: global id or local id. Both together are an error.',
  }),
});

const CreateCustomerInput = builder.inputType('CreateCustomerInput', {
  description: 'A new customer.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'Local id, as calls name it, e.g. in `user`.' }),
    ...customerFields(t),
  }),
});

const UpdateCustomerInput = builder.inputType('UpdateCustomerInput', {
  description: 'Changes to a customer. Absent fields stay as they are.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'Customer: global id or local id.' }),
    ...customerFields(t),
  }),
});

const CustomerIdsInput = builder.inputType('CustomerIdsInput', {
  description: 'Customers to block, unblock or delete.',
  fields: (t) => ({
    ids: t.idList({ required: true, description: 'Customers: global ids or local ids.' }),
  }),
});

const CreateBudgetInput = builder.inputType('CreateBudgetInput', {
  description: 'A new budget.',
  fields: (t) => ({
    id: t.id({ description: 'Local id; generated when absent.' }),
    limits: t.field({ type: OwnerLimitsInput, required: true, description: 'Budget and limits.' }),
    allowedModels: t.stringList({ description: 'Models that a team member with this budget may call; empty for all.' }),
  }),
});

const UpdateBudgetInput = builder.inputType('UpdateBudgetInput', {
  description: 'Changes to a budget. Absent fields stay as they are.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'Budget: global id or local id.' }),
    limits: t.field({ type: OwnerLimitsInput, description: 'Budget and limits.' }),
    allowedModels: t.stringList({ description: 'Models that a team member with this budget may call; empty for all.' }),
  }),
});

const DeleteBudgetInput = builder.inputType('DeleteBudgetInput', {
  description: 'A budget to delete.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'Budget: global id or local id.' }),
  }),
});

type Fields = Omit<typeof UpdateCustomerInput.$inferInput, 'id'>;

function patchOf({ alias, blocked, defaultModel, ...further }: Fields): CustomerPatch {
  return {
    ...(alias === undefined ? {} : { alias }),
    ...(blocked === undefined || blocked === null ? {} : { blocked }),
    ...(defaultModel === undefined ? {} : { defaultModel }),
    ...permissionOf(further),
  };
}

/** The budget of a customer: an existing one by its id, or limits of its own. */
const budgetOf = ({ budgetId, limits }: Fields) => ({
  budgetId: localId('Budget', budgetId ?? null),
  limits: limitsOf(limits),
});

const unknownBudget = (id: string): NotFound => new NotFound('budget', id, `Budget ${id} does not exist.`);

const BlockedCustomersType = builder.objectRef<readonly CustomerView[]>('BlockedCustomers').implement({
  description: 'Customers that were blocked or unblocked.',
  fields: (t) => ({
    customers: t.field({
      type: [CustomerType],
      description: 'The customers.',
      resolve: (views) => views.map(({ customer }) => customer),
    }),
  }),
});

builder.mutationFields((t) => ({
  createCustomer: t.field({
    type: CustomerType,
    description: 'Creates a customer. For proxy administrators.',
    args: { input: t.arg({ type: CreateCustomerInput, required: true, description: 'The new customer.' }) },
    errors: {
      types: [InvalidInput, Conflict],
      union: { name: 'CreateCustomerResult', description: 'The customer, or why it was not created.' },
    },
    resolve: async (_root, { input }, { scope }) => {
      const { id, ...fields } = input;
      const draft = { id, patch: patchOf(fields), budget: budgetOf(fields) };
      return (await reloadOwnersAfter(scope, createCustomer(scope, draft))).customer;
    },
  }),
  updateCustomer: t.field({
    type: CustomerType,
    description: 'Changes a customer. For proxy administrators.',
    args: { input: t.arg({ type: UpdateCustomerInput, required: true, description: 'The customer and its changes.' }) },
    errors: {
      types: [InvalidInput, NotFound],
      union: { name: 'UpdateCustomerResult', description: 'The changed customer, or why it was not changed.' },
    },
    resolve: async (_root, { input }, { scope }) => {
      const { id, ...fields } = input;
      const change = { id: localId('Customer', id), patch: patchOf(fields), budget: budgetOf(fields) };
      return (await reloadOwnersAfter(scope, updateCustomer(scope, change))).customer;
    },
  }),
  deleteCustomers: t.field({
    type: DeletedOwnersType,
    description: 'Deletes customers. For proxy administrators.',
    args: { input: t.arg({ type: CustomerIdsInput, required: true, description: 'The customers to delete.' }) },
    errors: {
      types: [InvalidInput, NotFound],
      union: { name: 'DeleteCustomersResult', description: 'The deleted customers, or why none was deleted.' },
    },
    resolve: async (_root, { input }, { scope }) => {
      const ids = localIds('Customer', input.ids);
      await reloadOwnersAfter(scope, deleteCustomers(scope, ids));
      return { ids };
    },
  }),
  blockCustomers: t.field({
    type: BlockedCustomersType,
    description: 'Blocks customers; unknown ones are created. For proxy administrators.',
    args: { input: t.arg({ type: CustomerIdsInput, required: true, description: 'The customers to block.' }) },
    errors: {
      types: [InvalidInput],
      union: { name: 'BlockCustomersResult', description: 'The blocked customers, or why none was blocked.' },
    },
    resolve: async (_root, { input }, { scope }) => {
      const change = { ids: localIds('Customer', input.ids), blocked: true };
      return await reloadOwnersAfter(scope, blockCustomers(scope, change));
    },
  }),
  unblockCustomers: t.field({
    type: BlockedCustomersType,
    description: 'Unblocks customers; unknown ones are ignored. For proxy administrators.',
    args: { input: t.arg({ type: CustomerIdsInput, required: true, description: 'The customers to unblock.' }) },
    errors: {
      types: [InvalidInput],
      union: { name: 'UnblockCustomersResult', description: 'The unblocked customers, or why none was unblocked.' },
    },
    resolve: async (_root, { input }, { scope }) => {
      const change = { ids: localIds('Customer', input.ids), blocked: false };
      return await reloadOwnersAfter(scope, blockCustomers(scope, change));
    },
  }),
  createBudget: t.field({
    type: BudgetType,
    description: 'Creates a budget that keys, members and other objects may refer to. For proxy administrators.',
    args: { input: t.arg({ type: CreateBudgetInput, required: true, description: 'The new budget.' }) },
    errors: {
      types: [InvalidInput, Conflict],
      union: { name: 'CreateBudgetResult', description: 'The budget, or why it was not created.' },
    },
    resolve: async (_root, { input }, { scope }) => {
      const { id, limits, allowedModels } = input;
      const patch = { ...limitsOf(limits), ...(allowedModels ? { allowedModels } : {}) };
      return await reloadOwnersAfter(scope, createBudget(scope, { id: id ?? null, patch }));
    },
  }),
  updateBudget: t.field({
    type: BudgetType,
    description: 'Changes a budget. For proxy administrators.',
    args: { input: t.arg({ type: UpdateBudgetInput, required: true, description: 'The budget and its changes.' }) },
    errors: {
      types: [InvalidInput, NotFound],
      union: { name: 'UpdateBudgetResult', description: 'The changed budget, or why it was not changed.' },
    },
    resolve: async (_root, { input }, { scope }) => {
      const id = localId('Budget', input.id);
      const { limits, allowedModels } = input;
      const patch = {
        ...limitsOf(limits),
        ...(allowedModels === undefined ? {} : { allowedModels: allowedModels ?? [] }),
      };
      const budget = await reloadOwnersAfter(scope, updateBudget(scope, { id, patch }));
      if (budget === null) throw unknownBudget(id);
      return budget;
    },
  }),
  deleteBudget: t.field({
    type: BudgetType,
    description: 'Deletes a budget. Objects that refer to it then have no limits. For proxy administrators.',
    args: { input: t.arg({ type: DeleteBudgetInput, required: true, description: 'The budget to delete.' }) },
    errors: {
      types: [InvalidInput, NotFound],
      union: { name: 'DeleteBudgetResult', description: 'The deleted budget, or why it was not deleted.' },
    },
    resolve: async (_root, { input }, { scope }) => {
      const id = localId('Budget', input.id);
      const budget = await reloadOwnersAfter(scope, deleteBudget(scope, { id }));
      if (budget === null) throw unknownBudget(id);
      return budget;
    },
  }),
}));
