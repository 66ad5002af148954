import { afterEach, describe, expect, it } from 'vitest';
import { type Behavior, type RoutedApp, type RoutedModel, startRouted } from './routed.ts';

let setup: RoutedApp | null = null;

/** Time in which the other calls of a test arrive. */
const SLOW: Behavior = { delayMs: 400 };

async function start(
  models: readonly RoutedModel[],
  router_settings: object = {},
  behaviors: Readonly<Record<string, Behavior>> = { a: SLOW, b: SLOW },
): Promise<RoutedApp> {
  setup = await startRouted(models, { router_settings: { num_retries: 0, ...router_settings } }, behaviors);
  return setup;
}

afterEach(async () => {
  await setup?.stop();
  setup = null;
});

const ONE = { params: { max_parallel_requests: 1 } };

const REFUSED = {
  status: 429,
  deployment: null,
  retryAfter: '1',
  body: {
    error: {
      message:
        'No deployments available for selected model, Try again in 1 seconds. All deployments have reached their limits of parallel calls. Passed model=m.',
      type: 'throttling_error',
      param: null,
      code: '429',
    },
  },
};

/** Statuses of calls that are sent at the same time, sorted. */
const statusesOf = (answers: readonly { readonly status: number }[]): readonly number[] =>
  answers.map(({ status }) => status).toSorted((one, other) => one - other);

describe('max_parallel_requests of a deployment', () => {
  it('refuses a further open call with 429, and serves calls again after its end', async () => {
    const { ask, requestedModels } = await start([{ up: 'a', ...ONE }]);
    const answers = await Promise.all([ask(), ask(), ask()]);
    expect(statusesOf(answers)).toEqual([200, 429, 429]);
    expect(answers.find(({ status }) => status === 429)).toEqual(REFUSED);
    expect(requestedModels()).toEqual(['a']);
    expect((await ask()).status).toBe(200);
  });

  it('sends a further call to another deployment of the model', async () => {
    const { ask, requestedModels } = await start([
      { up: 'a', ...ONE },
      { up: 'b', ...ONE },
    ]);
    const answers = await Promise.all([ask(), ask(), ask()]);
    expect(statusesOf(answers)).toEqual([200, 200, 429]);
    expect(requestedModels().toSorted()).toEqual(['a', 'b']);
  });

  it('sends a further call to a fallback, which counts', async () => {
    const models = [
      { up: 'a', ...ONE },
      { name: 'spare', up: 'b', ...ONE },
    ];
    const { ask, requestedModels } = await start(models, { fallbacks: [{ m: ['spare'] }] });
    const answers = await Promise.all([ask(), ask(), ask()]);
    expect(statusesOf(answers)).toEqual([200, 200, 429]);
    expect(requestedModels().toSorted()).toEqual(['a', 'b']);
  });

  it('counts a call that fails until its end only, and keeps its cooldown', async () => {
    const { ask, requestedModels } = await start(
      [
        { up: 'a', params: { ...ONE.params, order: 1 } },
        { up: 'b', params: { order: 2 } },
      ],
      {},
      { a: { status: 401 } },
    );
    expect(await ask()).toMatchObject({ status: 200, deployment: 'b' });
    expect(await ask()).toMatchObject({ status: 200, deployment: 'b' });
    // The second call finds the first deployment in cooldown.
    expect(requestedModels()).toEqual(['a', 'b', 'b']);
  });

  it('counts refused calls nowhere, also while their budgets are read', async () => {
    const { ask, keyWith } = await start([{ up: 'a', ...ONE }]);
    const headers = await keyWith({ max_budget: 1000 });
    const answers = await Promise.all(Array.from({ length: 8 }, () => ask({}, headers)));
    expect(statusesOf(answers)).toEqual([200, ...Array.from({ length: 7 }, () => 429)]);
  });

  it('retries at the same deployment', async () => {
    const { ask, requestedModels } = await start([{ up: 'a', ...ONE }], { num_retries: 1 }, { a: { status: 500 } });
    expect((await ask()).status).toBe(500);
    expect(requestedModels()).toEqual(['a', 'a']);
  });
});

describe('default_max_parallel_requests', () => {
  it('is the limit of deployments without their own, also for keys with router settings', async () => {
    const models = [{ up: 'a' }, { name: 'n', up: 'b', params: { max_parallel_requests: 2 } }];
    const { ask, keyWith } = await start(models, { default_max_parallel_requests: 1 });
    const headers = await keyWith({ router_settings: { default_max_parallel_requests: 9 } });
    expect(statusesOf(await Promise.all([ask(), ask({}, headers)]))).toEqual([200, 429]);
    const ofOther = { model: 'n' };
    expect(statusesOf(await Promise.all([ask(ofOther), ask(ofOther), ask(ofOther)]))).toEqual([200, 200, 429]);
  });

  it('of 0 is refused at the start', async () => {
    await expect(start([{ up: 'a' }], { default_max_parallel_requests: 0 })).rejects.toThrow(
      'router_settings.default_max_parallel_requests',
    );
  });
});
