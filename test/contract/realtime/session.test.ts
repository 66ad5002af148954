import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRealtime, type RealtimeClient } from '../../support/realtime-client.ts';
import { type RealtimeUpstream, startRealtimeUpstream, type UpstreamSession } from '../../support/realtime-upstream.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { newTrace, spansIn } from '../inference/trace-spans.ts';

const CREDENTIAL = 'sk-upstream-credential-0123456789';
const PRICES = {
  input_cost_per_token: 0.000004,
  output_cost_per_token: 0.000016,
  cache_read_input_token_cost: 0.0000004,
  input_cost_per_audio_token: 0.000032,
  output_cost_per_audio_token: 0.000064,
  cache_read_input_audio_token_cost: 0.0000004,
};

let app: TestApp;
let upstream: RealtimeUpstream;

beforeAll(async () => {
  upstream = await startRealtimeUpstream();
  const params = { model: 'openai/gpt-realtime', api_base: `${upstream.url}/v1`, api_key: CREDENTIAL };
  app = await startApp({
    config: {
      model_list: [
        { model_name: 'voice', litellm_params: { ...params, ...PRICES } },
        { model_name: 'unpriced', litellm_params: { ...params, model: 'openai/no-price' } },
      ],
    },
  });
});

afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

interface OpenSession {
  readonly client: RealtimeClient;
  readonly session: UpstreamSession;
  readonly traceId: string;
  /** Closes the session as the client. Returns its spend row and span. */
  end(): Promise<unknown>;
}

async function openSession({ model = 'voice', key = app.adminKey } = {}): Promise<OpenSession> {
  const { traceId, headers } = newTrace();
  const path = `/v1/realtime?model=${model}`;
  const client = await openRealtime(app, { path, headers: { ...headers, authorization: `Bearer ${key}` } });
  const session = await upstream.session();
  return {
    client,
    session,
    traceId,
    async end() {
      client.socket.close(1000);
      await session.closed;
      return await spansIn(app, traceId);
    },
  };
}

async function newKey(draft: object): Promise<string> {
  const response = await app.call('POST', '/key/generate', draft);
  return ((await response.json()) as { key: string }).key;
}

type TokenCounts = Readonly<{ text?: number; audio?: number }>;

/** Tokens of an answer. Cached tokens are part of the input tokens. */
function usage(input: TokenCounts, output: TokenCounts, cached: TokenCounts = {}): object {
  const details = ({ text = 0, audio = 0 }: TokenCounts) => ({ text_tokens: text, audio_tokens: audio });
  const total = ({ text = 0, audio = 0 }: TokenCounts): number => text + audio;
  return {
    total_tokens: total(input) + total(output),
    input_tokens: total(input),
    output_tokens: total(output),
    input_token_details: { ...details(input), cached_tokens: total(cached), cached_tokens_details: details(cached) },
    output_token_details: details(output),
  };
}

const doneEvent = (counts: object): object => ({
  type: 'response.done',
  event_id: 'event_1',
  response: { id: 'resp_1', object: 'realtime.response', status: 'completed', output: [], usage: counts },
});

describe('messages of a session', () => {
  it('are forwarded unchanged, in order, in both directions', async () => {
    const { client, session, end } = await openSession();
    const sound = Buffer.alloc(48_000, 7).toString('base64');
    const fromClient = [
      `{"type":"input_audio_buffer.append","audio":"${sound}"}`,
      '{ "type": "input_audio_buffer.commit" , "odd":1.0 }',
      'no JSON at all',
    ];
    for (const text of fromClient) client.socket.send(text);
    for (const text of fromClient) expect(await session.nextMessage()).toBe(text);
    const fromUpstream = [
      `{"type":"response.output_audio.delta","delta":"${sound}"}`,
      '{ "type": "response.output_text.delta", "delta": "the \\"model\\" of \\"usage\\"" }',
      'no JSON at all',
      '{"type":"response.done" "usage" broken',
    ];
    for (const text of fromUpstream) session.socket.send(text);
    for (const text of fromUpstream) expect(await client.nextMessage()).toBe(text);
    await end();
  });

  it('have the requested model name for the caller, and the upstream model name for the upstream', async () => {
    const { client, session, end } = await openSession();
    const created = (model: string) => ({ type: 'session.created', session: { id: 'sess_1', model, voice: 'ash' } });
    session.sendEvent(created('gpt-realtime-2025-08-28'));
    expect(JSON.parse(await client.nextMessage())).toEqual(created('voice'));
    client.sendEvent({ type: 'session.update', session: { type: 'realtime', model: 'voice', instructions: 'Zoë' } });
    expect(JSON.parse(await session.nextMessage())).toEqual({
      type: 'session.update',
      session: { type: 'realtime', model: 'gpt-realtime', instructions: 'Zoë' },
    });
    await end();
  });

  it('do not contain the credential, even if the upstream repeats it', async () => {
    const { client, session, end } = await openSession();
    session.sendEvent({ type: 'error', error: { type: 'no', message: `not with ${CREDENTIAL}` } });
    expect(JSON.parse(await client.nextMessage())).toEqual({
      type: 'error',
      error: { type: 'no', message: 'not with <secret>' },
    });
    await end();
  });
});

describe('an event is answered with an error event and not forwarded', () => {
  it.each([
    ['session', { type: 'session.update', event_id: 'mine_1', session: { model: 'other' } }],
    ['response', { type: 'response.create', event_id: 'mine_1', response: { model: 'other' } }],
    [
      'transcription',
      {
        type: 'session.update',
        event_id: 'mine_1',
        session: { audio: { input: { transcription: { model: 'other' } } } },
      },
    ],
    [
      'transcription in the older form',
      { type: 'session.update', event_id: 'mine_1', session: { input_audio_transcription: { model: 'other' } } },
    ],
  ])('if its %s names a model that the key may not call; the session continues', async (_what, event) => {
    const { client, session, end } = await openSession({ key: await newKey({ models: ['voice'] }) });
    client.sendEvent(event);
    expect(JSON.parse(await client.nextMessage())).toEqual({
      type: 'error',
      event_id: expect.stringMatching(/^event_/),
      error: {
        type: 'key_model_access_denied',
        code: '403',
        message:
          "The requested model 'other' is not available for this API key, or the model name is invalid. Check the models available to you and try again.",
        param: 'model',
        event_id: 'mine_1',
      },
    });
    client.sendEvent({ type: 'response.create' });
    expect(await session.nextMessage()).toBe('{"type":"response.create"}');
    await end();
  });

  it.each([
    [
      'a model other than the model of the session',
      '{"type":"session.update","session":{"model":"unpriced"}}',
      '/realtime: The model of a session cannot change. Open another session for another model.',
      'model',
    ],
    [
      'a model hidden by an escape',
      '{"type":"session.update","session":{"mod\\u0065l":"unpriced"}}',
      '/realtime: The model of a session cannot change. Open another session for another model.',
      'model',
    ],
    [
      'a model that is not a string',
      '{"type":"session.update","session":{"model":["a"]}}',
      '/realtime: The model must be a string.',
      'model',
    ],
    [
      'a model, and is not valid JSON',
      '{"type":"session.update","session":{"model":',
      '/realtime: The event is not a JSON object.',
      null,
    ],
  ])('if it names %s', async (_what, text, message, param) => {
    const { client, session, end } = await openSession();
    client.socket.send(text);
    expect(JSON.parse(await client.nextMessage())).toEqual({
      type: 'error',
      event_id: expect.stringMatching(/^event_/),
      error: { type: 'invalid_request_error', code: '400', message, param, event_id: null },
    });
    client.sendEvent({ type: 'response.create' });
    expect(await session.nextMessage()).toBe('{"type":"response.create"}');
    await end();
  });

  it('if it is sent as bytes', async () => {
    const { client, end } = await openSession();
    client.socket.send(Buffer.from('{"type":"session.update"}'));
    expect(JSON.parse(await client.nextMessage())).toMatchObject({
      type: 'error',
      error: { message: '/realtime: Events must be sent as text.', code: '400' },
    });
    await end();
  });
});

describe('records of a session', () => {
  it('are one spend row and one span for all answers, with the prices of audio and cache', async () => {
    const { client, session, end } = await openSession();
    session.sendEvent({ type: 'session.created', session: { id: 'sess_7', model: 'gpt-realtime-2025-08-28' } });
    session.sendEvent(doneEvent(usage({ text: 100, audio: 50 }, { text: 10, audio: 40 }, { text: 60, audio: 20 })));
    session.sendEvent(doneEvent(usage({ text: 10 }, { text: 5 })));
    for (let events = 0; events < 3; events += 1) await client.nextMessage();
    expect(await end()).toEqual([
      {
        name: 'realtime voice',
        type: 'llm',
        attributes: expect.objectContaining({
          'gen_ai.operation.name': 'realtime',
          'gen_ai.request.model': 'voice',
          'gen_ai.response.model': 'gpt-realtime-2025-08-28',
          'gen_ai.response.id': 'sess_7',
          'gen_ai.usage.input_tokens': '160',
          'gen_ai.usage.output_tokens': '55',
          'gen_ai.usage.input_audio_tokens': '50',
          'gen_ai.usage.output_audio_tokens': '40',
        }),
        spendRow: {
          callType: '_arealtime',
          modelGroup: 'voice',
          model: 'gpt-realtime',
          // Text and audio tokens: input 40 and 30, cached 60 and 20, output 10 and 40. Then text: input 10, output 5.
          costUsd: '0.003992',
          status: 'SUCCESS',
          errorCode: null,
          usage: { inputTokens: 160, outputTokens: 55, cacheReadTokens: 80, cacheWriteTokens: 0, reasoningTokens: 0 },
        },
      },
    ]);
  });

  it.each([
    ['negative counts', { input_tokens: -5, output_tokens: -5 }],
    ['fractions', { input_tokens: 1.5, output_tokens: 2 }],
    ['more tokens than an answer can have', { input_tokens: 9e15, output_tokens: 9e15 }],
  ])('price an answer with %s by its text, with as many input as output tokens', async (_case, counts) => {
    const { client, session, end } = await openSession();
    session.sendEvent({
      type: 'response.done',
      event_id: 'event_1',
      response: { usage: counts, output: [{ type: 'message', content: [{ type: 'text', text: 'x'.repeat(40) }] }] },
    });
    await client.nextMessage();
    // Four characters are estimated as one token: 10 × 0.000004 USD + 10 × 0.000016 USD.
    const spendRow = { costUsd: '0.0002', usage: { inputTokens: 10, outputTokens: 10 } };
    expect(await end()).toMatchObject([{ spendRow }]);
  });

  it('price transcripts at the prices of the transcription model', async () => {
    const { client, session, end } = await openSession();
    session.sendEvent({
      type: 'session.updated',
      session: {
        id: 'sess_8',
        model: 'gpt-realtime',
        audio: { input: { transcription: { model: 'gpt-4o-transcribe' } } },
      },
    });
    session.sendEvent({
      type: 'conversation.item.input_audio_transcription.completed',
      item_id: 'item_1',
      transcript: 'Good day',
      usage: { type: 'tokens', input_tokens: 40, output_tokens: 10, input_token_details: { audio_tokens: 40 } },
    });
    session.sendEvent({
      type: 'conversation.item.input_audio_transcription.completed',
      item_id: 'item_2',
      transcript: 'Good day',
      usage: { type: 'duration', seconds: 5 },
    });
    for (let events = 0; events < 3; events += 1) await client.nextMessage();
    // Catalog prices of gpt-4o-transcribe in USD: 2.5e-6 an input token, 1e-5 an output token, 1e-4 a second.
    const spendRow = { costUsd: '0.0007', usage: { inputTokens: 40, outputTokens: 10 }, status: 'SUCCESS' };
    expect(await end()).toMatchObject([{ spendRow }]);
  });

  it('have no cost for a session without an answer, and for a model without a price', async () => {
    const silent = await openSession();
    expect(await silent.end()).toMatchObject([{ spendRow: { costUsd: null, usage: null, status: 'SUCCESS' } }]);
    const unpriced = await openSession({ model: 'unpriced' });
    unpriced.session.sendEvent(doneEvent(usage({ text: 10 }, { text: 5 })));
    await unpriced.client.nextMessage();
    expect(await unpriced.end()).toMatchObject([{ spendRow: { costUsd: null, usage: { inputTokens: 10 } } }]);
  });
});

it('a session ends when its answers have used up the budget of a tag, and a new session is refused', async () => {
  expect((await app.call('POST', '/tag/new', { name: 'spoken', max_budget: 0.001 })).status).toBe(200);
  const key = await newKey({ tags: ['spoken'] });
  const { client, session } = await openSession({ key });
  // 100 audio tokens cost 0.0032 USD.
  session.sendEvent(doneEvent(usage({ audio: 100 }, {})));
  expect(JSON.parse(await client.nextMessage())).toMatchObject({ type: 'response.done' });
  expect(JSON.parse(await client.nextMessage())).toMatchObject({
    type: 'error',
    error: { type: 'budget_exceeded', message: expect.stringContaining('Tag=spoken') as string },
  });
  expect((await client.closed).code).toBe(1008);
  const headers = { authorization: `Bearer ${app.adminKey}`, 'x-litellm-tags': 'other,spoken' };
  await expect(openRealtime(app, { headers })).rejects.toThrow('Tag=spoken');
});

it('a session ends when its answers have used up the budget of the key, and a new session is refused', async () => {
  const key = await newKey({ key_alias: 'thrifty', max_budget: 0.001 });
  const { client, session, traceId } = await openSession({ key });
  // 100 text tokens cost 0.0004 USD, and 100 audio tokens 0.0032 USD.
  session.sendEvent(doneEvent(usage({ text: 100 }, {})));
  expect(JSON.parse(await client.nextMessage())).toMatchObject({ type: 'response.done' });
  session.sendEvent(doneEvent(usage({ audio: 100 }, {})));
  expect(JSON.parse(await client.nextMessage())).toMatchObject({ type: 'response.done' });
  expect(JSON.parse(await client.nextMessage())).toEqual({
    type: 'error',
    event_id: expect.stringMatching(/^event_/),
    error: {
      type: 'budget_exceeded',
      code: '422',
      message: `Budget has been exceeded! Key=thrifty (sk-...${key.slice(-4)}) Current cost: 0.0036, Max budget: 0.001`,
      param: null,
      event_id: null,
    },
  });
  expect((await client.closed).code).toBe(1008);
  expect((await session.closed).code).toBe(1000);
  const spendRow = { costUsd: '0.0036', status: 'FAILURE', errorCode: 'LIMIT_EXCEEDED', usage: { inputTokens: 200 } };
  expect(await spansIn(app, traceId)).toMatchObject([{ spendRow }]);
  await expect(openRealtime(app, { headers: { authorization: `Bearer ${key}` } })).rejects.toThrow('422');
});
