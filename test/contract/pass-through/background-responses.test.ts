import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { POLLING } from '../../support/polling.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { newTrace, spansIn } from '../inference/trace-spans.ts';
import { newKey, sendAs } from './targets.ts';

let app: TestApp;
let target: FaultServer;
let key: string;

beforeAll(async () => {
  target = await startFaultServer();
  app = await startApp({
    config: { general_settings: { provider_passthrough_cost_per_request: 0.25 } },
    env: { OPENAI_API_BASE: target.url, OPENAI_API_KEY: 'k' },
  });
  key = await newKey(app);
});
afterAll(async () => {
  await app.stop();
  await target.stop();
});

const QUEUED = { id: 'resp_1', object: 'response', model: 'own-model', status: 'queued', background: true, output: [] };
const CREATED = `data: ${JSON.stringify({ type: 'response.created', response: QUEUED })}\n\n`;

it.each([
  ['complete', 'application/json', JSON.stringify(QUEUED)],
  ['streamed', 'text/event-stream', CREATED],
])(
  'a forwarded response in the background costs what a call of unknown cost costs: %s',
  async (_kind, type, answer) => {
    target.answer((response) => {
      response.writeHead(200, { 'content-type': type });
      response.end(answer);
    });
    const { traceId, headers } = newTrace();
    const sent = await sendAs(app, key, {
      method: 'POST',
      path: '/openai_passthrough/v1/responses',
      body: JSON.stringify({ model: 'own-model', input: 'x', background: true }),
      headers: { ...headers, 'content-type': 'application/json' },
    });
    expect(await sent.text()).toBe(answer);
    const [span] = (await vi.waitFor(() => spansIn(app, traceId), POLLING)) as readonly { readonly spendRow: object }[];
    expect(span?.spendRow).toMatchObject({ costUsd: '0.25' });
  },
);
