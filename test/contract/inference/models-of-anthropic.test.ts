import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/start-app.ts';

let app: TestApp;

beforeAll(async () => {
  const params = { api_base: 'http://127.0.0.1:9/v1', api_key: 'sk-up' };
  app = await startApp({
    config: {
      model_list: [
        { model_name: 'gpt', litellm_params: { ...params, model: 'openai/gpt-4o' } },
        { model_name: 'unheard', litellm_params: { ...params, model: 'openai/unheard-of' } },
        { model_name: 'team/a', litellm_params: { ...params, model: 'openai/gpt-4o' } },
      ],
    },
  });
});

afterAll(() => app.stop());

const model = (id: string, limits: object = {}) => ({
  type: 'model',
  id,
  display_name: id,
  created_at: '2023-02-28T18:56:42Z',
  max_input_tokens: null,
  max_tokens: null,
  ...limits,
});
/** Limits in the catalog. */
const GPT_4O_LIMITS = { max_input_tokens: 128000, max_tokens: 16384 };
const ALL_MODELS = [model('gpt', GPT_4O_LIMITS), model('unheard'), model('team/a', GPT_4O_LIMITS), model('demo')];
const VERSION_HEADER = { 'anthropic-version': '2023-06-01' };

async function read(path: string, headers: Record<string, string> = {}) {
  const response = await app.call('GET', path, undefined, headers);
  return { status: response.status, body: (await response.json()) as unknown };
}

const refusal = (status: number, type: string, message: unknown) => ({
  status,
  body: { type: 'error', error: { type, message } },
});

describe('messages.models', () => {
  const page = (data: readonly { readonly id: string }[], hasMore: boolean) => ({
    status: 200,
    body: { data, has_more: hasMore, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null },
  });

  it.each([
    ['/anthropic/v1/models', {}],
    ['/v1/models', VERSION_HEADER],
    ['/models', VERSION_HEADER],
  ])('messages.models 200: all models (%s)', async (path, headers) => {
    expect(await read(path, headers)).toEqual(page(ALL_MODELS, false));
  });

  it('messages.models 200: by page, forwards and backwards', async () => {
    const list = (query: string) => read(`/anthropic/v1/models?${query}`);
    expect(await list('limit=3')).toEqual(page(ALL_MODELS.slice(0, 3), true));
    expect(await list('limit=3&after_id=team/a')).toEqual(page(ALL_MODELS.slice(3), false));
    expect(await list('limit=2&before_id=demo')).toEqual(page(ALL_MODELS.slice(1, 3), true));
    expect(await list('limit=9&before_id=team/a')).toEqual(page(ALL_MODELS.slice(0, 2), false));
    expect(await list('after_id=demo')).toEqual(page([], false));
  });

  it('messages.models 400: an invalid page size, or an invalid cursor', async () => {
    const invalid = (parameter: string, wanted: string) =>
      refusal(
        400,
        'invalid_request_error',
        `/models: Invalid value for parameter '${parameter}': it must be ${wanted}.`,
      );
    for (const limit of ['0', '1001', 'x'])
      expect(await read(`/anthropic/v1/models?limit=${limit}`)).toEqual(
        invalid('limit', 'a whole number from 1 to 1000'),
      );
    expect(await read('/anthropic/v1/models?after_id=x')).toEqual(invalid('after_id', 'the id of a model of the list'));
  });

  it('messages.models 401, messages.model 401: an unknown key', async () => {
    for (const path of ['/anthropic/v1/models', '/anthropic/v1/models/gpt'])
      expect(await read(path, { authorization: 'Bearer sk-unknown' })).toEqual(
        refusal(
          401,
          'authentication_error',
          expect.stringMatching(/^Authentication Error, Invalid proxy server token/),
        ),
      );
  });
});

describe('messages.model', () => {
  it.each([
    ['/anthropic/v1/models/team/a', {}],
    ['/v1/models/team%2Fa', VERSION_HEADER],
  ])('messages.model 200: one model (%s)', async (path, headers) => {
    expect(await read(path, headers)).toEqual({ status: 200, body: model('team/a', GPT_4O_LIMITS) });
  });

  it('messages.model 404: an unknown model', async () => {
    expect(await read('/anthropic/v1/models/nothing')).toEqual(
      refusal(404, 'not_found_error', 'The model `nothing` does not exist or you do not have access to it.'),
    );
  });
});
