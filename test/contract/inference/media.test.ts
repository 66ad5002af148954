import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { upstreamErrorType } from '../../support/error-bodies.ts';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { answerOf, newKey, refusal, send } from '../files/file-client.ts';
import { newTrace, spansIn } from './trace-spans.ts';
import { aForm, MEDIA_ROWS } from './media-rows.ts';

const CREDENTIAL = 'sk-upstream-credential-0123456789';
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

let app: TestApp;
let upstream: FaultServer;

beforeAll(async () => {
  upstream = await startFaultServer();
  const params = { model: 'openai/up-1', api_base: `${upstream.url}/v1`, api_key: CREDENTIAL };
  const priced = {
    input_cost_per_token: 0.5,
    output_cost_per_token: 0.25,
    input_cost_per_image_token: 0.25,
    output_cost_per_image_token: 0.125,
    input_cost_per_audio_token: 0.75,
  };
  app = await startApp({
    config: {
      general_settings: { max_file_size_mb: 1 },
      model_list: [
        { model_name: 'medium', litellm_params: { ...params, ...priced } },
        { model_name: 'gemini', litellm_params: { model: 'gemini/up-2', api_base: `${upstream.url}/g`, api_key: 'k' } },
      ],
    },
  });
});

afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

const answerWith = (status: number, body: unknown): void =>
  upstream.answer((response) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  });

describe.each(MEDIA_ROWS)(
  '$name',
  ({ path, body, forwardedParts, missingField, answer, cost, usage, outputType, callType, answerKind }) => {
    const ask = (
      options: { key?: string; headers?: Record<string, string>; body?: FormData | string } = {},
      requestPath = `/v1${path}`,
    ) => send(app, 'POST', requestPath, { body: body('medium'), ...options });

    it.each([`/v1${path}`, path, `/engines/medium${path}`, `/openai/deployments/medium${path}?api-version=1`])(
      '200: the answer is unchanged and priced, and gateway fields are not forwarded (%s)',
      async (requestPath) => {
        answerWith(200, answer);
        const { traceId, headers } = newTrace();
        const modelField = requestPath.includes('medium') ? null : 'medium';
        const response = await ask({ headers, body: body(modelField) }, requestPath);
        expect(Object.fromEntries(response.headers)).toMatchObject({
          'content-type': 'application/json',
          'x-litellm-call-id': expect.stringMatching(UUID),
          'x-litellm-model-group': 'medium',
          'x-litellm-response-cost': cost,
        });
        expect(await answerOf(response)).toEqual([200, answer]);
        const forwarded = upstream.received.at(-1);
        expect(forwarded?.path).toBe(`/v1${path}`);
        // The expression is global: it matches each of the three parts once.
        expect(forwarded?.body.match(forwardedParts)).toHaveLength(3);
        expect(forwarded?.body).not.toMatch(/"(tags|metadata|caching)/);
        expect(await spansIn(app, traceId)).toMatchObject([
          {
            name: 'generate_content medium',
            type: 'llm',
            attributes: { 'gen_ai.operation.name': 'generate_content', 'gen_ai.output.type': outputType },
            spendRow: { callType, model: 'up-1', costUsd: cost, status: 'SUCCESS', usage },
          },
        ]);
      },
    );

    it('422 or 400: a required field is missing; 400: the model is missing', async () => {
      const { body: incompleteBody, param } = missingField;
      const fault = { type: 'missing', loc: ['body', param], msg: 'Field required' };
      const answers422 = path !== '/images/edits' && path !== '/images/generations';
      expect(await answerOf(await ask({ body: incompleteBody }))).toEqual(
        answers422
          ? [422, { detail: [fault] }]
          : refusal(400, `${path}: Missing required parameter: '${param}'.`, { param }),
      );
      expect(await answerOf(await ask({ body: body(null) }))).toEqual(
        refusal(400, `${path}: Missing required parameter: 'model'.`, { param: null, inProviderFields: true }),
      );
    });

    it.each([
      ['demo', 'The built-in demo model does not support this endpoint.'],
      ['gemini', 'The provider of the model "gemini" (gemini) does not support this endpoint.'],
    ])('400: the model %s does not support the endpoint', async (model, message) => {
      expect(await answerOf(await ask({ body: body(model) }))).toEqual(refusal(400, `${path}: ${message}`));
    });

    it('400: an unknown model', async () => {
      const message = `${path}: Invalid model name passed in model=nothing. Call \`/v1/models\` to view available models for your key.`;
      expect(await answerOf(await ask({ body: body('nothing') }))).toEqual(
        refusal(400, message, path.startsWith('/audio') ? { type: 'None', param: 'None' } : {}),
      );
    });

    it('401: an unknown key', async () => {
      expect(await answerOf(await ask({ key: 'sk-unknown-virtual-key' }))).toEqual(
        refusal(401, expect.stringMatching(/^Authentication Error, Invalid proxy server token passed\. /), {
          type: 'token_not_found_in_db',
          param: 'key',
        }),
      );
    });

    it('403: a model that the key may not call', async () => {
      const message =
        "The requested model 'medium' is not available for this API key, or the model name is invalid. Check the models available to you and try again.";
      expect(await answerOf(await ask({ key: await newKey(app, { models: ['other'] }) }))).toEqual(
        refusal(403, message, { type: 'key_model_access_denied', param: 'model' }),
      );
    });

    it('422: a budget that the previous call used up', async () => {
      const key = await newKey(app, { key_alias: callType, max_budget: 1 });
      answerWith(200, answer);
      expect((await ask({ key })).status).toBe(200);
      const message = `Budget has been exceeded! Key=${callType} (sk-...${key.slice(-4)}) Current cost: ${cost}, Max budget: 1.0`;
      expect(await answerOf(await ask({ key }))).toEqual(refusal(422, message, { type: 'budget_exceeded' }));
    });

    it.each([
      [429, 'RateLimitError'],
      [500, 'InternalServerError'],
      [503, 'ServiceUnavailableError'],
    ])('%i: an error of the upstream is forwarded, and the call has one spend row', async (status, kind) => {
      answerWith(status, { error: { message: `no ${CREDENTIAL}`, type: 't' } });
      const { traceId, headers } = newTrace();
      expect(await answerOf(await ask({ headers }))).toEqual(
        refusal(status, `litellm.${kind}: ${kind}: OpenAIException - no <secret>`, { type: upstreamErrorType(status) }),
      );
      expect(await spansIn(app, traceId)).toMatchObject([{ spendRow: { status: 'FAILURE', costUsd: null } }]);
    });

    it.each([
      ['{"error":{"message":"overloaded","code":503}}', 503, 'ServiceUnavailableError', 'overloaded'],
      ['{}', 500, 'APIError', `The upstream's answer cannot be used: it is not ${answerKind}.`],
      ['<html>', 500, 'APIError', `The upstream's answer cannot be used: it is not ${answerKind}.`],
    ])('a 200 with the body %s is a failure', async (upstreamBody, status, kind, message) => {
      answerWith(200, upstreamBody);
      expect(await answerOf(await ask())).toEqual(
        refusal(status, `litellm.${kind}: ${kind}: OpenAIException - ${message}`, {
          type: 'internal_server_error',
        }),
      );
    });
  },
);

/** Endpoints that accept forms. */
const FORM_ROWS = MEDIA_ROWS.filter(({ name }) => name !== 'images.generate');

describe.each(FORM_ROWS)('$name', ({ path, body }) => {
  it('400: an invalid form', async () => {
    const headers = { 'content-type': 'multipart/form-data; boundary=b' };
    const response = await send(app, 'POST', `/v1${path}`, { body: '--b\r\n', headers });
    const message = 'The request body is not a valid form: the headers of a part do not end, or are too long.';
    expect(await answerOf(response)).toEqual(refusal(400, message, { param: 'request_body' }));
  });

  it('400: a duplicate model', async () => {
    const form = body('medium') as FormData;
    form.append('model', 'other');
    const message = 'The request body is not a valid form: the field "model" comes twice.';
    expect(await answerOf(await send(app, 'POST', `/v1${path}`, { body: form }))).toEqual(
      refusal(400, message, { param: 'request_body' }),
    );
  });

  it('400: a file that is too large', async () => {
    const form = body('medium') as FormData;
    form.append('extra', new Blob([Buffer.alloc(1.5 * 1024 * 1024)]), 'x');
    const message = 'File size is too large. File size is 1.5 MB. Max size is 1 MB';
    expect(await answerOf(await send(app, 'POST', `/v1${path}`, { body: form }))).toEqual(
      refusal(400, message, { type: 'bad_request_error', param: 'content-length' }),
    );
  });
});

it.each(['/images/variations', '/audio/transcriptions', '/audio/translations'])(
  '400: a JSON body for %s',
  async (path) => {
    const response = await send(app, 'POST', `/v1${path}`, { body: '{"model":"medium"}' });
    const message = `${path}: The request body must be multipart/form-data.`;
    expect(await answerOf(response)).toEqual(refusal(400, message, { param: 'request_body' }));
  },
);

describe('transcriptions.create', () => {
  it.each([
    ['text', 'text/plain; charset=utf-8', 'hello there\n', 'text/plain; charset=utf-8'],
    ['srt', 'text/plain', '1\n00:00:00,000 --> 00:00:01,000\nhello\n', 'text/plain'],
    ['vtt', 'text/vtt', 'WEBVTT\n\n00:00.000 --> 00:01.000\nhello\n', 'text/vtt'],
    ['srt', 'text/html', '1\n', 'text/plain; charset=utf-8'],
    ['text', 'application/json', '{"text":"hello there"}', 'application/json'],
  ])(
    '200: the format %s is unchanged, with a safe content type (upstream: %s)',
    async (format, type, upstreamBody, contentType) => {
      upstream.answer((response) => {
        response.writeHead(200, { 'content-type': type });
        response.end(upstreamBody);
      });
      const form = aForm({ model: 'medium', response_format: format }, 'file');
      const response = await send(app, 'POST', '/v1/audio/transcriptions', { body: form });
      expect([response.status, response.headers.get('content-type'), await response.text()]).toEqual([
        200,
        contentType,
        upstreamBody,
      ]);
      expect(response.headers.get('x-litellm-response-cost')).toBeNull();
    },
  );

  it('200: a complete answer if the upstream does not stream', async () => {
    answerWith(200, { text: 'hello' });
    const form = aForm({ model: 'medium', stream: 'true' }, 'file');
    const response = await send(app, 'POST', '/v1/audio/transcriptions', { body: form });
    expect([response.headers.get('content-type'), await answerOf(response)]).toEqual([
      'application/json',
      [200, { text: 'hello' }],
    ]);
  });
});

describe('images.edit', () => {
  it('200: a JSON body with URLs of images', async () => {
    answerWith(200, { created: 1, data: [] });
    const imageRequest = {
      model: 'medium',
      prompt: 'x',
      images: [{ image_url: 'https://example.com/a.png' }],
      tags: ['a'],
    };
    const headers = { 'content-type': 'application/json' };
    const response = await send(app, 'POST', '/v1/images/edits', { body: JSON.stringify(imageRequest), headers });
    expect(response.status).toBe(200);
    const { tags: _, ...forwarded } = imageRequest;
    expect(JSON.parse(upstream.received.at(-1)?.body ?? '')).toEqual({ ...forwarded, model: 'up-1' });
  });

  it('400: a prompt of the wrong type', async () => {
    const body = JSON.stringify({ model: 'medium', prompt: ['x'], image: 'y' });
    const message = "/images/edits: Invalid type for parameter 'prompt': it must be a string.";
    expect(await answerOf(await send(app, 'POST', '/v1/images/edits', { body }))).toEqual(
      refusal(400, message, { param: 'prompt' }),
    );
  });

  it('400: `stream` of the wrong type', async () => {
    const form = aForm({ model: 'medium', prompt: 'x', stream: 'maybe' }, 'image');
    const message = "/images/edits: Invalid type for parameter 'stream': it must be a boolean.";
    expect(await answerOf(await send(app, 'POST', '/v1/images/edits', { body: form }))).toEqual(
      refusal(400, message, { param: 'stream' }),
    );
  });
});
