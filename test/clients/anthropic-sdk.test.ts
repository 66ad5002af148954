import Anthropic, {
  AuthenticationError,
  BadRequestError,
  PermissionDeniedError,
  RateLimitError,
} from '@anthropic-ai/sdk';
import { LLMock } from '@copilotkit/aimock';
import OpenAI, { RateLimitError as OpenAiRateLimitError } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/start-app.ts';

const CREDENTIAL = 'sk-upstream-credential-0123456789';
/** Usage under the member names of OpenAI and of Anthropic. The mock serves both dialects. */
const USAGE = { prompt_tokens: 1000, completion_tokens: 200, input_tokens: 1000, output_tokens: 200 };
const WEATHER: Anthropic.Tool = {
  name: 'get_weather',
  input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};
const CITY = { city: 'Oslo' };

let upstream: LLMock;
let app: TestApp;
let anthropic: Anthropic;
let openai: OpenAI;

beforeAll(async () => {
  upstream = new LLMock({ port: 0 });
  upstream.onMessage('hello', { content: 'Hello from upstream, Zoë 😀', usage: USAGE });
  upstream.onMessage('think', { content: 'Done.', reasoning: 'Let me see.', usage: USAGE });
  upstream.onMessage('weather', {
    toolCalls: [{ name: 'get_weather', arguments: JSON.stringify(CITY), id: 'toolu_1' }],
    usage: USAGE,
  });
  upstream.onMessage('refuse', { error: { message: 'slow down', type: 'rate_limit_error' }, status: 429 });
  await upstream.start();
  const priced = { api_key: CREDENTIAL, input_cost_per_token: 0.001, output_cost_per_token: 0.01 };
  app = await startApp({
    config: {
      model_list: [
        {
          model_name: 'native',
          litellm_params: { model: 'anthropic/claude-opus-4-8', api_base: upstream.url, ...priced },
        },
        {
          model_name: 'translated',
          litellm_params: { model: 'openai/gpt-4o', api_base: `${upstream.url}/v1`, ...priced },
        },
      ],
    },
  });
  const generated = await app.call('POST', '/key/generate', {
    key_alias: 'sdk',
    user_id: 'someone',
    models: ['native', 'translated', 'demo'],
  });
  const { key } = (await generated.json()) as { key: string };
  anthropic = new Anthropic({ apiKey: key, baseURL: app.url, maxRetries: 0 });
  openai = new OpenAI({ apiKey: key, baseURL: `${app.url}/v1`, maxRetries: 0 });
});

afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

const ask = (model: string, content: string): Anthropic.MessageCreateParamsNonStreaming => ({
  model,
  max_tokens: 500,
  messages: [{ role: 'user', content }],
});

/** Members of a message that are equal in a streamed and a whole answer. */
const comparable = ({ content, stop_reason, usage, model }: Anthropic.Message) => ({
  content: content.map((block) => ({ ...block, citations: undefined, caller: undefined })),
  stop_reason,
  model,
  usage: { input_tokens: usage.input_tokens, output_tokens: usage.output_tokens },
});

describe.each(['native', 'translated'])('the official SDK with a model that is %s', (model) => {
  const usage = { input_tokens: 1000, output_tokens: 200 };

  it('gets a whole message and the cost of the call', async () => {
    const { data, response } = await anthropic.messages.create(ask(model, 'hello')).withResponse();
    expect(comparable(data)).toEqual({
      content: [{ type: 'text', text: 'Hello from upstream, Zoë 😀' }],
      stop_reason: 'end_turn',
      model,
      usage,
    });
    // 1000 input tokens at 0.001 USD, 200 output tokens at 0.01 USD.
    expect(response.headers.get('x-litellm-response-cost')).toBe('3');
    expect(response.headers.get('x-litellm-model-group')).toBe(model);
  });

  it.each(['hello', 'weather'])('gets the same message streamed and whole: %s', async (content) => {
    const body = { ...ask(model, content), tools: [WEATHER] };
    const pieces: string[] = [];
    const stream = anthropic.messages.stream(body).on('text', (piece) => void pieces.push(piece));
    const streamed = await stream.finalMessage();
    const whole = await anthropic.messages.create(body);
    expect(comparable(streamed)).toEqual(comparable(whole));
    expect(pieces.join('')).toBe(content === 'hello' ? 'Hello from upstream, Zoë 😀' : '');
  });

  it('gets tool calls, and sends their results', async () => {
    const body = { ...ask(model, 'weather'), tools: [WEATHER], tool_choice: { type: 'auto' } as const };
    const called = await anthropic.messages.create(body);
    expect(comparable(called)).toMatchObject({
      content: [{ type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: CITY }],
      stop_reason: 'tool_use',
    });
    const result: Anthropic.ToolResultBlockParam = { type: 'tool_result', tool_use_id: 'toolu_1', content: 'Rain.' };
    const answered = await anthropic.messages.create({
      ...body,
      messages: [
        ...body.messages,
        { role: 'assistant', content: called.content },
        { role: 'user', content: [result, { type: 'text', text: 'hello' }] },
      ],
    });
    expect(answered.content).toMatchObject([{ type: 'text', text: 'Hello from upstream, Zoë 😀' }]);
  });

  it('gets thinking blocks, streamed and whole', async () => {
    const body = { ...ask(model, 'think'), thinking: { type: 'adaptive' } as const };
    const thinkingPieces: string[] = [];
    const stream = anthropic.messages.stream(body).on('thinking', (piece) => void thinkingPieces.push(piece));
    const streamed = await stream.finalMessage();
    const whole = await anthropic.messages.create(body);
    expect(comparable(streamed)).toEqual(comparable(whole));
    expect(whole.content).toMatchObject([
      { type: 'thinking', thinking: 'Let me see.' },
      { type: 'text', text: 'Done.' },
    ]);
    expect(thinkingPieces.join('')).toBe('Let me see.');
  });

  it('gets an estimate of tokens where the upstream cannot count them', async () => {
    const { messages } = ask(model, 'hello');
    // This upstream has no endpoint that counts tokens.
    // The estimate: 4 tokens for a message, and one for 3.5 bytes of `hello`, rounded up.
    expect(await anthropic.messages.countTokens({ model, messages })).toEqual({
      input_tokens: 6,
      litellm_count_source: 'local_estimate',
    });
    expect(await anthropic.beta.messages.countTokens({ model, messages })).toEqual({
      input_tokens: 6,
      litellm_count_source: 'local_estimate',
    });
  });

  it('gets an answer to a request that names a beta feature', async () => {
    const { content } = await anthropic.beta.messages.create({ ...ask(model, 'hello'), betas: ['some-2026-01-01'] });
    expect(content).toMatchObject([{ type: 'text', text: 'Hello from upstream, Zoë 😀' }]);
  });

  it('raises its own RateLimitError for a 429 of the upstream', async () => {
    await expect(anthropic.messages.create(ask(model, 'refuse'))).rejects.toBeInstanceOf(RateLimitError);
    await expect(anthropic.messages.create(ask(model, 'refuse'))).rejects.toMatchObject({
      status: 429,
      error: { type: 'error', error: { type: 'rate_limit_error', message: expect.stringContaining('slow down') } },
    });
    await expect(anthropic.messages.stream(ask(model, 'refuse')).finalMessage()).rejects.toBeInstanceOf(RateLimitError);
  });
});

it("Anthropic's SDK lists models page by page, and describes one", async () => {
  const listed: Anthropic.ModelInfo[] = [];
  for await (const model of anthropic.models.list({ limit: 1 })) listed.push(model);
  expect(listed.map(({ type, id, display_name }) => [type, id, display_name])).toEqual(
    ['native', 'translated', 'demo'].map((id) => ['model', id, id]),
  );
  expect(await anthropic.models.retrieve('translated')).toMatchObject({ type: 'model', id: 'translated' });
  await expect(anthropic.models.retrieve('nothing')).rejects.toMatchObject({ status: 404 });
});

describe('the official SDK', () => {
  it('streams the demo model', async () => {
    const message = await anthropic.messages.stream(ask('demo', 'hello')).finalMessage();
    expect(message).toMatchObject({
      model: 'demo',
      stop_reason: 'end_turn',
      content: [{ type: 'text', text: expect.stringContaining('You said: hello') }],
    });
    expect(message.usage.output_tokens).toBeGreaterThan(0);
  });

  // A case without a key (null) uses the key of `anthropic`. This key may not call the model `forbidden`.
  it.each([
    ['authentication_error', AuthenticationError, 'sk-unknown', 'native'],
    ['permission_error', PermissionDeniedError, null, 'forbidden'],
    ['invalid_request_error', BadRequestError, null, 'native'],
  ])('raises the error class of %s', async (type, errorClass, apiKey, model) => {
    const client = apiKey === null ? anthropic : new Anthropic({ apiKey, baseURL: app.url, maxRetries: 0 });
    const body = errorClass === BadRequestError ? { ...ask(model, 'x'), messages: null } : ask(model, 'x');
    const refused = client.messages.create(body as Anthropic.MessageCreateParamsNonStreaming);
    await expect(refused).rejects.toBeInstanceOf(errorClass);
    await expect(refused).rejects.toMatchObject({ error: { type: 'error', error: { type } } });
  });
});

describe("OpenAI's SDK with a model of Anthropic", () => {
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'weather' }];
  const tools: OpenAI.ChatCompletionTool[] = [
    { type: 'function', function: { name: 'get_weather', parameters: WEATHER.input_schema } },
  ];

  it('gets tool calls, streamed and whole', async () => {
    const whole = await openai.chat.completions.create({ model: 'native', messages, tools });
    expect(whole.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: { tool_calls: [{ id: 'toolu_1', function: { name: 'get_weather', arguments: JSON.stringify(CITY) } }] },
    });
    const stream = openai.chat.completions.stream({
      model: 'native',
      messages,
      tools,
      stream_options: { include_usage: true },
    });
    const streamed = await stream.finalChatCompletion();
    expect(streamed.choices[0]?.message.tool_calls).toMatchObject(whole.choices[0]?.message.tool_calls ?? []);
    expect(streamed.choices[0]?.finish_reason).toBe('tool_calls');
    expect([streamed.usage, whole.usage]).toMatchObject([
      { prompt_tokens: 1000, completion_tokens: 200 },
      { prompt_tokens: 1000, completion_tokens: 200 },
    ]);
  });

  it('raises its own RateLimitError for a 429 of the upstream', async () => {
    const refused = openai.chat.completions.create({
      model: 'native',
      messages: [{ role: 'user', content: 'refuse' }],
    });
    await expect(refused).rejects.toBeInstanceOf(OpenAiRateLimitError);
    await expect(refused).rejects.toMatchObject({ type: 'throttling_error', code: '429' });
  });
});
