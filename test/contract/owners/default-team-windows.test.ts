import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Json } from '../../support/tenancy-client.ts';
import { type OwnerCalls, startOwnerCalls } from './owner-calls.ts';

let calls: OwnerCalls;
beforeAll(async () => {
  calls = await startOwnerCalls({ general_settings: { store_model_in_db: true } });
});
afterAll(() => calls.stop());

async function update(budget_limits: unknown) {
  const answer = await calls.app.call('PATCH', '/update/default_team_settings', { budget_limits });
  return { status: answer.status, body: (await answer.json()) as Json };
}
const windowsOf = async (draft: object) => (await calls.manage('/team/new', draft))['budget_limits'];
const nextMidnight = (): string => new Date(new Date().setUTCHours(24, 0, 0, 0)).toISOString();

it('the default budget windows apply to new teams that set no windows', async () => {
  const day = { budget_duration: '1d', max_budget: 1 };
  expect(await update([day])).toMatchObject({ status: 200, body: { settings: { budget_limits: [day] } } });
  expect(await windowsOf({ team_id: 'defaulted' })).toEqual([{ ...day, reset_at: nextMidnight() }]);
  const key = await calls.newKey({ team_id: 'defaulted' });
  expect((await calls.chat(key)).status).toBe(200);
  expect(await calls.chat(key)).toMatchObject({
    status: 422,
    body: {
      error: {
        message: expect.stringContaining('ExceededBudget: Team=defaulted over 1d budget. Spend=$1.0000, Limit=$1.00'),
        type: 'budget_exceeded',
        param: null,
        code: '422',
      },
    },
  });
  const month = { budget_duration: '30d', max_budget: 2.5 };
  expect(await windowsOf({ budget_limits: [month] })).toMatchObject([month]);
  expect(await windowsOf({ budget_limits: null })).toBeNull();
  expect(await windowsOf({ budget_limits: [] })).toBeNull();
});

it.each([
  [{ budget_duration: '1d', max_budget: 1 }],
  [['1d']],
  [[{ budget_duration: '1d' }]],
  [[{ max_budget: 1 }]],
  [[{ budget_duration: 'long', max_budget: 1 }]],
  [[{ budget_duration: '1d', max_budget: -1 }]],
  [[{ budget_duration: '1d', max_budget: 'much' }]],
  [[{ budget_duration: '1d', max_budget: null }]],
  [Array.from({ length: 33 }, (_, index) => ({ budget_duration: `${index + 1}h`, max_budget: 1 }))],
])('422: an invalid list of budget windows is not stored: case %#', async (budgetLimits) => {
  expect((await update([])).status).toBe(200);
  expect(await update(budgetLimits)).toEqual({
    status: 422,
    body: {
      detail: [
        {
          type: 'value_error',
          loc: ['body', 'budget_limits'],
          msg: 'Value error, expected a list of at most 32 budgets such as {"budget_duration": "1d", "max_budget": 5}',
        },
      ],
    },
  });
  expect(await windowsOf({})).toBeNull();
});
