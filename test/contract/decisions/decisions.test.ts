import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { newTrace, spansIn } from '../inference/trace-spans.ts';
import { COST, NAMED_ANSWER, questionsByName, ROWS, STANDARD_ANSWER } from './decision-rows.ts';

const CREDENTIAL = 'sk-upstream-credential-0123456789';

let app: TestApp;
let upstream: FaultServer;

beforeAll(async () => {
  upstream = await startFaultServer();
  const params = { api_base: `${upstream.url}/v1`, api_key: CREDENTIAL };
  const priced = {
    input_cost_per_token: 0.001,
    output_cost_per_token: 0.01,
    cache_read_input_token_cost: 0.0001,
    cache_creation_input_token_cost: 0.002,
  };
  app = await startApp({
    config: {
      general_settings: { max_decision_questions: 3 },
      model_list: [
        { model_name: 'standard', litellm_params: { model: 'openai/up-1', ...params, ...priced } },
        { model_name: 'named', litellm_params: { model: 'hosted_vllm/up-2', ...params, ...priced } },
        {
          model_name: 'routed',
          litellm_params: { model: 'openrouter/a/up-3', ...params, api_base: `${upstream.url}/api` },
        },
        { model_name: 'nowhere', litellm_params: { model: 'hosted_vllm/up-4', api_key: CREDENTIAL } },
        {
          // A chat model would decide by chat calls. With this mode, `talker` cannot decide.
          model_name: 'talker',
          litellm_params: { model: 'anthropic/up-5', ...params },
          model_info: { mode: 'embedding' },
        },
        { model_name: 'decider', litellm_params: { model: 'typesafe/jev-latest', ...params } },
        { model_name: 'gone', litellm_params: { model: 'openai/up-6', ...params, api_base: 'http://127.0.0.1:1/v1' } },
        {
          model_name: 'headed',
          litellm_params: {
            model: 'openai/up-7',
            ...params,
            extra_headers: { 'x-a': '1', Authorization: 'Bearer no' },
          },
        },
      ],
    },
  });
});

afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

const answerWith = (status: number, body: unknown, headers: Record<string, string> = {}): void =>
  upstream.answer((response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  });

async function ask(path: string, body: unknown, headers: Record<string, string> = {}) {
  const response = await app.call('POST', path, body, headers);
  return {
    status: response.status,
    body: (await response.json()) as unknown,
    headers: Object.fromEntries(response.headers),
  };
}

async function newKey(draft: object): Promise<{ authorization: string }> {
  const response = await app.call('POST', '/key/generate', draft);
  const { key } = (await response.json()) as { key: string };
  return { authorization: `Bearer ${key}` };
}

const error = (status: number, fields: object) => ({ status, body: { error: { code: String(status), ...fields } } });
const invalid = (message: string, param: string | null = null) =>
  error(400, { message, type: 'invalid_request_error', param });

describe.each(ROWS)('$row', ({ paths, body, tooMany, standardBody, namedBody, callType, routeInErrors }) => {
  const [path] = paths;

  it.each(paths)(
    '200: a model of the standard format answers, with a cost and the headers of the gateway (%s)',
    async (route) => {
      answerWith(200, { id: 'dec_1', ...STANDARD_ANSWER });
      const { status, body: answer, headers } = await ask(route, body('standard'));
      expect({ status, body: answer }).toEqual({ status: 200, body: standardBody });
      expect(headers).toMatchObject({
        'content-type': 'application/json',
        'x-litellm-model-group': 'standard',
        'x-litellm-model-name': 'openai/up-1',
        'x-litellm-response-cost': COST,
        'x-litellm-attempted-retries': '0',
      });
      const upstreamRequest = upstream.received.at(-1);
      expect(upstreamRequest?.path).toBe('/v1/decisions');
      expect(upstreamRequest?.headers.authorization).toBe(`Bearer ${CREDENTIAL}`);
      expect(JSON.parse(upstreamRequest?.body ?? '')).toMatchObject({ model: 'up-1', input: 'a ticket' });
    },
  );

  it('200: a model of the named-map format answers, with the same cost', async () => {
    answerWith(200, NAMED_ANSWER);
    const { status, body: answer, headers } = await ask(path, body('named'));
    expect({ status, body: answer }).toEqual({ status: 200, body: namedBody });
    expect(headers['x-litellm-response-cost']).toBe(COST);
    const upstreamRequest = upstream.received.at(-1);
    expect([upstreamRequest?.path, JSON.parse(upstreamRequest?.body ?? '')]).toEqual([
      '/v1/systemone',
      { model: 'up-2', state: 'a ticket', questions: questionsByName },
    ]);
  });

  it('200: the cost that OpenRouter reports is the cost', async () => {
    answerWith(200, { ...NAMED_ANSWER, usage: { ...NAMED_ANSWER.usage, cost: 0.0123 } });
    const { headers } = await ask(path, body('routed'));
    expect([headers['x-litellm-response-cost'], upstream.received.at(-1)?.path]).toEqual([
      '0.0123',
      '/api/alpha/decisions',
    ]);
  });

  it('200: headers of the deployment and of the caller are sent, without a credential of the caller', async () => {
    answerWith(200, STANDARD_ANSWER);
    const notAText = 5;
    const extra = { 'x-b': '2', authorization: 'Bearer stolen', Host: 'elsewhere', 'x-bad': notAText };
    await ask(path, { ...body('headed'), extra_headers: extra });
    const headers = upstream.received.at(-1)?.headers ?? {};
    expect(headers).toMatchObject({ 'x-a': '1', 'x-b': '2', authorization: `Bearer ${CREDENTIAL}` });
    expect([headers.host, headers['x-bad']]).toEqual([new URL(upstream.url).host, undefined]);
  });

  it('200: lists the guardrails that ran if the request asks for them', async () => {
    answerWith(200, STANDARD_ANSWER);
    const { body: answer } = await ask(path, { ...body('standard'), include_guardrail_response: true });
    expect(answer).toEqual({ ...standardBody, guardrail_information: [] });
  });

  it('200: a call stores one span and one spend row', async () => {
    answerWith(200, STANDARD_ANSWER);
    const { traceId, headers } = newTrace();
    await ask(path, body('standard'), headers);
    expect(await spansIn(app, traceId)).toMatchObject([
      {
        name: 'decide standard',
        spendRow: {
          callType,
          model: 'up-1',
          costUsd: COST,
          status: 'SUCCESS',
          usage: { inputTokens: 100, outputTokens: 7, cacheReadTokens: 40, cacheWriteTokens: 10, reasoningTokens: 2 },
        },
      },
    ]);
  });

  it('200: retries after an answer that cannot be used', async () => {
    const bodies = ['{}', JSON.stringify(STANDARD_ANSWER)];
    upstream.answer((response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(bodies.shift());
    });
    const { status, headers } = await ask(path, { ...body('standard'), num_retries: 2 });
    expect([status, headers['x-litellm-attempted-retries']]).toEqual([200, '1']);
  });

  it('200: a fallback of another format answers', async () => {
    answerWith(200, NAMED_ANSWER);
    const { status, body: answer, headers } = await ask(path, { ...body('gone'), fallbacks: ['named'] });
    expect({ status, body: answer }).toEqual({ status: 200, body: namedBody });
    expect(headers['x-litellm-model-group']).toBe('named');
  });

  it.each<readonly [string, unknown, { readonly status: number; readonly body: unknown }]>([
    ['not JSON', '{', invalid('The request body is not valid JSON.', 'request_body')],
    ['not an object', '[]', invalid('The request body is not a JSON object.', 'request_body')],
    [
      'no questions, or a member of the other format',
      { model: 'standard', input: 'x', state: 'x', questions: undefined },
      invalid(
        path === '/v1/decisions'
          ? 'litellm.BadRequestError: Invalid Decisions request: questions: it is required.'
          : "litellm.BadRequestError: Invalid Decisions request: input: it belongs to the standard format; this format has 'state'.",
      ),
    ],
    [
      'too many questions',
      tooMany,
      invalid(
        'litellm.BadRequestError: Invalid Decisions request: questions: it must have at most 3 questions, not 4.',
      ),
    ],
    [
      'a member that the provider does not support',
      { ...body('named'), safety_identifier: 'u-1' },
      invalid(
        "litellm.UnsupportedParamsError: hosted_vllm does not support parameters: ['safety_identifier'], for model=hosted_vllm/up-2. Remove them from the request, or set drop_params to drop them.",
      ),
    ],
    [
      'a deployment without an address',
      body('nowhere'),
      invalid("litellm.BadRequestError: api_base is required for Decisions provider 'hosted_vllm'"),
    ],
    [
      'a provider without decision models',
      body('talker'),
      invalid(
        "litellm.BadRequestError: Unknown Decisions provider 'anthropic'. Supported providers: openai, openrouter, azure_ai, perplexity, typesafe, strands_decider, cloudflare, databricks, hosted_vllm, fireworks_ai",
      ),
    ],
  ])('400: %s; the upstream is not called', async (_fault, request, refused) => {
    const requestsBefore = upstream.received.length;
    const { status, body: answer } = await ask(path, request);
    expect({ status, body: answer }).toEqual(refused);
    expect(upstream.received.length).toBe(requestsBefore);
  });

  it('400: an unknown model', async () => {
    const message = `${routeInErrors}: Invalid model name passed in model=nope. Call \`/v1/models\` to view available models for your key.`;
    const { status, body: answer } = await ask(path, body('nope'));
    expect({ status, body: answer }).toEqual(
      error(400, { message, type: 'invalid_request_error', param: null, provider_specific_fields: { error: message } }),
    );
  });

  it('401: no credential', async () => {
    const response = await fetch(`${app.url}${path}`, { method: 'POST', body: '{}' });
    expect([response.status, await response.json()]).toEqual([
      401,
      {
        error: {
          message:
            'Authentication Error, No api key passed in. Send it as `Authorization: Bearer sk-...`: the `Bearer ` prefix is needed.',
          type: 'auth_error',
          param: 'None',
          code: '401',
        },
      },
    ]);
  });

  it('401: the upstream refuses the credential', async () => {
    answerWith(401, { error: { message: 'no' } });
    const { status, body: answer } = await ask(path, body('standard'));
    expect({ status, body: answer }).toEqual(
      error(401, {
        message: 'litellm.AuthenticationError: AuthenticationError: OpenAIException - no',
        type: 'authentication_error',
        param: null,
      }),
    );
  });

  it('403: a model that the key may not call', async () => {
    const { status, body: answer } = await ask(path, body('standard'), await newKey({ models: ['named'] }));
    expect({ status, body: answer }).toEqual(
      error(403, {
        message:
          "The requested model 'standard' is not available for this API key, or the model name is invalid. Check the models available to you and try again.",
        type: 'key_model_access_denied',
        param: 'model',
      }),
    );
  });

  it('422: a used-up budget', async () => {
    answerWith(200, STANDARD_ANSWER);
    const key = await newKey({ max_budget: 0.1 });
    await ask(path, body('standard'), key);
    const { status, body: answer } = await ask(path, body('standard'), key);
    expect({ status, body: answer }).toMatchObject(error(422, { type: 'budget_exceeded', param: null }));
  });

  it('429: a rate limit of the upstream, and a rate limit of the key', async () => {
    answerWith(429, { error: { message: 'slow down' } }, { 'retry-after': '7' });
    const { status, body: answer, headers } = await ask(path, body('standard'));
    expect({ status, body: answer }).toEqual(
      error(429, {
        message: 'litellm.RateLimitError: RateLimitError: OpenAIException - slow down',
        type: 'throttling_error',
        param: null,
      }),
    );
    expect(headers['llm_provider-retry-after']).toBe('7');
    answerWith(200, STANDARD_ANSWER);
    const key = await newKey({ rpm_limit: 1 });
    expect((await ask(path, body('standard'), key)).status).toBe(200);
    const requestsBefore = upstream.received.length;
    const refused = await ask(path, body('standard'), key);
    expect({ status: refused.status, body: refused.body }).toEqual(
      error(429, {
        message: expect.stringContaining('Rate limit exceeded for api_key'),
        type: 'throttling_error',
        param: null,
      }),
    );
    expect(upstream.received.length).toBe(requestsBefore);
  });

  it.each([
    [
      'an answer that is not JSON',
      'not json',
      'litellm.APIConnectionError: APIConnectionError: OpenAIException - The answer is not JSON.',
    ],
    [
      'an answer without required members',
      { answers: [] },
      "litellm.InternalServerError: InternalServerError: OpenAIException - Decisions provider 'openai' returned an unexpected response: model is not a string.",
    ],
  ])('500: the upstream sends %s', async (_fault, upstreamAnswer, message) => {
    answerWith(200, upstreamAnswer);
    const { status, body: answer } = await ask(path, body('standard'));
    expect({ status, body: answer }).toEqual(error(500, { message, type: 'internal_server_error', param: null }));
  });

  it('503: the upstream is not available', async () => {
    answerWith(503, { error: { message: 'later' } });
    const { status, body: answer } = await ask(path, body('standard'));
    expect({ status, body: answer }).toEqual(
      error(503, {
        message: 'litellm.ServiceUnavailableError: ServiceUnavailableError: OpenAIException - later',
        type: 'internal_server_error',
        param: null,
      }),
    );
  });
});

describe('chat calls of models that cannot serve them', () => {
  const messages = [{ role: 'user', content: 'Hello' }];

  it('400: a deployment without an address', async () => {
    const { status, body } = await ask('/v1/chat/completions', { model: 'nowhere', messages });
    expect({ status, body }).toEqual(
      invalid('The model "nowhere" cannot be called: the provider hosted_vllm needs an api_base.'),
    );
  });

  it('400: a provider with decision models only', async () => {
    const { status, body } = await ask('/v1/chat/completions', { model: 'decider', messages });
    expect({ status, body }).toEqual(invalid('/chat/completions: The provider typesafe has decision models only.'));
  });
});
