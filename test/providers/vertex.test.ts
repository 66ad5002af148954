import { systemClock } from '../../src/runtime/clock.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { collect } from '../../src/domain/bytes.ts';
import { CloudRefused, type CloudTokens } from '../../src/domain/chat/cloud-tokens.ts';
import type { ModelRequest } from '../../src/domain/chat/chat.ts';
import type { Deployment } from '../../src/domain/chat/provider.ts';
import { GENERATE_CONTENT, MESSAGES } from '../../src/domain/inference/endpoint.ts';
import { Secret } from '../../src/domain/secret.ts';
import { vertex } from '../../src/providers/gemini/vertex.ts';
import { createHttpProvider } from '../../src/providers/http-provider.ts';
import { createProviders } from '../../src/providers/providers.ts';
import { createAwsAccounts } from '../../src/runtime/credentials/aws-accounts.ts';
import { createHttpClient } from '../../src/runtime/http-client/client.ts';
import { webSocketClient } from '../../src/runtime/network/web-sockets.ts';
import { aDeployment, aModelRequest } from '../support/chat.ts';
import { type FaultServer, startFaultServer } from '../support/fault-server.ts';

const TOKEN = 'ya29.access-token-0123456789';
const ANSWER = {
  candidates: [{ content: { parts: [{ text: 'Hi' }], role: 'model' }, finishReason: 'STOP', index: 0 }],
};
const http = createHttpClient();
const tokensOfProject: CloudTokens = { for: async () => ({ token: new Secret(TOKEN), project: 'named' }) };

let faults: FaultServer;

beforeAll(async () => {
  faults = await startFaultServer();
});

afterAll(async () => {
  await http.close();
  await faults.stop();
});

function send(
  options: Record<string, string>,
  tokens: CloudTokens = tokensOfProject,
  overrides: Partial<Deployment> = {},
) {
  const deployment = aDeployment({
    provider: 'vertex_ai',
    upstreamModel: 'gemini-2.5-pro',
    apiBase: `${faults.url}/v1`,
    apiKey: null,
    options,
    ...overrides,
  });
  const request = aModelRequest({ model: 'm', contents: [] }, { endpoint: GENERATE_CONTENT });
  return createHttpProvider(http, vertex(tokens)).send(deployment, request, new AbortController().signal);
}

function answerWith(status: number, body: unknown): void {
  faults.answer((response) => {
    response.writeHead(status, { 'content-type': 'application/json', 'x-echo': `Bearer ${TOKEN}` });
    response.end(JSON.stringify(body));
  });
}

describe('a model on Google Cloud', () => {
  it.each([
    [{}, '/v1/projects/named/locations/global/publishers/google/models/gemini-2.5-pro:generateContent'],
    [
      { vertex_project: 'mine', vertex_location: 'europe-west4' },
      '/v1/projects/mine/locations/europe-west4/publishers/google/models/gemini-2.5-pro:generateContent',
    ],
  ])('is called in its project and region, with the access token: %j', async (options, path) => {
    answerWith(200, ANSWER);
    const exchange = await send(options);
    expect(JSON.parse(Buffer.from((await collect(exchange.bytes, 1e6)) ?? []).toString('utf8'))).toEqual(ANSWER);
    const received = faults.received.at(-1);
    expect(received?.path).toBe(path);
    expect(received?.headers['authorization']).toBe(`Bearer ${TOKEN}`);
    expect(JSON.parse(received?.body ?? '')).toEqual({ contents: [] });
    expect(JSON.stringify(exchange.headers)).not.toContain(TOKEN);
  });

  it('is called at the address of its region', async () => {
    const prepared = async (options: Record<string, string>) =>
      await vertex(tokensOfProject).prepare(
        aDeployment({ provider: 'vertex_ai', upstreamModel: 'g', options }),
        aModelRequest({ model: 'm', contents: [] }, { endpoint: GENERATE_CONTENT, stream: true }),
      );
    expect((await prepared({})).url).toBe(
      'https://aiplatform.googleapis.com/v1/projects/named/locations/global/publishers/google/models/g:streamGenerateContent?alt=sse',
    );
    expect((await prepared({ vertex_location: 'us-east1' })).url).toContain(
      'https://us-east1-aiplatform.googleapis.com/v1/',
    );
  });

  it('removes the token from an error', async () => {
    answerWith(403, { error: { code: 403, message: `${TOKEN} may not`, status: 'PERMISSION_DENIED' } });
    await expect(send({})).rejects.toMatchObject({
      upstreamStatus: 403,
      message: 'litellm.PermissionDeniedError: PermissionDeniedError: VertexAIException - <secret> may not',
    });
  });

  it('is not called without a token or a project', async () => {
    const callsBefore = faults.received.length;
    const refusing: CloudTokens = { for: () => Promise.reject(new CloudRefused('no')) };
    await expect(send({}, refusing)).rejects.toMatchObject({
      code: 'UPSTREAM_FAILED',
      message: expect.stringContaining('No access token for Google Cloud'),
    });
    const nameless: CloudTokens = { for: async () => ({ token: new Secret(TOKEN), project: null }) };
    await expect(send({}, nameless)).rejects.toMatchObject({ message: expect.stringContaining('set vertex_project') });
    expect(faults.received.length).toBe(callsBefore);
  });
});

describe('a model of Anthropic on Google Cloud', () => {
  const model = 'claude-sonnet-4-5@20250929';
  const path = `/v1/projects/named/locations/global/publishers/anthropic/models/${model}`;
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model,
    content: [{ type: 'text', text: 'Hi' }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 3, output_tokens: 1 },
  };
  const provider = createProviders({
    http,
    sockets: webSocketClient,
    googleTokens: tokensOfProject,
    awsAccounts: createAwsAccounts(),
    clock: systemClock,
  }).find(({ name }) => name === 'vertex_ai');
  const deployment = aDeployment({
    provider: 'vertex_ai',
    upstreamModel: model,
    apiBase: '',
    apiKey: null,
    options: { max_tokens: '77' },
  });

  async function ask(request: ModelRequest): Promise<string> {
    const exchange = await provider?.send(
      { ...deployment, apiBase: `${faults.url}/v1` },
      request,
      new AbortController().signal,
    );
    return exchange ? Buffer.from((await collect(exchange.bytes, 1e6)) ?? []).toString('utf8') : '';
  }

  it('is called in the format of Anthropic, with the version in the body and the model in the path', async () => {
    answerWith(200, message);
    const requestBody = {
      model: 'm',
      max_tokens: 5,
      messages: [{ role: 'user', content: 'x' }],
      metadata: { user_id: 'u' },
    };
    const forwarded = { 'anthropic-version': '2023-06-01', 'anthropic-beta': 'context-1m-2025-08-07' };
    expect(JSON.parse(await ask(aModelRequest(requestBody, { endpoint: MESSAGES, forwarded })))).toEqual({
      ...message,
      model: 'm',
    });
    const received = faults.received.at(-1);
    expect(received?.path).toBe(`${path}:rawPredict`);
    expect(received?.headers['authorization']).toBe(`Bearer ${TOKEN}`);
    expect(received?.headers['anthropic-beta']).toBe('context-1m-2025-08-07');
    expect(received?.headers).not.toHaveProperty('anthropic-version');
    const { model: _model, ...bodyWithoutModel } = requestBody;
    expect(JSON.parse(received?.body ?? '')).toEqual({ ...bodyWithoutModel, anthropic_version: 'vertex-2023-10-16' });
  });

  it('answers callers of other dialects, streamed', async () => {
    const { content: _content, ...begun } = message;
    const events = [
      { type: 'message_start', message: { ...begun, content: [] } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } },
      { type: 'message_stop' },
    ];
    faults.answer((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''));
    });
    const requestBody = { model: 'm', stream: true, messages: [{ role: 'user', content: 'x' }] };
    const text = await ask(aModelRequest(requestBody));
    expect(text).toContain('"content":"Hi"');
    expect(text).toMatch(/data: \[DONE\]\n\n$/);
    const received = faults.received.at(-1);
    expect(received?.path).toBe(`${path}:streamRawPredict`);
    expect(JSON.parse(received?.body ?? '')).toEqual({
      anthropic_version: 'vertex-2023-10-16',
      max_tokens: 77,
      messages: [{ role: 'user', content: [{ type: 'text', text: 'x' }] }],
      stream: true,
    });
  });

  it('has the same errors as other models', async () => {
    answerWith(429, { type: 'error', error: { type: 'rate_limit_error', message: 'slow down' } });
    await expect(ask(aModelRequest())).rejects.toMatchObject({
      upstreamStatus: 429,
      message: 'litellm.RateLimitError: RateLimitError: VertexAIException - slow down',
    });
  });
});
