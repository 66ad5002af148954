import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/start-app.ts';

/** Headers that identify Mistral's SDKs. In a browser, the SDK cannot set `user-agent`. */
const CLIENTS = [
  { 'user-agent': 'mistral-client-typescript/2.7.0' },
  { 'user-agent': 'browser', 'x-mistral-user-agent': 'mistral-client-typescript/2.7.0' },
];

let app: TestApp;
beforeAll(async () => {
  const params = { api_base: 'http://127.0.0.1:9/v1', api_key: 'k' };
  app = await startApp({
    config: {
      model_list: [
        { model_name: 'demo', litellm_params: { model: 'demo' } },
        { model_name: 'gpt', litellm_params: { model: 'openai/gpt-4o', ...params } },
        { model_name: 'vectors', litellm_params: { model: 'openai/text-embedding-3-small', ...params } },
      ],
    },
  });
});
afterAll(() => app.stop());

const read = async (method: string, path: string, body: unknown, headers: Record<string, string>) =>
  (await (await app.call(method, path, body, headers)).json()) as Record<string, unknown>;

it.each(CLIENTS)('models have a type and capabilities for %j', async (headers) => {
  const { data } = await read('GET', '/v1/models', undefined, headers);
  expect(data).toMatchObject([
    { id: 'demo', type: 'base', capabilities: { completion_chat: true, function_calling: false, vision: false } },
    { id: 'gpt', type: 'base', capabilities: { completion_chat: true, function_calling: true, vision: true } },
    { id: 'vectors', type: 'base', capabilities: { completion_chat: false, function_calling: false, vision: false } },
  ]);
  expect(await read('GET', '/v1/models/gpt', undefined, headers)).toMatchObject({ id: 'gpt', type: 'base' });
});

it.each(CLIENTS)('embeddings have an id for %j', async (headers) => {
  const answer = await read('POST', '/v1/embeddings', { model: 'demo', input: 'x' }, headers);
  expect(answer).toMatchObject({ id: expect.stringMatching(/^embd-[0-9a-f-]{36}$/), object: 'list', model: 'demo' });
});

it('other clients get bodies in the format of OpenAI, with catalog data of each model that has an entry', async () => {
  const headers = { 'user-agent': 'OpenAI/JS 6.0.0' };
  const common = { object: 'model', created: 1677610602, owned_by: 'openai' };
  expect((await read('GET', '/v1/models', undefined, headers))['data']).toEqual([
    { id: 'demo', ...common },
    { id: 'gpt', ...common, mode: 'chat', max_input_tokens: 128_000, max_output_tokens: 16_384 },
    { id: 'vectors', ...common, mode: 'embedding', max_input_tokens: 8_191 },
  ]);
  const answer = await read('POST', '/v1/embeddings', { model: 'demo', input: 'x' }, headers);
  expect(answer).not.toHaveProperty('id');
});
