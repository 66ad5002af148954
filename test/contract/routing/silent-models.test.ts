import { afterEach, describe, expect, it } from 'vitest';
import { POLLING } from '../../support/polling.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { contentFilter } from '../guardrails/guarded-app.ts';
import { type Behavior, type RoutedApp, type RoutedModel, startRouted } from './routed.ts';

const FREE = { input_cost_per_token: 0, output_cost_per_token: 0 };
const DEAR = { input_cost_per_token: 1, output_cost_per_token: 1 };
const ROWS = '/spend/logs/v2?page=1&page_size=50&start_date=2020-01-01&end_date=2100-01-01';

let setup: RoutedApp | null = null;
let restarted: TestApp | null = null;

async function start(
  models: readonly RoutedModel[],
  behaviors: Readonly<Record<string, Behavior>> = {},
  config: object = {},
): Promise<RoutedApp> {
  setup = await startRouted(models, config, behaviors);
  return setup;
}

afterEach(async () => {
  await restarted?.stop();
  restarted = null;
  await setup?.stop();
  setup = null;
});

interface Row {
  readonly model_group: string;
  readonly spend: number;
  readonly status: string;
}

async function rowsOf(app: TestApp): Promise<readonly Row[]> {
  return ((await (await app.call('GET', ROWS)).json()) as { data: readonly Row[] }).data;
}

it('silent models get a copy of each call, with a row of its own', async () => {
  const { ask, app, requestedModels } = await start([
    { up: 'a', params: { silent_model: 'shadow' } },
    { name: 'shadow', up: 's', params: DEAR },
  ]);
  expect(await ask()).toMatchObject({ status: 200, deployment: 'a' });
  await expect.poll(() => requestedModels().toSorted(), POLLING).toEqual(['a', 's']);
  const rows = async () => (await rowsOf(app)).map(({ model_group, spend }) => `${model_group} ${spend}`).toSorted();
  await expect.poll(rows, POLLING).toEqual(['m 0', 'shadow 3']);
});

it('silent models neither delay nor fail a call', async () => {
  const models = [
    { up: 'a', params: { silent_model: ['broken', 'slow', 'unknown'] } },
    { name: 'broken', up: 'broken-up' },
    { name: 'slow', up: 'slow-up' },
  ];
  const { ask, requestedModels } = await start(models, { 'broken-up': { status: 500 }, 'slow-up': { delayMs: 5_000 } });
  const startedMs = performance.now();
  expect(await ask({ stream: true })).toMatchObject({ status: 200, deployment: 'a' });
  expect(performance.now() - startedMs).toBeLessThan(4_000);
  await expect.poll(() => requestedModels().toSorted(), POLLING).toEqual(['a', 'broken-up', 'slow-up']);
});

it('silent models get no copy where a budget of the caller is used up', async () => {
  const { ask, app, keyWith, requestedModels } = await start(
    [
      { up: 'a', params: { ...FREE, silent_model: 'shadow' } },
      { name: 'shadow', up: 's', params: DEAR },
    ],
    { s: { tokens: 200 } },
  );
  const spent = await keyWith({ max_budget: 100 });
  expect((await ask({ max_tokens: 1 }, spent)).status).toBe(200);
  await expect.poll(() => requestedModels().toSorted(), POLLING).toEqual(['a', 's']);
  await expect
    .poll(async () => new Set((await rowsOf(app)).map(({ spend }) => spend)), POLLING)
    .toEqual(new Set([0, 200]));
  expect((await ask({}, spent)).status).toBe(200);
  // The copy of a key without a budget would arrive after the refused one.
  expect((await ask()).status).toBe(200);
  await expect.poll(() => requestedModels().toSorted(), POLLING).toEqual(['a', 'a', 'a', 's', 's']);
  const refused = (await rowsOf(app)).filter(
    ({ model_group, status }) => `${model_group} ${status}` === 'shadow failure',
  );
  expect(refused).toMatchObject([{ spend: 0 }]);
});

it('silent models get no copy of a mock answer, and of a call that must stay in another region', async () => {
  const { ask, app, requestedModels } = await start([
    { up: 'a', params: { region_name: 'eu-west-1', silent_model: 'shadow' } },
    { name: 'shadow', up: 's', params: { region_name: 'us-east-1' } },
  ]);
  const customer = await app.call('POST', '/customer/new', { user_id: 'c1', allowed_model_region: 'eu' });
  expect(customer.status).toBe(200);
  expect((await ask({ user: 'c1' })).status).toBe(200);
  expect((await ask({ mock_response: 'x' })).status).toBe(200);
  expect((await ask({ user: 'c2' })).status).toBe(200);
  await expect.poll(() => requestedModels().toSorted(), POLLING).toEqual(['a', 'a', 's']);
});

it('silent models get calls with the edits of the guardrails of their deployment, and none that these block', async () => {
  const { ask, upstream, requestedModels } = await start(
    [
      { up: 'a', params: { silent_model: 'shadow', guardrails: ['mask', 'words'] } },
      { name: 'shadow', up: 's' },
    ],
    {},
    {
      guardrails: [
        contentFilter('mask', { patterns: [{ pattern_type: 'prebuilt', pattern_name: 'email', action: 'MASK' }] }),
        contentFilter('words', { blocked_words: [{ keyword: 'forbidden', action: 'BLOCK' }] }),
      ],
    },
  );
  const askText = async (content: string) => (await ask({ messages: [{ role: 'user', content }] })).status;
  expect(await askText('a forbidden text')).toBe(400);
  expect(await askText('mail a.person@example.com')).toBe(200);
  await expect.poll(() => requestedModels().toSorted(), POLLING).toEqual(['a', 's']);
  for (const { body } of upstream.received) expect(body).not.toContain('a.person');
});

it('silent models get no copy of a call that the cache answers', async () => {
  const { ask, requestedModels } = await start(
    [
      { up: 'a', params: { silent_model: 'shadow' } },
      { name: 'shadow', up: 's' },
    ],
    {},
    { litellm_settings: { cache: true, cache_params: { type: 'local' } } },
  );
  const askTwice = async (members: object) => {
    for (let call = 0; call < 2; call += 1) expect((await ask(members)).status).toBe(200);
  };
  await askTwice({ user: 'first' });
  // Calls that do not read the cache are copied.
  await askTwice({ user: 'second', cache: { 'no-cache': true } });
  await expect.poll(() => requestedModels().toSorted(), POLLING).toEqual(['a', 'a', 'a', 's', 's', 's']);
});

it('copies for silent models have at most 32 MiB together', async () => {
  const { ask, requestedModels } = await start(
    [
      { up: 'a', params: { silent_model: 'shadow' } },
      { name: 'shadow', up: 's' },
    ],
    { s: { delayMs: 3_000 } },
  );
  const large = { messages: [{ role: 'user', content: 'x'.repeat(12 * 1024 * 1024) }] };
  for (let call = 0; call < 3; call += 1) expect((await ask(large)).status).toBe(200);
  expect((await ask()).status).toBe(200);
  await expect.poll(() => requestedModels().toSorted(), POLLING).toEqual(['a', 'a', 'a', 'a', 's', 's', 's']);
  // The copies have ended, so that their bytes are free again.
  await expect
    .poll(
      async () => {
        await ask({ ...large, stream: true });
        return requestedModels().filter((model) => model === 's').length;
      },
      { ...POLLING, interval: 500 },
    )
    .toBeGreaterThan(3);
});

describe('silent models at a shutdown', () => {
  async function rowsAfterStop(delayMs: number): Promise<{ readonly rows: readonly Row[]; readonly stopMs: number }> {
    const { ask, app, requestedModels, upstream } = await start(
      [
        { up: 'a', params: { silent_model: 'shadow' } },
        { name: 'shadow', up: 's', params: DEAR },
      ],
      { s: { delayMs } },
    );
    expect((await ask()).status).toBe(200);
    await expect.poll(() => requestedModels().toSorted(), POLLING).toEqual(['a', 's']);
    const startedMs = performance.now();
    await app.stop({ keepData: true });
    const stopMs = performance.now() - startedMs;
    setup = null;
    await upstream.stop();
    restarted = await startApp({ dataDir: app.dataDir, env: { LITELLM_MASTER_KEY: app.adminKey } });
    const rows = (await rowsOf(restarted)).filter(({ model_group }) => model_group === 'shadow');
    return { rows, stopMs };
  }

  it('copies under way end, and are charged', async () => {
    expect((await rowsAfterStop(500)).rows).toMatchObject([{ spend: 3, status: 'success' }]);
  });

  it('copies that take longer than the grace period are cancelled, and recorded as failed', async () => {
    const { rows, stopMs } = await rowsAfterStop(60_000);
    expect(rows).toMatchObject([{ spend: 0, status: 'failure' }]);
    // The grace period of the test is one second.
    expect(stopMs).toBeGreaterThan(900);
    expect(stopMs).toBeLessThan(10_000);
  });
});
