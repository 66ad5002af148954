import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newTrace, spansIn } from './trace-spans.ts';
import {
  ANSWER,
  REQUEST,
  CREDENTIAL,
  event,
  type MessagesServer,
  startMessagesServer,
  PATHS,
  refusal,
} from './messages-server.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const invalid = (message: string) => refusal(400, 'invalid_request_error', message);
/** Error about the model name. `provider_specific_fields` repeats the message, as in the reference. */
const modelNameError = (message: string) => ({
  status: 400,
  body: {
    type: 'error',
    error: { type: 'invalid_request_error', message, provider_specific_fields: { error: message } },
  },
});

let server: MessagesServer;
beforeAll(async () => {
  server = await startMessagesServer();
});
afterAll(() => server.stop());

async function newKey(draft: object): Promise<{ authorization: string }> {
  const response = await server.app.call('POST', '/key/generate', draft);
  const { key } = (await response.json()) as { key: string };
  return { authorization: `Bearer ${key}` };
}

/** Text for a body whose large members are parsed only when they are needed (ADR 0037). */
const LARGE = 'x'.repeat(20_000);

describe('messages.create 400', () => {
  it.each([
    ['{"model":', invalid('The request body is not valid JSON.')],
    ['[]', invalid('The request body is not a JSON object.')],
    [{ ...REQUEST, messages: undefined }, invalid("/messages: Missing required parameter: 'messages'.")],
    [{ ...REQUEST, max_tokens: null }, invalid("/messages: Missing required parameter: 'max_tokens'.")],
    [{ ...REQUEST, model: undefined }, modelNameError("/messages: Missing required parameter: 'model'.")],
    [{ ...REQUEST, stream: 'yes' }, invalid("/messages: Invalid type for parameter 'stream': it must be a boolean.")],
    [
      { ...REQUEST, messages: 'Hello' },
      invalid("/messages: Invalid type for parameter 'messages': it must be an array of messages."),
    ],
    [
      { ...REQUEST, model: 'nothing' },
      modelNameError(
        '/messages: Invalid model name passed in model=nothing. Call `/v1/models` to view available models for your key.',
      ),
    ],
    [
      { ...REQUEST, model: 'other', tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
      invalid(
        `/messages: The provider of the model "other" (openai) does not support 'tools[0]'. Remove it from the request, or set drop_params to drop it.`,
      ),
    ],
    [
      { ...REQUEST, model: 'other', messages: [{ role: 'judge' }] },
      invalid("Invalid value for 'messages[0].role': it must be one of user, assistant, system."),
    ],
  ])('a body of %j', async (requestBody, expected) => {
    const earlierRequests = server.upstream.received.length;
    const { status, body } = await server.ask(requestBody);
    expect({ status, body }).toEqual(expected);
    expect(server.upstream.received.length).toBe(earlierRequests);
  });

  it.each([
    ['that is cut off', `{"model":"${LARGE}`, 'The request body is not valid JSON.'],
    ['that is an array', `["${LARGE}"]`, 'The request body is not a JSON object.'],
    [
      'with null as a message',
      { ...REQUEST, messages: [{ role: 'user', content: LARGE }, null] },
      "/messages: Invalid type for parameter 'messages': it must be an array of objects.",
    ],
    [
      'with a string as messages',
      { ...REQUEST, messages: LARGE },
      "/messages: Invalid type for parameter 'messages': it must be an array of messages.",
    ],
  ])('a large body %s', async (_description, requestBody, message) => {
    const { status, body } = await server.ask(requestBody);
    expect({ status, body }).toEqual(invalid(message));
  });

  it('a valid request id of the caller is returned, and an invalid request id is not', async () => {
    const body = { type: 'error', error: { type: 'invalid_request_error', message: expect.any(String) } };
    expect((await server.ask('[]', { 'x-request-id': 'mine-1' })).body).toEqual({ ...body, request_id: 'mine-1' });
    expect((await server.ask('[]', { 'x-request-id': 'x'.repeat(201) })).body).toEqual(body);
  });
});

it('embeddings.create 400: a provider without embeddings', async () => {
  const response = await server.app.call('POST', '/v1/embeddings', { model: 'claude', input: 'x' });
  const message = '/embeddings: The provider of the model "claude" (anthropic) does not support this endpoint.';
  const error = { message, type: 'invalid_request_error', param: null, code: '400' };
  expect([response.status, await response.json()]).toEqual([400, { error }]);
});

describe('messages.create', () => {
  it.each(PATHS)('401 on %s: no key, and an unknown key', async (path) => {
    const withoutKey = await fetch(`${server.app.url}${path}`, { method: 'POST', body: '{}' });
    expect([withoutKey.status, await withoutKey.json()]).toEqual([
      401,
      {
        type: 'error',
        error: {
          type: 'authentication_error',
          message:
            'Authentication Error, No api key passed in. Send it as `Authorization: Bearer sk-...`: the `Bearer ` prefix is needed.',
        },
      },
    ]);
    const { status, body } = await server.ask(
      REQUEST,
      { 'x-api-key': 'sk-unknown-virtual-key', authorization: '' },
      path,
    );
    expect({ status, body }).toEqual(
      refusal(
        401,
        'authentication_error',
        expect.stringMatching(/^Authentication Error, Invalid proxy server token passed\. /),
      ),
    );
  });

  it('403: a model that the key may not call', async () => {
    const { status, body } = await server.ask(REQUEST, await newKey({ models: ['other'] }));
    const message =
      "The requested model 'claude' is not available for this API key, or the model name is invalid. Check the models available to you and try again.";
    expect({ status, body }).toEqual(refusal(403, 'permission_error', message));
  });

  it('413: a body over the limit', async () => {
    const { status, body } = await server.ask({ ...REQUEST, system: 'x'.repeat(1024 * 1024) });
    const message = expect.stringMatching(/^Request size is too large\. Request size is 1 MB\. Max size is 1 MB$/);
    expect({ status, body }).toEqual(refusal(413, 'request_too_large', message));
  });

  it('422: a budget that the previous call used up', async () => {
    // The answer costs 2.5.
    const key = await newKey({ key_alias: 'thrifty', max_budget: 2.5 });
    server.answerWith(200, ANSWER);
    expect((await server.ask(REQUEST, key)).status).toBe(200);
    const { status, body } = await server.ask(REQUEST, key);
    const name = `sk-...${key.authorization.slice(-4)}`;
    const message = `Budget has been exceeded! Key=thrifty (${name}) Current cost: 2.5, Max budget: 2.5`;
    expect({ status, body }).toEqual(refusal(422, 'invalid_request_error', message));
  });

  it.each([
    [429, 'RateLimitError', 'rate_limit_error'],
    [500, 'InternalServerError', 'api_error'],
    [503, 'ServiceUnavailableError', 'api_error'],
    [529, 'InternalServerError', 'overloaded_error'],
  ])('%i: an error of the upstream is forwarded, and the call has one spend row', async (status, kind, type) => {
    server.answerWith(status, { type: 'error', error: { type: 'some_error', message: `no ${CREDENTIAL}` } });
    const { traceId, headers } = newTrace();
    const failure = await server.ask(REQUEST, headers);
    const message = `litellm.${kind}: ${kind}: AnthropicException - no <secret>`;
    expect({ status: failure.status, body: failure.body }).toEqual(refusal(status, type, message));
    expect(failure.headers['x-litellm-call-id']).toMatch(UUID);
    expect(await spansIn(server.app, traceId)).toMatchObject([
      { spendRow: { callType: 'anthropic_messages', status: 'FAILURE', costUsd: null, usage: null } },
    ]);
  });

  it('an overload before the first event of a stream is answered with status 529', async () => {
    server.streamWith(event('error', { error: { type: 'overloaded_error', message: 'Overloaded' } }));
    const { status, body } = await server.ask({ ...REQUEST, stream: true });
    const message = 'litellm.InternalServerError: InternalServerError: AnthropicException - Overloaded';
    expect({ status, body }).toEqual(refusal(529, 'overloaded_error', message));
  });

  it.each([
    ['an error inside a 200', { type: 'error', error: { type: 'rate_limit_error', message: 'slow down' } }, 429],
    ['a 200 that is not JSON', '<html>', 500],
    ['a 200 of another shape', { items: [] }, 500],
  ])('%s is a failure', async (_answer, answer, expected) => {
    server.answerWith(200, answer);
    expect((await server.ask(REQUEST)).status).toBe(expected);
  });
});
