import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ModelRequest } from '../../src/domain/chat/chat.ts';
import type { Deployment } from '../../src/domain/chat/provider.ts';
import {
  EMBEDDINGS,
  IMAGE_GENERATIONS,
  RESPONSES,
  RESPONSES_COMPACT,
  TRANSCRIPTIONS,
} from '../../src/domain/inference/endpoint.ts';
import { Secret } from '../../src/domain/secret.ts';
import { READ_FILE } from '../../src/domain/upstream-objects/object-action.ts';
import { readForm } from '../../src/wire/multipart/form.ts';
import { aModelRequest } from '../support/chat.ts';
import { CHAT, failureOf, jsonOf, textOf, startVendorServer, type VendorServer } from '../support/vendor-server.ts';

let server: VendorServer;

beforeAll(async () => {
  server = await startVendorServer();
});

afterAll(() => server.stop());

describe('Azure OpenAI', () => {
  const ANSWER = {
    id: 'a',
    model: 'gpt-4o-2024',
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
  };
  const receivedFor = async (overrides: Partial<Deployment>, request?: ModelRequest) => {
    server.answerWith(ANSWER);
    await server.send(server.deploymentOf('azure', { upstreamModel: 'my dep', ...overrides }), request);
    const { path, headers, body } = server.lastReceived();
    return {
      path,
      key: headers['api-key'],
      token: headers.authorization,
      model: (JSON.parse(body) as { model: unknown }).model,
    };
  };

  it('is called at the path of the deployment, with its version and key', async () => {
    expect(await receivedFor({ options: { api_version: '2025-01-01-preview' } })).toEqual({
      path: '/openai/deployments/my%20dep/chat/completions?api-version=2025-01-01-preview',
      key: 'the-key',
      token: undefined,
      model: 'my dep',
    });
    server.answerWith({ data: [] });
    await server.send(
      server.deploymentOf('azure'),
      aModelRequest({ model: 'm', input: 'x' }, { endpoint: EMBEDDINGS }),
    );
    // The default version.
    expect(server.lastReceived().path).toBe('/openai/deployments/up-1/embeddings?api-version=2024-10-21');
  });

  it.each([
    ['/openai/v1', {}, '/openai/v1/chat/completions'],
    ['/openai/v1', { api_version: 'preview' }, '/openai/v1/chat/completions?api-version=preview'],
    ['', { api_version: 'v1' }, '/openai/v1/chat/completions'],
    ['', { api_version: 'latest' }, '/openai/v1/chat/completions?api-version=latest'],
    ['/openai/deployments/d', {}, '/openai/deployments/d/chat/completions?api-version=2024-10-21'],
  ])('is called at its configured address: %s %j', async (base, options, path) => {
    expect((await receivedFor({ apiBase: `${server.faults.url}${base}`, options })).path).toBe(path);
  });

  it.each([
    ['', {}, '/files/f/content', '/openai/files/f/content?api-version=2024-10-21'],
    ['', { api_version: '2025-03-01-preview' }, '/batches', '/openai/batches?api-version=2025-03-01-preview'],
    ['/openai/deployments/d', {}, '/files/f', '/openai/files/f?api-version=2024-10-21'],
    ['/openai/v1', {}, '/files/f', '/openai/v1/files/f'],
    ['', { api_version: 'preview' }, '/files/f', '/openai/v1/files/f?api-version=preview'],
    ['', {}, '/responses/r/input_items?limit=2', '/openai/responses/r/input_items?limit=2&api-version=2024-10-21'],
  ] as const)(
    'has stored objects at paths outside of the deployments: %s %j %s',
    async (base, options, path, expectedPath) => {
      server.answerWith('line', 200, 'application/octet-stream');
      const deployment = server.deploymentOf('azure', { apiBase: `${server.faults.url}${base}`, options });
      const request = {
        action: READ_FILE,
        model: 'm',
        path,
        body: { kind: 'none' },
        callId: null,
        parent: null,
      } as const;
      expect(await textOf(await server.pass(deployment, request))).toBe('line');
      const received = server.lastReceived();
      expect([received.method, received.path, received.headers['api-key']]).toEqual(['GET', expectedPath, 'the-key']);
    },
  );

  it('gets image requests as JSON and recordings as forms, each at the path of its deployment', async () => {
    server.answerWith({ data: [] });
    const imageRequest = aModelRequest({ model: 'm', prompt: 'x' }, { endpoint: IMAGE_GENERATIONS });
    await server.send(server.deploymentOf('azure'), imageRequest);
    expect(server.lastReceived()).toMatchObject({
      path: '/openai/deployments/up-1/images/generations?api-version=2024-10-21',
      body: '{"model":"up-1","prompt":"x"}',
    });
    server.answerWith({ text: 'hello' });
    const part = 'Content-Disposition: form-data; name="file"; filename="a"';
    const bytes = Buffer.from(`--b\r\n${part}\r\n\r\nRIFF\r\n--b--\r\n`);
    const form = readForm(bytes, 'multipart/form-data; boundary=b');
    const transcription = aModelRequest({ model: 'm' }, { endpoint: TRANSCRIPTIONS, bytes, form });
    await server.send(server.deploymentOf('azure'), transcription);
    const { path, headers, body } = server.lastReceived();
    expect([path, headers['content-type'], headers['api-key'], body]).toEqual([
      '/openai/deployments/up-1/audio/transcriptions?api-version=2024-10-21',
      'multipart/form-data; boundary=b',
      'the-key',
      `--b\r\n${part}\r\n\r\nRIFF\r\n--b\r\nContent-Disposition: form-data; name="model"\r\n\r\nup-1\r\n--b--\r\n`,
    ]);
  });

  it('is called with a token of Entra ID where there is no key', async () => {
    const secrets = { azure_ad_token: new Secret('directory-token') };
    expect(await receivedFor({ apiKey: null, secrets })).toMatchObject({
      key: undefined,
      token: 'Bearer directory-token',
    });
  });

  it('returns the requested model name, or the name of the model that its router chose', async () => {
    const nameIn = async (upstreamModel: string): Promise<unknown> => {
      server.answerWith(ANSWER);
      return ((await jsonOf(await server.send(server.deploymentOf('azure', { upstreamModel })))) as { model: unknown })
        .model;
    };
    expect(await nameIn('gpt-4o')).toBe('m');
    expect(await nameIn('model_router/mine')).toBe('gpt-4o-2024');
    expect(server.lastReceived().path).toBe('/openai/deployments/mine/chat/completions?api-version=2024-10-21');
    expect(await nameIn('model-router')).toBe('gpt-4o-2024');
  });

  it('may send filter results in a first chunk without choices, and the stream continues', async () => {
    const chunks = [
      {
        choices: [],
        created: 0,
        id: '',
        model: '',
        object: '',
        prompt_filter_results: [{ prompt_index: 0, content_filter_results: {} }],
      },
      {
        id: 'a',
        model: 'gpt-4o',
        choices: [{ index: 0, delta: { content: 'Hi' }, finish_reason: null, content_filter_results: {} }],
      },
      {
        id: 'a',
        model: 'gpt-4o',
        choices: [{ index: 0, finish_reason: null, content_filter_offsets: {}, content_filter_results: {} }],
      },
      { id: 'a', model: 'gpt-4o', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
      { id: 'a', model: 'gpt-4o', choices: [], usage: { prompt_tokens: 1, completion_tokens: 2 } },
    ];
    server.answerWith(
      [...chunks.map((event) => JSON.stringify(event)), '[DONE]'].map((event) => `data: ${event}\n\n`).join(''),
      200,
      'text/event-stream',
    );
    const exchange = await server.send(
      server.deploymentOf('azure'),
      aModelRequest({ ...CHAT, stream: true, stream_options: { include_usage: true } }),
    );
    const text = await textOf(exchange);
    // The five chunks and `[DONE]`.
    expect(text.split('\n\n').filter(Boolean)).toHaveLength(6);
    expect(text).toContain('prompt_filter_results');
    expect(exchange.outcome()).toMatchObject({
      responseId: 'a',
      responseModel: 'gpt-4o',
      finishReason: 'stop',
      usage: { inputTokens: 1, outputTokens: 2 },
    });
  });

  it('reports an error of its content filter, and removes the key from an error', async () => {
    const innererror = { code: 'ResponsibleAIPolicyViolation', content_filter_result: {} };
    server.answerWith(
      {
        error: {
          message: 'The response was filtered',
          type: null,
          param: 'prompt',
          code: 'content_filter',
          status: 400,
          innererror,
        },
      },
      400,
    );
    expect(await failureOf(server.send(server.deploymentOf('azure')))).toMatchObject({
      message: 'litellm.BadRequestError: BadRequestError: AzureException - The response was filtered',
      upstreamStatus: 400,
      upstreamCode: 'content_filter',
      upstreamParam: 'prompt',
    });
    server.answerWith({ statusCode: 401, message: 'Unauthorized: the-key' }, 401);
    expect((await failureOf(server.send(server.deploymentOf('azure')))).message).toBe(
      'litellm.AuthenticationError: AuthenticationError: AzureException - Unauthorized: <secret>',
    );
  });

  it('serves the Responses API where it is configured', async () => {
    server.answerWith({ id: 'r', object: 'response', status: 'completed', model: 'x', output: [] });
    const request = aModelRequest({ model: 'm', input: 'x' }, { endpoint: RESPONSES });
    await server.send(server.deploymentOf('azure', { responses: 'also' }), request);
    expect(server.lastReceived().path).toBe('/openai/responses?api-version=2024-10-21');
    const compaction = aModelRequest({ model: 'm', input: 'x' }, { endpoint: RESPONSES_COMPACT });
    await server.send(server.deploymentOf('azure', { responses: 'also' }), compaction);
    expect(server.lastReceived().path).toBe('/openai/responses/compact?api-version=2024-10-21');
    await expect(server.send(server.deploymentOf('azure'), compaction)).rejects.toThrow(
      'does not support this endpoint',
    );
    server.answerWith(ANSWER);
    await server.send(server.deploymentOf('azure'), request);
    expect(server.lastReceived().path).toBe('/openai/deployments/up-1/chat/completions?api-version=2024-10-21');
  });

  it('is called at another path for models of other vendors', async () => {
    server.answerWith(ANSWER);
    await server.send(server.deploymentOf('azure_ai', { upstreamModel: 'phi' }));
    expect(server.lastReceived().path).toBe('/chat/completions');
  });
});
