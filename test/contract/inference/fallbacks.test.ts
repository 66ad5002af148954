import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startApp } from '../../support/start-app.ts';
import { newTrace, spansIn } from './trace-spans.ts';
import {
  CHAT,
  completionOf,
  MESSAGES,
  refused,
  upstreamFailure,
  contentOf,
  type ScriptedApp,
  startScripted,
} from './scripted.ts';

let setup: ScriptedApp;

beforeAll(async () => {
  setup = await startScripted();
});

afterAll(() => setup.stop());

beforeEach(() => setup.plan({}));

describe('fallbacks', () => {
  it('are called in order after the last retry; the answer has the name of the fallback that answered', async () => {
    const firstIndex = setup.upstream.received.length;
    setup.plan({ 'one-up': [500], 'pair-a': [400], 'pair-b': [400] });
    const answer = await setup.ask({ model: 'one', num_retries: 1, fallbacks: ['pair', 'spare'] });
    expect(setup.requestedModels(firstIndex)).toEqual([
      'one-up',
      'one-up',
      expect.stringMatching(/^pair-/),
      'spare-up',
    ]);
    expect(answer).toEqual({
      status: 200,
      retryHeaders: {
        'model-group': 'spare',
        'model-id': expect.any(String),
        'attempted-retries': '1',
        'attempted-fallbacks': '2',
        'max-retries': '1',
        'max-fallbacks': '5',
      },
      body: { ...completionOf('spare-up'), model: 'spare' },
    });
  });

  it('may be of another dialect, with replaced members', async () => {
    setup.plan({ 'one-up': [400] });
    const replacedMessages = [{ role: 'user', content: 'say it in short' }];
    const answer = await setup.ask({
      model: 'one',
      max_tokens: 9,
      fallbacks: [{ model: 'claude', messages: replacedMessages }],
    });
    expect(contentOf(answer)).toBe('I am claude-up');
    expect(JSON.parse(setup.upstream.received.at(-1)?.body ?? '')).toEqual({
      model: 'claude-up',
      max_tokens: 9,
      messages: [{ role: 'user', content: [{ type: 'text', text: 'say it in short' }] }],
    });
    const claude = { model: 'claude', messages: replacedMessages, max_tokens: 3 };
    await setup.ask({ model: 'one', max_tokens: 9, fallbacks: [claude] }, {}, '/v1/messages');
    expect(JSON.parse(setup.upstream.received.at(-1)?.body ?? '')).toEqual({ ...claude, model: 'claude-up' });
    setup.plan({ 'claude-up': [500] });
    await setup.ask({ model: 'claude', max_tokens: 9, fallbacks: [{ ...claude, model: 'spare' }] });
    expect(JSON.parse(setup.upstream.received.at(-1)?.body ?? '')).toEqual({
      model: 'spare-up',
      messages: replacedMessages,
      max_tokens: 3,
    });
  });

  it.each([
    ['/v1/messages', { max_tokens: 5 }, { type: 'message', model: 'spare', content: [{ text: 'I am spare-up' }] }],
    ['/v1/responses', { input: 'x', messages: undefined }, { model: 'spare' }],
    ['/v1beta/models/one:generateContent', { contents: [{ parts: [{ text: 'x' }] }], messages: undefined }, {}],
    ['/ide/chat/completions', { input: 'x', messages: undefined }, { model: 'spare' }],
  ])('are called on %s', async (path, body, answer) => {
    setup.plan({ 'one-up': [500] });
    expect(await setup.ask({ model: 'one', ...body, fallbacks: ['spare'] }, {}, path)).toMatchObject({
      status: 200,
      retryHeaders: { 'attempted-fallbacks': '1', 'model-group': 'spare' },
      body: answer,
    });
  });

  it('may name one deployment by its id, to which every call goes', async () => {
    for (const _ of [1, 2]) {
      setup.plan({ 'one-up': [500], 'pair-a': [500] });
      const answer = await setup.ask({ model: 'one', num_retries: 0, fallbacks: ['pair-b-id'] });
      expect([answer.retryHeaders['model-id'], answer.retryHeaders['model-group'], contentOf(answer)]).toEqual([
        'pair-b-id',
        'pair',
        'I am pair-b',
      ]);
    }
  });

  it('fail with the status of the first model; the error lists the attempted models', async () => {
    const { traceId, headers } = newTrace();
    setup.plan({ 'one-up': [503], 'spare-up': [404] });
    const message = [
      'litellm.ServiceUnavailableError: ServiceUnavailableError: OpenAIException - one-up says 503. Received Model Group=one',
      'Available Model Group Fallbacks=["spare"]',
      'Error doing the fallback: litellm.NotFoundError: NotFoundError: OpenAIException - spare-up says 404',
    ].join('\n');
    expect(await setup.ask({ model: 'one', fallbacks: ['spare'] }, headers)).toEqual(
      upstreamFailure(503, { message, type: 'internal_server_error' }),
    );
    expect(await spansIn(setup.app, traceId)).toEqual([
      expect.objectContaining({
        spendRow: expect.objectContaining({
          modelGroup: 'one',
          model: 'one-up',
          status: 'FAILURE',
          errorCode: 'UPSTREAM_FAILED',
        }),
      }),
    ]);
  });

  it('are at most five', async () => {
    const firstIndex = setup.upstream.received.length;
    setup.plan({ 'one-up': [500], 'spare-up': [500] });
    await setup.ask({ model: 'one', fallbacks: Array.from({ length: 9 }, () => 'spare') });
    expect(setup.requestedModels(firstIndex)).toEqual(['one-up', ...Array.from({ length: 5 }, () => 'spare-up')]);
  });

  it('are disabled by disable_fallbacks', async () => {
    const firstIndex = setup.upstream.received.length;
    setup.plan({ 'one-up': [500] });
    expect(await setup.ask({ model: 'one', fallbacks: ['spare'], disable_fallbacks: true })).toEqual(
      upstreamFailure(500, {
        message: 'litellm.InternalServerError: InternalServerError: OpenAIException - one-up says 500',
        type: 'internal_server_error',
      }),
    );
    expect(setup.requestedModels(firstIndex)).toEqual(['one-up']);
  });

  it('have health counts without the failures of the deployment that they replace', async () => {
    type Health = { readonly calls: number; readonly failures: number; readonly inFlight: number };
    async function health(model: string): Promise<Health | undefined> {
      const query = `{ deployments(filter: { model: "${model}" }) { health { calls failures inFlight } } }`;
      const answer = await setup.app.call('POST', '/graphql', { query });
      const { data } = (await answer.json()) as { data: { deployments: { health: Health }[] } };
      return data.deployments[0]?.health;
    }
    const [oneBefore, spareBefore] = [await health('one'), await health('spare')];
    setup.plan({ 'one-up': [500] });
    await setup.ask({ model: 'one', num_retries: 1, fallbacks: ['spare'] });
    const healthAfter = (before: Health | undefined, added: { calls: number; failures: number }) => ({
      calls: (before?.calls ?? 0) + added.calls,
      failures: (before?.failures ?? 0) + added.failures,
      inFlight: 0,
    });
    expect(await health('one')).toEqual(healthAfter(oneBefore, { calls: 2, failures: 2 }));
    expect(await health('spare')).toEqual(healthAfter(spareBefore, { calls: 1, failures: 0 }));
  });

  it('403 and 400, without an upstream call: a fallback that the caller may not call or that does not exist', async () => {
    const firstIndex = setup.upstream.received.length;
    const response = await setup.app.call('POST', '/key/generate', { models: ['one'] });
    const { key } = (await response.json()) as { key: string };
    for (const fallback of ['spare', 'unknown', 'pair-b-id'])
      expect(await setup.ask({ model: 'one', fallbacks: [fallback] }, { authorization: `Bearer ${key}` })).toEqual(
        refused(403, {
          message: `The requested model '${fallback}' is not available for this API key, or the model name is invalid. Check the models available to you and try again.`,
          type: 'key_model_access_denied',
          param: 'model',
        }),
      );
    expect(await setup.ask({ model: 'one', fallbacks: ['unknown'] })).toEqual(
      refused(400, {
        message:
          '/chat/completions: Invalid model name passed in model=unknown. Call `/v1/models` to view available models for your key.',
        type: 'auth_error',
        param: 'None',
      }),
    );
    expect(setup.requestedModels(firstIndex)).toEqual([]);
  });

  it.each([
    ['spare', 'an array of at most 20 models'],
    [[3], 'an array of models by name, or of objects with a `model`'],
    [[{ messages: [] }], 'an array of models by name, or of objects with a `model`'],
    [[{ model: 'spare', api_base: 'http://x' }], "an array of models with replaced members, without 'api_base'"],
    [[{ model: 'spare', stream: true }], "an array of models with replaced members, without 'stream'"],
    [Array.from({ length: 21 }, () => 'spare'), 'an array of at most 20 models'],
  ])('400: the invalid value %j', async (fallbacks, wanted) => {
    expect(await setup.ask({ model: 'one', fallbacks })).toEqual(
      refused(400, {
        message: `/chat/completions: Invalid type for parameter 'fallbacks': it must be ${wanted}.`,
        type: 'invalid_request_error',
        param: 'fallbacks',
      }),
    );
  });
});

describe('fallbacks of a response', () => {
  it.each(['input', 'previous_response_id', 'conversation'])('400: a fallback that replaces %s', async (member) => {
    const firstIndex = setup.upstream.received.length;
    setup.plan({ 'one-up': [500] });
    for (const path of ['/v1/responses', '/ide/chat/completions']) {
      const body = {
        model: 'one',
        messages: undefined,
        input: 'x',
        fallbacks: [{ model: 'spare', [member]: 'resp_1' }],
      };
      expect(await setup.ask(body, {}, path)).toEqual(
        refused(400, {
          message: `/responses: Invalid type for parameter 'fallbacks': it must be an array of models with replaced members, without '${member}'.`,
          type: 'invalid_request_error',
          param: 'fallbacks',
        }),
      );
    }
    expect(setup.requestedModels(firstIndex)).toEqual([]);
  });
});

describe('context_window_fallback_dict', () => {
  const TOO_LONG = { message: 'too long', type: 'invalid_request_error', code: 'context_length_exceeded' };

  it('calls the larger model only if the conversation is too long', async () => {
    const replacements = { one: 'spare' };
    setup.plan({ 'one-up': [TOO_LONG] });
    expect(contentOf(await setup.ask({ model: 'one', context_window_fallback_dict: replacements }))).toBe(
      'I am spare-up',
    );
    setup.plan({ 'claude-up': [{ message: 'prompt is too long: 9 tokens > 8 maximum' }] });
    const claude = { model: 'claude', max_tokens: 5, context_window_fallback_dict: { claude: 'spare' } };
    expect(contentOf(await setup.ask(claude))).toBe('I am spare-up');
    setup.plan({ 'one-up': [400] });
    expect((await setup.ask({ model: 'one', context_window_fallback_dict: replacements })).status).toBe(400);
  });

  it('400: an invalid value', async () => {
    expect(await setup.ask({ model: 'one', context_window_fallback_dict: { one: 3 } })).toEqual(
      refused(400, {
        message:
          "/chat/completions: Invalid type for parameter 'context_window_fallback_dict': it must be an object of at most 20 models by the models that they replace.",
        type: 'invalid_request_error',
        param: 'context_window_fallback_dict',
      }),
    );
  });
});

describe('the budget of a key', () => {
  it('is checked only for models with a price', async () => {
    const response = await setup.app.call('POST', '/key/generate', { key_alias: 'spent', max_budget: 0 });
    const { key } = (await response.json()) as { key: string };
    const authorization = { authorization: `Bearer ${key}` };
    expect((await setup.ask({ model: 'free' }, authorization)).status).toBe(200);
    expect((await setup.ask({ model: 'one' }, authorization)).status).toBe(422);
    const firstIndex = setup.upstream.received.length;
    setup.plan({ 'free-up': [500] });
    const answer = await setup.ask({ model: 'free', fallbacks: ['spare'] }, authorization);
    expect(answer).toEqual(
      refused(422, {
        message: `Budget has been exceeded! Key=spent (sk-...${key.slice(-4)}) Current cost: 0.0, Max budget: 0.0`,
        type: 'budget_exceeded',
      }),
    );
    expect(setup.requestedModels(firstIndex)).toEqual(['free-up']);
    setup.plan({ 'free-up': [500, 200] });
    expect(await setup.ask({ model: 'free', fallbacks: ['spare', 'free'] }, authorization)).toMatchObject({
      status: 200,
      retryHeaders: { 'attempted-fallbacks': '1', 'model-group': 'free' },
    });
  });
});

describe('a fallback beyond the budget of the caller', () => {
  it('is skipped: the next one within the budget answers, or the error names the budget', async () => {
    const spent = { budget_limit: 0, time_period: '1d' };
    const keyFor = async (...models: readonly string[]): Promise<string> => {
      const model_max_budget = Object.fromEntries(models.map((model) => [model, spent]));
      const response = await setup.app.call('POST', '/key/generate', { key_alias: models.join(' '), model_max_budget });
      return ((await response.json()) as { key: string }).key;
    };
    const ask = async (key: string, fallbacks: readonly string[]) =>
      setup.ask({ model: 'one', fallbacks }, { authorization: `Bearer ${key}` });
    const spareSpentKey = await keyFor('spare');
    const firstIndex = setup.upstream.received.length;
    setup.plan({ 'one-up': [500, 500, 200] }); // The third call needs no fallback.
    expect(await ask(spareSpentKey, ['spare', 'claude'])).toMatchObject({
      status: 200,
      retryHeaders: { 'attempted-fallbacks': '1', 'model-group': 'claude' },
    });
    expect(setup.requestedModels(firstIndex)).toEqual(['one-up', 'claude-up']);
    const bothSpentKey = await keyFor('spare', 'claude');
    const refusal = await ask(bothSpentKey, ['claude', 'spare']);
    expect(refusal).toMatchObject({ status: 422, body: { error: { type: 'budget_exceeded' } } });
    expect(JSON.stringify(refusal)).toContain('exceeded budget for model=spare');
    expect(setup.requestedModels(firstIndex)).toEqual(['one-up', 'claude-up', 'one-up']);
    expect((await ask(bothSpentKey, ['spare'])).status).toBe(200);
  });
});

describe('the settings of fallbacks', () => {
  it('hide the attempted models, and allow fallbacks beyond the budget', async () => {
    const params = {
      api_key: 'sk-up',
      api_base: `${setup.upstream.url}/v1`,
      input_cost_per_token: 0,
      output_cost_per_token: 0,
    };
    const app = await startApp({
      config: {
        litellm_settings: { expose_router_debug_in_errors: false },
        general_settings: { enforce_fallback_budget: false },
        model_list: [
          { model_name: 'free', litellm_params: { ...params, model: 'openai/free-up' } },
          { model_name: 'spare', litellm_params: { ...params, model: 'openai/spare-up', input_cost_per_token: 1 } },
        ],
      },
    });
    try {
      const response = await app.call('POST', '/key/generate', { max_budget: 0 });
      const { key } = (await response.json()) as { key: string };
      const body = { model: 'free', messages: MESSAGES, num_retries: 1, fallbacks: ['spare'] };
      const send = () => app.call('POST', CHAT, body, { authorization: `Bearer ${key}` });
      setup.plan({ 'free-up': [500], 'spare-up': [500] });
      const failed = await send();
      expect([failed.status, await failed.json()]).toEqual([
        500,
        {
          error: {
            message: 'litellm.InternalServerError: InternalServerError: OpenAIException - free-up says 500',
            type: 'internal_server_error',
            param: null,
            code: '500',
          },
        },
      ]);
      setup.plan({ 'free-up': [500] });
      expect(await (await send()).json()).toEqual({ ...completionOf('spare-up'), model: 'spare' });
    } finally {
      await app.stop();
    }
  });
});
