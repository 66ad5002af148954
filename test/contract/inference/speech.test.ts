import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { modelNameError, upstreamErrorType } from '../../support/error-bodies.ts';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { newTrace, spansIn } from './trace-spans.ts';

const CREDENTIAL = 'sk-upstream-credential-0123456789';
const PATH = '/v1/audio/speech';
/** Request whose five characters cost 2.5. */
const REQUEST = { model: 'voice', input: 'Zoë 😀', voice: 'alloy' };
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** Bytes that are invalid UTF-8. */
const AUDIO = Buffer.from([0xff, 0xfb, 0x90, 0x00, 0x0a, 0x0a, 0xc3, 0x28, 0x00]);

let app: TestApp;
let upstream: FaultServer;

beforeAll(async () => {
  upstream = await startFaultServer();
  const params = { model: 'openai/up-1', api_base: `${upstream.url}/v1`, api_key: CREDENTIAL };
  app = await startApp({
    config: {
      model_list: [
        { model_name: 'voice', litellm_params: { ...params, input_cost_per_character: 0.5 } },
        { model_name: 'token-voice', litellm_params: { ...params, input_cost_per_token: 0.5 } },
        {
          model_name: 'audio-voice',
          litellm_params: {
            ...params,
            input_cost_per_token: 0.5,
            output_cost_per_token: 0.125,
            output_cost_per_audio_token: 0.25,
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

function answerWith(status: number, body: Buffer | string, contentType = 'audio/mpeg'): void {
  upstream.answer((response) => {
    response.writeHead(status, { 'content-type': contentType });
    response.end(body);
  });
}

const ask = (body: unknown = REQUEST, headers: Record<string, string> = {}, path = PATH): Promise<Response> =>
  app.call('POST', path, body, headers);

async function refusalOf(response: Response): Promise<unknown> {
  return [response.status, ((await response.json()) as { error: unknown }).error];
}

async function newKey(draft: object): Promise<{ authorization: string }> {
  const response = await app.call('POST', '/key/generate', draft);
  const { key } = (await response.json()) as { key: string };
  return { authorization: `Bearer ${key}` };
}

describe('speech.create 200', () => {
  it.each([PATH, '/audio/speech'])(
    'the audio is unchanged, and priced by the characters of the input (%s)',
    async (path) => {
      answerWith(200, AUDIO);
      const { traceId, headers } = newTrace();
      const response = await ask(REQUEST, headers, path);
      expect(Buffer.from(await response.arrayBuffer())).toEqual(AUDIO);
      expect(response.status).toBe(200);
      expect(response.headers.get('x-litellm-call-id')).toMatch(UUID);
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'content-type': 'audio/mpeg',
        'x-litellm-model-id': expect.stringMatching(/^voice#[0-9a-f]{12}$/),
        'x-litellm-model-group': 'voice',
        'x-litellm-response-cost': '2.5',
      });
      const forwarded = upstream.received.at(-1);
      expect([forwarded?.path, JSON.parse(forwarded?.body ?? '')]).toEqual([PATH, { ...REQUEST, model: 'up-1' }]);
      expect(await spansIn(app, traceId)).toMatchObject([
        {
          name: 'generate_content voice',
          type: 'llm',
          attributes: { 'gen_ai.operation.name': 'generate_content', 'gen_ai.output.type': 'speech' },
          spendRow: { callType: 'aspeech', model: 'up-1', costUsd: '2.5', status: 'SUCCESS', usage: null },
        },
      ]);
    },
  );

  it('the cost of a voice with a price for tokens is not known', async () => {
    answerWith(200, AUDIO);
    const response = await ask({ ...REQUEST, model: 'token-voice' });
    await response.arrayBuffer();
    expect(response.headers.get('x-litellm-response-cost')).toBeNull();
  });

  it('streamed events are unchanged, and priced by the tokens that the last one reports', async () => {
    const delta = { type: 'speech.audio.delta', audio: AUDIO.toString('base64') };
    const done = { type: 'speech.audio.done', usage: { input_tokens: 4, output_tokens: 100, total_tokens: 104 } };
    const events = [delta, done].map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
    answerWith(200, events, 'text/event-stream');
    const { traceId, headers } = newTrace();
    const response = await ask({ ...REQUEST, model: 'audio-voice', stream_format: 'sse' }, headers);
    expect(await response.text()).toBe(events);
    expect(await spansIn(app, traceId)).toMatchObject([
      { spendRow: { costUsd: '27', status: 'SUCCESS', usage: { inputTokens: 4, outputTokens: 100 } } },
    ]);
    // The price by characters has precedence.
    const trace = newTrace();
    await (await ask({ ...REQUEST, stream_format: 'sse' }, trace.headers)).text();
    expect(await spansIn(app, trace.traceId)).toMatchObject([{ spendRow: { costUsd: '2.5' } }]);
  });

  it('streamed events without usage have no known cost', async () => {
    answerWith(200, 'data: {"type":"speech.audio.done"}\n\n', 'text/event-stream');
    const { traceId, headers } = newTrace();
    await (await ask({ ...REQUEST, model: 'audio-voice', stream_format: 'sse' }, headers)).text();
    expect(await spansIn(app, traceId)).toMatchObject([{ spendRow: { costUsd: null, usage: null } }]);
  });

  it('each chunk is forwarded before the next arrives, with the content type of the upstream', async () => {
    let sendRest: () => void = () => {};
    upstream.answer((response) => {
      response.writeHead(200, { 'content-type': 'audio/wav' });
      response.write(AUDIO);
      sendRest = () => response.end(AUDIO);
    });
    const response = await ask({ ...REQUEST, response_format: 'wav' });
    expect(response.headers.get('content-type')).toBe('audio/wav');
    const reader = response.body?.getReader();
    expect(Buffer.from((await reader?.read())?.value ?? [])).toEqual(AUDIO);
    sendRest();
    expect(Buffer.from((await reader?.read())?.value ?? [])).toEqual(AUDIO);
    expect((await reader?.read())?.done).toBe(true);
  });

  it('audio that the upstream cuts off ends with a closed connection, without an error text', async () => {
    let closeConnection: () => void = () => {};
    upstream.answer((response, socket) => {
      response.writeHead(200, { 'content-type': 'audio/mpeg' });
      response.write(AUDIO);
      closeConnection = () => socket.destroy();
    });
    const { traceId, headers } = newTrace();
    const response = await ask(REQUEST, headers);
    const reader = response.body?.getReader();
    expect(Buffer.from((await reader?.read())?.value ?? [])).toEqual(AUDIO);
    closeConnection();
    await expect(reader?.read()).rejects.toThrow('terminated');
    await upstream.nextDisconnect();
    expect(await spansIn(app, traceId)).toMatchObject([
      { spendRow: { status: 'FAILURE', errorCode: 'UPSTREAM_FAILED', costUsd: '2.5' } },
    ]);
  });

  it('a client that disconnects cancels the upstream call', async () => {
    upstream.answer((response) => {
      response.writeHead(200, { 'content-type': 'audio/mpeg' });
      response.write(AUDIO);
    });
    const response = await ask();
    await response.body?.cancel();
    await expect(upstream.nextDisconnect()).resolves.toBeUndefined();
  });
});

describe('speech.create', () => {
  const invalid = (message: string, param: string) => [
    400,
    { message, type: 'invalid_request_error', param, code: '400' },
  ];

  it.each([
    ['{', invalid('The request body is not valid JSON.', 'request_body')],
    [{ input: 'x' }, [400, { ...modelNameError("/audio/speech: Missing required parameter: 'model'."), code: '400' }]],
    [{ model: 'voice' }, invalid("/audio/speech: Missing required parameter: 'input'.", 'input')],
    [
      { model: 'voice', input: ['x'] },
      invalid("/audio/speech: Invalid type for parameter 'input': it must be a string.", 'input'),
    ],
  ])('400: a body of %j', async (body, expected) => {
    expect(await refusalOf(await ask(body))).toEqual(expected);
  });

  it('400: the demo model does not support speech', async () => {
    const message = '/audio/speech: The built-in demo model does not support this endpoint.';
    expect(await refusalOf(await ask({ ...REQUEST, model: 'demo' }))).toEqual([
      400,
      { message, type: 'invalid_request_error', param: null, code: '400' },
    ]);
  });

  it('401: an unknown key', async () => {
    expect(await refusalOf(await ask(REQUEST, { authorization: 'Bearer sk-unknown-virtual-key' }))).toEqual([
      401,
      {
        message: expect.stringMatching(/^Authentication Error, Invalid proxy server token passed\. /),
        type: 'token_not_found_in_db',
        param: 'key',
        code: '401',
      },
    ]);
  });

  it('403: a model that the key may not call', async () => {
    const message =
      "The requested model 'voice' is not available for this API key, or the model name is invalid. Check the models available to you and try again.";
    expect(await refusalOf(await ask(REQUEST, await newKey({ models: ['other'] })))).toEqual([
      403,
      { message, type: 'key_model_access_denied', param: 'model', code: '403' },
    ]);
  });

  it('422: a budget that the previous call used up', async () => {
    const key = await newKey({ key_alias: 'loud', max_budget: 2.5 });
    answerWith(200, AUDIO);
    const answer = await ask(REQUEST, key);
    await answer.arrayBuffer();
    const name = `sk-...${key.authorization.slice(-4)}`;
    const message = `Budget has been exceeded! Key=loud (${name}) Current cost: 2.5, Max budget: 2.5`;
    expect([answer.status, await refusalOf(await ask(REQUEST, key))]).toEqual([
      200,
      [422, { message, type: 'budget_exceeded', param: null, code: '422' }],
    ]);
  });

  it.each([
    [429, 'RateLimitError'],
    [500, 'InternalServerError'],
    [503, 'ServiceUnavailableError'],
  ])('%i: an error of the upstream is forwarded, and the call has one spend row', async (status, kind) => {
    answerWith(status, JSON.stringify({ error: { message: `no ${CREDENTIAL}`, type: 't' } }), 'application/json');
    const { traceId, headers } = newTrace();
    const message = `litellm.${kind}: ${kind}: OpenAIException - no <secret>`;
    expect(await refusalOf(await ask(REQUEST, headers))).toEqual([
      status,
      { message, type: upstreamErrorType(status), param: null, code: String(status) },
    ]);
    expect(await spansIn(app, traceId)).toMatchObject([{ spendRow: { status: 'FAILURE', costUsd: null } }]);
  });

  it.each([
    [
      'an error inside a 200',
      '{"error":{"message":"overloaded","code":503}}',
      503,
      'ServiceUnavailableError',
      'overloaded',
    ],
    ['a 200 that is not audio', '{}', 500, 'APIError', "The upstream's answer cannot be used: it is not speech."],
  ])('%s is a failure', async (_what, body, status, kind, upstreamMessage) => {
    answerWith(200, body, 'application/json; charset=utf-8');
    expect(await refusalOf(await ask())).toEqual([
      status,
      {
        message: `litellm.${kind}: ${kind}: OpenAIException - ${upstreamMessage}`,
        type: upstreamErrorType(status),
        param: null,
        code: String(status),
      },
    ]);
  });

  it('500: the upstream closes the connection before the first byte of audio', async () => {
    upstream.answer((response, socket) => {
      response.writeHead(200, { 'content-type': 'audio/mpeg' });
      response.flushHeaders();
      setImmediate(() => socket.destroy());
    });
    const response = await ask();
    await upstream.nextDisconnect();
    expect(await refusalOf(response)).toEqual([
      500,
      {
        message: expect.stringMatching(
          /^litellm\.APIConnectionError: APIConnectionError: OpenAIException - The upstream /,
        ),
        type: 'internal_server_error',
        param: null,
        code: '500',
      },
    ]);
  });
});
