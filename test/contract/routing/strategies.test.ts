import { afterEach, describe, expect, it } from 'vitest';
import { type Behavior, type RoutedApp, type RoutedModel, startRouted } from './routed.ts';

let setup: RoutedApp | null = null;

async function start(
  models: readonly RoutedModel[],
  router_settings: object = {},
  behaviors: Readonly<Record<string, Behavior>> = {},
): Promise<RoutedApp> {
  setup = await startRouted(models, { router_settings }, behaviors);
  return setup;
}

afterEach(async () => {
  await setup?.stop();
  setup = null;
});

describe('simple-shuffle', () => {
  it('calls deployments by weight: a deployment without a weight is not called', async () => {
    const { deploymentsOf } = await start([
      { up: 'a', params: { weight: 1 } },
      { up: 'b', params: { rpm: 900 } },
    ]);
    expect(await deploymentsOf(12)).toEqual(['a']);
  });

  it('without weights calls deployments by rpm; without rpm the deployments take turns', async () => {
    const { deploymentsOf } = await start([
      { up: 'a' },
      { up: 'b', params: { rpm: 9 } },
      { name: 'n', up: 'c' },
      { name: 'n', up: 'd' },
    ]);
    expect(await deploymentsOf(12)).toEqual(['b']);
    expect(await deploymentsOf(2, { model: 'n' })).toEqual(['c', 'd']);
  });

  it('sends a retry to a deployment without a weight', async () => {
    const { ask, requestedModels } = await start(
      [{ up: 'a', params: { weight: 1 } }, { up: 'b' }],
      {},
      { a: { status: 500 } },
    );
    expect(await ask()).toMatchObject({ status: 200, deployment: 'b' });
    expect(requestedModels()).toEqual(['a', 'b']);
  });
});

describe('enable_weighted_failover', () => {
  const THREE = [{ up: 'a', params: { weight: 9 } }, { up: 'b', params: { weight: 1 } }, { up: 'c' }];
  const FAILING = { a: { status: 500 }, b: { status: 500 } };
  const SPARE = { name: 'spare', up: 's' };
  const fallbacks = [{ m: ['spare'] }];
  const ON = { num_retries: 0, enable_weighted_failover: true };

  it('continues at the other deployments of the model before a fallback', async () => {
    const { ask, requestedModels } = await start([...THREE, SPARE], { ...ON, fallbacks }, FAILING);
    expect(await ask()).toMatchObject({ status: 200, deployment: 'c' });
    expect(requestedModels().toSorted()).toEqual(['a', 'b', 'c']);
    expect(requestedModels().at(-1)).toBe('c');
  });

  it('is off by default, without fallbacks, and with another strategy', async () => {
    const off = await start([...THREE, SPARE], { num_retries: 0, fallbacks }, FAILING);
    expect(await off.ask()).toMatchObject({ status: 200, deployment: 's' });
    await setup?.stop();
    const on = await start(THREE, ON, FAILING);
    expect((await on.ask({ disable_fallbacks: true })).status).toBe(500);
    await setup?.stop();
    const busy = await start(THREE, { ...ON, routing_strategy: 'least-busy' }, { ...FAILING, c: { status: 500 } });
    expect((await busy.ask()).status).toBe(500);
    expect(busy.requestedModels()).toHaveLength(1);
  });

  it('does not repeat a call with a refused credential of the caller at the same deployment', async () => {
    setup = await startRouted(
      [{ up: 'a' }],
      { router_settings: ON, general_settings: { allow_client_side_credentials: true } },
      { a: { status: 401 } },
    );
    expect((await setup.ask({ api_key: 'sk-caller' })).status).toBe(401);
    expect(setup.requestedModels()).toEqual(['a']);
  });

  it('does not repeat a call that the request made fail, and calls at most max_fallbacks deployments', async () => {
    const refused = await start(THREE, ON, { a: { status: 400 }, b: { status: 400 } });
    expect((await refused.ask()).status).toBe(400);
    expect(refused.requestedModels()).toHaveLength(1);
    await setup?.stop();
    const limited = await start(THREE, { ...ON, max_fallbacks: 1 }, FAILING);
    expect((await limited.ask()).status).toBe(500);
    expect(limited.requestedModels().toSorted()).toEqual(['a', 'b']);
  });
});

describe('order', () => {
  const LEVELS = [{ up: 'none' }, { up: 'second', params: { order: 2 } }, { up: 'first', params: { order: 1 } }];

  it('calls deployments with the lowest number', async () => {
    const { deploymentsOf } = await start(LEVELS);
    expect(await deploymentsOf(6)).toEqual(['first']);
  });

  it('calls the next number after a failure, also without retries, but not with disable_fallbacks', async () => {
    const { ask, requestedModels } = await start(LEVELS, { num_retries: 0 }, { first: { status: 500 } });
    expect(await ask()).toMatchObject({ status: 200, deployment: 'second' });
    expect(requestedModels()).toEqual(['first', 'second']);
    expect((await ask({ disable_fallbacks: true })).status).toBe(500);
  });
});

it('least-busy calls the deployment with the fewest running calls', async () => {
  const { ask, requestedModels } = await start(
    [{ up: 'slow' }, { up: 'quick' }],
    { routing_strategy: 'least-busy' },
    { slow: { delayMs: 600 }, quick: { delayMs: 600 } },
  );
  await Promise.all([ask(), ask(), ask(), ask()]);
  expect(requestedModels().toSorted()).toEqual(['quick', 'quick', 'slow', 'slow']);
});

describe.each(['usage-based-routing', 'usage-based-routing-v2'])('%s', (routing_strategy) => {
  it('calls the deployment with the fewest tokens in this minute', async () => {
    const { ask, requestedModels } = await start(
      [{ up: 'big' }, { up: 'small' }],
      { routing_strategy },
      { big: { tokens: 900 }, small: { tokens: 10 } },
    );
    for (let call = 0; call < 8; call += 1) expect((await ask()).status).toBe(200);
    // One call of `big` uses more tokens than the seven calls of `small`.
    expect(requestedModels().filter((model) => model === 'big')).toHaveLength(1);
  });

  it('leaves out deployments over rpm or tpm; answers 429 with retry-after 60 when none is left', async () => {
    const { ask, requestedModels } = await start(
      [
        { up: 'rpm', params: { rpm: 1 } },
        { up: 'tpm', params: { tpm: 20 } },
      ],
      { routing_strategy, num_retries: 0 },
      { tpm: { tokens: 30 } },
    );
    expect([(await ask()).status, (await ask()).status]).toEqual([200, 200]);
    expect(await ask()).toEqual({
      status: 429,
      deployment: null,
      retryAfter: '60',
      body: {
        error: {
          message:
            'No deployments available for selected model, Try again in 60 seconds. All deployments have reached their limits of requests or tokens per minute. Passed model=m.',
          type: 'throttling_error',
          param: null,
          code: '429',
        },
      },
    });
    expect(requestedModels().toSorted()).toEqual(['rpm', 'tpm']);
  });
});

describe('latency-based-routing', () => {
  it('calls each deployment once, then the fastest deployment', async () => {
    const { ask, requestedModels } = await start(
      [{ up: 'slow' }, { up: 'quick' }],
      { routing_strategy: 'latency-based-routing' },
      { slow: { delayMs: 300 } },
    );
    for (let call = 0; call < 6; call += 1) expect((await ask()).status).toBe(200);
    expect(requestedModels().slice(0, 2).toSorted()).toEqual(['quick', 'slow']);
    expect(requestedModels().slice(2)).toEqual(['quick', 'quick', 'quick', 'quick']);
  });

  it('measures streams separately from other calls', async () => {
    const { ask, requestedModels } = await start(
      [{ up: 'slow' }, { up: 'quick' }],
      { routing_strategy: 'latency-based-routing' },
      { slow: { delayMs: 300 } },
    );
    for (let call = 0; call < 3; call += 1) await ask();
    for (let call = 0; call < 5; call += 1) expect((await ask({ stream: true })).status).toBe(200);
    expect(requestedModels().slice(3, 5).toSorted()).toEqual(['quick', 'slow']);
    expect(requestedModels().slice(5)).toEqual(['quick', 'quick', 'quick']);
  });
});

it('cost-based-routing calls the deployment with the lowest price; a deployment without a price comes last', async () => {
  const price = (input: number, output: number) => ({ input_cost_per_token: input, output_cost_per_token: output });
  const { deploymentsOf, ask } = await start(
    [
      { up: 'unpriced-x' },
      { up: 'dear', params: price(0.000_001, 0.000_009) },
      { up: 'cheap', params: price(0.000_004, 0.000_005) },
    ],
    { routing_strategy: 'cost-based-routing', num_retries: 0, allowed_fails: 0, cooldown_time: 60 },
    { cheap: { status: 500 } },
  );
  expect((await ask()).status).toBe(500);
  // `cheap` cools down now.
  expect(await deploymentsOf(4)).toEqual(['dear']);
});

describe('router settings of keys and teams', () => {
  it('take precedence: key, then team, then the configuration', async () => {
    const { deploymentsOf, keyWith, app } = await start([{ up: 'a', params: { weight: 1 } }, { up: 'b' }]);
    const response = await app.call('POST', '/team/new', { router_settings: { weights: { m: { b: 1 } } } });
    const { team_id } = (await response.json()) as { team_id: string };
    const ofTeam = await keyWith({ team_id });
    const own = await keyWith({ team_id, router_settings: { weights: { m: { a: 1 } } } });
    expect([await deploymentsOf(6), await deploymentsOf(6, {}, ofTeam), await deploymentsOf(6, {}, own)]).toEqual([
      ['a'],
      ['b'],
      ['a'],
    ]);
    await app.call('POST', '/team/update', { team_id, router_settings: {} });
    expect(await deploymentsOf(6, {}, ofTeam)).toEqual(['a']);
  });

  it('decide retries and fallbacks of the calls of a key', async () => {
    const { ask, keyWith, requestedModels } = await start(
      [{ up: 'a' }, { name: 'spare', up: 's' }],
      { num_retries: 0 },
      { a: { status: 500 } },
    );
    expect((await ask()).status).toBe(500);
    const headers = await keyWith({
      router_settings: { num_retries: 1, retry_after: 0, fallbacks: [{ m: ['spare'] }] },
    });
    expect(await ask({}, headers)).toMatchObject({ status: 200, deployment: 's' });
    expect(requestedModels()).toEqual(['a', 'a', 'a', 's']);
  });
});

it('fallbacks and groups in router settings of a key have only models that the key may call; a wrong strategy is 422', async () => {
  const { ask, keyWith, requestedModels, app } = await start(
    [{ up: 'a' }, { name: 'dear', up: 'd' }],
    { num_retries: 0 },
    { a: { status: 500 } },
  );
  const routing_groups = [{ group_name: 'all', models: ['dear'], routing_strategy: 'simple-shuffle' }];
  const router_settings = { fallbacks: [{ m: ['dear'] }], routing_groups };
  const headers = await keyWith({ models: ['m', 'all'], router_settings });
  expect((await ask({}, headers)).status).toBe(500);
  expect((await ask({ model: 'all' }, headers)).status).toBe(400);
  expect(requestedModels()).toEqual(['a']);
  const refused = await app.call('POST', '/key/generate', { router_settings: { routing_strategy: 'fastest' } });
  expect(refused.status).toBe(422);
});

it('an answer of the cache does not count in the use of a deployment', async () => {
  setup = await startRouted([{ up: 'a', params: { rpm: 2, tpm: 1_000 } }], {
    router_settings: { routing_strategy: 'usage-based-routing-v2', num_retries: 0 },
    litellm_settings: { cache: true, cache_params: { type: 'local' } },
  });
  const { ask, requestedModels } = setup;
  for (let call = 0; call < 5; call += 1) expect((await ask()).status).toBe(200);
  expect(requestedModels()).toEqual(['a']);
  const question = (content: string) => ({ messages: [{ role: 'user', content }] });
  expect((await ask(question('y'))).status).toBe(200);
  expect((await ask(question('z'))).status).toBe(429);
});

it('stored router settings apply to the next call, and /router/settings shows them; a wrong strategy is 400', async () => {
  const { app, deploymentsOf } = await start([{ up: 'a' }, { up: 'b' }]);
  expect(await deploymentsOf(2)).toEqual(['a', 'b']);
  const router_settings = { weights: { m: { b: 1 } }, routing_strategy: 'simple-shuffle' };
  expect((await app.call('POST', '/config/update', { router_settings })).status).toBe(200);
  expect(await deploymentsOf(6)).toEqual(['b']);
  const shown = (await (await app.call('GET', '/router/settings')).json()) as { current_values: object };
  expect(shown.current_values).toMatchObject({ routing_strategy: 'simple-shuffle' });
  const refused = await app.call('POST', '/config/update', { router_settings: { routing_strategy: 'fastest' } });
  expect(refused.status).toBe(400);
  expect(await deploymentsOf(6)).toEqual(['b']);
});
