import { afterAll, beforeAll, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { POLLING } from '../../support/polling.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { answerOf, configOver, lineFor, newKey, send, serveFiles, upload } from '../files/file-client.ts';

let app: TestApp;
let upstream: FaultServer;

beforeAll(async () => {
  upstream = await startFaultServer();
  const { general_settings, model_list } = configOver(upstream, { proxy_batch_polling_interval: 0 });
  const priced = model_list.map((entry) => ({
    ...entry,
    litellm_params: { ...entry.litellm_params, input_cost_per_token_batches: 0.01, output_cost_per_token_batches: 0 },
  }));
  app = await startApp({ config: { general_settings, model_list: priced } });
});
afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

/** Lines whose input costs more than the budget of the test. */
const LINES = `${lineFor('assistant')}\n`.repeat(2);

async function startBatch(key: string) {
  const { id } = await upload(app, { purpose: 'batch' }, { key, content: LINES });
  const body = JSON.stringify({ input_file_id: id, endpoint: '/v1/chat/completions', completion_window: '24h' });
  return await send(app, 'POST', '/v1/batches', { key, body });
}

it('batches.create 422: the input of open batches has used up the budget; a cancellation frees it', async () => {
  serveFiles(upstream);
  const key = await newKey(app, { max_budget: 0.01 });
  const first = await startBatch(key);
  expect(first.status).toBe(200);
  const { id } = (await first.json()) as { id: string };
  const [status, body] = await answerOf(await startBatch(key));
  expect([status, body]).toMatchObject([422, { error: { type: 'budget_exceeded' } }]);
  serveFiles(upstream, { status: 'cancelled' });
  expect((await send(app, 'POST', `/v1/batches/${id}/cancel`, { key })).status).toBe(200);
  serveFiles(upstream);
  await expect.poll(async () => (await startBatch(key)).status, POLLING).toBe(200);
});
