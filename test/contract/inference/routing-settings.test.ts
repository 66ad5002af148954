import { afterEach, describe, expect, it } from 'vitest';
import { completionOf, upstreamFailure, contentOf, type ScriptedApp, startScripted } from './scripted.ts';

let setup: ScriptedApp | null = null;

/** Starts the app and a scripted upstream with these router settings. */
async function startRouter(router_settings: object, config: object = {}): Promise<ScriptedApp> {
  setup = await startScripted({ router_settings, ...config });
  setup.plan({});
  return setup;
}

afterEach(async () => {
  await setup?.stop();
  setup = null;
});

const ONE_IN_COOLDOWN = {
  message: expect.stringMatching(
    /^No deployments available for selected model, Try again in 5 seconds\. All deployments for selected model are in cooldown\. Passed model=one\. pre-call-checks=False, cooldown_list=\['one#[0-9a-f]{12}'\]$/,
  ),
  type: 'all_deployments_in_cooldown',
  param: null,
  code: '429',
};

describe('retries that the request does not configure', () => {
  it('are two by default, and a header of the answer has the limit', async () => {
    const { ask, plan, requestedModels } = await startRouter({});
    plan({ 'one-up': [500, 503, 200] });
    expect(await ask({ model: 'one' })).toMatchObject({
      status: 200,
      retryHeaders: { 'attempted-retries': '2', 'max-retries': '2' },
      body: { ...completionOf('one-up'), model: 'one' },
    });
    expect(requestedModels()).toHaveLength(3);
    plan({ 'one-up': [500] });
    expect(await ask({ model: 'one' })).toEqual(
      upstreamFailure(500, {
        message:
          'litellm.InternalServerError: InternalServerError: OpenAIException - one-up says 500 LiteLLM Retried: 2 times, LiteLLM Max Retries: 2',
        type: 'internal_server_error',
      }),
    );
  });

  it('follow litellm_settings, and router_settings by class of error or by model', async () => {
    const { ask, plan, requestedModels } = await startRouter(
      { retry_policy: { BadRequestErrorRetries: 1 }, model_group_retry_policy: { spare: { DefaultRetries: 0 } } },
      { litellm_settings: { num_retries: 1 } },
    );
    const callCount = async (model: string, status: number, members: object = {}): Promise<number> => {
      const firstIndex = requestedModels().length;
      plan({ [`${model}-up`]: [status] });
      expect((await ask({ model, ...members })).status).toBe(status);
      return requestedModels(firstIndex).length;
    };
    // One retry by `num_retries` of litellm_settings, one by the policy for 400, and none for 422.
    expect(await callCount('one', 500)).toBe(2);
    expect(await callCount('one', 400)).toBe(2);
    expect(await callCount('one', 422)).toBe(1);
    expect(await callCount('one', 400, { num_retries: 0 })).toBe(1);
    expect(await callCount('spare', 500)).toBe(1);
  });
});

describe('cooldowns', () => {
  it('429: a model whose only deployment answered 401 is not called, and the answer has Retry-After', async () => {
    const { ask, plan, requestedModels } = await startRouter({ num_retries: 0 });
    // This answer has no Retry-After, which would have precedence over the default cooldown.
    setup?.answerWith((response) => {
      response.writeHead(401, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message: 'no' } }));
    });
    expect((await ask({ model: 'one' })).status).toBe(401);
    plan({});
    const firstIndex = requestedModels().length;
    expect(await ask({ model: 'one' })).toEqual({
      status: 429,
      retryHeaders: { 'retry-after': '5' },
      body: { error: ONE_IN_COOLDOWN },
    });
    expect(requestedModels(firstIndex)).toEqual([]);
    expect((await ask({ model: 'spare' })).status).toBe(200);
  });

  it('exclude a failed deployment, and the other deployment of the model answers', async () => {
    const { ask, requestedModels } = await startRouter({ num_retries: 0, allowed_fails: 0, cooldown_time: 60 });
    setup?.answerWith((response, _socket, { body }) => {
      const { model } = JSON.parse(body) as { model: string };
      response.writeHead(model === 'pair-a' ? 500 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(model === 'pair-a' ? { error: { message: 'no' } } : completionOf(model)));
    });
    const firstAnswers = [await ask({ model: 'pair' }), await ask({ model: 'pair' })];
    // Deployments alternate: each of the two gets one of these calls.
    expect(new Set(firstAnswers.map(({ status }) => status))).toEqual(new Set([200, 500]));
    const firstIndex = requestedModels().length;
    for (let call = 0; call < 4; call += 1) expect(contentOf(await ask({ model: 'pair' }))).toBe('I am pair-b');
    expect(requestedModels(firstIndex)).toEqual(['pair-b', 'pair-b', 'pair-b', 'pair-b']);
  });

  it('end after the Retry-After of the upstream', async () => {
    const { ask, plan } = await startRouter({ num_retries: 0 });
    // The scripted upstream sends Retry-After: 0.01.
    plan({ 'one-up': [401, 200] });
    expect((await ask({ model: 'one' })).status).toBe(401);
    await expect.poll(async () => (await ask({ model: 'one' })).status).toBe(200);
  });

  it('do not start after a timeout that the request sets', async () => {
    const { ask } = await startRouter({ num_retries: 0, allowed_fails: 0 });
    setup?.answerWith(() => {});
    for (let call = 0; call < 2; call += 1) expect((await ask({ model: 'one', timeout: 0.05 })).status).toBe(408);
    setup?.plan({});
    expect((await ask({ model: 'one' })).status).toBe(200);
  });

  it('do not start if they are disabled', async () => {
    const { ask, plan } = await startRouter({ num_retries: 0, disable_cooldowns: true });
    plan({ 'one-up': [401, 200] });
    expect([(await ask({ model: 'one' })).status, (await ask({ model: 'one' })).status]).toEqual([401, 200]);
  });
});

describe('configured fallbacks', () => {
  it('are called after a failure, in order; a header names the model that answered', async () => {
    const { ask, plan } = await startRouter({ num_retries: 0, fallbacks: [{ one: ['slow', 'spare'] }] });
    plan({ 'one-up': [500], 'slow-up': [503] });
    expect(await ask({ model: 'one' })).toMatchObject({
      status: 200,
      retryHeaders: { 'model-group': 'spare', 'attempted-fallbacks': '2', 'max-fallbacks': '5' },
    });
  });

  it('are called for a model in cooldown', async () => {
    const { ask, plan } = await startRouter({ num_retries: 0 }, { litellm_settings: { default_fallbacks: ['spare'] } });
    setup?.answerWith((response, _socket, { body }) => {
      const { model } = JSON.parse(body) as { model: string };
      response.writeHead(model === 'one-up' ? 401 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(model === 'one-up' ? { error: { message: 'no' } } : completionOf(model)));
    });
    expect(contentOf(await ask({ model: 'one' }))).toBe('I am spare-up');
    plan({});
    expect(contentOf(await ask({ model: 'one' }))).toBe('I am spare-up');
  });

  it('are disabled by disable_fallbacks, and replaced by fallbacks of the request', async () => {
    const { ask, plan } = await startRouter({ num_retries: 0, fallbacks: [{ one: ['spare'] }] });
    plan({ 'one-up': [500] });
    expect((await ask({ model: 'one', disable_fallbacks: true })).status).toBe(500);
    expect(contentOf(await ask({ model: 'one', fallbacks: ['free'] }))).toBe('I am free-up');
  });

  it('are called for keys that may not call them, unless enforce_fallback_model_access is set', async () => {
    const statusWith = async (enforce: boolean): Promise<number> => {
      const general_settings = { enforce_fallback_model_access: enforce };
      const { app, ask, plan } = await startRouter(
        { num_retries: 0, fallbacks: [{ one: ['spare'] }] },
        { general_settings },
      );
      plan({ 'one-up': [500] });
      const response = await app.call('POST', '/key/generate', { models: ['one'] });
      const { key } = (await response.json()) as { key: string };
      const { status } = await ask({ model: 'one' }, { authorization: `Bearer ${key}` });
      await setup?.stop();
      setup = null;
      return status;
    };
    // If the fallback is not allowed, the answer is the failure of `one`.
    expect([await statusWith(false), await statusWith(true)]).toEqual([200, 500]);
  });
});
