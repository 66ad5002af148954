import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';

const CREDENTIAL = 'google-credential-0123456789';
/** The estimate of the gateway is 14: ten tokens for 35 bytes of text, and four for the message. */
const CONTENTS = [{ role: 'user', parts: [{ text: 'x'.repeat(35) }] }];

let app: TestApp;
let upstream: FaultServer;

beforeAll(async () => {
  upstream = await startFaultServer();
  const connection = { api_base: upstream.url, api_key: CREDENTIAL };
  app = await startApp({
    config: {
      model_list: [
        { model_name: 'team/flash', litellm_params: { model: 'gemini/gemini-2.5-flash', ...connection } },
        { model_name: 'claude', litellm_params: { model: 'anthropic/claude-sonnet-4-5', ...connection } },
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

async function call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  const response = await app.call(method, path, body, headers);
  return {
    status: response.status,
    body: (await response.json()) as unknown,
    countedBy: response.headers.get('x-gateway-tokens-counted-by'),
  };
}

async function keyOf(draft: object): Promise<string> {
  const response = await app.call('POST', '/key/generate', draft);
  return ((await response.json()) as { key: string }).key;
}

const lastUpstreamRequest = () => {
  const last = upstream.received.at(-1);
  const key = last?.headers['x-goog-api-key'] ?? last?.headers['x-api-key'];
  return { path: last?.path, key, body: JSON.parse(last?.body ?? '') as unknown };
};
const refusal = (code: number, status: string, message: unknown) => ({
  status: code,
  body: { error: { code, message, status } },
  countedBy: null,
});

describe('content.generate: counting tokens', () => {
  it.each(['/v1beta/models', '/v1/models', '/models', '/gemini/v1beta/models'])(
    '200: the count of the upstream, with system instruction and tools (%s)',
    async (base) => {
      answerWith(200, { totalTokens: 31, promptTokensDetails: [{ modality: 'TEXT', tokenCount: 31 }] });
      const countRequest = { contents: CONTENTS, systemInstruction: { parts: [{ text: 'Be brief.' }] }, tools: [{}] };
      const generateContentRequest = { model: 'models/team/flash', ...countRequest };
      expect(await call('POST', `${base}/team/flash:countTokens`, { generateContentRequest })).toEqual({
        status: 200,
        body: { totalTokens: 31, litellm_count_source: 'provider' },
        countedBy: 'upstream',
      });
      expect(lastUpstreamRequest()).toEqual({
        path: '/v1beta/models/gemini-2.5-flash:countTokens',
        key: CREDENTIAL,
        body: { generateContentRequest: { ...countRequest, model: 'models/gemini-2.5-flash' } },
      });
    },
  );

  it('200: the translated count of an upstream of another dialect', async () => {
    answerWith(200, { input_tokens: 17 });
    const countRequest = { contents: CONTENTS, generationConfig: { maxOutputTokens: 5 } };
    expect(await call('POST', '/v1beta/models/claude:countTokens', countRequest)).toMatchObject({
      body: { totalTokens: 17, litellm_count_source: 'provider' },
      countedBy: 'upstream',
    });
    expect(lastUpstreamRequest()).toEqual({
      path: '/v1/messages/count_tokens',
      key: CREDENTIAL,
      body: {
        model: 'claude-sonnet-4-5',
        messages: [{ role: 'user', content: [{ type: 'text', text: 'x'.repeat(35) }] }],
      },
    });
    answerWith(200, { totalTokens: 19 });
    const message = { model: 'team/flash', system: 'Be brief.', messages: [{ role: 'user', content: 'Hello' }] };
    expect(await call('POST', '/v1/messages/count_tokens', message)).toMatchObject({
      body: { input_tokens: 19 },
      countedBy: 'upstream',
    });
    expect(lastUpstreamRequest().body).toEqual({
      generateContentRequest: {
        model: 'models/gemini-2.5-flash',
        systemInstruction: { parts: [{ text: 'Be brief.' }] },
        contents: [{ role: 'user', parts: [{ text: 'Hello' }] }],
      },
    });
  });

  it.each([
    [500, { error: { code: 500, message: 'x', status: 'INTERNAL' } }],
    // Without a known error type, a 404 means that the upstream has no endpoint for counts.
    [404, { detail: 'Not Found' }],
    [200, { tokens: 7 }],
  ])('200: an estimate if the upstream answers %i %j', async (status, body) => {
    answerWith(status, body);
    expect(await call('POST', '/v1beta/models/team/flash:countTokens', { contents: CONTENTS })).toEqual({
      status: 200,
      body: { totalTokens: 14, litellm_count_source: 'local_estimate' },
      countedBy: 'estimate',
    });
  });

  it('200: an estimate if the provider does not count tokens', async () => {
    expect(await call('POST', '/v1beta/models/demo:countTokens', { contents: CONTENTS })).toEqual({
      status: 200,
      body: { totalTokens: 14, litellm_count_source: 'local_estimate' },
      countedBy: 'estimate',
    });
  });

  it('400, 403, 404: no contents, a model that the key may not call, a model unknown to the gateway or the upstream', async () => {
    expect(await call('POST', '/v1beta/models/demo:countTokens', {})).toEqual(
      refusal(400, 'INVALID_ARGUMENT', "/countTokens: Missing required parameter: 'contents'."),
    );
    const key = { authorization: `Bearer ${await keyOf({ models: ['demo'] })}` };
    expect(await call('POST', '/v1beta/models/claude:countTokens', { contents: CONTENTS }, key)).toEqual(
      refusal(403, 'PERMISSION_DENIED', expect.stringContaining("The requested model 'claude' is not available")),
    );
    expect(await call('POST', '/v1beta/models/nothing:countTokens', { contents: CONTENTS })).toEqual(
      refusal(404, 'NOT_FOUND', expect.stringContaining('Invalid model name passed in model=nothing')),
    );
    answerWith(404, { error: { code: 404, message: 'models/x is not found', status: 'NOT_FOUND' } });
    expect(await call('POST', '/v1beta/models/team/flash:countTokens', { contents: CONTENTS })).toEqual(
      refusal(404, 'NOT_FOUND', expect.stringContaining('models/x is not found')),
    );
  });
});
