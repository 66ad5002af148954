import { systemClock } from '../../src/runtime/clock.ts';
import { LLMock } from '@copilotkit/aimock';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { collect } from '../../src/domain/bytes.ts';
import type { Exchange } from '../../src/domain/chat/chat.ts';
import type { Deployment, Provider } from '../../src/domain/chat/provider.ts';
import { UpstreamFailed } from '../../src/domain/errors.ts';
import { EMBEDDINGS } from '../../src/domain/inference/endpoint.ts';
import { Secret } from '../../src/domain/secret.ts';
import { createProviders } from '../../src/providers/providers.ts';
import { createAwsAccounts } from '../../src/runtime/credentials/aws-accounts.ts';
import { createGoogleTokens } from '../../src/runtime/credentials/google-tokens.ts';
import { createHttpClient } from '../../src/runtime/http-client/client.ts';
import { webSocketClient } from '../../src/runtime/network/web-sockets.ts';
import { chatCompletionsOut } from '../../src/wire/chat-completions/native.ts';
import { parseJson } from '../../src/wire/json/fields.ts';
import { stepsOfEvents } from '../../src/wire/translate.ts';
import { aDeployment, aModelRequest } from '../support/chat.ts';
import { joinedSteps } from '../support/random-answer.ts';

const http = createHttpClient();
const NEVER = new AbortController().signal;
const CHAT_DIALECT = chatCompletionsOut({ maxTokensMember: 'max_tokens' });
const USAGE = { prompt_tokens: 11, completion_tokens: 7, input_tokens: 11, output_tokens: 7 };
const TOOLS = [{ type: 'function', function: { name: 'get_weather', parameters: { type: 'object', properties: {} } } }];

let mock: LLMock;
let providers: readonly Provider[];

beforeAll(async () => {
  mock = new LLMock({ port: 0, chunkSize: 4 });
  mock.onMessage('hello', { content: 'Grüß Gott, Zoë', usage: USAGE });
  mock.onMessage('weather', {
    toolCalls: [{ name: 'get_weather', arguments: '{"city":"Oslo"}', id: 'call_1' }],
    usage: USAGE,
  });
  mock.onMessage('broken', { error: { message: 'slow down', type: 'rate_limit_error' }, status: 429 });
  mock.onEmbedding(/./, { embedding: [0.5, -0.25, 1] });
  await mock.start();
  providers = createProviders({
    http,
    sockets: webSocketClient,
    googleTokens: createGoogleTokens(),
    awsAccounts: createAwsAccounts(),
    clock: systemClock,
  });
});

afterAll(async () => {
  await http.close();
  await mock.stop();
});

const deploymentOf = (provider: string): Deployment =>
  aDeployment({ provider, apiBase: mock.url, apiKey: new Secret('sk-upstream'), upstreamModel: 'gpt-4o' });

function send(provider: string, request: ReturnType<typeof aModelRequest>): Promise<Exchange> {
  const found = providers.find(({ name }) => name === provider);
  if (!found) throw new Error(`no provider is called ${provider}`);
  return found.send(deploymentOf(provider), request, NEVER);
}

const bytesOf = async (exchange: Exchange): Promise<Buffer> => Buffer.from((await collect(exchange.bytes, 1e6)) ?? []);

/** Steps, finish reason and token counts of an answer, whole or streamed. */
async function completionOf(provider: string, content: string, stream: boolean) {
  const body = {
    model: 'm',
    messages: [{ role: 'user', content }],
    tools: TOOLS,
    ...(stream ? { stream: true, stream_options: { include_usage: true } } : {}),
  };
  const exchange = await send(provider, aModelRequest(body));
  const bytes = await bytesOf(exchange);
  const steps = stream ? stepsOfEvents(bytes, CHAT_DIALECT.reader()) : CHAT_DIALECT.stepsOf(parseJson(bytes));
  const { usage, finishReason } = exchange.outcome();
  return {
    steps: joinedSteps(steps).flatMap((step): unknown[] => {
      if (step.kind === 'text') return [step.text];
      return step.kind === 'toolCall' ? [[step.name, JSON.parse(step.arguments)]] : [];
    }),
    finishReason,
    tokens: [usage?.inputTokens, usage?.outputTokens],
  };
}

describe.each([
  ['azure', [11, 7]],
  ['bedrock', [11, 7]],
  ['cohere_chat', [11, 7]],
  // This upstream reports no usage in the format of Ollama.
  ['ollama_chat', [0, 0]],
])('a third-party implementation of the upstream, as %s', (provider, tokens) => {
  it.each([false, true])('answers with text (stream: %s)', async (stream) => {
    expect(await completionOf(provider, 'hello', stream)).toEqual({
      steps: ['Grüß Gott, Zoë'],
      finishReason: 'stop',
      tokens,
    });
  });

  it.each([false, true])('calls tools (stream: %s)', async (stream) => {
    expect(await completionOf(provider, 'weather', stream)).toMatchObject({
      steps: expect.arrayContaining([['get_weather', { city: 'Oslo' }]]),
      finishReason: 'tool_calls',
      tokens,
    });
  });

  it.each([false, true])('fails with the error of the upstream (stream: %s)', async (stream) => {
    const body = { model: 'm', messages: [{ role: 'user', content: 'broken' }], stream };
    const failure: unknown = await send(provider, aModelRequest(body)).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(UpstreamFailed);
    expect(failure).toMatchObject({ upstreamStatus: 429, message: expect.stringContaining('slow down') });
  });
});

it.each(['azure', 'cohere'])('a third-party implementation returns embeddings as %s', async (provider) => {
  const exchange = await send(provider, aModelRequest({ model: 'm', input: ['a'] }, { endpoint: EMBEDDINGS }));
  expect(parseJson(await bytesOf(exchange))).toMatchObject({
    object: 'list',
    data: [{ object: 'embedding', index: 0, embedding: [0.5, -0.25, 1] }],
    model: 'm',
  });
});
