import { listBudgetPage } from '../resolvers/budgets.ts';
import { readGlobalSpend } from '../resolvers/spend.ts';
import { InvalidInput, type Issue } from '../src/domain/errors.ts';
import { usdNumber } from '../src/domain/money.ts';
import { renderBudget } from './limit-fields.ts';
import { integer, query } from './http/query.ts';
import { json, route, type RouteRow } from './http/route.ts';
import { merged, requiredParameters } from './http/schema.ts';

const MOST_USERS = 100_000;

const READING = {
  method: 'GET',
  surface: 'management',
  category: null,
  credential: 'required',
  answers: [200, 400, 401],
  failures: { body: 'problem' },
  bodyLimit: 0,
} as const;

const readPage = query({
  page: integer({ least: 1, otherwise: 1 }),
  page_size: integer({ least: 1, most: 500, otherwise: 50 }),
});

interface Page {
  readonly number: number;
  readonly size: number;
}

function pageIn(search: string): Page {
  const { page, page_size: size } = readPage(search);
  return { number: Number(page), size: Number(size) };
}

/** A page of a list with links to the others. Links keep the other parameters of the query. */
function renderPage<Row>(path: string, search: string, data: readonly Row[], total: number) {
  const { number, size } = pageIn(search);
  const last = Math.max(1, Math.ceil(total / size));
  const linkTo = (page: number): string => {
    const sent = new URLSearchParams(search);
    sent.set('page', String(page));
    return `${path}?${sent.toString()}`;
  };
  return {
    data,
    meta: { total_count: total, page: number, page_size: size, total_pages: Math.ceil(total / size) },
    links: {
      self: linkTo(number),
      first: linkTo(1),
      prev: number > 1 ? linkTo(Math.min(number - 1, last)) : null,
      next: number < last ? linkTo(number + 1) : null,
      last: linkTo(last),
    },
  };
}

const GTE = 'filter[startTime][gte]';
const LTE = 'filter[startTime][lte]';

/** The times of a query. Throws InvalidInput for those that are missing or no time. */
function timesIn(search: string): { readonly from: Date; readonly to: Date } {
  const sent = new URLSearchParams(search);
  const issues: Issue[] = [];
  const timeOf = (name: string): Date => {
    const text = sent.get(name);
    const time = new Date(text ?? Number.NaN);
    if (text === null) issues.push({ path: ['query', name], rule: 'missing', message: 'Field required' });
    else if (Number.isNaN(time.getTime()))
      issues.push({ path: ['query', name], rule: 'datetime_parsing', message: 'Input should be a valid datetime' });
    return time;
  };
  const [from, last] = [timeOf(GTE), timeOf(LTE)];
  if (issues.length > 0) throw new InvalidInput('The query is not valid.', issues);
  return { from, to: new Date(last.getTime() + 1) };
}

const USERS = '/management/v1/spend_logs/users';
const BUDGETS = '/management/v1/budgets';

/** Lists in pages with links. */
export const managementPageRoutes: readonly RouteRow[] = [
  route({
    ...READING,
    name: 'budgets.page',
    query: readPage.schema,
    paths: [BUDGETS],
    parse({ search }) {
      const { number, size } = pageIn(search);
      return { limit: size, from: Math.min((number - 1) * size, Number.MAX_SAFE_INTEGER) };
    },
    run: listBudgetPage,
    render: ({ budgets, totalCount }, { search }) =>
      json(renderPage(BUDGETS, search, budgets.map(renderBudget), totalCount)),
  }),
  route({
    ...READING,
    name: 'spend.userPage',
    query: merged(readPage, requiredParameters(GTE, LTE)),
    paths: [USERS],
    answers: [200, 400, 401],
    parse({ search }) {
      pageIn(search);
      return { filter: { ...timesIn(search), any: {} }, by: ['user'], limit: MOST_USERS } as const;
    },
    run: readGlobalSpend,
    render({ groups }, { search }) {
      const { number, size } = pageIn(search);
      const users = groups.filter(({ of }) => typeof of.user === 'string');
      const data = users.slice((number - 1) * size, number * size).map(({ of, cost, calls }) => ({
        user_id: of.user ?? '',
        total_spend: usdNumber(cost),
        request_count: calls,
      }));
      return json(renderPage(USERS, search, data, users.length));
    },
  }),
];
