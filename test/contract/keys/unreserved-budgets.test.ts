import { afterEach, expect, it } from 'vitest';
import { type RoutedApp, startRouted } from '../routing/routed.ts';

let setup: RoutedApp | null = null;
afterEach(async () => {
  await setup?.stop();
  setup = null;
});

const PRICED = { input_cost_per_token: 0.001, output_cost_per_token: 0.001 };

/** Statuses of two calls at the same time, and of a later one, with a budget for less than one call. */
async function statusesWith(general_settings: object): Promise<readonly number[]> {
  const { ask, keyWith } = await startRouted(
    [{ up: 'up', params: PRICED }],
    { general_settings },
    { up: { delayMs: 300, tokens: 3 } },
  ).then((started) => (setup = started));
  const headers = await keyWith({ max_budget: 0.002 });
  const together = await Promise.all([ask({}, headers), ask({}, headers)]);
  const later = await ask({}, headers);
  return [...together.map(({ status }) => status).toSorted((one, other) => one - other), later.status];
}

it('without `disable_budget_reservation`, a budget refuses a call beside one that reserves it', async () => {
  expect(await statusesWith({})).toEqual([200, 422, 422]);
});

it('with `disable_budget_reservation`, a budget refuses calls once it is used up', async () => {
  expect(await statusesWith({ disable_budget_reservation: true })).toEqual([200, 200, 422]);
});
