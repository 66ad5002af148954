import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { modelNameError, upstreamErrorType } from '../../support/error-bodies.ts';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';

const MESSAGES = [{ role: 'user', content: 'Hello' }];
const CREDENTIAL = 'sk-upstream-credential-0123456789';
const PATH = '/v1/chat/completions';
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

let app: TestApp;
let upstream: FaultServer;

beforeAll(async () => {
  upstream = await startFaultServer();
  const params = { api_base: `${upstream.url}/v1`, api_key: CREDENTIAL };
  const priced = { ...params, input_cost_per_token: 0.5, output_cost_per_token: 0.25 };
  app = await startApp({
    config: {
      model_list: [
        { model_name: 'assistant', litellm_params: { model: 'openai/up-1', ...priced } },
        { model_name: 'team/*', litellm_params: { model: 'openai/*', ...params } },
      ],
    },
  });
});

afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

const ANSWER = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'up-1',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 2, completion_tokens: 1, total_tokens: 3 },
};

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

async function ask(body: unknown, headers: Record<string, string> = {}, path = PATH) {
  const response = await app.call('POST', path, body, headers);
  const text = await response.text();
  return { status: response.status, body: JSON.parse(text) as unknown, headers: Object.fromEntries(response.headers) };
}

const refusal = (status: number, error: object) => ({ status, body: { error: { code: String(status), ...error } } });

describe('chat.completions 200', () => {
  it('the answer of the upstream has the requested model name and the headers of the gateway', async () => {
    answerWith(200, ANSWER, { 'x-request-id': 'req-1', 'set-cookie': 'a=b', 'x-echo': `Bearer ${CREDENTIAL}` });
    const { status, body, headers } = await ask({ model: 'assistant', messages: MESSAGES });
    expect({ status, body }).toEqual({ status: 200, body: { ...ANSWER, model: 'assistant' } });
    expect(headers['x-litellm-call-id']).toMatch(UUID);
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'x-litellm-model-id': expect.stringMatching(/^assistant#[0-9a-f]{12}$/),
      'x-litellm-model-group': 'assistant',
      'x-litellm-model-api-base': `${upstream.url}/v1`,
      'x-litellm-version': '0.1.0',
      // 2 input tokens at 0.5 USD, 1 output token at 0.25 USD.
      'x-litellm-response-cost': '1.25',
      'x-litellm-response-duration-ms': expect.stringMatching(/^\d+\.\d+$/),
      'llm_provider-x-request-id': 'req-1',
      'llm_provider-set-cookie': 'a=b',
      'llm_provider-x-echo': 'Bearer <secret>',
    });
    expect(headers['llm_provider-connection']).toBeUndefined();
  });

  it.each([
    '/chat/completions',
    '/engines/assistant/chat/completions',
    '/openai/deployments/assistant/chat/completions',
  ])('a call on the alias path %s is answered; a model name in the path has precedence', async (path) => {
    answerWith(200, ANSWER);
    const { status, body } = await ask(
      { model: path === '/chat/completions' ? 'assistant' : 'x', messages: [] },
      {},
      path,
    );
    expect({ status, body }).toEqual({ status: 200, body: { ...ANSWER, model: 'assistant' } });
  });

  it('a wildcard model forwards the part of the name that `*` matches', async () => {
    answerWith(200, ANSWER);
    expect((await ask({ model: 'team/größe', messages: MESSAGES })).headers['x-litellm-model-group']).toBe(
      'team/gr%C3%B6%C3%9Fe',
    );
    expect(JSON.parse(upstream.received.at(-1)?.body ?? '')).toEqual({ model: 'größe', messages: MESSAGES });
  });

  it('a valid call id of the caller is returned, and an invalid call id is replaced', async () => {
    answerWith(200, ANSWER);
    const withValidId = await ask({ model: 'assistant', messages: [] }, { 'x-litellm-call-id': 'mine-1' });
    expect(withValidId.headers['x-litellm-call-id']).toBe('mine-1');
    const withInvalidId = await ask({ model: 'assistant', messages: [] }, { 'x-litellm-call-id': 'x'.repeat(201) });
    expect(withInvalidId.headers['x-litellm-call-id']).toMatch(UUID);
  });

  const chunk = (delta: object, finish: string | null = null): string =>
    `data: ${JSON.stringify({ id: 'c', model: 'assistant', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;

  function streamWith(...events: readonly string[]): void {
    upstream.answer((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(events.join(''));
    });
  }

  it('a stream that has the requested model name is forwarded byte for byte', async () => {
    const events = [chunk({ role: 'assistant', content: '' }), chunk({ content: 'Zoë 😀' }), chunk({}, 'stop')];
    streamWith(...events, 'data: [DONE]\n\n');
    const response = await app.call('POST', PATH, { model: 'assistant', messages: [], stream: true });
    expect(await response.text()).toBe(`${events.join('')}data: [DONE]\n\n`);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
      'x-accel-buffering': 'no',
      'x-litellm-model-group': 'assistant',
    });
  });

  it('the last event of a stream that fails is the error', async () => {
    const first = chunk({ content: 'Hel' });
    streamWith(first, 'data: {"error":{"message":"overloaded","type":"t","code":503}}\n\n', chunk({}, 'stop'));
    const response = await app.call('POST', PATH, { model: 'assistant', messages: [], stream: true });
    expect(response.status).toBe(200);
    const error = {
      message: 'litellm.ServiceUnavailableError: ServiceUnavailableError: OpenAIException - overloaded',
      type: null,
      param: null,
      code: '503',
    };
    expect(await response.text()).toBe(`${first}data: ${JSON.stringify({ error })}\n\n`);
  });

  it('an empty stream of the upstream is forwarded', async () => {
    streamWith();
    const response = await app.call('POST', PATH, { model: 'assistant', messages: [], stream: true });
    expect([response.status, await response.text()]).toEqual([200, '']);
  });
});

describe('chat.completions 400', () => {
  const invalid = (message: string, param: string) => refusal(400, { message, type: 'invalid_request_error', param });

  it.each([
    ['{"model":', invalid('The request body is not valid JSON.', 'request_body')],
    ['', invalid('The request body is not valid JSON.', 'request_body')],
    ['[]', invalid('The request body is not a JSON object.', 'request_body')],
    ['null', invalid('The request body is not a JSON object.', 'request_body')],
    ['{"model":"assistant"}', invalid("/chat/completions: Missing required parameter: 'messages'.", 'messages')],
    ['{"messages":[]}', refusal(400, modelNameError("/chat/completions: Missing required parameter: 'model'."))],
    [
      '{"model":7,"messages":[]}',
      refusal(400, {
        message: "/chat/completions: Invalid type for parameter 'model': it must be a string.",
        type: 'bad_request_error',
        param: 'model',
      }),
    ],
    [
      `{"model":"${'m'.repeat(513)}","messages":[]}`,
      refusal(400, {
        message:
          "/chat/completions: Invalid type for parameter 'model': it must be a string of at most 512 characters.",
        type: 'bad_request_error',
        param: 'model',
      }),
    ],
    [
      '{"model":"assistant","messages":"hello"}',
      invalid("/chat/completions: Invalid type for parameter 'messages': it must be an array of messages.", 'messages'),
    ],
    [
      '{"model":"assistant","messages":["hello"]}',
      invalid("/chat/completions: Invalid type for parameter 'messages': it must be an array of objects.", 'messages'),
    ],
    [
      '{"model":"assistant","messages":[],"stream":"yes"}',
      invalid("/chat/completions: Invalid type for parameter 'stream': it must be a boolean.", 'stream'),
    ],
  ])('a body of %j', async (requestBody, expected) => {
    const requestsBefore = upstream.received.length;
    const { status, body } = await ask(requestBody);
    expect({ status, body }).toEqual(expected);
    expect(upstream.received.length).toBe(requestsBefore);
  });

  it('a large body that nests too deeply', async () => {
    const nested = '['.repeat(200_000);
    const { status, body } = await ask(`{"model":"assistant","messages":[{"role":"user","content":${nested}`);
    expect({ status, body }).toEqual(invalid('The request body nests more than 500 levels deep.', 'request_body'));
  });

  it('an unconfigured model', async () => {
    const { status, body } = await ask({ model: 'nothing', messages: MESSAGES });
    const message =
      '/chat/completions: Invalid model name passed in model=nothing. Call `/v1/models` to view available models for your key.';
    expect({ status, body }).toEqual(refusal(400, modelNameError(message)));
  });

  it('a 400 of the upstream', async () => {
    const error = {
      message: 'too long',
      type: 'invalid_request_error',
      param: 'messages',
      code: 'context_length_exceeded',
    };
    answerWith(400, { error });
    const { status, body, headers } = await ask({ model: 'assistant', messages: MESSAGES });
    const message = 'litellm.BadRequestError: BadRequestError: OpenAIException - too long';
    expect({ status, body }).toEqual({ status: 400, body: { error: { ...error, message } } });
    expect(headers['x-litellm-call-id']).toMatch(UUID);
    expect(headers['llm_provider-content-type']).toBe('application/json');
  });
});

describe('chat.completions 401', () => {
  it('an unknown key', async () => {
    const { status, body, headers } = await ask(
      { model: 'assistant', messages: MESSAGES },
      { authorization: 'Bearer sk-unknown-virtual-key' },
    );
    expect({ status, body }).toEqual(
      refusal(401, {
        message: expect.stringMatching(
          /^Authentication Error, Invalid proxy server token passed\. Received API Key = sk-\.\.\.-key, Key Hash \(Token\) =[0-9a-f]{64}\. Unable to find token in cache or `LiteLLM_VerificationTokenTable`$/,
        ),
        type: 'token_not_found_in_db',
        param: 'key',
      }),
    );
    expect(headers['x-litellm-call-id']).toBeUndefined();
  });

  it('a value that is not a key', async () => {
    const { status, body } = await ask({ model: 'assistant', messages: [] }, { authorization: 'Bearer nonsense' });
    expect({ status, body }).toEqual(
      refusal(401, {
        message:
          'Authentication Error, Malformed API Key passed in. Ensure Key has `Bearer ` prefix, followed by a key that starts with `sk-`.',
        type: 'auth_error',
        param: 'None',
      }),
    );
  });

  it('an expired key', async () => {
    const expired = await newKey({ duration: '0s' });
    const { status, body } = await ask({ model: 'assistant', messages: [] }, expired);
    expect({ status, body }).toEqual(
      refusal(401, {
        message: expect.stringMatching(/^Authentication Error - Expired Key\. Key Expiry time \d{4}-/),
        type: 'expired_key',
        param: expect.stringMatching(/^sk-\.\.\./),
      }),
    );
  });
});

describe('chat.completions 403', () => {
  it.each(['assistant', 'nothing'])(
    'a model that the key may not call, whether or not it is configured (%s)',
    async (model) => {
      const { status, body } = await ask({ model, messages: MESSAGES }, await newKey({ models: ['other', 'team/*'] }));
      const message = `The requested model '${model}' is not available for this API key, or the model name is invalid. Check the models available to you and try again.`;
      expect({ status, body }).toEqual(refusal(403, { message, type: 'key_model_access_denied', param: 'model' }));
    },
  );
});

describe('chat.completions 422', () => {
  it('the call after the one that exceeded the budget', async () => {
    const key = await newKey({ key_alias: 'thrifty', max_budget: 2 });
    answerWith(200, ANSWER);
    const calls = [];
    for (let call = 0; call < 3; call += 1) calls.push(await ask({ model: 'assistant', messages: MESSAGES }, key));
    expect(calls.map(({ status }) => status)).toEqual([200, 200, 422]);
    const name = `sk-...${key.authorization.slice(-4)}`;
    const { status, body, headers } = calls[2] ?? {};
    expect({ status, body }).toEqual(
      refusal(422, {
        message: `Budget has been exceeded! Key=thrifty (${name}) Current cost: 2.5, Max budget: 2.0`,
        type: 'budget_exceeded',
        param: null,
      }),
    );
    expect(headers?.['retry-after']).toBeUndefined();
  });

  it('the first call with a budget of zero', async () => {
    const requestsBefore = upstream.received.length;
    expect((await ask({ model: 'assistant', messages: [] }, await newKey({ max_budget: 0 }))).status).toBe(422);
    expect(upstream.received.length).toBe(requestsBefore);
  });
});

describe('an upstream that fails', () => {
  it.each([
    [429, 'RateLimitError'],
    [500, 'InternalServerError'],
    [503, 'ServiceUnavailableError'],
  ])(
    'chat.completions %i of the upstream is forwarded with Retry-After and a masked credential',
    async (status, name) => {
      answerWith(status, { error: { message: `no ${CREDENTIAL}`, type: 't' } }, { 'retry-after': '7' });
      for (const stream of [false, true]) {
        const answer = await ask({ model: 'assistant', messages: MESSAGES, stream });
        const message = `litellm.${name}: ${name}: OpenAIException - no <secret>`;
        expect({ status: answer.status, body: answer.body }).toEqual(
          refusal(status, { message, type: upstreamErrorType(status), param: null }),
        );
        expect(answer.headers['retry-after']).toBe('7');
      }
    },
  );

  it('chat.completions 500: the upstream closes the connection', async () => {
    upstream.answer((_response, socket) => socket.destroy());
    const { status, body } = await ask({ model: 'assistant', messages: MESSAGES });
    expect({ status, body }).toEqual(
      refusal(500, {
        message: expect.stringMatching(
          /^litellm\.APIConnectionError: APIConnectionError: OpenAIException - The upstream /,
        ),
        type: 'internal_server_error',
        param: null,
      }),
    );
  });
});
