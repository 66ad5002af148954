import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { modelNameError, upstreamErrorType } from '../../support/error-bodies.ts';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { newTrace, spansIn } from './trace-spans.ts';
import { ENDPOINT_ROWS } from './endpoint-rows.ts';

const CREDENTIAL = 'sk-upstream-credential-0123456789';
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

let app: TestApp;
let upstream: FaultServer;

beforeAll(async () => {
  upstream = await startFaultServer();
  const params = { api_base: `${upstream.url}/v1`, api_key: CREDENTIAL, use_chat_completions_api: false };
  const tokens = { input_cost_per_token: 0.5, output_cost_per_token: 0.25 };
  const priced = { ...params, ...tokens, input_cost_per_query: 0.125, ocr_cost_per_page: 0.125 };
  app = await startApp({
    config: {
      model_list: [
        { model_name: 'assistant', litellm_params: { model: 'openai/up-1', ...priced } },
        { model_name: 'team/*', litellm_params: { model: 'openai/*', ...params } },
        { model_name: 'unpriced', litellm_params: { model: 'openai/up-1', ...params } },
      ],
    },
  });
});

afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

function answerWith(status: number, body: unknown, headers: Record<string, string> = {}): void {
  upstream.answer((response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  });
}

async function newKey(draft: object): Promise<{ authorization: string }> {
  const response = await app.call('POST', '/key/generate', draft);
  const { key } = (await response.json()) as { key: string };
  return { authorization: `Bearer ${key}` };
}

/** Moderations without a model are calls of OpenAI's default model, which is not configured in this app. */
const missingModel = (path: string): string =>
  path === '/moderations'
    ? 'Invalid model name passed in model=omni-moderation-latest. Call `/v1/models` to view available models for your key.'
    : "Missing required parameter: 'model'.";

describe.each(ENDPOINT_ROWS)('$name', (row) => {
  const { path, fields, field, fieldType, aliases, answerKind, operation, type, callType, answer, cost, usage } = row;
  /** Answer for the caller, under the requested model name. */
  const publicAnswer = 'model' in answer ? { ...answer, model: 'assistant' } : answer;
  const request = { model: 'assistant', ...fields };
  const aliasesWithModel = aliases.filter((alias) => alias.endsWith('/assistant'));

  async function ask(body: unknown, headers: Record<string, string> = {}, requestPath: string = `/v1${path}`) {
    const response = await app.call('POST', requestPath, body, headers);
    const text = await response.text();
    return {
      status: response.status,
      body: JSON.parse(text) as unknown,
      headers: Object.fromEntries(response.headers),
    };
  }

  const refusal = (status: number, error: object) => ({ status, body: { error: { code: String(status), ...error } } });
  const invalid = (message: string, param: string) => refusal(400, { message, type: 'invalid_request_error', param });

  it('200: the answer of the upstream has the requested model name and the headers of the gateway', async () => {
    answerWith(200, answer, { 'x-request-id': 'req-1' });
    const { status, body, headers } = await ask(request);
    expect({ status, body }).toEqual({ status: 200, body: publicAnswer });
    expect(headers['x-litellm-call-id']).toMatch(UUID);
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'x-litellm-model-id': expect.stringMatching(/^assistant#[0-9a-f]{12}$/),
      'x-litellm-model-group': 'assistant',
      'x-litellm-model-api-base': `${upstream.url}/v1`,
      'x-litellm-version': '0.1.0',
      ...(cost === null ? {} : { 'x-litellm-response-cost': cost }),
      'x-litellm-response-duration-ms': expect.stringMatching(/^\d+\.\d+$/),
      'llm_provider-x-request-id': 'req-1',
    });
    const forwarded = upstream.received.at(-1);
    expect(forwarded?.path).toBe(`/v1${path}`);
    expect(forwarded?.headers.authorization).toBe(`Bearer ${CREDENTIAL}`);
    expect(JSON.parse(forwarded?.body ?? '')).toEqual({ ...fields, model: 'up-1' });
  });

  it('200: every alias path, where a model in the path has precedence over the body', async () => {
    answerWith(200, answer);
    const answers = [await ask(request, {}, path)];
    for (const alias of aliases) answers.push(await ask({ ...fields, model: 'assistant' }, {}, `${alias}${path}`));
    for (const alias of aliasesWithModel) {
      answers.push(await ask({ ...fields, model: 'x' }, {}, `${alias}${path}`));
      answers.push(await ask(fields, {}, `${alias}${path}?api-version=2024-10-21`));
      // The last but one request names the model `x` in its body.
      expect(JSON.parse(upstream.received.at(-2)?.body ?? '')).toEqual({ ...fields, model: 'up-1' });
    }
    for (const { status, body } of answers) expect({ status, body }).toEqual({ status: 200, body: publicAnswer });
  });

  it.each(aliasesWithModel)('200: the model name in the path may contain a slash (%s)', async (alias) => {
    answerWith(200, answer);
    const aliasPath = `${alias.replace('assistant', 'team%2Fup-2')}${path}`;
    expect((await ask(fields, {}, aliasPath)).headers['x-litellm-model-group']).toBe('team/up-2');
    expect(JSON.parse(upstream.received.at(-1)?.body ?? '')).toEqual({ ...fields, model: 'up-2' });
  });

  it('200: unknown fields are forwarded, and gateway fields are not, except for the metadata of responses', async () => {
    // The answer has an unknown member and unusual spaces. Only its model name changes.
    const unusualAnswer = JSON.stringify({ ...answer, later: { x: [1, 'é'] } }).replace(
      '"model":"up-1"',
      '"model" : "up-1"',
    );
    answerWith(200, unusualAnswer);
    const requestBody = { ...request, user: 'u', new_option: 1e-7, tags: ['t'], metadata: { a: 1 }, num_retries: 3 };
    const response = await app.call('POST', path, requestBody);
    expect(await response.text()).toBe(unusualAnswer.replace('"up-1"', '"assistant"'));
    expect(JSON.parse(upstream.received.at(-1)?.body ?? '')).toEqual({
      ...fields,
      model: 'up-1',
      user: 'u',
      new_option: 1e-7,
      ...('forwardedFields' in row ? row.forwardedFields : {}),
    });
  });

  it('200: a call stores one span and one spend row with equal values', async () => {
    answerWith(200, answer);
    const { traceId, headers } = newTrace();
    await ask(request, { ...headers, 'x-litellm-call-id': 'mine' });
    expect(await spansIn(app, traceId)).toEqual([
      {
        name: `${operation} assistant`,
        type,
        attributes: expect.objectContaining({
          'gen_ai.operation.name': operation,
          'gen_ai.provider.name': 'openai',
          'gen_ai.request.model': 'assistant',
          ...('model' in answer ? { 'gen_ai.response.model': 'up-1' } : {}),
          ...(usage === null ? {} : { 'gen_ai.usage.input_tokens': String(usage.inputTokens) }),
          'litellm.call_id': 'mine',
        }),
        spendRow: {
          callType,
          modelGroup: 'assistant',
          model: 'up-1',
          costUsd: cost,
          status: 'SUCCESS',
          errorCode: null,
          usage,
        },
      },
    ]);
  });

  it('200: a model without a price has no cost, not a cost of zero', async () => {
    answerWith(200, answer);
    const { traceId, headers } = newTrace();
    const { headers: answerHeaders } = await ask({ ...request, model: 'unpriced' }, headers);
    expect(answerHeaders['x-litellm-response-cost']).toBeUndefined();
    expect(await spansIn(app, traceId)).toMatchObject([{ spendRow: { costUsd: null, usage, status: 'SUCCESS' } }]);
  });

  it.each([
    ['{"model":', invalid('The request body is not valid JSON.', 'request_body')],
    ['[]', invalid('The request body is not a JSON object.', 'request_body')],
    [{ model: 'assistant' }, invalid(`${path}: Missing required parameter: '${field}'.`, field)],
    [{ ...request, [field]: null }, invalid(`${path}: Missing required parameter: '${field}'.`, field)],
    [fields, refusal(400, modelNameError(`${path}: ${missingModel(path)}`))],
    [
      { ...fields, model: 7 },
      refusal(400, {
        message: `${path}: Invalid type for parameter 'model': it must be a string.`,
        type: 'bad_request_error',
        param: 'model',
      }),
    ],
    [
      { ...request, [field]: 'wrong' in row ? row.wrong : { text: 'x' } },
      invalid(`${path}: Invalid type for parameter '${field}': it must be ${fieldType}.`, field),
    ],
  ])('400: a body of %j', async (requestBody, expected) => {
    const calls = upstream.received.length;
    const { status, body } = await ask(requestBody);
    expect({ status, body }).toEqual(expected);
    expect(upstream.received.length).toBe(calls);
  });

  it('400: an unconfigured model', async () => {
    const { status, body } = await ask({ ...fields, model: 'nothing' });
    const message = `${path}: Invalid model name passed in model=nothing. Call \`/v1/models\` to view available models for your key.`;
    const { provider_specific_fields: repeated, ...plain } = modelNameError(message);
    // Only `/rerank` has no copy of the message in `provider_specific_fields`.
    const details = path === '/rerank' ? plain : { ...plain, provider_specific_fields: repeated };
    expect({ status, body }).toEqual(refusal(400, details));
  });

  it('401: an unknown key', async () => {
    const { status, body } = await ask(request, { authorization: 'Bearer sk-unknown-virtual-key' });
    expect({ status, body }).toEqual(
      refusal(401, {
        message: expect.stringMatching(/^Authentication Error, Invalid proxy server token passed\. /),
        type: 'token_not_found_in_db',
        param: 'key',
      }),
    );
  });

  it('403: a model that the key may not call', async () => {
    const { status, body } = await ask(request, await newKey({ models: ['other'] }));
    const message =
      "The requested model 'assistant' is not available for this API key, or the model name is invalid. Check the models available to you and try again.";
    expect({ status, body }).toEqual(refusal(403, { message, type: 'key_model_access_denied', param: 'model' }));
  });

  it('403: a model that the key may not call, on every alias path', async () => {
    const key = await newKey({ models: ['unpriced'] });
    for (const alias of aliases)
      expect((await ask({ ...fields, model: 'assistant' }, key, `${alias}${path}`)).status).toBe(403);
  });

  it('422: a used-up budget', async () => {
    const budget = cost ?? '0.0';
    const key = await newKey({ key_alias: `thrifty${path}`, max_budget: Number(budget) });
    answerWith(200, answer);
    // A call without a known cost cannot use up a budget. The budget of the key is then zero.
    const firstAnswer = cost === null ? null : await ask(request, key);
    expect(firstAnswer?.status ?? null).toBe(cost === null ? null : 200);
    const { status, body } = await ask(request, key);
    const maskedKey = `sk-...${key.authorization.slice(-4)}`;
    expect({ status, body }).toEqual(
      refusal(422, {
        message: `Budget has been exceeded! Key=thrifty${path} (${maskedKey}) Current cost: ${budget}, Max budget: ${budget}`,
        type: 'budget_exceeded',
        param: null,
      }),
    );
  });

  it.each([
    [429, 'RateLimitError'],
    [500, 'InternalServerError'],
    [503, 'ServiceUnavailableError'],
  ])('%i: an error of the upstream is forwarded, and the call has one spend row', async (status, kind) => {
    answerWith(status, { error: { message: `no ${CREDENTIAL}`, type: 't' } }, { 'retry-after': '7' });
    const { traceId, headers } = newTrace();
    const failure = await ask(request, headers);
    const message = `litellm.${kind}: ${kind}: OpenAIException - no <secret>`;
    expect({ status: failure.status, body: failure.body }).toEqual(
      refusal(status, { message, type: upstreamErrorType(status), param: null }),
    );
    expect(failure.headers['x-litellm-call-id']).toMatch(UUID);
    expect(failure.headers['retry-after']).toBe('7');
    expect(await spansIn(app, traceId)).toMatchObject([
      { name: `${operation} assistant`, spendRow: { callType, status: 'FAILURE', costUsd: null, usage: null } },
    ]);
  });

  const unusableAnswer = `The upstream's answer cannot be used: it is not ${answerKind}.`;
  it.each([
    [
      'an error inside a 200',
      '{"error":{"message":"overloaded","code":503}}',
      503,
      'ServiceUnavailableError',
      'overloaded',
    ],
    ['a 200 that is not JSON', '<html>', 500, 'APIError', unusableAnswer],
    ['a 200 of another shape', '{"items":[]}', 500, 'APIError', unusableAnswer],
    ['a 200 with an extra byte at the end', `${JSON.stringify(answer)}}`, 500, 'APIError', unusableAnswer],
  ])('%s is a failure', async (_answer, body, status, kind, upstreamMessage) => {
    answerWith(200, body);
    const failure = await ask(request);
    expect({ status: failure.status, body: failure.body }).toEqual(
      refusal(status, {
        message: `litellm.${kind}: ${kind}: OpenAIException - ${upstreamMessage}`,
        type: upstreamErrorType(status),
        param: null,
      }),
    );
  });

  it('500: the upstream closes the connection during its answer', async () => {
    upstream.answer((response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
      response.write(JSON.stringify(answer).slice(0, 20), () => response.destroy());
    });
    const { traceId, headers } = newTrace();
    const { status, body } = await ask(request, headers);
    await upstream.nextDisconnect();
    expect({ status, body }).toEqual(
      refusal(500, {
        message: expect.stringMatching(
          /^litellm\.APIConnectionError: APIConnectionError: OpenAIException - The upstream /,
        ),
        type: 'internal_server_error',
        param: null,
      }),
    );
    expect(await spansIn(app, traceId)).toMatchObject([
      { spendRow: { status: 'FAILURE', errorCode: 'UPSTREAM_FAILED' } },
    ]);
  });

  it('a client that disconnects cancels the upstream call, which has one spend row', async () => {
    const arrived = Promise.withResolvers<void>();
    upstream.answer(() => arrived.resolve());
    const { traceId, headers } = newTrace();
    const controller = new AbortController();
    const call = fetch(`${app.url}/v1${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${app.adminKey}`, ...headers },
      body: JSON.stringify(request),
      signal: controller.signal,
    });
    await arrived.promise;
    controller.abort();
    await call.catch(() => {});
    await expect(upstream.nextDisconnect()).resolves.toBeUndefined();
    await expect.poll(async () => (await app.call('GET', `/v1/traces/${traceId}`)).status).toBe(200);
    expect(await spansIn(app, traceId)).toMatchObject([{ spendRow: { status: 'FAILURE', errorCode: 'CLIENT_GONE' } }]);
  });
});

describe('rerank.create 400', () => {
  it.each([
    ['assistant', { documents: undefined }, "Missing required parameter: 'documents'.", 'documents'],
    ['assistant', { query: ['x'] }, "Invalid type for parameter 'query': it must be a string.", 'query'],
    ['demo', { documents: 'x' }, "Invalid type for parameter 'documents': it must be an array.", 'documents'],
  ])('model %s with %j: %s', async (model, overrides, message, param) => {
    const response = await app.call('POST', '/rerank', { model, query: 'x', documents: ['y'], ...overrides });
    const error = { message: `/rerank: ${message}`, type: 'invalid_request_error', param, code: '400' };
    expect([response.status, await response.json()]).toEqual([400, { error }]);
  });
});

it('moderations.create 400: the demo model does not moderate', async () => {
  const response = await app.call('POST', '/moderations', { model: 'demo', input: 'x' });
  const message = '/moderations: The built-in demo model does not support this endpoint.';
  const error = { message, type: 'invalid_request_error', param: null, code: '400' };
  expect([response.status, await response.json()]).toEqual([400, { error }]);
});
