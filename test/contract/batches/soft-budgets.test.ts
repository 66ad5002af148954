import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { POLLING } from '../../support/polling.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { type Issuer, startIssuer, tokenEnvironment } from '../../support/token-issuer.ts';
import { answerOf, configOver, serveFiles, lineFor, newKey, send, upload } from '../files/file-client.ts';

let app: TestApp;
let upstream: FaultServer;
let webhook: FaultServer;
let issuer: Issuer;

beforeAll(async () => {
  [upstream, webhook, issuer] = await Promise.all([startFaultServer(), startFaultServer(), startIssuer(['ES256'])]);
  webhook.answer((response) => response.writeHead(204).end());
  const { general_settings, model_list } = configOver(upstream, {
    alert_to_webhook_url: { budget_alerts: `${webhook.url}/alerts` },
    enable_jwt_auth: true,
    litellm_jwtauth: { team_ids_jwt_field: 'teams', user_id_jwt_field: 'sub', user_id_upsert: true },
    // No background task reads the batches.
    proxy_batch_polling_interval: 0,
  });
  const priced = model_list.map((entry) => ({
    ...entry,
    litellm_params: { ...entry.litellm_params, output_cost_per_token_batches: 1 },
  }));
  app = await startApp({
    config: {
      general_settings,
      litellm_settings: { user_url_allowed_hosts: ['127.0.0.1'] },
      model_list: priced,
    },
    env: tokenEnvironment(issuer),
  });
});
afterAll(async () => {
  await app.stop();
  await Promise.all([upstream.stop(), webhook.stop(), issuer.stop()]);
});

/** End of a batch that costs 5 USD, which is above the soft budget. */
const ENDED = { status: 'completed', model: 'up-1', usage: { input_tokens: 0, output_tokens: 5, total_tokens: 5 } };
const SOFT_BUDGET = { soft_budget: 4 };

async function manage(path: string, draft: object): Promise<void> {
  const answer = await app.call('POST', path, draft);
  expect([path, answer.status]).toEqual([path, 200]);
}

/** Functions by alert group. Each creates a caller with no limit except a soft budget. */
const CALLERS: Readonly<
  Record<string, (id: string) => Promise<{ readonly key: string; readonly headers?: Record<string, string> }>>
> = {
  key: async () => ({ key: await newKey(app, SOFT_BUDGET) }),
  async team(team_id) {
    await manage('/team/new', { team_id, ...SOFT_BUDGET });
    return { key: await issuer.token({ sub: 'any', teams: [team_id] }, { alg: 'ES256' }) };
  },
  async internal_user(user_id) {
    await manage('/user/new', { user_id, auto_create_key: false, ...SOFT_BUDGET });
    return { key: await issuer.token({ sub: user_id }, { alg: 'ES256' }) };
  },
  async customer(user_id) {
    await manage('/customer/new', { user_id, ...SOFT_BUDGET });
    return { key: await newKey(app, {}), headers: { 'x-litellm-customer-id': user_id } };
  },
};

/** Event and group of each alert, in the order of arrival. */
const alerts = (): readonly unknown[] =>
  webhook.received.map(({ body }) => {
    const { event, event_group } = JSON.parse(body) as { event: string; event_group: string };
    return [event, event_group];
  });

it.each(Object.entries(CALLERS))(
  'two batches, each above the soft budget of their %s, send one alert in total',
  async (group, create) => {
    const { key, headers = {} } = await create(`soft-${group}`);
    const content = `${lineFor('assistant')}\n`;
    const alertsBefore = webhook.received.length;
    for (const batchNumber of [1, 2]) {
      serveFiles(upstream);
      // oxlint-disable-next-line no-await-in-loop -- one batch after the other
      const { id: input_file_id } = await upload(app, { purpose: 'batch' }, { key, content });
      const body = JSON.stringify({ input_file_id, endpoint: '/v1/chat/completions', completion_window: '24h' });
      // oxlint-disable-next-line no-await-in-loop -- as above
      const creation = await answerOf(await send(app, 'POST', '/v1/batches', { key, body, headers }));
      expect([batchNumber, creation[0]]).toEqual([batchNumber, 200]);
      serveFiles(upstream, ENDED);
      const { id } = creation[1] as { readonly id: string };
      // oxlint-disable-next-line no-await-in-loop -- as above
      expect((await send(app, 'GET', `/v1/batches/${id}`)).status).toBe(200);
    }
    await vi.waitFor(() => expect(alerts().slice(alertsBefore)).not.toEqual([]), POLLING);
    expect(alerts().slice(alertsBefore)).toEqual([['soft_budget_crossed', group]]);
  },
);
