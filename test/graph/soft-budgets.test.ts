import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type OwnerCalls, startOwnerCalls } from '../contract/owners/owner-calls.ts';
import { type FaultServer, startFaultServer } from '../support/fault-server.ts';
import { BudgetAlertsDocument } from './generated/graphql.ts';
import { overEventStream } from './subscribers.ts';
import { POLLING } from '../support/polling.ts';

let calls: OwnerCalls;
let webhook: FaultServer;

beforeAll(async () => {
  webhook = await startFaultServer();
  webhook.answer((response) => response.writeHead(204).end());
  calls = await startOwnerCalls({
    general_settings: { alert_to_webhook_url: { budget_alerts: `${webhook.url}/hooks/secret` } },
    litellm_settings: { user_url_allowed_hosts: ['127.0.0.1'] },
  });
});
afterAll(async () => {
  await calls.stop();
  await webhook.stop();
});

/** Functions by scope. Each creates a caller with no limit except a soft budget. */
const SCOPES: Readonly<Record<string, (id: string, budget: object) => Promise<{ key: string; fields?: object }>>> = {
  KEY: async (id, softBudget) => ({ key: await calls.newKey({ key_alias: id, ...softBudget }) }),
  async TEAM(team_id, softBudget) {
    await calls.manage('/team/new', { team_id, ...softBudget });
    return { key: await calls.newKey({ team_id }) };
  },
  async USER(user_id, softBudget) {
    await calls.manage('/user/new', { user_id, auto_create_key: false, ...softBudget });
    return { key: await calls.newKey({ user_id }) };
  },
  async ORGANIZATION(organization_id, softBudget) {
    await calls.manage('/organization/new', { organization_id, organization_alias: organization_id, ...softBudget });
    return { key: await calls.newKey({ organization_id }) };
  },
  async TAG(name, softBudget) {
    await calls.manage('/budget/new', { budget_id: 'of-tag', ...softBudget });
    await calls.manage('/tag/new', { name, budget_id: 'of-tag' });
    return { key: await calls.newKey({}), fields: { tags: [name] } };
  },
  async END_USER(user_id, softBudget) {
    await calls.manage('/customer/new', { user_id, ...softBudget });
    return { key: await calls.newKey({}), fields: { user: user_id } };
  },
};

it.each(Object.entries(SCOPES))(
  'a crossed soft budget sends one alert to subscribers and one to the webhook, and refuses no call: %s',
  async (scope, create) => {
    const { key, fields } = await create(`soft-${scope.toLowerCase()}`, { soft_budget: 1.5 });
    const refusing = await calls.newKey({ key_alias: `refusing ${scope}`, max_budget: 0 });
    const follower = overEventStream(`${calls.app.url}/graphql`, BudgetAlertsDocument, {}, calls.app.adminKey);
    const alerts = () =>
      follower.received.flatMap((update) => {
        const { data } = update as { data?: { budgetAlerts?: { kind: string; message: string; scope: string } } };
        return data?.budgetAlerts?.kind === 'SOFT_BUDGET' ? [data.budgetAlerts] : [];
      });
    const chatStatus = async (callerKey: string, overrides: object = {}) => {
      const body = { model: 'priced', messages: [{ role: 'user', content: 'hi' }], max_tokens: 1, ...overrides };
      return (await calls.app.call('POST', '/v1/chat/completions', body, { authorization: `Bearer ${callerKey}` }))
        .status;
    };
    try {
      // Wait for the subscription: an alert without subscribers is not repeated for a minute.
      await vi.waitFor(async () => {
        const refusedKey = await calls.newKey({ max_budget: 0 });
        expect(await chatStatus(refusedKey)).toBe(422);
        expect(follower.received).not.toEqual([]);
      }, POLLING);
      // Each call costs 1 USD.
      for (let call = 0; call < 4; call += 1) expect(await chatStatus(key, fields)).toBe(200);
      await vi.waitFor(() => expect(alerts()).not.toEqual([]), POLLING);
      expect(await chatStatus(key, fields)).toBe(200);
      // Alerts arrive in order: this refusal comes after all alerts of earlier calls.
      expect(await chatStatus(refusing)).toBe(422);
      await vi.waitFor(() => expect(JSON.stringify(follower.received)).toContain(`refusing ${scope}`), POLLING);
      expect(alerts()).toMatchObject([
        {
          scope,
          message: expect.stringMatching(/^Soft budget has been crossed! .*Current cost: \d\.0, Soft budget: 1\.5$/),
        },
      ]);
      const webhookEvents = () =>
        webhook.received.map(({ body }) => JSON.parse(body) as { event: string; scope: string });
      await vi.waitFor(() => expect(JSON.stringify(webhookEvents())).toContain(`refusing ${scope}`), POLLING);
      expect(
        webhookEvents().filter((alert) => alert.event === 'soft_budget_crossed' && alert.scope === scope.toLowerCase()),
      ).toHaveLength(1);
    } finally {
      await follower.leave();
    }
  },
);

it('settings do not show the address of the webhook', async () => {
  const answer = await calls.app.call('GET', '/config/field/info?field_name=alert_to_webhook_url');
  expect(await answer.text()).not.toContain('hooks/secret');
  const list = await calls.app.call('GET', '/config/list?config_type=general_settings');
  expect(await list.text()).not.toContain('hooks/secret');
});
