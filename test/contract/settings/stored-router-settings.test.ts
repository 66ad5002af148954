import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { startApp } from '../../support/start-app.ts';
import { CHAT, contentOf, MESSAGES, type ScriptedApp, startScripted } from '../inference/scripted.ts';

let setup: ScriptedApp;
beforeEach(async () => {
  setup = await startScripted({ router_settings: {}, general_settings: { store_model_in_db: true } });
});
afterEach(() => setup.stop());

const UPDATED = { message: 'Config updated successfully' };

interface ReceivedAnswer {
  readonly status: number;
  readonly body: unknown;
}

async function send(method: string, path: string, body?: object): Promise<ReceivedAnswer> {
  const answer = await setup.app.call(method, path, body);
  return { status: answer.status, body: await answer.json() };
}

const storeOverRest = async (sections: object): Promise<void> =>
  expect(await send('POST', '/config/update', sections)).toEqual({ status: 200, body: UPDATED });

/** Stores a setting in the graph, or removes the stored value. Returns the setting, or the code of the error. */
async function store(name: string, value: unknown, section = 'ROUTER'): Promise<unknown> {
  const query = `mutation ($input: UpdateSettingInput!) {
    updateSetting(input: $input) { ... on Setting { source effectiveValue } ... on UserError { code } }
  }`;
  const { body } = await send('POST', '/graphql', { query, variables: { input: { section, name, value } } });
  return (body as { readonly data: { readonly updateSetting: unknown } }).data.updateSetting;
}

/** Number of requests that a failing upstream gets for one call of a model: the first one and its retries. */
async function requestsOf(model: string, status = 500): Promise<number> {
  setup.plan({ [`${model}-up`]: [status] });
  const firstIndex = setup.requestedModels().length;
  expect((await setup.ask({ model, disable_fallbacks: true })).status).toBe(status);
  return setup.requestedModels(firstIndex).length;
}

/** Answer of the fallback while this model fails. The status if no fallback answers. */
async function fallbackTextOrStatus(model: string): Promise<unknown> {
  setup.plan({ [`${model}-up`]: [400] });
  const answer = await setup.ask({ model });
  return answer.status === 200 ? contentOf(answer) : answer.status;
}

/** Reads the file again with other settings of the router. */
async function reload(router_settings: object): Promise<void> {
  const text = readFileSync(join(setup.app.dataDir, 'config.yaml'), 'utf8');
  await setup.app.reload(stringify({ ...(parse(text) as object), router_settings }));
}

describe('stored retries', () => {
  it('settings.updateSections 200: apply to the next call, until the stored value is removed', async () => {
    // Without settings, a call has two retries.
    expect(await requestsOf('one')).toBe(3);
    await storeOverRest({ router_settings: { num_retries: 0, retry_policy: { BadRequestErrorRetries: 2 } } });
    expect([await requestsOf('one'), await requestsOf('one', 400)]).toEqual([1, 3]);
    await storeOverRest({
      router_settings: { num_retries: 1, model_group_retry_policy: { free: { DefaultRetries: 0 } } },
    });
    expect([await requestsOf('one'), await requestsOf('free')]).toEqual([2, 1]);
    for (const name of ['num_retries', 'retry_policy', 'model_group_retry_policy']) await store(name, null);
    expect([await requestsOf('one'), await requestsOf('one', 400), await requestsOf('free')]).toEqual([3, 1, 3]);
  });

  it('apply when they are stored in the graph, until the stored value is removed', async () => {
    expect(await store('num_retries', 1)).toEqual({ source: 'DATABASE', effectiveValue: 1 });
    expect(await requestsOf('one')).toBe(2);
    expect(await store('num_retries', 0)).toEqual({ source: 'DATABASE', effectiveValue: 0 });
    expect(await requestsOf('one')).toBe(1);
    expect(await store('num_retries', null)).toEqual({ source: 'DEFAULT', effectiveValue: 2 });
    expect(await requestsOf('one')).toBe(3);
  });

  it('settings.delete 200: removes a stored value; 400: one that the file declares, and unknown settings', async () => {
    const remove = (field_name: string) =>
      send('POST', '/config/field/delete', { config_type: 'router_settings', field_name });
    expect((await remove('num_retries')).status).toBe(400);
    await storeOverRest({ router_settings: { num_retries: 0, retry_policy: { BadRequestErrorRetries: 2 } } });
    expect(await remove('num_retries')).toEqual({
      status: 200,
      body: {
        param_name: 'router_settings',
        param_value: { retry_policy: { BadRequestErrorRetries: 2 } },
        last_run_at: null,
        reload_revision: 0,
      },
    });
    expect([await requestsOf('one'), await requestsOf('one', 400)]).toEqual([3, 3]);
    expect(await remove('other')).toEqual({
      status: 400,
      body: { detail: { error: 'Unsupported router settings: other' } },
    });
    await reload({ retry_policy: { BadRequestErrorRetries: 1 } });
    expect((await remove('retry_policy')).status).toBe(400);
    expect(await requestsOf('one', 400)).toBe(2);
  });

  it('in litellm_settings are shown as values of the router, where calls use them', async () => {
    await storeOverRest({ litellm_settings: { num_retries: 1 } });
    expect(await requestsOf('one')).toBe(2);
    const answer = await setup.app.call('GET', '/router/settings');
    expect(await answer.json()).toMatchObject({ current_values: { num_retries: 1 }, source: { num_retries: 'db' } });
  });

  it('settings.updateSections 400: an invalid value is refused and changes nothing', async () => {
    // The maximum is 20 retries.
    for (const router_settings of [{ num_retries: 'many' }, { num_retries: 21 }, { retry_policy: { Other: 1 } }])
      expect((await send('POST', '/config/update', { router_settings })).status).toBe(400);
    expect(await store('num_retries', 21)).toEqual({ code: 'INVALID_INPUT' });
    expect(await requestsOf('one')).toBe(3);
  });

  it('settings.updateSections 400: the file owns what it declares, also after a reload', async () => {
    await storeOverRest({ router_settings: { num_retries: 4, retry_policy: { BadRequestErrorRetries: 1 } } });
    await reload({ num_retries: 1 });
    expect([await requestsOf('one'), await requestsOf('one', 400)]).toEqual([2, 2]);
    expect((await send('POST', '/config/update', { router_settings: { num_retries: 3 } })).status).toBe(400);
    expect(await store('num_retries', 3)).toEqual({ code: 'CONFLICT' });
    expect(await requestsOf('one')).toBe(2);
    await reload({});
    expect([await requestsOf('one'), await requestsOf('one', 400)]).toEqual([5, 2]);
  });

  it('apply after a restart', async () => {
    await store('num_retries', 1);
    const { dataDir } = setup.app;
    const config = parse(readFileSync(join(dataDir, 'config.yaml'), 'utf8')) as Record<string, unknown>;
    await setup.app.stop({ keepData: true });
    const restartedApp = await startApp({ dataDir, config });
    try {
      setup.plan({ 'one-up': [500] });
      expect((await restartedApp.call('POST', CHAT, { model: 'one', messages: MESSAGES })).status).toBe(500);
      expect(setup.requestedModels()).toHaveLength(2);
    } finally {
      await restartedApp.stop();
    }
  });
});

describe('stored cooldowns', () => {
  it('settings.updateSections 200: apply to the next failure', async () => {
    const statuses = async (): Promise<readonly number[]> => {
      setup.answerWith((response) => {
        response.writeHead(401, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ error: { message: 'no' } }));
      });
      return [(await setup.ask({ model: 'one' })).status, (await setup.ask({ model: 'one' })).status];
    };
    await storeOverRest({ router_settings: { disable_cooldowns: true } });
    expect(await statuses()).toEqual([401, 401]);
    await storeOverRest({ router_settings: { disable_cooldowns: false, allowed_fails: 1_000 } });
    expect(await statuses()).toEqual([401, 401]);
    await store('allowed_fails', null);
    // The first failure starts a cooldown of the only deployment.
    expect(await statuses()).toEqual([401, 429]);
  });
});

describe('stored fallbacks of the settings', () => {
  it('settings.updateSections 200: serve the next call, until the stored value is removed', async () => {
    expect(await fallbackTextOrStatus('one')).toBe(400);
    await storeOverRest({ router_settings: { fallbacks: [{ one: ['spare'] }] } });
    expect(await fallbackTextOrStatus('one')).toBe('I am spare-up');
    expect(await store('max_fallbacks', 0)).toEqual({ source: 'DATABASE', effectiveValue: 0 });
    expect(await fallbackTextOrStatus('one')).toBe(400);
    await store('max_fallbacks', null);
    expect(await fallbackTextOrStatus('one')).toBe('I am spare-up');
    expect(await store('fallbacks', null)).toEqual({ source: 'DEFAULT', effectiveValue: [] });
    expect(await fallbackTextOrStatus('one')).toBe(400);
    await storeOverRest({ litellm_settings: { default_fallbacks: ['free'] } });
    expect(await fallbackTextOrStatus('one')).toBe('I am free-up');
    await store('default_fallbacks', null, 'LITELLM');
    expect(await fallbackTextOrStatus('one')).toBe(400);
  });

  it('fallbacks.set 200 and fallbacks.delete 400: a fallback of /fallback takes precedence over the stored setting', async () => {
    const fallbackOfOne = { model: 'one', fallback_models: ['free'] };
    await store('fallbacks', [{ one: ['spare'], slow: ['spare'] }]);
    expect((await send('POST', '/fallback', fallbackOfOne)).status).toBe(200);
    expect([await fallbackTextOrStatus('one'), await fallbackTextOrStatus('slow')]).toEqual([
      'I am free-up',
      'I am spare-up',
    ]);
    expect((await send('DELETE', '/fallback/one')).status).toBe(200);
    expect(await fallbackTextOrStatus('one')).toBe('I am spare-up');
    expect(await send('DELETE', '/fallback/one')).toEqual({
      status: 400,
      body: {
        detail: {
          error: "The general fallbacks of the model 'one' are part of a stored setting. Change that setting.",
        },
      },
    });
    await reload({ fallbacks: [{ one: ['slow'] }] });
    expect([await fallbackTextOrStatus('one'), await fallbackTextOrStatus('slow')]).toEqual(['I am slow-up', 400]);
    expect((await send('POST', '/fallback', fallbackOfOne)).status).toBe(400);
  });
});
