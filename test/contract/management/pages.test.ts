import { expect, it } from 'vitest';
import { tenancyClient } from '../../support/tenancy-client.ts';

const { get, post } = tenancyClient();

const BUDGETS = '/management/v1/budgets';
const problem = (detail: string) => ({
  status: 400,
  body: { type: 'urn:litellm:error:invalid-query-parameter', title: 'Invalid query parameter', status: 400, detail },
});

it('budgets.page 200: budgets in pages, with links that keep the query', async () => {
  for (const id of ['b1', 'b2', 'b3']) await post('/budget/new', { budget_id: id });
  const { status, body } = await get(`${BUDGETS}?page=2&page_size=1`);
  expect([status, body]).toMatchObject([
    200,
    {
      data: [{ budget_id: 'b2' }],
      meta: { total_count: 3, page: 2, page_size: 1, total_pages: 3 },
      links: {
        self: `${BUDGETS}?page=2&page_size=1`,
        first: `${BUDGETS}?page=1&page_size=1`,
        prev: `${BUDGETS}?page=1&page_size=1`,
        next: `${BUDGETS}?page=3&page_size=1`,
        last: `${BUDGETS}?page=3&page_size=1`,
      },
    },
  ]);
});

it('budgets.page 400 and 401: an invalid page, and an unknown key', async () => {
  expect(await get(`${BUDGETS}?page=0`)).toEqual(problem('page: Input should be greater than or equal to 1'));
  expect((await get(BUDGETS, 'sk-unknown-000000000')).status).toBe(401);
});

it('spend.userPage 400: missing and invalid times', async () => {
  const path = '/management/v1/spend_logs/users';
  expect(await get(path)).toEqual(
    problem('filter[startTime][gte]: Field required; filter[startTime][lte]: Field required'),
  );
  expect(await get(`${path}?filter[startTime][gte]=x&filter[startTime][lte]=2026-01-01`)).toEqual(
    problem('filter[startTime][gte]: Input should be a valid datetime'),
  );
});
