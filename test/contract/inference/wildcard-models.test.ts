import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/start-app.ts';

let app: TestApp;

beforeAll(async () => {
  const params = { api_base: 'http://127.0.0.1:9/v1', api_key: 'sk-up' };
  app = await startApp({
    config: {
      model_list: [
        { model_name: 'g/*', litellm_params: { ...params, model: 'gemini/gemini-2.5-*' } },
        { model_name: 'own/*', litellm_params: { ...params, model: 'hosted_vllm/*' } },
        { model_name: 'openai/*', litellm_params: { ...params, model: 'openai/*' } },
      ],
      general_settings: { demo_model: false },
    },
  });
});

afterAll(() => app.stop());

async function listedNames(query = '', headers: Record<string, string> = {}): Promise<readonly string[]> {
  const response = await app.call('GET', `/v1/models${query}`, undefined, headers);
  const { data } = (await response.json()) as { readonly data: readonly { readonly id: string }[] };
  return data.map(({ id }) => id);
}

async function keyFor(models: readonly string[]): Promise<Record<string, string>> {
  const response = await app.call('POST', '/key/generate', { models });
  const { key } = (await response.json()) as { key: string };
  return { authorization: `Bearer ${key}` };
}

describe('a wildcard model', () => {
  it('is replaced by the catalog models of its provider, if there are any', async () => {
    const listed = await listedNames();
    expect(listed).toContain('g/flash');
    expect(listed).toContain('openai/gpt-4o');
    expect(listed.filter((name) => name.endsWith('*'))).toEqual(['own/*']);
    // Catalog ids that price one image size, such as `1024-x-1024/dall-e-2`, are not models.
    expect(listed.filter((name) => name.includes('-x-'))).toEqual([]);
    expect(new Set(listed).size).toBe(listed.length);
  });

  it('is listed itself on request', async () => {
    const all = await listedNames('?return_wildcard_routes=true');
    expect(all.filter((name) => name.endsWith('*'))).toEqual(['g/*', 'own/*', 'openai/*']);
    expect(all).toContain('g/flash');
  });

  it('is replaced by the matching models of a key, with or without a catalog entry', async () => {
    expect(await listedNames('', await keyFor(['own/llama', 'openai/gpt-4o']))).toEqual(['own/llama', 'openai/gpt-4o']);
    expect(await listedNames('', await keyFor(['own/*']))).toEqual(['own/*']);
  });

  it('lets callers read every matching model that they may call', async () => {
    const key = await keyFor(['own/llama']);
    const read = async (name: string, headers?: Record<string, string>) =>
      (await app.call('GET', `/v1/models/${name}`, undefined, headers)).status;
    expect([await read('own/anything'), await read('openai/gpt-4o'), await read('other/x')]).toEqual([200, 200, 404]);
    expect([await read('own/llama', key), await read('own/anything', key)]).toEqual([200, 404]);
  });

  it('is a visible deployment for callers that may call a matching model', async () => {
    const answer = await app.call(
      'POST',
      '/graphql',
      { query: '{ deployments { model } callableModels { name } }' },
      await keyFor(['own/llama']),
    );
    expect(await answer.json()).toEqual({
      data: { deployments: [{ model: 'own/*' }], callableModels: [{ name: 'own/*' }] },
    });
  });
});
