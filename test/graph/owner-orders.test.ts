import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type OwnerCalls, startOwnerCalls } from '../contract/owners/owner-calls.ts';

interface Page {
  readonly totalCount: number;
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
  readonly nodes: readonly Readonly<Record<string, string>>[];
}

/**
 * A list field of Query. `orders` has the ids of its rows by order field, ascending. `filters` has the ids that match.
 */
interface List {
  readonly name: string;
  readonly noun: string;
  readonly id: string;
  readonly orders: Readonly<Record<string, readonly string[]>>;
  readonly filters: readonly (readonly [object, readonly string[]])[];
}

const LISTS: readonly List[] = [
  {
    name: 'teams',
    noun: 'Team',
    id: 'teamId',
    orders: { CREATED_AT: ['t1', 't2', 't3'], ALIAS: ['t2', 't3', 't1'] },
    filters: [
      [{ alias: 'ANT' }, ['t3']],
      [{ blocked: true }, ['t2']],
      [{ organizationId: 'o1', blocked: false }, ['t1']],
      [{ alias: ' ', organizationId: '' }, ['t3', 't2', 't1']],
    ],
  },
  {
    name: 'users',
    noun: 'User',
    id: 'userId',
    orders: { EMAIL: ['u3', 'u2', 'u1'], ALIAS: ['u2', 'u1', 'u3'], SPEND: ['u2', 'u3', 'u1'] },
    filters: [
      [{ email: 'Z@' }, ['u1']],
      [{ alias: 'b' }, ['u1']],
      [{ role: 'INTERNAL_USER', email: 'example' }, ['u2']],
    ],
  },
  {
    name: 'organizations',
    noun: 'Organization',
    id: 'organizationId',
    orders: { CREATED_AT: ['o1', 'o2'], ALIAS: ['o2', 'o1'] },
    filters: [[{ alias: 'acm' }, ['o2']]],
  },
  {
    name: 'projects',
    noun: 'Project',
    id: 'projectId',
    orders: { CREATED_AT: ['p1', 'p2', 'p3'], ALIAS: ['p3', 'p2', 'p1'] },
    filters: [
      [{ teamId: 't2' }, ['p3']],
      [{ alias: 'z', teamId: 't1' }, ['p1']],
      [{ blocked: true }, ['p2']],
    ],
  },
  {
    name: 'customers',
    noun: 'Customer',
    id: 'customerId',
    orders: { CREATED_AT: ['c1', 'c2'], CUSTOMER_ID: ['c1', 'c2'], ALIAS: ['c2', 'c1'] },
    filters: [
      [{ customerId: 'C1' }, ['c1']],
      [{ alias: 'x' }, ['c1']],
      [{ blocked: true }, ['c2']],
      [{ budgetId: 'none' }, []],
    ],
  },
  {
    name: 'budgets',
    noun: 'Budget',
    id: 'budgetId',
    orders: { BUDGET_ID: ['b-a', 'b-z'], CREATED_AT: ['b-z', 'b-a'] },
    filters: [[{ budgetId: 'B-A' }, ['b-a']]],
  },
];

let calls: OwnerCalls;

async function graph(query: string, variables: object = {}) {
  const headers = { authorization: `Bearer ${calls.app.adminKey}` };
  const answer = await calls.app.call('POST', '/graphql', { query, variables }, headers);
  return (await answer.json()) as {
    readonly data: Readonly<Record<string, Page>> | null;
    readonly errors?: readonly { readonly message: string; readonly extensions?: { readonly code: string } }[];
  };
}

const queryOf = ({ name, noun, id }: List): string => `
  query ($filter: ${noun}Filter, $orderBy: ${noun}Order, $first: Int, $after: String, $last: Int, $before: String) {
    list: ${name}(filter: $filter, orderBy: $orderBy, first: $first, after: $after, last: $last, before: $before) {
      totalCount pageInfo { hasNextPage endCursor } nodes { id: ${id} }
    }
  }`;

async function page(list: List, variables: object): Promise<Page> {
  const { data, errors } = await graph(queryOf(list), variables);
  if (!data?.['list']) throw new Error(JSON.stringify(errors));
  return data['list'];
}

const ids = ({ nodes }: Page): readonly string[] => nodes.map(({ id }) => id ?? '');
/** Ids of the rows of this test, without the server's own user. */
const rowsOfThisTest = (found: readonly string[]) => found.filter((id) => /^([tuopc]\d|b-[az])$/.test(id));

beforeAll(async () => {
  calls = await startOwnerCalls();
  const { manage } = calls;
  await manage('/budget/new', { budget_id: 'b-z', max_budget: 1 });
  await manage('/budget/new', { budget_id: 'b-a', max_budget: 1 });
  await manage('/organization/new', { organization_id: 'o1', organization_alias: 'Zeta', budget_id: 'b-z' });
  await manage('/organization/new', { organization_id: 'o2', organization_alias: 'Acme', budget_id: 'b-z' });
  await manage('/team/new', { team_id: 't1', team_alias: 'zebra', organization_id: 'o1' });
  await manage('/team/new', { team_id: 't2', blocked: true });
  await manage('/team/new', { team_id: 't3', team_alias: 'ant' });
  const user = { auto_create_key: false };
  await manage('/user/new', { ...user, user_id: 'u1', user_email: 'z@example.com', user_alias: 'b' });
  await manage('/user/new', { ...user, user_id: 'u2', user_email: 'a@example.com', user_role: 'internal_user' });
  await manage('/user/new', { ...user, user_id: 'u3', user_alias: 'c', user_role: 'internal_user' });
  await manage('/project/new', { project_id: 'p1', team_id: 't1', project_alias: 'z' });
  await manage('/project/new', { project_id: 'p2', team_id: 't1', project_alias: 'a', blocked: true });
  await manage('/project/new', { project_id: 'p3', team_id: 't2' });
  await manage('/customer/new', { user_id: 'c1', alias: 'x' });
  await manage('/customer/new', { user_id: 'c2', blocked: true });
  // Each call costs 1 USD.
  for (const user_id of ['u1', 'u3', 'u1']) await calls.chat(await calls.newKey({ user_id }));
  // Calls become spend rows in the background. This query waits until that is done; a list of users does not wait.
  await graph('{ spendRows(first: 1) { nodes { id } } }');
});
afterAll(() => calls.stop());

describe('users by spend', () => {
  const SPENDERS = `query ($after: String) {
    list: users(orderBy: { field: SPEND }, first: 1, after: $after) {
      totalCount pageInfo { hasNextPage endCursor } nodes { id: userId spendUsd totalSpendUsd }
    } }`;

  it('show their spend, in pages', async () => {
    const first = (await graph(SPENDERS)).data?.['list'];
    expect(first?.nodes).toEqual([{ id: 'u1', spendUsd: '2', totalSpendUsd: '2' }]);
    const second = (await graph(SPENDERS, { after: first?.pageInfo.endCursor })).data?.['list'];
    expect(second?.nodes).toEqual([{ id: 'u3', spendUsd: '1', totalSpendUsd: '1' }]);
  });

  // A cursor has the order, the length of the id, the id and the amount.
  it.each(['', '1.5', '1e3', ' 1', '0x1', '9'.repeat(31), "1'; drop table user --", '\0'])(
    'refuse a cursor with the amount %j',
    async (text) => {
      const after = Buffer.from(`spend:2:u1${text}`).toString('base64url');
      const { errors } = await graph(SPENDERS, { after });
      expect(errors).toMatchObject([{ message: 'Invalid cursor.', extensions: { code: 'INVALID_INPUT' } }]);
    },
  );

  it('have an empty page after a cursor whose amount is below every spend', async () => {
    const after = Buffer.from(`spend:2:u1-${'9'.repeat(30)}`).toString('base64url');
    expect((await graph(SPENDERS, { after })).data?.['list']?.nodes).toEqual([]);
  });
});

describe.each(LISTS)('$name', (list) => {
  it.each(Object.entries(list.orders))('are ordered by %s in both directions, in pages', async (field, expected) => {
    for (const direction of ['ASC', 'DESC']) {
      const orderBy = { field, direction };
      const found: string[] = [];
      let after: string | null = null;
      for (;;) {
        const current: Page = await page(list, { orderBy, first: 1, after });
        found.push(...ids(current));
        after = current.pageInfo.endCursor;
        if (!current.pageInfo.hasNextPage) break;
      }
      expect(rowsOfThisTest(found)).toEqual(direction === 'ASC' ? expected : expected.toReversed());
      const allRows = await page(list, { orderBy });
      expect(ids(allRows)).toEqual(found);
      expect(allRows.totalCount).toBe(found.length);
      expect(ids(await page(list, { orderBy, last: 2 }))).toEqual(found.slice(-2));
      expect(ids(await page(list, { orderBy, last: 100, before: after }))).toEqual(found.slice(0, -1));
    }
  });

  it.each(list.filters)('are filtered by %j', async (filter, expected) => {
    const found = await page(list, { filter });
    expect(rowsOfThisTest(ids(found))).toEqual(expected);
    expect(found.totalCount).toBe(ids(found).length);
  });

  it('refuse a cursor of another order, and a malformed cursor', async () => {
    const fields = Object.keys(list.orders).filter((field) => field !== 'CREATED_AT');
    const [field = ''] = fields;
    const cursorByCreation = (await page(list, { first: 1 })).pageInfo.endCursor;
    const cursorByField = (await page(list, { first: 1, orderBy: { field } })).pageInfo.endCursor;
    const texts = [
      '',
      'x',
      `${field.toLowerCase()}:0:`,
      `${field.toLowerCase()}:99:a`,
      'team_alias:1',
      '9'.repeat(300),
    ];
    const invalidVariables = [
      { orderBy: { field }, after: cursorByCreation },
      { orderBy: { field: 'CREATED_AT' }, after: cursorByField },
      { orderBy: { field }, before: cursorByCreation, last: 1 },
      ...texts.map((text) => ({ orderBy: { field }, after: Buffer.from(text).toString('base64url') })),
      { orderBy: { field }, after: '%%%' },
    ];
    for (const variables of invalidVariables) {
      const { data, errors } = await graph(queryOf(list), variables);
      expect({ data, message: errors?.[0]?.message, code: errors?.[0]?.extensions?.code }).toEqual({
        data: null,
        message: 'Invalid cursor.',
        code: 'INVALID_INPUT',
      });
    }
    expect(fields.length).toBeGreaterThan(0);
  });

  it('match no row for NUL, a lone surrogate, long text and SQL in the filter', async () => {
    const [filter] = list.filters[0] ?? [{}];
    const [key = ''] = Object.keys(filter);
    for (const text of ['\0', '\uD800', 'x'.repeat(10_000), "%' or 1=1 --"])
      expect(await page(list, { filter: { [key]: text } })).toMatchObject({ totalCount: 0, nodes: [] });
  });
});
