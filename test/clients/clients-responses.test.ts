import { LLMock } from '@copilotkit/aimock';
import OpenAI, { BadRequestError, PermissionDeniedError } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/start-app.ts';

let upstream: LLMock;
let app: TestApp;
let openai: OpenAI;

beforeAll(async () => {
  upstream = new LLMock({ port: 0 });
  upstream.onMessage('hello', { content: 'Hi there, friend.' });
  upstream.onMessage('weather', { toolCalls: [{ name: 'weather', arguments: '{"city":"Paris"}' }] });
  await upstream.start();
  const params = { api_base: `${upstream.url}/v1`, api_key: 'sk-upstream-credential-0123456789' };
  app = await startApp({
    config: {
      model_list: [
        {
          model_name: 'native',
          litellm_params: { model: 'openai/gpt-4o', ...params, use_chat_completions_api: false },
        },
        { model_name: 'translated', litellm_params: { model: 'openai/chat_completions/gpt-4o', ...params } },
      ],
    },
  });
  openai = new OpenAI({ apiKey: app.adminKey, baseURL: `${app.url}/v1`, maxRetries: 0 });
});

afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

const TOOLS = [
  {
    type: 'function' as const,
    name: 'weather',
    strict: false,
    parameters: { type: 'object', properties: { city: { type: 'string' } } },
  },
];

describe.each(['native', 'translated'])('the Responses API with the official SDK and a %s model', (model) => {
  it('returns a whole response', async () => {
    const response = await openai.responses.create({ model, input: 'hello' });
    expect(response).toMatchObject({ object: 'response', status: 'completed', model });
    expect(response.output_text).toBe('Hi there, friend.');
    expect(response.id).toMatch(/^resp_/);
  });

  it('streams events that the SDK assembles to the same text', async () => {
    const stream = openai.responses.stream({ model, input: 'hello' });
    const types: string[] = [];
    for await (const event of stream) types.push(event.type);
    const final = await stream.finalResponse();
    expect(final).toMatchObject({ status: 'completed', model });
    expect(final.output_text).toBe('Hi there, friend.');
    expect(types[0]).toBe('response.created');
    expect(types.at(-1)).toBe('response.completed');
    expect(types.filter((type) => type === 'response.output_text.delta').length).toBeGreaterThan(0);
  });

  it('returns tool calls, whole and streamed', async () => {
    const response = await openai.responses.create({ model, input: 'weather', tools: TOOLS });
    const call = expect.objectContaining({ type: 'function_call', name: 'weather', arguments: '{"city":"Paris"}' });
    expect(response.output).toEqual([call]);
    const stream = openai.responses.stream({ model, input: 'weather', tools: TOOLS });
    expect((await stream.finalResponse()).output).toEqual([call]);
  });

  it('raises errors of the matching classes', async () => {
    const create = async () => await openai.responses.create({ model: `${model}-not`, input: 'hello' });
    await expect(create()).rejects.toBeInstanceOf(BadRequestError);
    // `resp_nothing` does not have the format of the gateway's ids. An unknown id in that format gets 404.
    const foreign = async () => await openai.responses.retrieve('resp_nothing');
    await expect(foreign()).rejects.toBeInstanceOf(PermissionDeniedError);
  });
});

describe('the Responses API with the official SDK and the demo model', () => {
  it('returns the same text and usage, whole and streamed', async () => {
    const whole = await openai.responses.create({ model: 'demo', input: 'Hello' });
    const stream = openai.responses.stream({ model: 'demo', input: 'Hello' });
    const final = await stream.finalResponse();
    expect(whole.output_text).toContain('You said: Hello');
    expect(whole.usage?.output_tokens).toBeGreaterThan(0);
    expect(final.output_text).toBe(whole.output_text);
    expect(final.usage).toEqual(whole.usage);
  });
});

describe('the IDE route', () => {
  it.each(['native', 'translated', 'demo'])(
    'answers `input` like `messages`, and lists the model: %s',
    async (model) => {
      const response = await app.call('POST', '/ide/chat/completions', {
        model,
        input: [{ role: 'user', content: 'hello' }],
      });
      const { choices } = (await response.json()) as { choices: { message: { content: string } }[] };
      expect(choices[0]?.message.content).toMatch(/./);
      const ide = new OpenAI({ apiKey: app.adminKey, baseURL: `${app.url}/ide`, maxRetries: 0 });
      const stream = ide.chat.completions.stream({ model, messages: [{ role: 'user', content: 'hello' }] });
      expect((await stream.finalChatCompletion()).choices[0]?.message.content).toBe(choices[0]?.message.content);
      expect((await ide.models.list()).data.map(({ id }) => id)).toContain(model);
    },
  );
});
