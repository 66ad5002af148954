import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';

const CREDENTIAL = 'google-credential-0123456789';
const CONTENTS = [{ role: 'user', parts: [{ text: 'Hello' }] }];
/** Usage that costs 1.75 with the prices of `team/flash`. */
const USAGE = { promptTokenCount: 2, candidatesTokenCount: 3, totalTokenCount: 5 };
const ANSWER = {
  candidates: [{ content: { parts: [{ text: 'Grüß Gott' }], role: 'model' }, finishReason: 'STOP', index: 0 }],
  usageMetadata: USAGE,
  modelVersion: 'flash-up',
  responseId: 'r-1',
};

let app: TestApp;
let upstream: FaultServer;

beforeAll(async () => {
  upstream = await startFaultServer();
  const priced = { input_cost_per_token: 0.5, output_cost_per_token: 0.25 };
  app = await startApp({
    config: {
      model_list: [
        {
          model_name: 'team/flash',
          litellm_params: { model: 'gemini/flash-up', api_base: upstream.url, api_key: CREDENTIAL, ...priced },
        },
        { model_name: 'chat', litellm_params: { model: 'openai/up-1', api_base: `${upstream.url}/v1` } },
      ],
    },
  });
});

afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

function answerWith(status: number, body: unknown): void {
  upstream.answer((response) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  });
}

function streamWith(...events: readonly object[]): void {
  upstream.answer((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(events.map((event) => `data: ${JSON.stringify(event)}\r\n\r\n`).join(''));
  });
}

async function newKey(draft: object): Promise<string> {
  const response = await app.call('POST', '/key/generate', draft);
  return ((await response.json()) as { key: string }).key;
}

/** Sends a request in the form of Google's clients. `key` null sends no key. */
async function ask(modelAndMethod: string, body: unknown, key: string | null = app.adminKey) {
  const response = await fetch(`${app.url}/v1beta/models/${modelAndMethod}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(key === null ? {} : { 'x-goog-api-key': key }) },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, text, headers: Object.fromEntries(response.headers) };
}

const statusAndBody = ({ status, text }: { readonly status: number; readonly text: string }) => ({
  status,
  body: JSON.parse(text) as unknown,
});
const refusal = (code: number, status: string, message: unknown) => ({
  status: code,
  body: { error: { code, message, status } },
});

const FLASH = 'team/flash:generateContent';

describe('content.generate 200', () => {
  it("is forwarded to Google's models without gateway fields, and answered under the requested model name", async () => {
    answerWith(200, ANSWER);
    const requestBody = JSON.stringify({ contents: CONTENTS, safetySettings: [], tags: ['a'] });
    const answer = await ask(FLASH, requestBody);
    expect(statusAndBody(answer)).toEqual({ status: 200, body: { ...ANSWER, modelVersion: 'team/flash' } });
    expect(answer.headers).toMatchObject({ 'x-litellm-model-group': 'team/flash', 'x-litellm-response-cost': '1.75' });
    const forwarded = upstream.received.at(-1);
    expect(forwarded?.path).toBe('/v1beta/models/flash-up:generateContent');
    expect(forwarded?.headers['x-goog-api-key']).toBe(CREDENTIAL);
    expect(JSON.parse(forwarded?.body ?? '')).toEqual({ contents: CONTENTS, safetySettings: [] });
  });

  it('is streamed as events with `alt=sse`, and as one array without it', async () => {
    const first = { candidates: [{ content: { parts: [{ text: 'Grüß' }], role: 'model' }, index: 0 }] };
    streamWith(first, ANSWER);
    const events = await ask('team/flash:streamGenerateContent?alt=sse', { contents: CONTENTS });
    expect(events.headers['content-type']).toBe('text/event-stream; charset=utf-8');
    expect(
      events.text
        .split(/\r?\n\r?\n/)
        .filter(Boolean)
        .map((event) => JSON.parse(event.slice('data: '.length)) as unknown),
    ).toEqual([first, { ...ANSWER, modelVersion: 'team/flash' }]);
    expect(upstream.received.at(-1)?.path).toBe('/v1beta/models/flash-up:streamGenerateContent?alt=sse');
    const array = await ask('team/flash:streamGenerateContent', { contents: CONTENTS });
    expect(array.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(JSON.parse(array.text)).toEqual([first, { ...ANSWER, modelVersion: 'team/flash' }]);
  });

  it('is translated for a model of another dialect', async () => {
    answerWith(200, {
      id: 'c-1',
      model: 'up-1',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'length' }],
      usage: { prompt_tokens: 2, completion_tokens: 3, total_tokens: 5 },
    });
    const answer = await ask('chat:generateContent', {
      contents: CONTENTS,
      system_instruction: { parts: [{ text: 'Be brief.' }] },
      generation_config: { max_output_tokens: 3 },
      safetySettings: [{ category: 'X', threshold: 'Y' }],
    });
    expect(statusAndBody(answer)).toEqual({
      status: 200,
      body: {
        candidates: [{ content: { parts: [{ text: 'Hi' }], role: 'model' }, finishReason: 'MAX_TOKENS', index: 0 }],
        usageMetadata: USAGE,
        modelVersion: 'chat',
        responseId: 'c-1',
      },
    });
    expect(answer.headers['x-gateway-dropped-params']).toBe('safetySettings');
    expect(JSON.parse(upstream.received.at(-1)?.body ?? '')).toEqual({
      model: 'up-1',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hello' },
      ],
      max_tokens: 3,
    });
  });

  it('a failure during the stream is the last event, or the last element of the array', async () => {
    const first = { candidates: [{ content: { parts: [{ text: 'Grüß' }], role: 'model' }, index: 0 }] };
    streamWith(first, { error: { code: 503, message: 'overloaded', status: 'UNAVAILABLE' } });
    const message = 'litellm.ServiceUnavailableError: ServiceUnavailableError: GeminiException - overloaded';
    const last = { error: { code: 503, message, status: 'UNAVAILABLE' } };
    const events = await ask('team/flash:streamGenerateContent?alt=sse', { contents: CONTENTS });
    expect(events.text.endsWith(`data: ${JSON.stringify(last)}\n\n`)).toBe(true);
    const array = await ask('team/flash:streamGenerateContent', { contents: CONTENTS });
    expect(JSON.parse(array.text)).toEqual([first, last]);
  });

  it('accepts a key in the query if no header has one, and does not forward it', async () => {
    answerWith(200, ANSWER);
    const answer = await ask(`${FLASH}?key=${await newKey({})}`, { contents: CONTENTS }, null);
    expect(answer.status).toBe(200);
    expect(upstream.received.at(-1)?.path).toBe('/v1beta/models/flash-up:generateContent');
  });
});

/** Text for a body whose large members are parsed only when they are needed (ADR 0037). */
const LARGE = 'x'.repeat(20_000);

describe('refusals', () => {
  it.each([
    ['{"contents":', 'The request body is not valid JSON.'],
    ['[]', 'The request body is not a JSON object.'],
    ['{}', "/generateContent: Missing required parameter: 'contents'."],
    [
      '{"contents":"Hello"}',
      "/generateContent: Invalid type for parameter 'contents': it must be an array of messages.",
    ],
  ])('content.generate 400: a body of %s', async (body, message) => {
    expect(statusAndBody(await ask(FLASH, body))).toEqual(refusal(400, 'INVALID_ARGUMENT', message));
  });

  it.each([
    ['that is cut off', `{"contents":"${LARGE}`, 'The request body is not valid JSON.'],
    [
      'whose contents are a string',
      { contents: LARGE },
      "/generateContent: Invalid type for parameter 'contents': it must be an array of messages.",
    ],
    [
      'whose contents are an array of strings',
      { contents: [LARGE] },
      "/generateContent: Invalid type for parameter 'contents': it must be an array of objects.",
    ],
  ])('content.generate 400: a large body %s', async (_description, body, message) => {
    expect(statusAndBody(await ask(FLASH, body))).toEqual(refusal(400, 'INVALID_ARGUMENT', message));
  });

  it.each([
    [{ contents: [{ role: 'judge', parts: [] }] }, "Invalid value for 'contents[0].role': it must be user or model."],
    [
      { contents: CONTENTS, tools: [{ googleSearch: {} }] },
      `/generateContent: The provider of the model "chat" (openai) does not support 'tools[0].googleSearch'. Remove it from the request, or set drop_params to drop it.`,
    ],
  ])('content.generate 400: %j cannot be translated', async (body, message) => {
    const earlierRequests = upstream.received.length;
    expect(statusAndBody(await ask('chat:generateContent', body))).toEqual(refusal(400, 'INVALID_ARGUMENT', message));
    expect(upstream.received.length).toBe(earlierRequests);
  });

  it('content.generate 401: no key, and an unknown key', async () => {
    expect(statusAndBody(await ask(FLASH, { contents: CONTENTS }, null))).toEqual(
      refusal(
        401,
        'UNAUTHENTICATED',
        'Authentication Error, No api key passed in. Send it as `Authorization: Bearer sk-...`: the `Bearer ` prefix is needed.',
      ),
    );
    expect(statusAndBody(await ask(`${FLASH}?key=sk-unknown-virtual-key`, { contents: CONTENTS }, null))).toEqual(
      refusal(401, 'UNAUTHENTICATED', expect.stringContaining('Received API Key = sk-...-key, Key Hash')),
    );
  });

  it('content.generate 403: a model that the key may not call', async () => {
    const message =
      "The requested model 'team/flash' is not available for this API key, or the model name is invalid. Check the models available to you and try again.";
    const key = await newKey({ models: ['chat'] });
    expect(statusAndBody(await ask(FLASH, { contents: CONTENTS }, key))).toEqual(
      refusal(403, 'PERMISSION_DENIED', message),
    );
  });

  it('content.generate 404: an unconfigured model, and an unknown method', async () => {
    const message =
      '/generateContent: Invalid model name passed in model=nothing. Call `/v1/models` to view available models for your key.';
    expect(statusAndBody(await ask('nothing:generateContent', { contents: CONTENTS }))).toEqual(
      refusal(404, 'NOT_FOUND', message),
    );
    expect(statusAndBody(await ask('team/flash:sing', {}))).toEqual(
      refusal(404, 'NOT_FOUND', 'There is no method "sing" of a model.'),
    );
  });

  it('content.generate 422: a used-up budget', async () => {
    const key = await newKey({ max_budget: 0 });
    expect(statusAndBody(await ask(FLASH, { contents: CONTENTS }, key))).toEqual(
      refusal(422, 'FAILED_PRECONDITION', expect.stringMatching(/^Budget has been exceeded! Key=/)),
    );
  });

  it.each([
    [429, 'RESOURCE_EXHAUSTED', 'RateLimitError'],
    [500, 'INTERNAL', 'InternalServerError'],
    [503, 'UNAVAILABLE', 'ServiceUnavailableError'],
  ])('content.generate %i: the message of the upstream, without the credential', async (code, status, name) => {
    answerWith(code, { error: { code, message: `no ${CREDENTIAL}`, status } });
    for (const method of ['generateContent', 'streamGenerateContent?alt=sse']) {
      const answer = await ask(`team/flash:${method}`, { contents: CONTENTS });
      const message = `litellm.${name}: ${name}: GeminiException - no <secret>`;
      expect(statusAndBody(answer)).toEqual(refusal(code, status, message));
    }
  });
});
