import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  aResponse,
  eventText,
  openResponses,
  type ResponseSetup,
  startResponseSetup,
  streamOf,
} from '../../support/response-socket.ts';
import { newTrace, spansIn } from '../inference/trace-spans.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

let setup: ResponseSetup;
beforeAll(async () => {
  setup = await startResponseSetup();
});
afterAll(() => setup.stop());

const openSocket = (headers: Record<string, string> = {}) =>
  openResponses(setup.app, { headers: { authorization: `Bearer ${setup.app.adminKey}`, ...headers } });

/** Error event of a refusal. */
const refused = (status: number, error: object, overrides: object = {}): object => ({
  type: 'error',
  status,
  error: {
    type: 'invalid_request_error',
    code: String(status),
    param: null,
    headers: { 'x-litellm-call-id': expect.stringMatching(UUID), 'x-litellm-version': expect.any(String) },
    ...error,
  },
  ...overrides,
});
/** Error event without a call id, for a message that is not a valid event. */
const invalid = (param: string | null, message: string): object =>
  refused(400, { param, message, headers: { 'x-litellm-version': expect.any(String) } });

describe('a request is refused', () => {
  const cases: readonly (readonly [string, string | object, object])[] = [
    ['not JSON', '{"type":', invalid('request_body', 'The request body is not valid JSON.')],
    ['not an object', '[]', invalid('request_body', 'The request body is not a JSON object.')],
    [
      'an unknown event',
      { type: 'response.cancel' },
      invalid('type', "/responses: The parameter 'type' must be 'response.create'."),
    ],
    [
      'no model',
      { input: 'x' },
      refused(400, { param: null, message: "/responses: Missing required parameter: 'model'." }),
    ],
    [
      'no input',
      { model: 'chats' },
      refused(400, { param: 'input', message: "/responses: Missing required parameter: 'input'." }),
    ],
    [
      'a response in the background',
      { model: 'chats', input: 'x', background: true },
      refused(400, {
        param: 'background',
        message: "/responses: The parameter 'background' is not supported on a WebSocket.",
      }),
    ],
    [
      'a member of the wrong type',
      { model: 'chats', input: 'x', generate: 'no' },
      refused(400, {
        param: 'generate',
        message: "/responses: Invalid type for parameter 'generate': it must be a boolean.",
      }),
    ],
    [
      'an empty stream id',
      { model: 'chats', input: 'x', stream_id: '' },
      refused(400, {
        param: 'stream_id',
        code: 'invalid_stream_id',
        message:
          "/responses: The parameter 'stream_id' must be a text of 1 to 256 letters, digits, underscores, hyphens and periods, or left out.",
        headers: { 'x-litellm-version': expect.any(String) },
      }),
    ],
    [
      'an unknown model',
      { model: 'unheard-of', input: 'x', stream_id: 'main' },
      refused(
        400,
        {
          message:
            '/responses: Invalid model name passed in model=unheard-of. Call `/v1/models` to view available models for your key.',
        },
        { stream_id: 'main' },
      ),
    ],
    [
      'an unknown previous response',
      { model: 'chats', input: 'x', previous_response_id: 'resp_nothing', stream_id: 'a.b-c_9' },
      refused(
        400,
        {
          param: 'previous_response_id',
          code: 'previous_response_not_found',
          message: "Previous response with id 'resp_nothing' not found.",
        },
        { stream_id: 'a.b-c_9' },
      ),
    ],
  ];

  it.each(cases)('%s: the answer is one error event, and the connection stays open', async (_case, message, event) => {
    setup.streamWith(streamOf());
    const client = await openSocket();
    const text = typeof message === 'string' ? message : JSON.stringify({ type: 'response.create', ...message });
    client.socket.send(text);
    expect(await client.answer()).toEqual([event]);
    expect((await client.ask({ model: 'thinker', input: 'x' })).at(-1)?.type).toBe('response.completed');
    client.socket.close();
  });

  it('because of the models, the budget or the expiry of its key', async () => {
    const limited = await openSocket({ authorization: `Bearer ${await setup.newKey({ models: ['another'] })}` });
    expect(await limited.ask({ model: 'chats', input: 'x' })).toEqual([
      refused(403, {
        type: 'key_model_access_denied',
        param: 'model',
        message:
          "The requested model 'chats' is not available for this API key, or the model name is invalid. Check the models available to you and try again.",
      }),
    ]);
    limited.socket.close();

    setup.streamWith(streamOf());
    // One response costs 3.25 USD.
    const key = await setup.newKey({ key_alias: 'poor', max_budget: 3 });
    const poor = await openSocket({ authorization: `Bearer ${key}` });
    expect((await poor.ask({ model: 'thinker', input: 'x' })).at(-1)?.type).toBe('response.completed');
    expect(await poor.ask({ model: 'thinker', input: 'x' })).toEqual([
      refused(422, {
        type: 'budget_exceeded',
        message: `Budget has been exceeded! Key=poor (sk-...${key.slice(-4)}) Current cost: 3.25, Max budget: 3.0`,
        headers: expect.objectContaining({ 'x-litellm-key-max-budget': '3' }),
      }),
    ]);
    poor.socket.close();

    const shortLived = await openSocket({ authorization: `Bearer ${await setup.newKey({ duration: '1s' })}` });
    const last = async () => (await shortLived.ask({ model: 'thinker', input: 'x' })).at(-1);
    await expect.poll(last).toMatchObject({ type: 'error', status: 401, error: { type: 'expired_key', code: '401' } });
    shortLived.socket.close();
  });

  it('by the upstream: the error event has the message of the upstream', async () => {
    setup.upstream.answer((response) => {
      response.writeHead(429, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify({ error: { message: 'Slower.', type: 'requests', param: null, code: 'rate_limit' } }),
      );
    });
    const client = await openSocket();
    expect(await client.ask({ model: 'thinker', input: 'x', stream_id: 'main' })).toEqual([
      refused(
        429,
        {
          type: 'throttling_error',
          code: 'rate_limit',
          message: 'litellm.RateLimitError: RateLimitError: OpenAIException - Slower.',
          headers: expect.objectContaining({ 'x-litellm-call-id': expect.stringMatching(UUID) }),
        },
        { stream_id: 'main' },
      ),
    ]);
    client.socket.close();
  });

  it('by a failure during its stream: the error event has the next sequence number', async () => {
    setup.upstream.answer((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(eventText({ type: 'response.created', sequence_number: 4, response: aResponse() }), () =>
        response.destroy(),
      );
    });
    const { traceId, headers } = newTrace();
    const client = await openSocket(headers);
    const [created, ...rest] = await client.ask({ model: 'thinker', input: 'x', stream_id: 'main' });
    expect(created).toMatchObject({ type: 'response.created', stream_id: 'main' });
    expect(rest).toEqual([
      refused(
        500,
        {
          type: 'internal_server_error',
          message: expect.stringMatching(/^litellm\.APIConnectionError: APIConnectionError: OpenAIException - /),
          headers: expect.any(Object),
        },
        { stream_id: 'main', sequence_number: 5 },
      ),
    ]);
    expect(await spansIn(setup.app, traceId)).toMatchObject([
      { spendRow: { status: 'FAILURE', errorCode: 'UPSTREAM_FAILED' } },
    ]);
    client.socket.close();
  });
});
