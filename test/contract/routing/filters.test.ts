import { afterEach, describe, expect, it } from 'vitest';
import { type Behavior, type RoutedApp, type RoutedModel, startRouted } from './routed.ts';

let setup: RoutedApp | null = null;

/** Calls after which two deployments in random order have both answered: the probability of a miss is 2⁻²⁹. */
const RANDOM_CALLS = 30;

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

const invalidRequest = (message: string, status = 400) => ({
  status,
  deployment: null,
  retryAfter: null,
  body: { error: { message, type: 'invalid_request_error', param: null, code: String(status) } },
});

const limitReached = (limit: string) => ({
  error: { message: `Model rate limit exceeded. ${limit}`, type: 'rate_limit_error', param: null, code: '429' },
});

describe('tag filtering', () => {
  const TAGGED = [
    { up: 'free', params: { tags: ['free'] } },
    { up: 'paid', params: { tags: ['paid'] } },
  ];

  it('selects by tags of the body, of the header, of the key and of the team', async () => {
    const { deploymentsOf, keyWith, app } = await start(TAGGED, { enable_tag_filtering: true });
    expect(await deploymentsOf(4, { tags: ['paid'] })).toEqual(['paid']);
    expect(await deploymentsOf(4, { metadata: { tags: ['free'] } })).toEqual(['free']);
    expect(await deploymentsOf(4, {}, { 'x-litellm-tags': '!free' })).toEqual(['paid']);
    expect(await deploymentsOf(4, {}, await keyWith({ metadata: { tags: ['free'] } }))).toEqual(['free']);
    const response = await app.call('POST', '/team/new', { metadata: { tags: ['paid'] } });
    const { team_id } = (await response.json()) as { team_id: string };
    expect(await deploymentsOf(4, {}, await keyWith({ team_id }))).toEqual(['paid']);
  });

  it('refuses tags that no deployment has, or calls the fallback', async () => {
    const { ask, requestedModels } = await start(TAGGED, { enable_tag_filtering: true });
    expect(await ask({ tags: ['other', '!x'] })).toEqual(
      invalidRequest(
        "Not allowed to access model due to tags configuration. Passed model=m and tags=['other', '!x']",
        401,
      ),
    );
    expect(requestedModels()).toEqual([]);
    await setup?.stop();
    const { deploymentsOf } = await start([...TAGGED, { name: 'spare', up: 's', params: { tags: ['other'] } }], {
      enable_tag_filtering: true,
      fallbacks: [{ m: ['spare'] }],
    });
    expect(await deploymentsOf(2, { tags: ['other'] })).toEqual(['s']);
  });

  it('can be turned on by a model and by a key', async () => {
    const models = [
      ...TAGGED,
      { name: 'n', up: 'n-free', params: { tags: ['free'] }, info: { enable_tag_filtering: true } },
    ];
    const { ask, deploymentsOf, keyWith } = await start(models);
    expect(await deploymentsOf(4, { tags: ['paid'] })).toEqual(['free', 'paid']);
    expect((await ask({ model: 'n', tags: ['paid'] })).status).toBe(401);
    const headers = await keyWith({ router_settings: { enable_tag_filtering: true } });
    expect(await deploymentsOf(4, { tags: ['paid'] }, headers)).toEqual(['paid']);
  });
});

describe('allow_fail_open', () => {
  const OPEN = { allow_fail_open: true };
  const GROUP = [
    { up: 'claude', params: { tags: ['anthropic'] }, info: OPEN },
    { up: 'usual', params: { tags: ['openai', 'default'] }, info: OPEN },
  ];

  it('sends calls whose own required or excluded tags leave no deployment to the default ones', async () => {
    const { deploymentsOf } = await start(GROUP, { enable_tag_filtering: true });
    expect(await deploymentsOf(3, { tags: ['!anthropic', '!openai'] })).toEqual(['usual']);
    expect(await deploymentsOf(3, { tags: ['&anthropic', '&openai'] })).toEqual(['usual']);
    expect(await deploymentsOf(3, { tags: ['&anthropic'] })).toEqual(['claude']);
    await setup?.stop();
    const closed = await start(
      GROUP.map((one) => ({ ...one, info: {} })),
      { enable_tag_filtering: true },
    );
    expect((await closed.ask({ tags: ['!anthropic', '!openai'] })).status).toBe(401);
  });

  it('does not apply to plain tags, nor to the tags of a key and its team', async () => {
    const { ask, deploymentsOf, keyWith } = await start(
      [...GROUP.slice(0, 1), { up: 'other', params: { tags: ['openai'] }, info: OPEN }],
      { enable_tag_filtering: true },
    );
    expect((await ask({ tags: ['none'] })).status).toBe(401);
    expect((await ask({ tags: ['none', '!anthropic'] })).status).toBe(401);
    const bound = await keyWith({ metadata: { tags: ['!anthropic'] } });
    expect(await deploymentsOf(3, { tags: ['!openai'] }, bound)).toEqual(['other']);
    // The caller repeats the tag of its key. The tag of the key stays in force.
    expect(await deploymentsOf(3, { tags: ['!openai', '!anthropic'] }, bound)).toEqual(['other']);
    const locked = await keyWith({ metadata: { tags: ['!anthropic', '!openai'] } });
    expect((await ask({}, locked)).status).toBe(401);
  });
});

it('tag_routing_prefix is removed from tags, and keys cannot set it', async () => {
  const models = [
    { up: 'free', params: { tags: ['free'] } },
    { up: 'paid', params: { tags: ['paid'] } },
  ];
  const { deploymentsOf, keyWith } = await start(models, { enable_tag_filtering: true, tag_routing_prefix: 'route:' });
  expect(await deploymentsOf(3, { tags: ['route:paid'] })).toEqual(['paid']);
  expect(await deploymentsOf(3, { tags: ['route:!paid'] })).toEqual(['free']);
  expect(await deploymentsOf(3, { tags: ['free'] })).toEqual(['free']);
  const own = await keyWith({ metadata: { tags: ['!paid'] }, router_settings: { tag_routing_prefix: '!' } });
  expect(await deploymentsOf(3, {}, own)).toEqual(['free']);
});

describe('pre-call checks', () => {
  const LONG = { messages: [{ role: 'user', content: 'word '.repeat(400) }] };

  it('leave out deployments whose context window is too small', async () => {
    const models = [
      { up: 'small', info: { max_input_tokens: 100 } },
      { up: 'large', info: { max_input_tokens: 10_000 } },
    ];
    const { deploymentsOf } = await start(models, { enable_pre_call_checks: true });
    expect(await deploymentsOf(RANDOM_CALLS)).toEqual(['large', 'small']);
    expect(await deploymentsOf(4, LONG)).toEqual(['large']);
  });

  it('leave out deployments whose answers cannot follow the schema of a call', async () => {
    const response_format = { type: 'json_schema', json_schema: { name: 'x', schema: { type: 'object' } } };
    const models = [{ up: 'plain', info: { base_model: 'gpt-audio' } }, { up: 'able' }];
    const { deploymentsOf } = await start(models, { enable_pre_call_checks: true });
    expect(await deploymentsOf(RANDOM_CALLS)).toEqual(['able', 'plain']);
    expect(await deploymentsOf(RANDOM_CALLS, { response_format: { type: 'json_object' } })).toEqual(['able', 'plain']);
    expect(await deploymentsOf(6, { response_format })).toEqual(['able']);
    await setup?.stop();
    const unchecked = await start(models);
    expect(await unchecked.deploymentsOf(2, { response_format })).toEqual(['able', 'plain']);
  });

  it('refuse a prompt that fits no deployment, or call the context window fallback', async () => {
    const models = [
      { up: 'small', info: { max_input_tokens: 100 } },
      { name: 'long', up: 'large', info: { max_input_tokens: 10_000 } },
    ];
    const { ask } = await start(models, { enable_pre_call_checks: true });
    expect(await ask(LONG)).toEqual(
      invalidRequest(
        'Context window exceeded for given call. No models have context window large enough for this call.',
      ),
    );
    await setup?.stop();
    const { deploymentsOf } = await start(models, {
      enable_pre_call_checks: true,
      context_window_fallbacks: [{ m: ['long'] }],
    });
    expect(await deploymentsOf(1, LONG)).toEqual(['large']);
  });

  it('leave out deployments over rpm; answer 429 when none is left', async () => {
    const { ask, deploymentsOf } = await start(
      [
        { up: 'a', params: { rpm: 1 } },
        { up: 'b', params: { rpm: 2 } },
      ],
      {
        enable_pre_call_checks: true,
        num_retries: 0,
      },
    );
    expect(await deploymentsOf(3)).toEqual(['a', 'b']);
    const refused = await ask();
    expect([refused.status, refused.body.error?.type]).toEqual([429, 'throttling_error']);
    expect(Number(refused.retryAfter)).toBeGreaterThan(0);
  });
});

it('enforce_model_rate_limits refuses calls over tpm with the default strategy', async () => {
  const { ask, requestedModels } = await start(
    [{ up: 'a', params: { tpm: 50 } }],
    { optional_pre_call_checks: ['enforce_model_rate_limits'], num_retries: 0 },
    { a: { tokens: 60 } },
  );
  expect((await ask()).status).toBe(200);
  expect(await ask()).toMatchObject({ status: 429, body: limitReached('TPM limit=50, current usage=60') });
  expect(requestedModels()).toEqual(['a']);
});

it('enforce_model_rate_limits names the limit of requests', async () => {
  const { ask } = await start([{ up: 'a', params: { rpm: 1 } }], {
    optional_pre_call_checks: ['enforce_model_rate_limits'],
    num_retries: 0,
  });
  const answers = [await ask(), await ask(), await ask()];
  expect(answers.at(-1)).toMatchObject({ status: 429, body: limitReached('RPM limit=1, current usage=1') });
});

it('calls that are refused before they are sent count in no rpm', async () => {
  const { ask, requestedModels, keyWith } = await start([{ up: 'a', params: { rpm: 3 } }], {
    optional_pre_call_checks: ['enforce_model_rate_limits'],
    num_retries: 0,
  });
  const limited = await keyWith({ rpm_limit: 1 });
  // The first call turns the counts on.
  expect((await ask()).status).toBe(200);
  expect((await ask({}, limited)).status).toBe(200);
  for (let call = 0; call < 4; call += 1) expect((await ask({}, limited)).status).toBe(429);
  expect((await ask()).status).toBe(200);
  expect((await ask()).status).toBe(429);
  expect(requestedModels()).toEqual(['a', 'a', 'a']);
});

describe('affinity', () => {
  const PAIR = [{ up: 'a' }, { up: 'b' }];

  it('keeps all calls of a key at one deployment', async () => {
    const { deploymentsOf, keyWith } = await start(PAIR, { optional_pre_call_checks: ['deployment_affinity'] });
    const headers = await keyWith({});
    expect(await deploymentsOf(8, {}, headers)).toHaveLength(1);
  });

  it('keeps all calls of a session at one deployment; calls without a session use all', async () => {
    const { deploymentsOf } = await start(PAIR, { optional_pre_call_checks: ['session_affinity'] });
    expect(await deploymentsOf(8, {}, { 'x-litellm-session-id': 's1' })).toHaveLength(1);
    expect(await deploymentsOf(RANDOM_CALLS)).toEqual(['a', 'b']);
  });

  it('can be set for one model', async () => {
    const { deploymentsOf } = await start([...PAIR, { name: 'n', up: 'c' }, { name: 'n', up: 'd' }], {
      model_group_affinity_config: { n: ['deployment_affinity'] },
    });
    expect(await deploymentsOf(RANDOM_CALLS, { model: 'n' })).toHaveLength(1);
    expect(await deploymentsOf(RANDOM_CALLS)).toEqual(['a', 'b']);
  });
});

describe('routing groups', () => {
  it('can be called by name, with their strategy', async () => {
    const models = [
      { name: 'x', up: 'x1', params: { input_cost_per_token: 0.5, output_cost_per_token: 0.5 } },
      { name: 'y', up: 'y1', params: { input_cost_per_token: 0.1, output_cost_per_token: 0.1 } },
      { name: 'z', up: 'z1' },
    ];
    const { deploymentsOf, ask } = await start(models, {
      routing_groups: [{ group_name: 'cheap', models: ['x', 'y'], routing_strategy: 'cost-based-routing' }],
    });
    expect(await deploymentsOf(6, { model: 'cheap' })).toEqual(['y1']);
    expect(await deploymentsOf(2, { model: 'x' })).toEqual(['x1']);
    expect((await ask({ model: 'none' })).status).toBe(400);
  });

  it('of the strategy priority call the model with the lowest number, then the next one', async () => {
    const models = [
      { name: 'x', up: 'x1' },
      { name: 'y', up: 'y1' },
    ];
    const routing_groups = [
      { group_name: 'first', models: ['x', 'y'], routing_strategy: 'priority', model_priorities: { x: 2, y: 1 } },
    ];
    const { ask, requestedModels } = await start(models, { routing_groups, num_retries: 1 }, { y1: { status: 500 } });
    expect(await ask({ model: 'first' })).toMatchObject({ status: 200, deployment: 'x1' });
    expect(requestedModels()).toEqual(['y1', 'x1']);
  });
});

it('access windows reserve a deployment for their teams', async () => {
  const access_windows = (team_ids: readonly string[]) => [
    { start: '00:00', end: '12:00', team_ids },
    { start: '12:00', end: '00:00', team_ids },
  ];
  const { ask, app, keyWith } = await start([{ up: 'a', info: { access_windows: access_windows(['red']) } }]);
  const refused = await ask();
  expect(refused).toEqual(
    invalidRequest(expect.stringMatching(/^Deployment m is reserved for another team until (12|00):00 UTC$/) as string),
  );
  expect((await app.call('POST', '/team/new', { team_id: 'red' })).status).toBe(200);
  expect((await ask({}, await keyWith({ team_id: 'red' }))).status).toBe(200);
});

describe('a reserved deployment', () => {
  const RESERVED = {
    name: 'reserved',
    up: 'r',
    info: {
      access_windows: [
        { start: '00:00', end: '12:00', team_ids: ['red'] },
        { start: '12:00', end: '00:00', team_ids: ['red'] },
      ],
    },
  };

  it.each(['reserved', 'r'])('is a fallback for its team only, by the name %s', async (fallback) => {
    const models = [{ up: 'a', params: { cooldown_time: 0 } }, RESERVED];
    const { ask, app, keyWith, requestedModels } = await start(models, { num_retries: 0 }, { a: { status: 500 } });
    expect((await ask({ fallbacks: [fallback] })).status).toBe(500);
    expect(requestedModels()).not.toContain('r');
    expect((await app.call('POST', '/team/new', { team_id: 'red' })).status).toBe(200);
    const ofTeam = await ask({ fallbacks: [fallback] }, await keyWith({ team_id: 'red' }));
    expect(ofTeam).toMatchObject({ status: 200, deployment: 'r' });
  });

  it('is selected by an auto router for its team only', async () => {
    const router = {
      complexity_router_config: {
        tiers: { SIMPLE: 'reserved', MEDIUM: 'reserved', COMPLEX: 'open', REASONING: 'open' },
      },
      complexity_router_default_model: 'open',
    };
    const models = [
      RESERVED,
      { name: 'open', up: 'o' },
      { name: 'smart', up: 'smart', params: { model: 'auto_router/complexity_router', ...router } },
    ];
    const { ask, app, keyWith, requestedModels } = await start(models);
    const question = { model: 'smart', messages: [{ role: 'user', content: 'What is 2+2?' }] };
    expect((await ask(question)).status).toBe(200);
    expect((await app.call('POST', '/team/new', { team_id: 'red' })).status).toBe(200);
    expect((await ask(question, await keyWith({ team_id: 'red' }))).status).toBe(200);
    expect(requestedModels()).toEqual(['o', 'r']);
  });
});

it('prompt_caching sends calls with an equal start of the prompt to the deployment of the first one', async () => {
  const { deploymentsOf, ask } = await start([{ up: 'a' }, { up: 'b' }], {
    optional_pre_call_checks: ['prompt_caching'],
  });
  const marked = { type: 'text', text: 'A long start.', cache_control: { type: 'ephemeral' } };
  const withQuestion = (text: string) => ({ messages: [{ role: 'user', content: [marked, { type: 'text', text }] }] });
  const first = await ask(withQuestion('One?'));
  const others = new Set<string | null>();
  for (let call = 0; call < 8; call += 1) others.add((await ask(withQuestion(`Question ${call}?`))).deployment);
  expect([...others]).toEqual([first.deployment]);
  expect(await deploymentsOf(RANDOM_CALLS)).toEqual(['a', 'b']);
});
