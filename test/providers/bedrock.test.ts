import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { collect } from '../../src/domain/bytes.ts';
import type { Deployment } from '../../src/domain/chat/provider.ts';
import { EMBEDDINGS } from '../../src/domain/inference/endpoint.ts';
import { Secret } from '../../src/domain/secret.ts';
import { signedHeaders } from '../../src/providers/bedrock/sign.ts';
import { aModelRequest } from '../support/chat.ts';
import { converseEvent, eventMessage } from '../support/event-message.ts';
import { CHAT, failureOf, jsonOf, textOf, startVendorServer, type VendorServer } from '../support/vendor-server.ts';

let server: VendorServer;

beforeAll(async () => {
  server = await startVendorServer();
});

afterAll(() => server.stop());

describe('signatures for AWS', () => {
  // Computed by the AWS SDK for Python for the same request at the same time.
  it.each([
    [
      'https://bedrock-runtime.us-east-1.amazonaws.com/model/anthropic.claude-3-haiku-20240307-v1%3A0/converse',
      '{"messages":[{"role":"user","content":[{"text":"Hi"}]}]}',
      null,
      'us-east-1',
      'c93fd3aee984a01b01faed402356e1466043e042daad2f4eb3caad004dba4bbb',
    ],
    [
      'https://bedrock-runtime.eu-west-1.amazonaws.com/model/arn%3Aaws%3Abedrock%3Aeu-west-1%3A123456789012%3Ainference-profile%2Feu.anthropic.claude-3/converse-stream',
      '{"messages":[],"x":"Zoë 😀"}',
      'session/token+with=signs',
      'eu-west-1',
      '1fafb36ac7ef818191e13340a069402c90574f895f2bb413b7f9270b4b49515c',
    ],
    [
      'http://127.0.0.1:4567/model/m/converse',
      '{}',
      null,
      'us-east-1',
      '96e4ccffb1b4e14d69858639bac59ebab909b9fa0897577ff2bf089aa975dd9f',
    ],
  ])('equal those of the AWS SDK: %s', async (url, body, sessionToken, region, signature) => {
    const headers = await signedHeaders(
      { url, headers: { 'content-type': 'application/json' }, body: Buffer.from(body) },
      {
        accessKeyId: 'AKIDEXAMPLE',
        secretAccessKey: new Secret('wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY'),
        sessionToken: sessionToken === null ? null : new Secret(sessionToken),
      },
      { region, at: new Date('2026-11-21T12:30:45.678Z') },
    );
    const signed = `content-type;host;x-amz-date${sessionToken === null ? '' : ';x-amz-security-token'}`;
    expect(headers).toEqual({
      'content-type': 'application/json',
      'x-amz-date': '20261121T123045Z',
      ...(sessionToken === null ? {} : { 'x-amz-security-token': sessionToken }),
      authorization: `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20261121/${region}/bedrock/aws4_request, SignedHeaders=${signed}, Signature=${signature}`,
    });
  });
});

describe('Bedrock', () => {
  const ANSWER = {
    output: { message: { role: 'assistant', content: [{ text: 'Hi' }] } },
    stopReason: 'end_turn',
    usage: { inputTokens: 1, outputTokens: 2 },
  };
  const ARN = 'arn:aws:bedrock:eu-west-1:123456789012:application-inference-profile/abc';
  const KEYS: Partial<Deployment> = {
    apiKey: null,
    options: { aws_access_key_id: 'AKIDEXAMPLE', aws_region_name: 'eu-central-1' },
    secrets: { aws_secret_access_key: new Secret('the-aws-secret'), aws_session_token: new Secret('the-session') },
  };

  it('is called with an API key, at the path of the model', async () => {
    server.answerWith(ANSWER);
    const exchange = await server.send(
      server.deploymentOf('bedrock', { upstreamModel: 'anthropic.claude-3-haiku-20240307-v1:0' }),
    );
    const { path, headers } = server.lastReceived();
    expect([path, headers?.authorization]).toEqual([
      '/model/anthropic.claude-3-haiku-20240307-v1%3A0/converse',
      'Bearer the-key',
    ]);
    expect(await jsonOf(exchange)).toMatchObject({
      object: 'chat.completion',
      model: 'm',
      choices: [{ message: { content: 'Hi' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
    });
  });

  it.each([
    // The default region.
    ['x', {}, 'us-west-2', '/model/x/converse'],
    ['us-east-1/x', {}, 'us-east-1', '/model/x/converse'],
    [
      ARN,
      {},
      'eu-west-1',
      '/model/arn%3Aaws%3Abedrock%3Aeu-west-1%3A123456789012%3Aapplication-inference-profile%2Fabc/converse',
    ],
    ['x', { aws_region_name: 'ap-south-1' }, 'ap-south-1', '/model/x/converse'],
    // A wildcard lets callers name the model. An invalid region must not become part of the host.
    [
      'arn:aws:bedrock:x.example/#:1:y',
      {},
      'us-west-2',
      '/model/arn%3Aaws%3Abedrock%3Ax.example%2F%23%3A1%3Ay/converse',
    ],
  ])('is signed for the region of the model: %s %j', async (upstreamModel, more, region, path) => {
    server.answerWith(ANSWER);
    const options = { aws_access_key_id: 'AKIDEXAMPLE', ...more };
    await server.send(server.deploymentOf('bedrock', { ...KEYS, upstreamModel, options }));
    const received = server.lastReceived();
    expect(received.path).toBe(path);
    expect(received.headers.authorization).toContain(
      `/${region}/bedrock/aws4_request, SignedHeaders=content-type;host;x-amz-date;x-amz-security-token,`,
    );
    expect(received.headers['x-amz-security-token']).toBe('the-session');
  });

  it('signs the request as it arrives at the upstream', async () => {
    server.answerWith(ANSWER);
    await server.send(server.deploymentOf('bedrock', KEYS));
    const { path, headers, body } = server.lastReceived();
    const stamp = String(headers['x-amz-date']).replace(
      /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/,
      '$1-$2-$3T$4:$5:$6Z',
    );
    const recomputed = await signedHeaders(
      {
        url: `http://${headers.host}${path}`,
        headers: { 'content-type': String(headers['content-type']) },
        body: Buffer.from(body),
      },
      {
        accessKeyId: 'AKIDEXAMPLE',
        secretAccessKey: new Secret('the-aws-secret'),
        sessionToken: new Secret('the-session'),
      },
      { region: 'eu-central-1', at: new Date(stamp) },
    );
    expect(headers.authorization).toBe(recomputed['authorization']);
    expect(JSON.stringify(headers)).not.toContain('the-aws-secret');
  });

  it('removes secrets that an answer repeats', async () => {
    server.faults.answer((response) => {
      response.writeHead(403, { 'x-echo': 'the-session' });
      response.end('{"message":"The secret the-aws-secret with the-session is wrong"}');
    });
    expect((await failureOf(server.send(server.deploymentOf('bedrock', KEYS)))).message).toBe(
      'litellm.PermissionDeniedError: PermissionDeniedError: BedrockException - The secret <secret> with <secret> is wrong',
    );
    server.faults.answer((response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'x-echo': 'the-session' });
      response.end(JSON.stringify(ANSWER));
    });
    expect((await server.send(server.deploymentOf('bedrock', KEYS))).headers['x-echo']).toBe('<secret>');
  });

  it('is not called without credentials, or with only one of two keys', async () => {
    const callsBefore = server.faults.received.length;
    const failureWith = (more: Partial<Deployment>) =>
      failureOf(server.send(server.deploymentOf('bedrock', { apiKey: null, ...more })));
    expect(
      await failureWith({
        options: { aws_role_name: 'r' },
        secrets: { aws_web_identity_token: new Secret('/no/file') },
      }),
    ).toMatchObject({
      message:
        'litellm.AuthenticationError: AuthenticationError: BedrockException - No credentials for AWS: the credentials of this deployment are invalid or missing.',
      upstreamStatus: null,
    });
    const oneKeyMessage =
      'litellm.AuthenticationError: AuthenticationError: BedrockException - No credentials for AWS: this deployment sets only one of aws_access_key_id and aws_secret_access_key.';
    expect((await failureWith({ options: { aws_access_key_id: 'AKIDEXAMPLE' } })).message).toBe(oneKeyMessage);
    expect((await failureWith({ secrets: { aws_secret_access_key: new Secret('s') } })).message).toBe(oneKeyMessage);
    expect(server.faults.received.length).toBe(callsBefore);
  });

  const STREAM = aModelRequest({ ...CHAT, stream: true, stream_options: { include_usage: true } });
  const answerWithStream = (...messages: Buffer[]): void =>
    server.faults.answer((response) => {
      response.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream' });
      const bytes = Buffer.concat(messages);
      // A write has 11 bytes, less than any message.
      const writeFrom = (offset: number): void => {
        if (offset >= bytes.length) return void response.end();
        response.write(bytes.subarray(offset, offset + 11));
        setImmediate(writeFrom, offset + 11);
      };
      writeFrom(0);
    });
  const BEGUN = [
    converseEvent('messageStart', { role: 'assistant' }),
    converseEvent('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'Hi 😀' } }),
  ];

  it('streams messages that are split anywhere', async () => {
    answerWithStream(
      ...BEGUN,
      converseEvent('contentBlockStop', { contentBlockIndex: 0 }),
      converseEvent('messageStop', { stopReason: 'end_turn' }),
      converseEvent('metadata', { usage: { inputTokens: 3, outputTokens: 2, cacheReadInputTokens: 4 } }),
    );
    const exchange = await server.send(server.deploymentOf('bedrock'), STREAM);
    const text = await textOf(exchange);
    expect(server.lastReceived().path).toBe('/model/up-1/converse-stream');
    expect(text).toContain('"content":"Hi 😀"');
    // 3 input tokens and 4 from the cache.
    expect(text).toContain('"prompt_tokens":7');
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
    expect(exchange.outcome()).toMatchObject({ finishReason: 'stop', usage: { inputTokens: 7, cacheReadTokens: 4 } });
  });

  it.each([
    ['throttlingException', 429, 'RateLimitError'],
    ['validationException', 400, 'BadRequestError'],
    ['modelStreamErrorException', 424, 'APIError'],
    ['serviceUnavailableException', 503, 'ServiceUnavailableError'],
  ])('fails for %s before the first event with its status', async (type, status, name) => {
    answerWithStream(eventMessage({ ':message-type': 'exception', ':exception-type': type }, '{"message":"no"}'));
    expect(await failureOf(server.send(server.deploymentOf('bedrock'), STREAM))).toMatchObject({
      message: `litellm.${name}: ${name}: BedrockException - no`,
      upstreamStatus: status,
      upstreamType: type,
    });
  });

  it.each([
    [
      'an exception',
      [eventMessage({ ':message-type': 'exception', ':exception-type': 'throttlingException' }, '{"message":"slow"}')],
      'BedrockException - slow',
    ],
    ['half a message', [converseEvent('metadata', {}).subarray(0, 20)], 'it ended inside a message'],
    ['an early end', [], 'the stream ended before the answer did'],
  ])('fails during the stream after %s', async (_name, lastMessages, words) => {
    answerWithStream(...BEGUN, ...lastMessages);
    const exchange = await server.send(server.deploymentOf('bedrock'), STREAM);
    await expect(collect(exchange.bytes, 1e6)).rejects.toThrow(words);
  });
});

describe('embeddings on Bedrock', () => {
  const embed = (upstreamModel: string, body: object) =>
    server.send(
      server.deploymentOf('bedrock', { upstreamModel }),
      aModelRequest({ model: 'm', ...body }, { endpoint: EMBEDDINGS }),
    );

  it('are requested from models of Amazon, one text per request', async () => {
    server.answerWith({ embedding: [0.5, 1], inputTextTokenCount: 3 });
    const exchange = await embed('amazon.titan-embed-text-v2:0', { input: ['a'], dimensions: 256 });
    const { path, body } = server.lastReceived();
    expect([path, JSON.parse(body)]).toEqual([
      '/model/amazon.titan-embed-text-v2%3A0/invoke',
      { inputText: 'a', dimensions: 256 },
    ]);
    expect(await jsonOf(exchange)).toEqual({
      object: 'list',
      data: [{ object: 'embedding', index: 0, embedding: [0.5, 1] }],
      model: 'm',
      usage: { prompt_tokens: 3, total_tokens: 3 },
    });
    await expect(embed('amazon.titan-embed-text-v2:0', { input: ['a', 'b'] })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      message: "Invalid value for 'input': it must be one string: this model embeds one text per request.",
    });
  });

  it('are requested from models of Cohere in one call, without a token count', async () => {
    server.answerWith({ embeddings: [[1], [2]], response_type: 'embeddings_floats' });
    const exchange = await embed('eu-west-1/cohere.embed-multilingual-v3', { input: ['a', 'b'] });
    expect(JSON.parse(server.lastReceived().body)).toEqual({ texts: ['a', 'b'], input_type: 'search_document' });
    expect(await jsonOf(exchange)).toMatchObject({ data: [{ embedding: [1] }, { embedding: [2] }] });
    expect(exchange.outcome().usage).toBeNull();
  });

  it('are refused for a model with an unknown request format, and fail with the error of the upstream', async () => {
    await expect(embed('anthropic.claude-x', { input: 'a' })).rejects.toMatchObject({ code: 'UNSUPPORTED' });
    server.answerWith({ message: 'no access' }, 403);
    expect((await failureOf(embed('amazon.titan-embed-text-v1', { input: 'a' }))).message).toBe(
      'litellm.PermissionDeniedError: PermissionDeniedError: BedrockException - no access',
    );
  });
});
