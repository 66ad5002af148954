import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { answerOf, formOf, lineFor, newKey, send } from '../files/file-client.ts';
import { spansIn } from '../inference/trace-spans.ts';

/** Azure account. Batches report no usage unless a test adds usage. */
let azure: FaultServer;
let app: TestApp;
/** Members of a batch in the next answers of the account. */
let batch: object;
/** Next answer of the account with the content of an output file. */
let output: { readonly status: number; readonly body: string };

const VERSION = 'api-version=2025-03-01-preview';
const RUNNING = { status: 'in_progress' };
const ENDED = { status: 'completed', completed_at: 1_800_000_000, output_file_id: 'file-out' };

beforeAll(async () => {
  azure = await startFaultServer();
  azure.answer((response, _socket, { path, body }) => {
    // The path is `/openai/<kind>/<id>/<action>`. The path of a creation has no id, so the answer has a new one.
    const [, , kind = '', id = `${kind}-${azure.received.length}`, action] = (path.split('?')[0] ?? '').split('/');
    response.statusCode = action === 'content' ? output.status : 201;
    response.setHeader('content-type', 'application/json');
    if (action === 'content') return response.end(output.body);
    if (kind === 'files') return response.end(JSON.stringify({ id, object: 'file', purpose: 'batch', filename: 'a' }));
    const parsed = (body === '' ? {} : JSON.parse(body)) as object;
    return response.end(JSON.stringify({ id, object: 'batch', input_file_id: 'files-1', ...parsed, ...batch }));
  });
  const params = { api_base: azure.url, api_key: 'azure-key', api_version: '2025-03-01-preview' };
  const deployment = (model_name: string, prices: object) => ({
    model_name,
    litellm_params: { model: `azure/${model_name}-dep`, ...params, ...prices },
  });
  app = await startApp({
    config: {
      model_list: [
        deployment('priced', { input_cost_per_token: 0.5, output_cost_per_token: 1 }),
        deployment('unpriced', {}),
      ],
    },
  });
});

beforeEach(() => {
  batch = RUNNING;
  output = { status: 200, body: '' };
});

afterAll(async () => {
  await app.stop();
  await azure.stop();
});

/** Line of an output file. `outputLine(4, 2)` costs 2 USD: half of 4 × 0.5 + 2 × 1 USD. */
const outputLine = (prompt_tokens: number, completion_tokens: number): string =>
  JSON.stringify({
    custom_id: '1',
    response: { status_code: 200, body: { model: 'gpt-4o-2099', usage: { prompt_tokens, completion_tokens } } },
  });

async function createBatch(model: string, key = app.adminKey): Promise<string> {
  const form = formOf({ purpose: 'batch' }, `${lineFor(model)}\n`);
  const file = (await (await send(app, 'POST', '/v1/files', { key, body: form })).json()) as { id: string };
  const body = JSON.stringify({ input_file_id: file.id, endpoint: '/chat/completions', completion_window: '24h' });
  return ((await (await send(app, 'POST', '/v1/batches', { key, body })).json()) as { id: string }).id;
}

const readBatch = (id: string) => send(app, 'GET', `/v1/batches/${id}`);
const traceIdOf = (id: string) => id.replace('batch_', '');

describe('batches at Azure', () => {
  it('batches.create 200: files and batches are stored at Azure, with API version, key and deployment name', async () => {
    const key = await newKey(app, {});
    const requestsBefore = azure.received.length;
    const id = await createBatch('priced', key);
    expect(id).toMatch(/^batch_[0-9a-f]{32}$/);
    const [upload, creation] = azure.received.slice(requestsBefore);
    expect([upload?.method, upload?.path, upload?.headers['api-key']]).toEqual([
      'POST',
      `/openai/files?${VERSION}`,
      'azure-key',
    ]);
    expect(upload?.body).toContain('"model":"priced-dep"');
    expect([creation?.method, creation?.path, creation?.headers['api-key']]).toEqual([
      'POST',
      `/openai/batches?${VERSION}`,
      'azure-key',
    ]);
    expect(JSON.parse(creation?.body ?? '')).toMatchObject({ input_file_id: expect.stringMatching(/^files-/) });
    const stranger = await newKey(app, {});
    expect((await send(app, 'GET', `/v1/batches/${id}`, { key: stranger })).status).toBe(404);
    expect((await send(app, 'POST', `/v1/batches/${id}/cancel`, { key })).status).toBe(200);
    expect(azure.received.at(-1)?.path).toMatch(/^\/openai\/batches\/batches-\d+\/cancel\?api-version=/);
  });
});

describe('batches.get 200: a batch whose upstream reports no valid usage', () => {
  it('is charged by the usage in its output', async () => {
    const id = await createBatch('priced');
    [batch, output] = [ENDED, { status: 200, body: `${outputLine(4, 2)}\n${outputLine(6, 4)}\n` }];
    const answer = await answerOf(await readBatch(id));
    expect(answer).toMatchObject([200, { id, status: 'completed', output_file_id: expect.stringMatching(/^file-/) }]);
    expect(azure.received.at(-1)?.path).toBe(`/openai/files/file-out/content?${VERSION}`);
    await readBatch(id);
    // Half of 10 × 0.5 + 6 × 1 USD, because the model has no batch price.
    expect(await spansIn(app, traceIdOf(id))).toMatchObject([
      {
        name: 'batches.end priced',
        spendRow: { model: 'priced-dep', costUsd: '5.5', usage: { inputTokens: 10, outputTokens: 6 } },
      },
    ]);
  });

  it('is charged by the usage in its output if the reported usage is impossibly high', async () => {
    const id = await createBatch('priced');
    const usage = { input_tokens: 9e15, output_tokens: 9e15, total_tokens: 1.8e16 };
    [batch, output] = [
      { ...ENDED, usage },
      { status: 200, body: outputLine(4, 2) },
    ];
    await readBatch(id);
    expect(await spansIn(app, traceIdOf(id))).toMatchObject([
      { spendRow: { costUsd: '2', usage: { inputTokens: 4, outputTokens: 2 } } },
    ]);
  });

  it('is estimated if a line of its output has no usage', async () => {
    const id = await createBatch('priced');
    // Estimated as four tokens: one for four bytes.
    const answer = { choices: [{ message: { role: 'assistant', content: 'x'.repeat(16) } }], model: 'gpt-4o-2099' };
    const body = JSON.stringify({ custom_id: '1', response: { status_code: 200, body: answer } });
    [batch, output] = [ENDED, { status: 200, body }];
    await readBatch(id);
    expect(await spansIn(app, traceIdOf(id))).toMatchObject([
      { spendRow: { usage: { inputTokens: expect.any(Number) as number, outputTokens: 4 } } },
    ]);
  });

  it('has a spend row without a cost, under the reported model, if neither that model nor the deployment has a price', async () => {
    const id = await createBatch('unpriced');
    [batch, output] = [ENDED, { status: 200, body: outputLine(4, 2) }];
    await readBatch(id);
    expect(await spansIn(app, traceIdOf(id))).toMatchObject([
      { name: 'batches.end unpriced', spendRow: { model: 'gpt-4o-2099', costUsd: null } },
    ]);
  });

  it('is charged at the first read that finds a readable output', async () => {
    const id = await createBatch('priced');
    [batch, output] = [ENDED, { status: 503, body: '{"error":{"message":"later"}}' }];
    expect(await answerOf(await readBatch(id))).toMatchObject([200, { status: 'completed' }]);
    expect((await app.call('GET', `/v1/traces/${traceIdOf(id)}`)).status).toBe(404);
    output = { status: 200, body: outputLine(4, 2) };
    await readBatch(id);
    expect(await spansIn(app, traceIdOf(id))).toMatchObject([{ spendRow: { costUsd: '2' } }]);
  });

  it('is charged when its output exists after a 404', async () => {
    const id = await createBatch('priced');
    [batch, output] = [ENDED, { status: 404, body: '{}' }];
    expect(await answerOf(await readBatch(id))).toMatchObject([200, { status: 'completed' }]);
    expect((await app.call('GET', `/v1/traces/${traceIdOf(id)}`)).status).toBe(404);
    output = { status: 200, body: outputLine(4, 2) };
    await readBatch(id);
    expect(await spansIn(app, traceIdOf(id))).toMatchObject([{ spendRow: { costUsd: '2' } }]);
  });

  it('is not charged if its output has an empty answer; the output is not read again', async () => {
    const id = await createBatch('priced');
    const body = '{"custom_id":"1","response":{"status_code":200,"body":{}}}';
    [batch, output] = [ENDED, { status: 200, body }];
    await readBatch(id);
    const outputReads = () => azure.received.filter(({ path }) => path.includes('/content')).length;
    const outputReadsBefore = outputReads();
    await readBatch(id);
    expect(outputReads()).toBe(outputReadsBefore);
    expect((await app.call('GET', `/v1/traces/${traceIdOf(id)}`)).status).toBe(404);
  });
});
