import { describe, expect, it } from 'vitest';
import { modelNameError, upstreamErrorType } from '../../support/error-bodies.ts';
import { newTrace, spansIn } from '../inference/trace-spans.ts';
import { servers, INPUT, RESPONSE, answerWith, newKey, ask, refusal, startServersForFile } from './ide-client.ts';

startServersForFile();

describe('ide.chat', () => {
  it.each([
    ['{"model":', 'The request body is not valid JSON.', 'request_body'],
    [{ model: 'gpt' }, "/chat/completions: Missing required parameter: 'messages'.", 'messages'],
    [
      { model: 'gpt', input: 5 },
      "/responses: Invalid type for parameter 'input': it must be a string or an array of items.",
      'input',
    ],
  ])('400: a body of %j', async (body, message, param) => {
    expect(await ask(body)).toEqual(refusal(400, { message, type: 'invalid_request_error', param }));
  });

  it('400: no model', async () => {
    expect(await ask({ input: INPUT })).toEqual(
      refusal(400, modelNameError("/responses: Missing required parameter: 'model'.")),
    );
  });

  it('400: an unconfigured model; the error names it without the suffix', async () => {
    const message =
      '/responses: Invalid model name passed in model=nothing. Call `/v1/models` to view available models for your key.';
    expect(await ask({ model: 'nothing-thinking-high', input: INPUT })).toEqual(refusal(400, modelNameError(message)));
  });

  it('401: an unknown key', async () => {
    expect(await ask({ model: 'gpt', input: INPUT }, { authorization: 'Bearer sk-unknown-virtual-key' })).toEqual(
      refusal(401, {
        message: expect.stringMatching(/^Authentication Error, Invalid proxy server token passed\. /),
        type: 'token_not_found_in_db',
        param: 'key',
      }),
    );
  });

  it('403: a model that the key may not call, with and without a suffix', async () => {
    const message =
      "The requested model 'gpt' is not available for this API key, or the model name is invalid. Check the models available to you and try again.";
    const key = await newKey({ models: ['gpt-thinking-low'] });
    for (const model of ['gpt', 'gpt-fast', 'gpt-thinking-high'])
      expect(await ask({ model, input: INPUT }, key)).toEqual(
        refusal(403, { message, type: 'key_model_access_denied', param: 'model' }),
      );
  });

  it('422: a used-up budget', async () => {
    answerWith(200, RESPONSE);
    const key = await newKey({ key_alias: 'thrifty-ide', max_budget: 1.25 });
    expect((await ask({ model: 'gpt-fast', input: INPUT }, key)).status).toBe(200);
    const name = `sk-...${key['authorization']?.slice(-4)}`;
    expect(await ask({ model: 'gpt', input: INPUT }, key)).toEqual(
      refusal(422, {
        message: `Budget has been exceeded! Key=thrifty-ide (${name}) Current cost: 1.25, Max budget: 1.25`,
        type: 'budget_exceeded',
        param: null,
      }),
    );
  });

  it.each([
    [429, 'RateLimitError'],
    [500, 'InternalServerError'],
    [503, 'ServiceUnavailableError'],
  ])('%i: an error of the upstream is forwarded', async (status, kind) => {
    answerWith(status, { error: { message: 'no', type: 't' } });
    const message = `litellm.${kind}: ${kind}: OpenAIException - no`;
    expect(await ask({ model: 'gpt', input: INPUT, stream: true })).toEqual(
      refusal(status, { message, type: upstreamErrorType(status), param: null }),
    );
  });

  it.each([
    [
      { output: [], status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
      '500',
      'The response has no output items: max_output_tokens.',
    ],
    [{ output: [], status: 'failed', error: { code: 'server_error', message: 'Out.' } }, 'server_error', 'Out.'],
  ])('500: a response of the upstream without output items: %j', async (overrides, code, upstreamMessage) => {
    answerWith(200, { ...RESPONSE, ...overrides });
    const { traceId, headers } = newTrace();
    expect(await ask({ model: 'gpt', input: INPUT }, headers)).toEqual(
      refusal(500, {
        message: `litellm.APIError: APIError: OpenAIException - ${upstreamMessage}`,
        type: 'internal_server_error',
        param: null,
        code,
      }),
    );
    expect(await spansIn(servers.app, traceId)).toMatchObject([
      { spendRow: { status: 'FAILURE', errorCode: 'UPSTREAM_FAILED' } },
    ]);
  });
});

it('models.list 200: the paths of IDEs have the same list as /v1/models', async () => {
  const models: unknown = await (await servers.app.call('GET', '/v1/models')).json();
  for (const path of ['/ide/models', '/cursor/models'])
    expect(await (await servers.app.call('GET', path)).json()).toEqual(models);
});
