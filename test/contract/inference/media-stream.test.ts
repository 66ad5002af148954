import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { answerOf, refusal, send } from '../files/file-client.ts';
import { newTrace, spansIn } from './trace-spans.ts';
import { aForm } from './media-rows.ts';

const CREDENTIAL = 'sk-upstream-credential-0123456789';

let app: TestApp;
let upstream: FaultServer;

beforeAll(async () => {
  upstream = await startFaultServer();
  const params = { model: 'openai/up-1', api_base: `${upstream.url}/v1`, api_key: CREDENTIAL };
  app = await startApp({
    config: {
      general_settings: { store_prompts_in_spend_logs: true },
      model_list: [
        { model_name: 'medium', litellm_params: { ...params, input_cost_per_token: 0.5, output_cost_per_token: 0.25 } },
        { model_name: 'piece', litellm_params: { ...params, output_cost_per_image: 0.5 } },
      ],
    },
  });
});

afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

const event = (value: { type: string; [member: string]: unknown }, hasEventLine = true): string =>
  `${hasEventLine ? `event: ${value.type}\n` : ''}data: ${JSON.stringify(value)}\n\n`;

const streamWith = (...events: readonly string[]): void =>
  upstream.answer((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const text of events) response.write(text);
    response.end();
  });

const PARTIAL = { type: 'image_generation.partial_image', b64_json: 'QUJD', partial_image_index: 0 };
/** Usage that costs 30 with the prices of `medium`. */
const USAGE = { input_tokens: 10, input_tokens_details: { text_tokens: 10, image_tokens: 0 }, output_tokens: 100 };
const COMPLETED = { type: 'image_generation.completed', b64_json: 'QUJDRA==', size: '1024x1024', quality: 'low' };

const requestImage = (model = 'medium', headers: Record<string, string> = {}) =>
  send(app, 'POST', '/v1/images/generations', {
    body: JSON.stringify({ model, prompt: 'a cat', stream: true, partial_images: 1 }),
    headers: { 'content-type': 'application/json', ...headers },
  });

describe('images.generate', () => {
  it.each([true, false])(
    '200: events are forwarded unchanged, and the call is billed (events with an `event:` line: %s)',
    async (hasEventLine) => {
      const events = [event(PARTIAL, hasEventLine), event({ ...COMPLETED, usage: USAGE }, hasEventLine)];
      streamWith(...events);
      const { traceId, headers } = newTrace();
      const response = await requestImage('medium', headers);
      expect([response.headers.get('content-type'), await response.text()]).toEqual([
        'text/event-stream; charset=utf-8',
        events.join(''),
      ]);
      expect(JSON.parse(upstream.received.at(-1)?.body ?? '')).toEqual({
        model: 'up-1',
        prompt: 'a cat',
        stream: true,
        partial_images: 1,
      });
      expect(await spansIn(app, traceId)).toMatchObject([
        { spendRow: { costUsd: '30', status: 'SUCCESS', usage: { inputTokens: 10, outputTokens: 100 } } },
      ]);
    },
  );

  it('200: two pictures at 0.5 USD each cost 1 USD', async () => {
    streamWith(event(PARTIAL), event(COMPLETED), event(COMPLETED));
    const { traceId, headers } = newTrace();
    await (await requestImage('piece', headers)).text();
    expect(await spansIn(app, traceId)).toMatchObject([{ spendRow: { costUsd: '1', status: 'SUCCESS', usage: null } }]);
  });

  it('500: a stream that ends before the image is complete has an error as its last event', async () => {
    streamWith(event(PARTIAL));
    const { traceId, headers } = newTrace();
    const text = await (await requestImage('medium', headers)).text();
    const message =
      "litellm.APIError: APIError: OpenAIException - The upstream's answer cannot be used: the stream ended before the answer did.";
    expect(text).toBe(
      `${event(PARTIAL)}data: ${JSON.stringify({ error: { message, type: null, param: null, code: '500' } })}\n\n`,
    );
    expect(await spansIn(app, traceId)).toMatchObject([{ spendRow: { status: 'FAILURE', costUsd: null } }]);
  });

  it.each([
    [
      event({ type: 'error', error: { message: 'too much', type: 't', code: '429' } }),
      429,
      'RateLimitError',
      'throttling_error',
      'too much',
    ],
    [event({ type: 'error', message: 'too much', code: '429' }), 429, 'RateLimitError', 'throttling_error', 'too much'],
    [
      'data: [1]\n\n',
      500,
      'APIError',
      'internal_server_error',
      "The upstream's answer cannot be used: an event of its stream is not a JSON object.",
    ],
  ])('a stream that begins with %s is answered with an error', async (answer, status, kind, type, message) => {
    streamWith(answer);
    expect(await answerOf(await requestImage())).toEqual(
      refusal(status, `litellm.${kind}: ${kind}: OpenAIException - ${message}`, { type }),
    );
  });

  it('500: JSON instead of the requested stream', async () => {
    upstream.answer((response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end('{"data":[]}');
    });
    const message =
      "litellm.APIError: APIError: OpenAIException - The upstream's answer cannot be used: a stream was requested, but it is not a stream.";
    expect(await answerOf(await requestImage())).toEqual(refusal(500, message, { type: 'internal_server_error' }));
  });

  it('a client that disconnects cancels the upstream call', async () => {
    upstream.answer((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(event(PARTIAL));
    });
    const response = await requestImage();
    await response.body?.cancel();
    await expect(upstream.nextDisconnect()).resolves.toBeUndefined();
  });
});

describe('transcriptions.create', () => {
  it('200: a streamed transcript is stored and billed', async () => {
    // Without a price for audio tokens, 14 input tokens at 0.5 and 4 output tokens at 0.25 cost 8.
    const done = {
      type: 'transcript.text.done',
      text: 'hello there',
      usage: { input_tokens: 14, input_token_details: { audio_tokens: 14 }, output_tokens: 4 },
    };
    const events = [
      event({ type: 'transcript.text.delta', delta: 'hello ' }, false),
      event({ type: 'transcript.text.delta', delta: 'there' }, false),
      event(done, false),
      'data: [DONE]\n\n',
    ];
    streamWith(...events);
    const { traceId, headers } = newTrace();
    const form = aForm({ model: 'medium', stream: 'true' }, 'file');
    const response = await send(app, 'POST', '/v1/audio/transcriptions', { body: form, headers });
    expect(await response.text()).toBe(events.join(''));
    expect(upstream.received.at(-1)?.body).toContain('name="stream"\r\n\r\ntrue\r\n');
    expect(await spansIn(app, traceId)).toMatchObject([{ spendRow: { costUsd: '8', status: 'SUCCESS' } }]);
    const read = await app.call('GET', `/v1/traces/${traceId}`);
    const { spans } = (await read.json()) as { spans: { span_id: string }[] };
    const span = await app.call('GET', `/v1/traces/${traceId}/spans/${spans[0]?.span_id}`);
    expect(await span.text()).toContain('hello there');
  });
});
