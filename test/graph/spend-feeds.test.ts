import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type OwnerCalls, startOwnerCalls } from '../contract/owners/owner-calls.ts';
import { BudgetAlertsDocument, SpendUpdatesDocument } from './generated/graphql.ts';
import { overEventStream } from './subscribers.ts';
import { POLLING } from '../support/polling.ts';

let calls: OwnerCalls;

beforeAll(async () => {
  calls = await startOwnerCalls();
});
afterAll(() => calls.stop());

type Follower = ReturnType<typeof overEventStream>;
const spendOf = (key: string): Follower => overEventStream(`${calls.app.url}/graphql`, SpendUpdatesDocument, {}, key);
const alertsOf = (key: string): Follower => overEventStream(`${calls.app.url}/graphql`, BudgetAlertsDocument, {}, key);

/** Repeats a call until all subscribers have received an event. */
async function untilReceived(followers: readonly Follower[], call: () => Promise<unknown>): Promise<void> {
  await vi.waitFor(async () => {
    await call();
    if (followers.some(({ received }) => received.length === 0)) throw new Error('No update yet.');
  }, POLLING);
}

it('spendUpdates sends calls to callers that may read them, with the owners that they may read', async () => {
  for (const user_id of ['ada', 'bob']) await calls.manage('/user/new', { user_id, auto_create_key: false });
  const [adaKey, bobKey] = [
    await calls.newKey({ team_id: 'crew', user_id: 'ada' }),
    await calls.newKey({ team_id: 'crew', user_id: 'bob' }),
  ];
  const loneKey = await calls.newKey({});
  const [admin, ofAda, ofBob, ofLoneKey] = [calls.app.adminKey, adaKey, bobKey, loneKey].map((key) => spendOf(key)) as [
    Follower,
    Follower,
    Follower,
    Follower,
  ];
  try {
    await untilReceived([admin, ofAda, ofBob], () => calls.chat(adaKey));
    const row = { modelGroup: 'priced', costUsd: '1', user: { userId: 'ada' } };
    const update = (spendRow: object) => ({ data: { spendUpdates: { droppedUpdates: 0, row: spendRow } } });
    expect([admin.received[0], ofAda.received[0], ofBob.received[0]]).toMatchObject([
      update(row),
      update(row),
      update({ ...row, user: null }),
    ]);
    await untilReceived([ofLoneKey], () => calls.chat(loneKey, 'free'));
    expect(ofLoneKey.received[0]).toMatchObject(update({ modelGroup: 'free', costUsd: '0', user: null }));
    expect(JSON.stringify([ofAda.received, ofBob.received])).not.toContain('free');
  } finally {
    for (const follower of [admin, ofAda, ofBob, ofLoneKey]) await follower.leave();
  }
});

it('budgetAlerts sends administrators one alert about a budget that refuses calls, and is refused for other callers', async () => {
  await calls.manage('/team/new', { team_id: 'poor', max_budget: 0 });
  const key = await calls.newKey({ team_id: 'poor' });
  const admin = alertsOf(calls.app.adminKey);
  const user = alertsOf(key);
  try {
    // Wait for the subscriptions to alerts: an alert without subscribers is not repeated for a minute. They were begun
    // before this one, so an update here shows that they are open.
    const spend = spendOf(calls.app.adminKey);
    await untilReceived([spend], () => calls.chat(calls.app.adminKey));
    await spend.leave();
    expect((await calls.chat(key)).status).toBe(422);
    expect((await calls.chat(key)).status).toBe(422);
    await vi.waitFor(() => expect(admin.received).not.toEqual([]), POLLING);
    expect(admin.received).toMatchObject([
      {
        data: {
          budgetAlerts: {
            scope: 'TEAM',
            ownerId: 'poor',
            message: 'Budget has been exceeded! Team=poor Current cost: 0.0, Max budget: 0.0',
            keyHash: expect.stringMatching(/^[0-9a-f]{64}$/) as unknown,
            droppedUpdates: 0,
          },
        },
      },
    ]);
    await user.ended;
    expect(user.received).toMatchObject([{ errors: [{ extensions: { code: 'FORBIDDEN' } }] }]);
  } finally {
    for (const follower of [admin, user]) await follower.leave();
  }
});
