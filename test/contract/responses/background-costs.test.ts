import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ObjectUpstream, startObjectUpstream } from '../../support/object-upstream.ts';
import { POLLING } from '../../support/polling.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';

type Json = Readonly<Record<string, unknown>>;

let upstream: ObjectUpstream;
let app: TestApp;

const configOf = (pollingSeconds: number) => ({
  general_settings: { proxy_batch_polling_interval: pollingSeconds },
  model_list: [
    {
      model_name: 'tooled',
      litellm_params: {
        model: 'openai/tooled-1',
        api_base: `${upstream.url}/v1`,
        api_key: 'sk-object-account',
        input_cost_per_token: 0.001,
        output_cost_per_token: 0.01,
        input_cost_per_token_priority: 0.002,
        output_cost_per_token_priority: 0.02,
        search_context_cost_per_query: { search_context_size_medium: 0.5 },
        file_search_cost_per_1k_calls: 250,
        code_interpreter_cost_per_session: 0.125,
      },
    },
  ],
});

beforeAll(async () => {
  upstream = await startObjectUpstream();
  app = await startApp({ config: configOf(0) });
});
afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

const newKey = async (settings: Json = {}): Promise<string> =>
  String(((await (await app.call('POST', '/key/generate', settings)).json()) as Json)['key']);

/** Requests a response. Returns the status, and the id of the response or the error. */
async function respond(key: string, more: Json = {}): Promise<readonly [status: number, id: unknown]> {
  const answer = await fetch(`${app.url}/v1/responses`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'tooled', input: 'hello', background: true, max_output_tokens: 40, ...more }),
  });
  const body = (await answer.json()) as Json;
  return [answer.status, answer.status === 200 ? body['id'] : (body['error'] as Json)['type']];
}
const read = async (key: string, id: unknown): Promise<unknown> => {
  const headers = { authorization: `Bearer ${key}` };
  return ((await (await fetch(`${app.url}/v1/responses/${String(id)}`, { headers })).json()) as Json)['status'];
};
const USAGE = { input_tokens: 100, output_tokens: 10, total_tokens: 110 };
const end = (more: Json = {}): void =>
  upstream.update(upstream.ids().findLast((id) => id.startsWith('resp_')) ?? '', {
    status: 'completed',
    usage: USAGE,
    ...more,
  });

const rowsOf = async (key: string): Promise<readonly Json[]> =>
  (await (await app.call('GET', `/spend/logs?api_key=${key}&summarize=false`)).json()) as readonly Json[];
const costsOf = async (key: string): Promise<readonly unknown[]> =>
  (await rowsOf(key)).map(({ spend }) => spend).filter((spend) => spend !== 0);

it('charges the fees of tools and the service tier, as for an answer in the foreground', async () => {
  const key = await newKey();
  const [, id] = await respond(key);
  const output = [
    { type: 'web_search_call', id: 'w1', status: 'completed' },
    { type: 'web_search_call', id: 'w2', status: 'completed' },
    { type: 'file_search_call', id: 'f1', status: 'completed' },
    { type: 'code_interpreter_call', id: 'c1', container_id: 'cntr_1' },
    { type: 'code_interpreter_call', id: 'c2', container_id: 'cntr_1' },
  ];
  end({ service_tier: 'priority', output });
  expect(await read(key, id)).toBe('completed');
  // 100 and 10 tokens at the prices of the tier, two web searches, one file search and one container.
  await expect.poll(() => costsOf(key), POLLING).toEqual([0.4 + 1 + 0.25 + 0.125]);
});

it('holds the expected cost of an open response in the budget until it has ended', async () => {
  // 40 output tokens and the tokens of the request are expected to cost about 0.45.
  const key = await newKey({ max_budget: 1 });
  const opened = [];
  for (let count = 0; count < 5; count += 1) opened.push(await respond(key));
  expect(opened.map(([status]) => status)).toEqual([200, 200, 200, 422, 422]);
  expect(opened[3]?.[1]).toBe('budget_exceeded');
  const ids = upstream.ids().filter((id) => id.startsWith('resp_'));
  for (const id of ids.slice(-3)) upstream.update(id, { status: 'cancelled' });
  for (const [, id] of opened.slice(0, 3)) expect(await read(key, id)).toBe('cancelled');
  await expect.poll(async () => (await respond(key))[0], POLLING).toBe(200);
});

it('replaces the held cost by the actual one', async () => {
  const key = await newKey({ max_budget: 1 });
  for (let count = 0; count < 3; count += 1) {
    const [status, id] = await respond(key);
    expect(status).toBe(200);
    end();
    expect(await read(key, id)).toBe('completed');
    await expect.poll(() => costsOf(key), POLLING).toHaveLength(count + 1);
  }
  // The cost of 0.6 leaves room for one more response.
  await expect.poll(async () => (await respond(key))[0], POLLING).toBe(200);
});

it('holds the expected costs again after a restart, and charges the responses then', async () => {
  const key = await newKey({ max_budget: 1 });
  const opened = [];
  for (let count = 0; count < 3; count += 1) opened.push((await respond(key))[0]);
  expect(opened).toEqual([200, 200, 200]);
  const ids = upstream
    .ids()
    .filter((id) => id.startsWith('resp_'))
    .slice(-3);
  await app.stop({ keepData: true });
  app = await startApp({ config: configOf(0.2), dataDir: app.dataDir });
  expect(await respond(key)).toEqual([422, 'budget_exceeded']);
  for (const id of ids) upstream.update(id, { status: 'completed', usage: USAGE });
  await expect.poll(() => costsOf(key), POLLING).toEqual([0.2, 0.2, 0.2]);
  await expect.poll(async () => (await respond(key))[0], POLLING).toBe(200);
});
