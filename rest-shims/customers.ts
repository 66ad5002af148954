import {
  blockCustomers,
  createCustomer,
  type CustomerChange,
  type CustomerView,
  deleteCustomers,
  getCustomer,
  listCustomers,
  updateCustomer,
} from '../resolvers/customers.ts';
import { REGIONS } from '../src/domain/customers/customer.ts';
import { usdNumber } from '../src/domain/money.ts';
import {
  fields,
  flag,
  optional,
  members,
  oneOf,
  parseObject,
  requiredText,
  requiredTexts,
  text,
} from './helpers/http/body-fields.ts';
import { withIgnoredHeader } from './helpers/http/ignored-members.ts';
import { json, route, type RouteRow } from './helpers/http/route.ts';
import { renderPermission } from './helpers/answers/object-permission.ts';
import { renderBudgetTable } from './helpers/answers/limits.ts';
import { BUDGET_MEMBERS, budgetFrom, withoutUndefined } from './helpers/fields/limits.ts';
import { OBJECT_PERMISSION } from './helpers/fields/object-permission.ts';
import { merged, requiredParameters } from './helpers/http/schema.ts';
import { missingParameters } from './helpers/http/query.ts';
import { MANAGEMENT_CHANGE } from './helpers/http/row-facts.ts';

const readMembers = members({
  user_id: requiredText,
  alias: optional(text),
  blocked: optional(flag),
  allowed_model_region: optional(oneOf(REGIONS)),
  default_model: optional(text),
  budget_id: text,
  ...OBJECT_PERMISSION,
});

function parseChange(body: Uint8Array): CustomerChange {
  const input = parseObject(body);
  const values = readMembers(input);
  return {
    id: values.user_id,
    patch: withoutUndefined({
      alias: values.alias,
      blocked: values.blocked ?? undefined,
      allowedModelRegion: values.allowed_model_region,
      defaultModel: values.default_model,
      objectPermission: values.object_permission,
    }),
    budget: { budgetId: values.budget_id, limits: budgetFrom(input) },
  };
}

function parseCustomerId(search: string) {
  const id = new URLSearchParams(search).get('end_user_id');
  if (id !== null) return { id };
  throw missingParameters('end_user_id');
}

const renderCustomer = ({ customer, budget, spend }: CustomerView) => ({
  user_id: customer.id,
  blocked: customer.blocked,
  alias: customer.alias,
  spend: usdNumber(spend),
  allowed_model_region: customer.allowedModelRegion,
  default_model: customer.defaultModel,
  models: [],
  budget_id: customer.budgetId,
  litellm_budget_table: renderBudgetTable(budget),
  ...renderPermission(customer),
});

const CHANGING = {
  ...MANAGEMENT_CHANGE,
  statuses: [200, 400, 401, 403, 404, 422],
  failureForm: { body: 'named', param: 'user_id' },
} as const;
const READING = { ...CHANGING, method: 'GET', bodyLimit: 0 } as const;

const readIds = fields({ user_ids: requiredTexts });

const blockRow = (verb: 'block' | 'unblock'): RouteRow =>
  route({
    ...CHANGING,
    name: `customers.${verb}`,
    bodySchema: readIds.schema,
    paths: [`/customer/${verb}`, `/end_user/${verb}`],
    statuses: [200, 401, 403, 422],
    parse: ({ body }) => ({ ids: readIds(body).user_ids, blocked: verb === 'block' }),
    run: blockCustomers,
    render: (views) => json({ [verb === 'block' ? 'blocked_users' : 'unblocked_users']: views.map(renderCustomer) }),
  });

/** Customers: end users of client applications. */
export const customerRoutes: readonly RouteRow[] = withIgnoredHeader([
  route({
    ...CHANGING,
    name: 'customers.create',
    bodySchema: merged(readMembers, BUDGET_MEMBERS),
    paths: ['/customer/new', '/end_user/new'],
    statuses: [200, 400, 401, 403, 422],
    parse: ({ body }) => parseChange(body),
    run: createCustomer,
    render: (view) => json(renderCustomer(view)),
  }),
  route({
    ...READING,
    name: 'customers.info',
    querySchema: requiredParameters('end_user_id'),
    paths: ['/customer/info', '/end_user/info'],
    statuses: [200, 401, 404, 422],
    failureForm: { body: 'named', param: 'end_user_id' },
    parse: ({ search }) => parseCustomerId(search),
    run: getCustomer,
    render: (view) => json(renderCustomer(view)),
  }),
  route({
    ...READING,
    name: 'customers.list',
    paths: ['/customer/list', '/end_user/list'],
    statuses: [200, 401],
    parse: () => undefined,
    run: listCustomers,
    render: (views) => json(views.map(renderCustomer)),
  }),
  route({
    ...CHANGING,
    name: 'customers.update',
    bodySchema: merged(readMembers, BUDGET_MEMBERS),
    paths: ['/customer/update', '/end_user/update'],
    parse: ({ body }) => parseChange(body),
    run: updateCustomer,
    render: (view) => json(renderCustomer(view)),
  }),
  blockRow('block'),
  blockRow('unblock'),
  route({
    ...CHANGING,
    name: 'customers.delete',
    bodySchema: readIds.schema,
    paths: ['/customer/delete', '/end_user/delete'],
    statuses: [200, 401, 403, 404, 422],
    failureForm: { body: 'named', param: 'user_ids' },
    parse: ({ body }) => readIds(body).user_ids,
    run: deleteCustomers,
    render: (count, { body }) =>
      json({
        deleted_customers: count,
        message: `Successfully deleted customers with ids: ${readIds(body).user_ids.join(', ')}`,
      }),
  }),
]);
