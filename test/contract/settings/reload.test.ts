import { stringify } from 'yaml';
import { describe, expect, it, vi } from 'vitest';
import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chat, type Json, tenancyClient } from '../../support/tenancy-client.ts';
import { POLLING } from '../../support/polling.ts';

const model = (name: string, params: object = {}) => ({
  model_name: name,
  litellm_params: { model: 'demo', api_key: 'very-secret-text', ...params },
});
const config = (modelList: readonly object[], sections: object = {}): string =>
  stringify({ model_list: modelList, general_settings: { config_watch_seconds: 0.05 }, ...sections });

const client = tenancyClient({
  config: { model_list: [model('old')], general_settings: { config_watch_seconds: 0.05 } },
});
const graph = async (query: string): Promise<Json> => (await client.post('/graphql', { query })).body['data'] as Json;
const statusOfCall = async (name: string): Promise<number> =>
  (await client.post('/v1/chat/completions', chat(name))).status;
const listedModels = async (): Promise<readonly string[]> =>
  ((await client.get('/v1/models')).body['data'] as readonly { readonly id: string }[]).map(({ id }) => id);

describe('a new configuration', () => {
  it('is applied: models, prices, settings and their sources', async () => {
    expect(await graph('{ configReload { error } }')).toEqual({ configReload: null });
    await client.app().reload(
      config([model('new', { input_cost_per_token: 1, output_cost_per_token: 1 })], {
        litellm_settings: { default_team_params: { max_budget: 4 } },
        router_settings: { num_retries: 3 },
      }),
    );
    expect(await graph('{ configReload { error } }')).toEqual({ configReload: { error: null } });
    expect(await listedModels()).toContain('new');
    expect(await listedModels()).not.toContain('old');
    expect([await statusOfCall('new'), await statusOfCall('old')]).toEqual([200, 400]);
    expect((await client.post('/team/new', {})).body).toMatchObject({ max_budget: 4 });
    const { body } = await client.get('/router/settings');
    expect(body['source']).toMatchObject({ num_retries: 'config' });
    const priced = await client.app().call('POST', '/v1/chat/completions', chat('new'));
    expect(Number(priced.headers.get('x-litellm-response-cost'))).toBeGreaterThan(1);
    await client.app().reload(config([model('new', { input_cost_per_token: 0, output_cost_per_token: 0 })]));
    const free = await client.app().call('POST', '/v1/chat/completions', chat('new'));
    expect(Number(free.headers.get('x-litellm-response-cost'))).toBe(0);
  });

  it('is applied: guardrails, unless one of them is invalid', async () => {
    const guardrail = (name: string, mode = 'pre_call') => ({
      guardrail_name: name,
      litellm_params: { guardrail: 'litellm_content_filter', mode },
    });
    const names = async (): Promise<readonly unknown[]> =>
      ((await client.get('/guardrails/list')).body['guardrails'] as readonly Json[]).map(
        (listed) => listed['guardrail_name'],
      );
    await client.app().reload(config([], { guardrails: [guardrail('one'), guardrail('two')] }));
    expect(await names()).toEqual(['one', 'two']);
    // `precall` is not a mode, so this configuration is refused.
    await client.app().reload(config([], { guardrails: [guardrail('three', 'precall')] }));
    expect(await names()).toEqual(['one', 'two']);
    await client.app().reload(config([]));
    expect(await names()).toEqual([]);
  });

  it('is applied: policies and prompts, unless one of them is invalid', async () => {
    const prompt = (text: string) => ({
      prompt_id: 'p',
      litellm_params: { prompt_integration: 'dotprompt', dotprompt_content: text },
    });
    const shown = async (): Promise<unknown> => {
      const [listed, prompts] = await Promise.all([client.get('/policy/list'), client.get('/prompts/list')]);
      const params = (prompts.body['prompts'] as readonly { readonly litellm_params: Json }[]).map(
        (one) => one.litellm_params['dotprompt_content'],
      );
      return [listed.body['policies'], params];
    };
    await client.app().reload(config([], { policies: { a: {} }, prompts: [prompt('one')] }));
    expect(await shown()).toEqual([['a'], ['one']]);
    await client.app().reload(config([], { policies: { a: { inherit: 'a' } }, prompts: [prompt('two')] }));
    expect(await shown()).toEqual([['a'], ['one']]);
    await client.app().reload(config([], { prompts: [prompt('{{ a.b }}')] }));
    expect(await shown()).toEqual([['a'], ['one']]);
    await client.app().reload(config([]));
    expect(await shown()).toEqual([[], []]);
  });

  it('that is invalid is refused, and the current one stays active', async () => {
    await client.app().reload(config([model('kept')]));
    await client.app().reload('model_list:\n  - model_name: broken\n');
    expect([await statusOfCall('kept'), await statusOfCall('broken')]).toEqual([200, 400]);
    const { configReload } = await graph('{ configReload { at error } }');
    expect(String((configReload as Json)['error'])).toMatch(
      /config\.yaml:2: model_list\.0\.litellm_params: is missing; expected a map$/,
    );
    const { body } = await client.get('/health/readiness/details');
    expect(body['configuration']).toEqual({ read_again_at: (configReload as Json)['at'], kept_running: true });
  });

  it('is refused when the file is a pipe, which may never end; a later regular file is read', async () => {
    const file = join(client.app().dataDir, 'config.yaml');
    rmSync(file);
    execFileSync('mkfifo', [file]);
    const errorOf = async (): Promise<unknown> =>
      ((await graph('{ configReload { error } }'))['configReload'] as Json)['error'];
    await vi.waitFor(
      async () => expect(String(await errorOf())).toMatch(/config\.yaml: is not a regular file$/),
      POLLING,
    );
    rmSync(file);
    await client.app().reload(config([model('after')]));
    expect(await errorOf()).toBe(null);
    expect(await listedModels()).toContain('after');
  });

  it('drops no request', async () => {
    await client.app().reload(config([model('steady')]));
    const statuses: number[] = [];
    let isDone = false;
    const callers = [1, 2, 3, 4].map(async () => {
      while (!isDone) {
        // oxlint-disable-next-line no-await-in-loop -- sequential calls
        statuses.push(await statusOfCall('steady'));
      }
    });
    for (const name of ['a', 'b', 'c'])
      // oxlint-disable-next-line no-await-in-loop -- sequential reloads
      await client.app().reload(config([model('steady'), model(name)]));
    isDone = true;
    await Promise.all(callers);
    expect(statuses.length).toBeGreaterThan(8);
    expect(new Set(statuses)).toEqual(new Set([200]));
  });

  it('is applied automatically when the file changes', async () => {
    writeFileSync(join(client.app().dataDir, 'config.yaml'), config([model('found')]));
    await vi.waitFor(async () => {
      if (!(await listedModels()).includes('found')) throw new Error('Not read yet.');
    }, POLLING);
    expect(await statusOfCall('found')).toBe(200);
  });
});
