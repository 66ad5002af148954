import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { answerOf, configOver, serveFiles, lineFor, newKey, send, upload } from '../files/file-client.ts';
import { spansIn } from '../inference/trace-spans.ts';

let app: TestApp;
let upstream: FaultServer;

beforeAll(async () => {
  upstream = await startFaultServer();
  // 0: no background task reads the batches.
  const config = configOver(upstream, { proxy_batch_polling_interval: 0 });
  const model_list = config.model_list.map((entry) => ({
    ...entry,
    litellm_params: { ...entry.litellm_params, ...PRICES[entry.model_name] },
  }));
  app = await startApp({ config: { ...config, model_list } });
});

afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

const PRICES: Readonly<Record<string, object>> = {
  assistant: { input_cost_per_token_batches: 0.5, output_cost_per_token_batches: 1 },
  second: { input_cost_per_token_batches: 0.125, output_cost_per_token_batches: 0.25 },
};
const BUDGET = { budget_limit: 5, time_period: '1d' };

const outputLine = (model: string, prompt_tokens: number, completion_tokens: number): string =>
  JSON.stringify({ response: { status_code: 200, body: { model, usage: { prompt_tokens, completion_tokens } } } });

/** The sum that the upstream reports, under the name of one model. */
const REPORTED_SUM = {
  status: 'completed',
  model: 'up-1',
  usage: { input_tokens: 40, output_tokens: 8, total_tokens: 48 },
};

/** Creates a batch with two lines of the model `assistant` and one of the model `second`. */
async function createBatch(key: string): Promise<string> {
  serveFiles(upstream);
  const content = [lineFor('assistant'), lineFor('second'), lineFor('assistant'), ''].join('\n');
  const { id: input_file_id } = await upload(app, { purpose: 'batch' }, { key, content });
  const body = JSON.stringify({ input_file_id, endpoint: '/v1/chat/completions', completion_window: '24h' });
  return ((await (await send(app, 'POST', '/v1/batches', { key, body })).json()) as { readonly id: string }).id;
}

/** Reads a batch that has ended with this state, and the content of its output file. */
async function readEnd(id: string, state: object, content: string): Promise<void> {
  serveFiles(upstream, { ...state, output_file_id: 'up-output' }, content);
  expect(await answerOf(await send(app, 'GET', `/v1/batches/${id}`))).toMatchObject([200, { status: 'completed' }]);
}

const recordsOf = async (id: string): Promise<unknown> => await spansIn(app, id.replace('batch_', ''));
const record = (model: string, costUsd: string, inputTokens: number, outputTokens: number): unknown =>
  expect.objectContaining({
    name: `batches.end ${model}`,
    spendRow: expect.objectContaining({
      modelGroup: model,
      costUsd,
      usage: expect.objectContaining({ inputTokens, outputTokens }) as unknown,
    }) as unknown,
  });

/** Output lines of the batch: upstreams report the exact versions of models. */
const OUTPUT = `${outputLine('up-1-2026', 10, 2)}\n${outputLine('up-2-2026', 24, 4)}\n${outputLine('up-1-2026', 6, 2)}\n`;

describe('a batch with lines of several models', () => {
  it.each([
    ['a reported sum and a readable output', REPORTED_SUM, OUTPUT],
    ['a readable output only', { status: 'completed' }, OUTPUT],
  ])('has a record for each model, from the lines of its output: %s', async (_case, state, content) => {
    const id = await createBatch(await newKey(app, {}));
    await readEnd(id, state, content);
    expect(await recordsOf(id)).toEqual([record('assistant', '12', 16, 4), record('second', '4', 24, 4)]);
    await send(app, 'GET', `/v1/batches/${id}`);
    expect(await recordsOf(id)).toHaveLength(2);
  });

  it('has no record while its output cannot be read, and a record for each model afterwards', async () => {
    const id = await createBatch(await newKey(app, {}));
    serveFiles(upstream, { ...REPORTED_SUM, output_file_id: 'up-output' }, null);
    await send(app, 'GET', `/v1/batches/${id}`);
    await readEnd(id, REPORTED_SUM, OUTPUT);
    expect(await recordsOf(id)).toEqual([record('assistant', '12', 16, 4), record('second', '4', 24, 4)]);
  });

  it('divides its reported sum among its models by the size of their lines, if its output has no usage', async () => {
    const id = await createBatch(await newKey(app, {}));
    await readEnd(id, REPORTED_SUM, 'no JSON');
    // The lines of `assistant` have 2 × 9 estimated tokens, and the line of `second` has 8. The sum is divided 18 to 8.
    expect(await recordsOf(id)).toEqual([record('assistant', '20', 28, 6), record('second', '2', 12, 2)]);
  });

  it('counts in the budgets that its key has for each model', async () => {
    const key = await newKey(app, { model_max_budget: { assistant: { ...BUDGET, budget_limit: 13 }, second: BUDGET } });
    const statusOf = async (model: string): Promise<number> => {
      const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'x' }], max_tokens: 1 });
      return (await send(app, 'POST', '/v1/chat/completions', { key, body })).status;
    };
    const endBatch = async (content: string): Promise<void> => {
      const id = await createBatch(key);
      await readEnd(id, REPORTED_SUM, content);
      // This read waits for the records.
      await recordsOf(id);
    };
    await endBatch(OUTPUT);
    // The batch used 12 of 13 USD for `assistant`, and 4 of 5 USD for `second`.
    expect([await statusOf('assistant'), await statusOf('second')]).not.toContain(422);
    // The second batch costs 8 × 0.125 = 1 USD, all for `second`.
    await endBatch(outputLine('up-2', 8, 0));
    expect(await statusOf('second')).toBe(422);
    expect(await statusOf('assistant')).not.toBe(422);
  });

  it('has a spend log row for each model, with the id of the batch as its request id', async () => {
    const key = await newKey(app, {});
    const id = await createBatch(key);
    await readEnd(id, REPORTED_SUM, OUTPUT);
    await recordsOf(id);
    const rows = (await (await send(app, 'GET', `/spend/logs?request_id=${id}`)).json()) as readonly object[];
    expect(rows).toHaveLength(2);
    expect(rows).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ request_id: id, model_group: 'assistant', spend: 12 }),
        expect.objectContaining({ request_id: id, model_group: 'second', spend: 4 }),
      ]),
    );
  });
});
