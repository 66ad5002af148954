import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { type Issuer, startIssuer, tokenEnvironment } from '../../support/token-issuer.ts';
import { answerOf, configOver, serveFiles, lineFor, newKey, send, upload } from '../files/file-client.ts';
import { spansIn } from '../inference/trace-spans.ts';
import { POLLING } from '../../support/polling.ts';

let app: TestApp;
let upstream: FaultServer;
let issuer: Issuer;

beforeAll(async () => {
  [upstream, issuer] = await Promise.all([startFaultServer(), startIssuer(['ES256'])]);
  app = await start();
});

const start = (options: { readonly dataDir?: string } = {}): Promise<TestApp> =>
  startApp({ config: pricedConfig(), env: tokenEnvironment(issuer), ...options });

function pricedConfig(): Record<string, unknown> {
  const litellm_jwtauth = { team_ids_jwt_field: 'teams', user_id_jwt_field: 'sub', user_id_upsert: true };
  const config = configOver(upstream, { enable_jwt_auth: true, litellm_jwtauth });
  const priced = config.model_list.map((entry) => ({
    ...entry,
    litellm_params: { ...entry.litellm_params, ...PRICES[entry.model_name] },
  }));
  return { ...config, model_list: priced };
}

beforeEach(() => serveFiles(upstream));

afterAll(async () => {
  await app.stop();
  await upstream.stop();
  await issuer.stop();
});

const PRICES: Readonly<Record<string, object>> = {
  assistant: { input_cost_per_token: 0.5, output_cost_per_token: 1, cache_read_input_token_cost: 0.25 },
  second: {
    input_cost_per_token: 0.5,
    output_cost_per_token: 1,
    input_cost_per_token_batches: 0.125,
    output_cost_per_token_batches: 0.375,
  },
};
const USAGE = {
  input_tokens: 10,
  input_tokens_details: { cached_tokens: 4 },
  output_tokens: 6,
  output_tokens_details: { reasoning_tokens: 2 },
  total_tokens: 16,
};
const ENDED = { status: 'completed', completed_at: 1_800_000_000, model: 'up-1', usage: USAGE };

async function createBatch(model: string, key?: string, headers: Record<string, string> = {}): Promise<string> {
  const options = key === undefined ? {} : { key };
  const { id: input_file_id } = await upload(app, { purpose: 'batch' }, { ...options, content: `${lineFor(model)}\n` });
  const body = JSON.stringify({ input_file_id, endpoint: '/v1/chat/completions', completion_window: '24h' });
  const response = await send(app, 'POST', '/v1/batches', { ...options, headers, body });
  return ((await response.json()) as { readonly id: string }).id;
}

const readBatch = (id: string) => send(app, 'GET', `/v1/batches/${id}`);
/** Spans and spend rows of the trace of a batch. */
const recordsOf = (id: string): Promise<unknown> => spansIn(app, id.replace('batch_', ''));

it('batches.create 403: a blocked customer; the upstream is not called', async () => {
  expect((await app.call('POST', '/customer/new', { user_id: 'blocked', blocked: true })).status).toBe(200);
  const { id: input_file_id } = await upload(app, { purpose: 'batch' }, { content: `${lineFor('assistant')}\n` });
  const batch = { input_file_id, endpoint: '/v1/chat/completions', completion_window: '24h' };
  const headers = { 'x-litellm-customer-id': 'blocked' };
  const callsBefore = upstream.received.length;
  const refused = await answerOf(await send(app, 'POST', '/v1/batches', { body: JSON.stringify(batch), headers }));
  expect(refused).toMatchObject([403, { error: { message: expect.stringContaining('End user=blocked') as string } }]);
  expect(upstream.received).toHaveLength(callsBefore);
});

describe('batches.get 200: a batch that ends', () => {
  it.each([
    // Half of 6 × 0.5 for uncached input, 4 × 0.25 for cached input and 6 × 1 for output.
    ['assistant', 'up-1', '5', 'at half the price, because there is no batch price'],
    // 10 × 0.125 for input, and 6 × 0.375 for output.
    ['second', 'up-2-2026-01-01', '3.5', 'at the price for batches'],
    ['assistant', 'up-2', '3.5', 'at the price of the reported model'],
    ['assistant', 'up-unpriced', null, 'without a cost, because the reported model has no price'],
  ])(
    'on the model %s, which the upstream reports as %s, costs %s USD: %s',
    async (model, reportedModel, cost, _why) => {
      const id = await createBatch(model);
      // A batch is not charged before it ends.
      serveFiles(upstream, { status: 'in_progress', usage: USAGE });
      await readBatch(id);
      serveFiles(upstream, { ...ENDED, model: reportedModel });
      await readBatch(id);
      // A further read and a list do not charge the batch again.
      await readBatch(id);
      expect(await answerOf(await send(app, 'GET', '/v1/batches?limit=100'))).toMatchObject([200, {}]);
      expect(await recordsOf(id)).toMatchObject([
        {
          name: expect.stringMatching(/^batches\.end /),
          spendRow: {
            callType: 'aretrieve_batch',
            costUsd: cost,
            status: 'SUCCESS',
            usage: { inputTokens: 10, outputTokens: 6, cacheReadTokens: 4, reasoningTokens: 2 },
          },
        },
      ]);
    },
  );

  it('is charged with the discount of the provider and the margin', async () => {
    const setDiscountAndMargin = async (discount: object, margin: object): Promise<void> => {
      const changes = [
        ['/config/cost_discount_config', discount],
        ['/config/cost_margin_config', margin],
      ] as const;
      // oxlint-disable-next-line no-await-in-loop -- one change after another
      for (const [path, body] of changes) expect((await app.call('PATCH', path, body)).status).toBe(200);
    };
    // The discount halves the cost of 5 USD, and the margin of 100 % doubles it.
    await setDiscountAndMargin({ openai: 0.5 }, { global: { percentage: 1 } });
    const id = await createBatch('assistant');
    serveFiles(upstream, ENDED);
    await readBatch(id);
    expect(await recordsOf(id)).toMatchObject([{ spendRow: { costUsd: '5' } }]);
    await setDiscountAndMargin({ openai: 0.5 }, {});
    serveFiles(upstream);
    const secondId = await createBatch('assistant');
    serveFiles(upstream, ENDED);
    await readBatch(secondId);
    expect(await recordsOf(secondId)).toMatchObject([{ spendRow: { costUsd: '2.5' } }]);
    await setDiscountAndMargin({}, {});
  });

  it('is charged to the key that created it, even if another caller lists it', async () => {
    const key = await newKey(app, { max_budget: 5 });
    const id = await createBatch('assistant', key);
    serveFiles(upstream, ENDED);
    await send(app, 'GET', '/v1/batches?limit=100');
    expect(await recordsOf(id)).toMatchObject([{ spendRow: { costUsd: '5' } }]);
    const body = JSON.stringify({ model: 'assistant', messages: [{ role: 'user', content: 'x' }] });
    expect((await send(app, 'POST', '/v1/chat/completions', { key, body })).status).toBe(422);
  });

  it.each([{ status: 'completed' }, { status: 'failed', usage: { ...USAGE, input_tokens: 0, output_tokens: 0 } }])(
    'is not charged if the upstream reports no tokens: %j',
    async (batchState) => {
      const id = await createBatch('assistant');
      serveFiles(upstream, batchState);
      expect((await readBatch(id)).status).toBe(200);
      expect((await app.call('GET', `/v1/traces/${id.replace('batch_', '')}`)).status).toBe(404);
    },
  );

  it('is charged to the tags and the customer of the call that created it', async () => {
    const key = await newKey(app, { tags: ['batched'] });
    expect((await app.call('POST', '/tag/new', { name: 'batched', max_budget: 4 })).status).toBe(200);
    expect((await app.call('POST', '/customer/new', { user_id: 'batcher', max_budget: 4 })).status).toBe(200);
    const id = await createBatch('assistant', key, { 'x-litellm-customer-id': 'batcher' });
    serveFiles(upstream, ENDED);
    await readBatch(id);
    expect(await recordsOf(id)).toMatchObject([{ spendRow: { costUsd: '5' } }]);
    for (const member of [{ tags: ['batched'] }, { user: 'batcher' }]) {
      const body = JSON.stringify({ model: 'assistant', messages: [{ role: 'user', content: 'x' }], ...member });
      expect((await send(app, 'POST', '/v1/chat/completions', { body })).status).toBe(422);
    }
    const { id: input_file_id } = await upload(app, { purpose: 'batch' }, { content: `${lineFor('assistant')}\n` });
    const taggedBatch = {
      input_file_id,
      endpoint: '/v1/chat/completions',
      completion_window: '24h',
      tags: ['batched'],
    };
    const refused = await answerOf(await send(app, 'POST', '/v1/batches', { body: JSON.stringify(taggedBatch) }));
    expect(refused).toMatchObject([422, { error: { message: expect.stringContaining('Tag=batched') as string } }]);
  });

  const MODEL_BUDGET = { assistant: { budget_limit: 5, time_period: '1d' } };
  const createRow = async (path: string, draft: object): Promise<void> =>
    expect((await app.call('POST', path, draft)).status).toBe(200);
  it.each<[string, string, () => Promise<{ readonly key: string; readonly user?: string }>]>([
    [
      'key',
      'LiteLLM Virtual Key: [0-9a-f]{64}, key_alias: None',
      async () => ({ key: await newKey(app, { model_max_budget: MODEL_BUDGET }) }),
    ],
    [
      'user',
      'LiteLLM User: user-of-batches',
      async () => {
        const user_id = 'user-of-batches';
        await createRow('/user/new', { user_id, auto_create_key: false, model_max_budget: MODEL_BUDGET });
        return { key: await newKey(app, { user_id }) };
      },
    ],
    [
      'team',
      'LiteLLM Team: team-of-batches',
      async () => {
        const team_id = 'team-of-batches';
        await createRow('/team/new', { team_id, metadata: { model_max_budget: MODEL_BUDGET } });
        return { key: await newKey(app, { team_id }) };
      },
    ],
    [
      'team, if a signed token created the batch',
      'LiteLLM Team: team-of-tokens',
      async () => {
        const team_id = 'team-of-tokens';
        await createRow('/team/new', { team_id, metadata: { model_max_budget: MODEL_BUDGET } });
        return { key: await issuer.token({ sub: 'any', teams: [team_id] }, { alg: 'ES256' }) };
      },
    ],
    ...['', 'team-of-a-user'].map((team): [string, string, () => Promise<{ readonly key: string }>] => [
      `user, if a signed token ${team === '' ? 'without a team' : 'of a team'} created the batch`,
      `LiteLLM User: user-of-tokens${team}`,
      async () => {
        const sub = `user-of-tokens${team}`;
        await createRow('/user/new', { user_id: sub, auto_create_key: false, model_max_budget: MODEL_BUDGET });
        if (team !== '') await createRow('/team/new', { team_id: team });
        return { key: await issuer.token({ sub, teams: team === '' ? [] : [team] }, { alg: 'ES256' }) };
      },
    ]),
    [
      'customer',
      'LiteLLM End User: customer-of-batches',
      async () => {
        const user = 'customer-of-batches';
        await createRow('/budget/new', { budget_id: user, model_max_budget: MODEL_BUDGET });
        await createRow('/customer/new', { user_id: user, budget_id: user });
        return { key: await newKey(app, {}), user };
      },
    ],
  ])('counts in the model budget of its %s', async (_scope, subject, makeCaller) => {
    const { key, user } = await makeCaller();
    const id = await createBatch('assistant', key, user === undefined ? {} : { 'x-litellm-customer-id': user });
    const body = JSON.stringify({ model: 'assistant', messages: [{ role: 'user', content: 'x' }], user });
    const call = async () => await answerOf(await send(app, 'POST', '/v1/chat/completions', { key, body }));
    serveFiles(upstream, ENDED);
    // Another caller reads the end of the batch.
    expect(await answerOf(await readBatch(id))).toMatchObject([200, { status: 'completed' }]);
    expect(await recordsOf(id)).toMatchObject([{ spendRow: { costUsd: '5' } }]);
    expect(await call()).toEqual([
      422,
      {
        error: {
          message: expect.stringMatching(
            new RegExp(
              `^${subject}, exceeded budget for model=assistant\\. Budget window: 1d\\. Budget resets at: \\d{4}-\\d\\d-\\d\\d 00:00:00 UTC$`,
            ),
          ) as string,
          type: 'budget_exceeded',
          param: null,
          code: '422',
        },
      },
    ]);
  });

  it.each([
    ['key', async (user_id: string) => await newKey(app, { user_id })],
    ['signed token', async (sub: string) => await issuer.token({ sub }, { alg: 'ES256' })],
  ])('has a spend row of its user, if it was created with a %s', async (credential, keyOf) => {
    const user_id = `user of a ${credential}`;
    await createRow('/user/new', { user_id, auto_create_key: false });
    const id = await createBatch('assistant', await keyOf(user_id));
    serveFiles(upstream, ENDED);
    await readBatch(id);
    await recordsOf(id);
    const rows = await (await app.call('GET', `/spend/logs?user_id=${encodeURIComponent(user_id)}`)).json();
    expect(rows).toContainEqual(
      expect.objectContaining({ request_id: id, call_type: 'aretrieve_batch', user: user_id, spend: 5 }),
    );
  });

  it('is charged by the background task without a request', async () => {
    const id = await createBatch('assistant');
    serveFiles(upstream, ENDED);
    const { dataDir } = app;
    await app.stop({ keepData: true });
    // The background task reads batches immediately at the start, then periodically.
    app = await start({ dataDir });
    await vi.waitFor(async () => expect(await recordsOf(id)).toMatchObject([{ spendRow: { costUsd: '5' } }]), POLLING);
  });
});
