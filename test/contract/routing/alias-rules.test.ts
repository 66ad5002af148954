import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRealtime, refusalOf } from '../../support/realtime-client.ts';
import { type RealtimeUpstream, startRealtimeUpstream } from '../../support/realtime-upstream.ts';
import { type RoutedApp, startRouted } from './routed.ts';

let setup: RoutedApp;
let voices: RealtimeUpstream;

const RESERVED = [
  { start: '00:00', end: '12:00', team_ids: ['red'] },
  { start: '12:00', end: '00:00', team_ids: ['red'] },
];
const FREE = { input_cost_per_token: 0, output_cost_per_token: 0 };

beforeAll(async () => {
  voices = await startRealtimeUpstream();
  setup = await startRouted(
    [
      { name: 'levels', up: 'first', params: { order: 1 } },
      { name: 'levels', up: 'second', params: { order: 2 } },
      { name: 'reserved', up: 'up-reserved', info: { access_windows: RESERVED } },
      { name: 'flaky', up: 'flaky-1', params: { order: 1 }, info: { access_groups: ['group'] } },
      { name: 'flaky', up: 'flaky-2', params: { order: 2 }, info: { access_groups: ['group'] } },
      { name: 'any/*', up: 'up-any', info: { access_groups: ['some'] } },
      { name: 'left', up: 'up-left' },
      { name: 'right', up: 'up-right' },
      { name: 'failing', up: 'up-failing', params: FREE },
      { name: 'priced', up: 'up-priced', params: { input_cost_per_token: 1, output_cost_per_token: 1 } },
      { name: 'spent', up: 'up-spent', params: { input_cost_per_token: 1, output_cost_per_token: 1 } },
      { name: 'voice', up: 'gpt-realtime', params: { model: 'openai/gpt-realtime', api_base: `${voices.url}/v1` } },
    ],
    {
      router_settings: {
        num_retries: 0,
        disable_cooldowns: true,
        model_group_alias: {
          'levels-alias': 'levels',
          'reserved-alias': 'reserved',
          steady: 'flaky',
          // Each is the other: aliases of aliases are not followed.
          left: 'right',
          right: 'left',
          costly: 'priced',
          speech: 'voice',
          wild: 'any/one',
        },
        fallbacks: [{ failing: ['costly'] }],
      },
    },
    { 'up-failing': { status: 500 }, 'flaky-1': { status: 500 }, 'up-right': { status: 500 } },
  );
});
afterAll(async () => {
  await setup.stop();
  await voices.stop();
});

describe('rules of the deployments of a model also apply to its alias:', () => {
  it('the order of deployments', async () => {
    expect(await setup.deploymentsOf(6, { model: 'levels-alias' })).toEqual(['first']);
  });

  it('the hours that are reserved for a team', async () => {
    const answer = await setup.ask({ model: 'reserved-alias' });
    expect(answer).toMatchObject({
      status: 400,
      body: {
        error: {
          message: expect.stringMatching(/^Deployment reserved is reserved for another team until /) as string,
          type: 'invalid_request_error',
          param: null,
          code: '400',
        },
      },
    });
  });
});

describe('a key may call an alias of a model of a wildcard', () => {
  it.each([
    ['that lists the alias', 'wild'],
    ['that lists the model', 'any/one'],
    ['that lists the wildcard', 'any/*'],
    ['that lists an access group of the wildcard', 'some'],
  ])('%s', async (_what, listed) => {
    const key = await setup.keyWith({ models: [listed] });
    expect(await setup.ask({ model: 'wild' }, key)).toMatchObject({ status: 200, deployment: 'up-any' });
  });

  it('only', async () => {
    for (const listed of ['any/other', 'any', 'an/*', 'left'])
      expect((await setup.ask({ model: 'wild' }, await setup.keyWith({ models: [listed] }))).status).toBe(403);
  });
});

describe('retries of an alias', () => {
  it('use the other deployments of its model, for a key that lists only the alias', async () => {
    const key = await setup.keyWith({ models: ['steady'] });
    expect(await setup.ask({ model: 'steady' }, key)).toMatchObject({
      status: 200,
      deployment: 'flaky-2',
      body: { model: 'steady' },
    });
  });

  it('do not follow an alias of its model', async () => {
    const before = setup.requestedModels().length;
    expect((await setup.ask({ model: 'left', num_retries: 2 })).status).toBe(500);
    expect(setup.requestedModels().slice(before)).toEqual(['up-right', 'up-right', 'up-right']);
  });
});

describe('limits and spend of an alias are those of its model', () => {
  it('as a fallback', async () => {
    const budget = { model_max_budget: { priced: { budget_limit: 1, time_period: '1d' } } };
    const key = await setup.keyWith(budget);
    const first = await setup.ask({ model: 'failing' }, key);
    expect(first).toMatchObject({ status: 200, deployment: 'up-priced', body: { model: 'costly' } });
    expect((await setup.ask({ model: 'priced' }, key)).status).toBe(422);
  });

  it('as a fallback of a budget', async () => {
    const budget = (budget_limit: number) => ({ budget_limit, time_period: '1d' });
    const key = await setup.keyWith({
      model_max_budget: { spent: budget(0), priced: budget(1) },
      budget_fallbacks: { spent: ['costly'] },
    });
    expect((await setup.ask({ model: 'spent' }, key)).deployment).toBe('up-priced');
    expect((await setup.ask({ model: 'priced' }, key)).status).toBe(422);
  });

  it('in a realtime session', async () => {
    const headers = await setup.keyWith({ model_rpm_limit: { voice: 1 } });
    const client = await openRealtime(setup.app, { path: '/v1/realtime?model=speech', headers });
    client.socket.close();
    for (const model of ['speech', 'voice'])
      expect((await refusalOf(setup.app, { path: `/v1/realtime?model=${model}`, headers })).status).toBe(429);
  });
});
