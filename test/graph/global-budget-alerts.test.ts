import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type OwnerCalls, startOwnerCalls } from '../contract/owners/owner-calls.ts';
import { POLLING } from '../support/polling.ts';
import { BudgetAlertsDocument, SpendUpdatesDocument } from './generated/graphql.ts';
import { overEventStream } from './subscribers.ts';

let calls: OwnerCalls;

beforeAll(async () => {
  calls = await startOwnerCalls({ litellm_settings: { max_budget: 0 } });
});
afterAll(() => calls.stop());

it('budgetAlerts sends refusals by the budget of all calls and by a window of a team', async () => {
  await calls.manage('/team/new', { team_id: 'poor', budget_limits: [{ budget_duration: '1d', max_budget: 0 }] });
  const [keyWithoutTeam, keyOfTeam] = [await calls.newKey({}), await calls.newKey({ team_id: 'poor' })];
  const admin = overEventStream(`${calls.app.url}/graphql`, BudgetAlertsDocument, {}, calls.app.adminKey);
  const alert = (scope: string, ownerId: string, message: unknown) => ({
    data: { budgetAlerts: { kind: 'REFUSED', scope, ownerId, message } },
  });
  try {
    // Refuse calls only when the subscription of alerts is open: an alert without subscribers is not repeated for a
    // minute. The subscription of spend is opened later, so its first event shows that both are open.
    const spend = overEventStream(`${calls.app.url}/graphql`, SpendUpdatesDocument, {}, calls.app.adminKey);
    await vi.waitFor(async () => {
      await calls.chat(calls.app.adminKey, 'free');
      expect(spend.received).not.toEqual([]);
    }, POLLING);
    await spend.leave();
    expect((await calls.chat(keyWithoutTeam)).status).toBe(422);
    expect((await calls.chat(keyOfTeam)).status).toBe(422);
    await vi.waitFor(() => expect(admin.received).toHaveLength(2), POLLING);
    expect(admin.received).toMatchObject([
      alert('GLOBAL', 'global', 'Budget has been exceeded! Current cost: 0.0, Max budget: 0.0'),
      alert('TEAM_WINDOW', 'poor', expect.stringMatching(/^ExceededBudget: Team=poor over 1d budget\. /)),
    ]);
  } finally {
    await admin.leave();
  }
});
