import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { modelNameError } from '../../support/error-bodies.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';

const MESSAGES = [{ role: 'user', content: 'x'.repeat(35) }];
/** Ten tokens for 35 bytes of text, and four for the message. A text without messages counts as one message. */
const ESTIMATE = 14;
const SECRET = 'sk-upstream-secret';

let app: TestApp;
let key: { authorization: string };

beforeAll(async () => {
  const paramsOf = (model: string) => ({ model, api_base: 'http://127.0.0.1:9/v1', api_key: SECRET });
  app = await startApp({
    config: {
      model_list: [
        { model_name: 'gpt', litellm_params: paramsOf('openai/gpt-4o') },
        { model_name: 'claude', litellm_params: paramsOf('anthropic/claude-sonnet-4-5') },
        { model_name: 'demo', litellm_params: { model: 'demo' } },
      ],
    },
  });
  const response = await app.call('POST', '/key/generate', { models: ['gpt'] });
  key = { authorization: `Bearer ${((await response.json()) as { key: string }).key}` };
});
afterAll(() => app.stop());

async function ask(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  const response = await app.call(method, path, body, headers);
  return { status: response.status, body: (await response.json()) as unknown };
}

const count = (body: unknown, headers = {}) => ask('POST', '/utils/token_counter', body, headers);
const params = (query: string, headers = {}) =>
  ask('GET', `/utils/supported_openai_params${query}`, undefined, headers);
const transform = (body: unknown, headers = {}) => ask('POST', '/utils/transform_request', body, headers);
const inputTokens = (body: unknown, headers = {}, path = '/v1/responses/input_tokens') =>
  ask('POST', path, body, headers);

const WRONG_KEY = { authorization: 'Bearer sk-0000000000000000000000' };
const unknownKey = {
  status: 401,
  body: { error: expect.objectContaining({ type: 'token_not_found_in_db', code: '401' }) },
};
const missing = (...loc: string[]) => ({
  status: 422,
  body: { detail: [expect.objectContaining({ type: 'missing', loc, msg: 'Field required' })] },
});
const forbidden = (model: string) => ({
  status: 403,
  body: {
    error: {
      message: `The requested model '${model}' is not available for this API key, or the model name is invalid. Check the models available to you and try again.`,
      type: 'key_model_access_denied',
      param: 'model',
      code: '403',
    },
  },
});
const unknownModel = (path: string) => ({
  status: 404,
  body: {
    detail: `${path}: Invalid model name passed in model=zzz. Call \`/v1/models\` to view available models for your key.`,
  },
});

describe('requests.countTokens', () => {
  it.each([
    ['messages', { messages: MESSAGES }],
    ['a prompt', { prompt: 'x'.repeat(35) }],
    ['contents', { contents: [{ role: 'user', parts: [{ text: 'x'.repeat(35) }] }] }],
  ])('requests.countTokens 200: the estimate for %s', async (_what, chatFields) => {
    expect(await count({ model: 'gpt', ...chatFields }, key)).toEqual({
      status: 200,
      body: {
        total_tokens: ESTIMATE,
        request_model: 'gpt',
        model_used: 'gpt',
        tokenizer_type: 'estimate',
        count_source: 'local_estimate',
        original_response: null,
        error: false,
        error_message: null,
        status_code: null,
      },
    });
  });

  it('requests.countTokens 200: a large image has a fixed number of tokens, not that of its base64 text', async () => {
    const url = `data:image/png;base64,${'A'.repeat(100_000)}`;
    const content = [{ type: 'image_url', image_url: { url } }];
    const { body } = await count({ model: 'gpt', messages: [{ role: 'user', content }] });
    // 1,600 for the image, and four for the message.
    expect(body).toMatchObject({ total_tokens: 1_604 });
  });

  it('requests.countTokens 400: nothing to count', async () => {
    expect(await count({ model: 'gpt' })).toEqual({
      status: 400,
      body: { detail: 'prompt or messages or contents must be provided' },
    });
  });

  it('requests.countTokens 401, 403, 404, 422: an unknown key, a forbidden model, an unknown model, no model', async () => {
    const chatFields = { messages: MESSAGES };
    expect(await count({ model: 'gpt', ...chatFields }, WRONG_KEY)).toEqual(unknownKey);
    expect(await count({ model: 'claude', ...chatFields }, key)).toEqual(forbidden('claude'));
    expect(await count({ model: 'zzz', ...chatFields })).toEqual(unknownModel('/utils/token_counter'));
    expect(await count(chatFields)).toEqual(missing('body', 'model'));
  });
});

describe('requests.supportedParams', () => {
  it('requests.supportedParams 200: parameters of an upstream of the same dialect', async () => {
    const { status, body } = await params('?model=gpt', key);
    const { supported_openai_params: names } = body as { supported_openai_params: string[] };
    expect(status).toBe(200);
    expect(names).toEqual(expect.arrayContaining(['temperature', 'tools', 'n', 'logit_bias', 'audio', 'stream']));
  });

  it('requests.supportedParams 200: without the parameters that the translation drops', async () => {
    const { body } = await params('?model=claude');
    const { supported_openai_params: names } = body as { supported_openai_params: string[] };
    expect(names).toEqual(expect.arrayContaining(['temperature', 'tools', 'tool_choice', 'max_tokens', 'stop']));
    for (const dropped of ['n', 'logit_bias', 'seed', 'audio']) expect(names).not.toContain(dropped);
  });

  it('requests.supportedParams 400: the demo model has no upstream', async () => {
    expect(await params('?model=demo')).toEqual({
      status: 400,
      body: { detail: 'The model "demo" has no upstream (demo).' },
    });
  });

  it('requests.supportedParams 401, 403, 404, 422: an unknown key, a forbidden model, an unknown model, no model', async () => {
    expect(await params('?model=gpt', WRONG_KEY)).toEqual(unknownKey);
    expect(await params('?model=claude', key)).toEqual(forbidden('claude'));
    // The route previews chat completions, so the error has their path.
    expect(await params('?model=zzz')).toEqual(unknownModel('/chat/completions'));
    expect(await params('')).toEqual(missing('query', 'model'));
  });
});

describe('requests.transform', () => {
  // Claude supports neither `seed` nor `n`. `seed` is always dropped, `n` only with `drop_params`.
  const chatFields = { model: 'claude', messages: [{ role: 'user', content: 'x' }], temperature: 0.5, seed: 1 };

  it('requests.transform 200: the request to the upstream, with a masked credential', async () => {
    const { status, body } = await transform({
      call_type: 'completion',
      request_body: { ...chatFields, n: 2, drop_params: true },
    });
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        raw_request_api_base: 'http://127.0.0.1:9/v1/messages',
        raw_request_headers: expect.objectContaining({ 'x-api-key': '<secret>' }),
        raw_request_body: expect.objectContaining({ model: 'claude-sonnet-4-5', temperature: 0.5 }),
      },
    });
    expect(JSON.stringify(body)).not.toContain(SECRET);
    expect(JSON.stringify(body)).not.toContain('seed');
    expect(body).not.toHaveProperty('raw_request_body.n');
  });

  it('requests.transform 200: a model that is not configured, by the provider in its name', async () => {
    const request = { model: 'openai/gpt-x', messages: [{ role: 'user', content: 'x' }] };
    expect(await transform({ call_type: 'completion', request_body: request })).toEqual({
      status: 200,
      body: {
        raw_request_api_base: 'https://api.openai.com/v1/chat/completions',
        raw_request_headers: { 'content-type': 'application/json' },
        raw_request_body: { ...request, model: 'gpt-x' },
      },
    });
  });

  it('requests.transform 400: the demo model has no upstream', async () => {
    expect(await transform({ request_body: { ...chatFields, model: 'demo' } })).toEqual({
      status: 400,
      body: { detail: 'The model "demo" has no upstream (demo).' },
    });
  });

  it('requests.transform 422: a parameter that the provider does not support', async () => {
    const { status, body } = await transform({ request_body: { ...chatFields, n: 2 } });
    const detail = { type: 'unsupported', loc: ['body', 'n'], msg: expect.stringContaining("does not support 'n'") };
    expect({ status, body }).toEqual({ status: 422, body: { detail: [detail] } });
  });

  it('requests.transform 401, 403, 404, 422: an unknown key, a key without administrator rights, an unknown model, an invalid body', async () => {
    const chatRequest = { model: 'gpt', messages: MESSAGES };
    expect(await transform({ request_body: chatRequest }, WRONG_KEY)).toEqual(unknownKey);
    expect(await transform({ request_body: chatRequest }, key)).toEqual({
      status: 403,
      body: { detail: 'Only proxy admins can do this.' },
    });
    expect(await transform({ request_body: { ...chatRequest, model: 'zzz' } })).toEqual(
      unknownModel('/chat/completions'),
    );
    expect(await transform({ request_body: { model: 'gpt' } })).toMatchObject({ status: 422 });
    expect(await transform({ call_type: 'poem', request_body: chatRequest })).toMatchObject({ status: 422 });
  });
});

describe('responses.inputTokens', () => {
  it.each(['/v1/responses/input_tokens', '/responses/input_tokens', '/openai/v1/responses/input_tokens'])(
    'responses.inputTokens 200: on %s',
    async (path) => {
      for (const input of ['x'.repeat(35), [{ role: 'user', content: [{ type: 'input_text', text: 'x'.repeat(35) }] }]])
        expect(await inputTokens({ model: 'gpt', input }, key, path)).toEqual({
          status: 200,
          body: { object: 'response.input_tokens', input_tokens: ESTIMATE, litellm_count_source: 'local_estimate' },
        });
    },
  );

  it('responses.inputTokens 400, 401, 403: no input or an unknown model, an unknown key, a forbidden model', async () => {
    const path = '/responses/input_tokens';
    expect(await inputTokens({ model: 'gpt' })).toMatchObject({
      status: 400,
      body: { error: { message: `${path}: Missing required parameter: 'input'.`, param: 'input' } },
    });
    expect(await inputTokens({ model: 'zzz', input: 'x' })).toEqual({
      status: 400,
      body: { error: { ...modelNameError(unknownModel(path).body.detail), code: '400' } },
    });
    expect(await inputTokens({ model: 'gpt', input: 'x' }, WRONG_KEY)).toEqual(unknownKey);
    expect((await inputTokens({ model: 'claude', input: 'x' }, key)).status).toBe(403);
  });
});
