import { LLMock } from '@copilotkit/aimock';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/start-app.ts';

const CREDENTIAL = 'sk-upstream-credential-0123456789';
const WEATHER: OpenAI.ChatCompletionTool = {
  type: 'function',
  function: {
    name: 'get_weather',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
};
const ask = (content: string): OpenAI.ChatCompletionMessageParam[] => [{ role: 'user', content }];

let upstream: LLMock;
let app: TestApp;
let openai: OpenAI;
let key: string;

beforeAll(async () => {
  upstream = new LLMock({ port: 0 });
  upstream.onMessage('hello', {
    content: 'Hello from upstream, Zoë 😀',
    id: 'chatcmpl-aimock-1',
    usage: { prompt_tokens: 1000, completion_tokens: 200 },
  });
  upstream.onMessage('weather', {
    toolCalls: [{ name: 'get_weather', arguments: '{"city":"Oslo"}', id: 'call_1' }],
  });
  await upstream.start();
  app = await startApp({
    config: {
      model_list: [
        {
          model_name: 'assistant',
          litellm_params: {
            model: 'openai/gpt-4o-2024-08-06',
            api_base: `${upstream.url}/v1`,
            api_key: 'os.environ/TEST_UPSTREAM_CREDENTIAL',
            input_cost_per_token: 0.0000025,
            output_cost_per_token: 0.00001,
          },
        },
      ],
    },
    env: { TEST_UPSTREAM_CREDENTIAL: CREDENTIAL },
  });
  const made = await app.call('POST', '/key/generate', { key_alias: 'sdk', user_id: 'someone' });
  ({ key } = (await made.json()) as { key: string });
  openai = new OpenAI({ apiKey: key, baseURL: `${app.url}/v1`, maxRetries: 0 });
});

afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

/** The last request that the upstream received. */
const lastUpstreamRequest = (): { readonly body: unknown; readonly headers: Record<string, string> } => {
  const entry = upstream.getRequests().at(-1);
  return { body: entry?.body, headers: entry?.headers ?? {} };
};

describe('the official SDK with a virtual key', () => {
  it('receives a whole answer with a cost, under the requested model name', async () => {
    const { data, response } = await openai.chat.completions
      .create({ model: 'assistant', messages: ask('hello') })
      .withResponse();
    expect(data).toMatchObject({
      id: 'chatcmpl-aimock-1',
      model: 'assistant',
      choices: [{ message: { role: 'assistant', content: 'Hello from upstream, Zoë 😀' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 1000, completion_tokens: 200, total_tokens: 1200 },
    });
    const headers = Object.fromEntries(response.headers);
    expect(headers).toMatchObject({
      'x-litellm-model-id': expect.stringMatching(/^assistant#[0-9a-f]{12}$/),
      'x-litellm-model-group': 'assistant',
      'x-litellm-model-api-base': `${upstream.url}/v1`,
      // 1000 input tokens at 0.0000025 USD, 200 output tokens at 0.00001 USD.
      'x-litellm-response-cost': '0.0045',
      'llm_provider-content-type': 'application/json',
    });
    expect(headers['x-litellm-call-id']).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('reaches the upstream under the upstream model name, without the virtual key', async () => {
    await openai.chat.completions.create({ model: 'assistant', messages: ask('hello') });
    const { body, headers } = lastUpstreamRequest();
    expect(body).toMatchObject({ model: 'gpt-4o-2024-08-06', messages: ask('hello') });
    expect(JSON.stringify(headers)).not.toContain(key);
  });

  it('gets a stream, chunk by chunk, with the requested usage', async () => {
    const stream = await openai.chat.completions.create({
      model: 'assistant',
      messages: ask('hello'),
      stream: true,
      stream_options: { include_usage: true },
    });
    const chunks: OpenAI.ChatCompletionChunk[] = [];
    for await (const chunk of stream) chunks.push(chunk);
    expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')).toBe('Hello from upstream, Zoë 😀');
    expect(new Set(chunks.map(({ model }) => model))).toEqual(new Set(['assistant']));
    expect(chunks.at(-1)?.usage).toMatchObject({ prompt_tokens: 1000, completion_tokens: 200 });
    expect(chunks.at(-1)?.choices).toEqual([]);
  });

  it('gets no usage chunk without a request for it', async () => {
    const stream = await openai.chat.completions.create({ model: 'assistant', messages: ask('hello'), stream: true });
    const choicesOfChunks: number[] = [];
    for await (const chunk of stream) choicesOfChunks.push(chunk.choices.length);
    expect(new Set(choicesOfChunks)).toEqual(new Set([1]));
    // The gateway itself requests the usage, for its accounting.
    expect(lastUpstreamRequest().body).toMatchObject({ stream_options: { include_usage: true } });
  });

  it('gets tool calls, whole and streamed', async () => {
    const call = { name: 'get_weather', arguments: '{"city":"Oslo"}' };
    const whole = await openai.chat.completions.create({
      model: 'assistant',
      messages: ask('weather'),
      tools: [WEATHER],
    });
    expect(whole.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: { tool_calls: [{ type: 'function', function: call }] },
    });
    const runner = openai.chat.completions.stream({ model: 'assistant', messages: ask('weather'), tools: [WEATHER] });
    const final = await runner.finalChatCompletion();
    expect(final.choices[0]?.message.tool_calls?.[0]).toMatchObject({ id: 'call_1', function: call });
  });

  it('talks to the demo model without any upstream', async () => {
    const answer = await openai.chat.completions.create({ model: 'demo', messages: ask('Hello') });
    expect(answer.choices[0]?.message.content).toBe(
      'This is the built-in demo model of Lensgate, not a language model. You said: Hello',
    );
    // One token per four characters, rounded up: of the messages as JSON, and of the answer.
    expect(answer.usage).toEqual({ prompt_tokens: 9, completion_tokens: 21, total_tokens: 30 });
    const runner = openai.chat.completions.stream({
      model: 'demo',
      messages: ask('Use get_weather please'),
      tools: [WEATHER],
    });
    const final = await runner.finalChatCompletion();
    expect(final.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: { tool_calls: [{ function: { name: 'get_weather', arguments: '{"city":"demo"}' } }] },
    });
  });

  it('lists the models that its key may call', async () => {
    const models = await openai.models.list();
    expect(models.data.map(({ id }) => id)).toEqual(['assistant', 'demo']);
    expect(await openai.models.retrieve('demo')).toMatchObject({ id: 'demo', object: 'model' });
    await expect(openai.models.retrieve('nothing')).rejects.toMatchObject({ status: 404 });
  });
});

describe('the official SDK raises an error with', () => {
  it('status 401 for an unknown key', async () => {
    const stranger = new OpenAI({ apiKey: 'sk-unknown-virtual-key', baseURL: `${app.url}/v1`, maxRetries: 0 });
    await expect(
      stranger.chat.completions.create({ model: 'assistant', messages: ask('hello') }),
    ).rejects.toMatchObject({ status: 401, type: 'token_not_found_in_db', param: 'key', code: '401' });
  });

  it('status 400 for an unconfigured model', async () => {
    await expect(openai.chat.completions.create({ model: 'nothing', messages: ask('hello') })).rejects.toMatchObject({
      status: 400,
      message:
        '400 /chat/completions: Invalid model name passed in model=nothing. Call `/v1/models` to view available models for your key.',
    });
  });

  it('the status and message of the upstream', async () => {
    // The mock answers 404 to a prompt for which it has no answer.
    await expect(
      openai.chat.completions.create({ model: 'assistant', messages: ask('something else entirely') }),
    ).rejects.toMatchObject({
      status: 404,
      message: expect.stringMatching(/^404 litellm\.NotFoundError: NotFoundError: OpenAIException - /),
    });
  });
});
