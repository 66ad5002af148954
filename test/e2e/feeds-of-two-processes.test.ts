import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { BudgetAlertsDocument, SpendUpdatesDocument, TraceUpdatesDocument } from '../graph/generated/graphql.ts';
import { overEventStream } from '../graph/subscribers.ts';
import { withinASecond } from '../support/within-a-second.ts';
import type { TestApp } from '../support/start-app.ts';
import { LACKS_POSTGRESQL, startTwoApps, type TwoApps } from '../support/two-apps.ts';

const ADMIN = 'sk-the-admin-of-two-processes-4';
const SOON = { timeout: 60_000, interval: 100 };

describe.skipIf(LACKS_POSTGRESQL)('live feeds of two processes', () => {
  let two: TwoApps;
  let here: TestApp;
  let there: TestApp;
  beforeAll(async () => {
    // No budget refuses a call of a free model such as `demo`. `away` has a price, and no upstream.
    const away = { model: 'openai/gpt-4o', api_base: 'http://127.0.0.1:1/v1', api_key: 'k' };
    const config = {
      model_list: [
        { model_name: 'demo', litellm_params: { model: 'demo' } },
        { model_name: 'away', litellm_params: away },
      ],
    };
    two = await startTwoApps(ADMIN, { config });
    ({ here, there } = two);
  });
  afterAll(() => two.stop());

  const chat = (key = ADMIN, model = 'demo') =>
    here.call(
      'POST',
      '/v1/chat/completions',
      { model, messages: [{ role: 'user', content: 'hi' }] },
      { authorization: `Bearer ${key}` },
    );

  it('show traces of the other process, and its calls and refusals within a second', async () => {
    const url = `${there.url}/graphql`;
    const traces = overEventStream(url, TraceUpdatesDocument, {}, ADMIN);
    const spend = overEventStream(url, SpendUpdatesDocument, {}, ADMIN);
    const alerts = overEventStream(url, BudgetAlertsDocument, {}, ADMIN);
    try {
      // `here` sends events of all kinds after it has learned that `there` has any subscriber. Calls are repeated until
      // then.
      await vi.waitFor(async () => {
        expect((await chat()).status).toBe(200);
        expect([traces.received.length > 0, spend.received.length > 0]).toEqual([true, true]);
      }, SOON);
      await here.call('POST', '/team/new', { team_id: 'poor', max_budget: 0 });
      const made = await here.call('POST', '/key/generate', { team_id: 'poor' });
      const { key } = (await made.json()) as { key: string };
      expect((await chat(key, 'away')).status).toBe(422);
      await withinASecond(() => expect(alerts.received).toHaveLength(1));
      expect(alerts.received).toMatchObject([
        {
          data: {
            budgetAlerts: {
              scope: 'TEAM',
              ownerId: 'poor',
              message: 'Budget has been exceeded! Team=poor Current cost: 0.0, Max budget: 0.0',
            },
          },
        },
      ]);
      expect(traces.received[0]).toMatchObject({ data: { traceUpdates: { trace: { spanCount: 1 } } } });
      expect(spend.received[0]).toMatchObject({ data: { spendUpdates: { row: { modelGroup: 'demo' } } } });
      const before = spend.received.length;
      expect((await chat()).status).toBe(200);
      await withinASecond(() => expect(spend.received.length).toBeGreaterThan(before));
      expect(JSON.stringify([traces.received, spend.received, alerts.received])).not.toContain(key);
    } finally {
      for (const follower of [traces, spend, alerts]) await follower.leave();
    }
  });
});
