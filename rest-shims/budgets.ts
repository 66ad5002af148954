import type { JsonObject } from '../src/domain/json-object.ts';
import {
  createBudget,
  deleteBudget,
  getBudgets,
  listBudgetPage,
  listBudgets,
  updateBudget,
} from '../resolvers/budgets.ts';
import type { Budget } from '../src/domain/budgets/budget.ts';
import { InvalidInput } from '../src/domain/errors.ts';
import { nullIfBlank } from '../src/domain/optional-text.ts';
import { fields, members, parseObject, requiredText, requiredTexts, text } from './helpers/http/body-fields.ts';
import { withIgnoredHeader } from './helpers/http/ignored-members.ts';
import { linkedPageIn, readLinkedPage, renderLinkedPage } from './helpers/http/linked-pages.ts';
import { json, route, type RouteRow } from './helpers/http/route.ts';
import { renderBudget } from './helpers/answers/limits.ts';
import { BUDGET_MEMBERS, budgetFrom } from './helpers/fields/limits.ts';
import { merged, objectSchema, textParameters } from './helpers/http/schema.ts';
import { rowsBefore } from './helpers/http/query.ts';
import { MANAGEMENT_CHANGE } from './helpers/http/row-facts.ts';

const readBudgetId = members({ budget_id: text });
const readIds = fields({ budgets: requiredTexts });
const readDeleted = fields({ id: requiredText });

/** Fields in the form of a budget, for `/budget/settings`: name, type and description. */
const SETTINGS = [
  ['max_budget', 'Float', 'Requests will fail if this budget (in USD) is exceeded.'],
  ['soft_budget', 'Float', 'Requests will NOT fail if this is exceeded. Will fire alerting though.'],
  ['max_parallel_requests', 'Integer', 'Max concurrent requests allowed for this budget id.'],
  ['tpm_limit', 'Integer', 'Max tokens per minute allowed for this budget id.'],
  ['rpm_limit', 'Integer', 'Max requests per minute allowed for this budget id.'],
  ['budget_duration', 'String', 'How often the spend is reset, e.g. 1d.'],
  ['model_max_budget', 'Object', 'Budgets of single models.'],
] as const;

function renderSettings(budget: Budget | undefined) {
  const values = (budget === undefined ? {} : renderBudget(budget)) as JsonObject;
  return SETTINGS.map(([name, type, description]) => ({
    field_name: name,
    field_type: type,
    field_description: description,
    field_value: values[name] ?? null,
    stored_in_db: budget !== undefined,
    field_default_value: null,
    premium_field: false,
    nested_fields: null,
    field_options: null,
    field_tab: null,
    source: 'unset',
    editable: true,
  }));
}

const ROW = {
  ...MANAGEMENT_CHANGE,
  statuses: [200, 400, 401, 403, 422],
  failureForm: { body: 'detail' },
} as const;
const READING = { ...ROW, method: 'GET', statuses: [200, 401], bodyLimit: 0 } as const;

const PAGE_PATH = '/management/v1/budgets';

const renderBudgetOrNull = (budget: Budget | null) => (budget === null ? null : renderBudget(budget));

/** Budgets that keys, teams and other rows share. */
export const budgetRoutes: readonly RouteRow[] = withIgnoredHeader([
  route({
    ...ROW,
    name: 'budgets.create',
    bodySchema: merged(readBudgetId, BUDGET_MEMBERS),
    paths: ['/budget/new'],
    parse({ body }) {
      const input = parseObject(body);
      return { id: readBudgetId(input).budget_id, patch: budgetFrom(input) };
    },
    run: createBudget,
    render: (budget) => json(renderBudget(budget)),
  }),
  route({
    ...ROW,
    name: 'budgets.info',
    bodySchema: readIds.schema,
    paths: ['/budget/info'],
    statuses: [200, 400, 401, 422],
    parse({ body }) {
      const { budgets: ids } = readIds(body);
      if (ids.length === 0) throw new InvalidInput('Specify list of budget ids to query.');
      return ids;
    },
    run: getBudgets,
    render: (budgets) => json(budgets.map(renderBudget)),
  }),
  route({
    ...READING,
    name: 'budgets.settings',
    querySchema: textParameters('budget_id'),
    paths: ['/budget/settings'],
    parse: ({ search }) => [new URLSearchParams(search).get('budget_id') ?? ''],
    run: getBudgets,
    // For an absent or unknown id there is no budget, and all values are null.
    render: (budgets) => json(renderSettings(budgets[0])),
  }),
  route({
    ...READING,
    name: 'budgets.list',
    paths: ['/budget/list'],
    parse: () => undefined,
    run: listBudgets,
    render: (budgets) => json(budgets.map(renderBudget)),
  }),
  route({
    ...READING,
    name: 'budgets.page',
    querySchema: readLinkedPage.schema,
    paths: [PAGE_PATH],
    statuses: [200, 400, 401],
    failureForm: { body: 'problem' },
    parse({ search }) {
      const { number, size } = linkedPageIn(search);
      return { limit: size, from: rowsBefore(number, size) };
    },
    run: listBudgetPage,
    render: ({ budgets, totalCount }, { search }) =>
      json(renderLinkedPage(PAGE_PATH, search, budgets.map(renderBudget), totalCount)),
  }),
  route({
    ...ROW,
    name: 'budgets.update',
    bodySchema: merged(BUDGET_MEMBERS, objectSchema({ budget_id: { type: 'string' } }, ['budget_id'])),
    paths: ['/budget/update'],
    parse({ body }) {
      const input = parseObject(body);
      const id = nullIfBlank(readBudgetId(input).budget_id);
      if (id === null) throw new InvalidInput('budget_id is required');
      return { id, patch: budgetFrom(input) };
    },
    run: updateBudget,
    render: (budget) => json(renderBudgetOrNull(budget)),
  }),
  route({
    ...ROW,
    name: 'budgets.delete',
    bodySchema: readDeleted.schema,
    paths: ['/budget/delete'],
    statuses: [200, 401, 403, 422],
    parse: ({ body }) => ({ id: readDeleted(body).id }),
    run: deleteBudget,
    render: (budget) => json(renderBudgetOrNull(budget)),
  }),
]);
