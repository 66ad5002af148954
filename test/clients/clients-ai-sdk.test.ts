import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { LLMock } from '@copilotkit/aimock';
import { generateText, jsonSchema, type LanguageModel, Output, streamText, type ToolSet } from 'ai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/start-app.ts';

const USAGE = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };
/** Each client asks for a model of each kind of upstream. */
const MODELS = ['of-openai', 'of-anthropic', 'of-google'] as const;

let upstream: LLMock;
let app: TestApp;
let clients: Readonly<Record<'responses' | 'chat' | 'anthropic' | 'google', (model: string) => LanguageModel>>;

beforeAll(async () => {
  upstream = new LLMock({ port: 0 });
  upstream.onMessage('hello', { content: 'Grüß Gott 😀', usage: USAGE });
  upstream.onMessage('weather', { toolCalls: [{ name: 'get_weather', arguments: '{"city":"Wien"}' }], usage: USAGE });
  upstream.onMessage('object', { content: '{"city":"Wien"}', usage: USAGE });
  await upstream.start();
  const api = { api_key: 'upstream-credential-0123456789' };
  app = await startApp({
    config: {
      model_list: [
        { model_name: 'of-openai', litellm_params: { model: 'openai/gpt-4o', api_base: `${upstream.url}/v1`, ...api } },
        {
          model_name: 'of-anthropic',
          litellm_params: { model: 'anthropic/claude-sonnet-4-5', api_base: upstream.url, ...api },
        },
        {
          model_name: 'of-google',
          litellm_params: { model: 'gemini/gemini-2.5-flash', api_base: upstream.url, ...api },
        },
      ],
    },
  });
  const generated = await app.call('POST', '/key/generate', {});
  const { key: apiKey } = (await generated.json()) as { key: string };
  const openai = createOpenAI({ apiKey, baseURL: `${app.url}/v1` });
  const anthropic = createAnthropic({ apiKey, baseURL: `${app.url}/v1` });
  const google = createGoogleGenerativeAI({ apiKey, baseURL: `${app.url}/v1beta` });
  clients = {
    responses: (model) => openai.responses(model),
    chat: (model) => openai.chat(model),
    anthropic: (model) => anthropic(model),
    google: (model) => google(model),
  };
});

afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

const TOOLS: ToolSet = {
  get_weather: {
    description: 'Tells the weather.',
    inputSchema: jsonSchema({ type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }),
  },
};
const OPTIONS = { maxRetries: 0, maxOutputTokens: 100 } as const;

describe.each(['responses', 'chat', 'anthropic', 'google'] as const)('the AI SDK in the dialect %s', (client) => {
  describe.each(MODELS)('with a model %s', (name) => {
    it('gets the same text, finish reason and usage, whole and streamed', async () => {
      const model = clients[client](name);
      const whole = await generateText({ model, prompt: 'hello', ...OPTIONS });
      const streamed = streamText({ model, prompt: 'hello', ...OPTIONS });
      expect(whole.text).toBe('Grüß Gott 😀');
      expect(await streamed.text).toBe(whole.text);
      for (const reason of [whole.finishReason, await streamed.finishReason]) expect(reason).toBe('stop');
      for (const usage of [whole.usage, await streamed.usage])
        expect(usage).toMatchObject({ inputTokens: 11, outputTokens: 7 });
    });

    it('calls the same tool whole and streamed', async () => {
      const model = clients[client](name);
      const whole = await generateText({ model, prompt: 'weather', tools: TOOLS, ...OPTIONS });
      const streamed = streamText({ model, prompt: 'weather', tools: TOOLS, ...OPTIONS });
      for (const calls of [whole.toolCalls, await streamed.toolCalls])
        expect(calls).toMatchObject([{ toolName: 'get_weather', input: { city: 'Wien' } }]);
      // The mock of Google sends a finish reason that Google does not define. The gateway forwards it unchanged.
      if (client === 'google' && name === 'of-google') return;
      for (const reason of [whole.finishReason, await streamed.finishReason]) expect(reason).toBe('tool-calls');
    });

    it('gets an object that follows a schema', async () => {
      const schema = jsonSchema<{ city: string }>({
        type: 'object',
        properties: { city: { type: 'string' } },
        required: ['city'],
        additionalProperties: false,
      });
      const output = Output.object({ schema });
      const answer = await generateText({ model: clients[client](name), prompt: 'object', output, ...OPTIONS });
      expect(answer.output).toEqual({ city: 'Wien' });
    });
  });

  it('gets an error for an unconfigured model', async () => {
    const refused = generateText({ model: clients[client]('nothing'), prompt: 'x', ...OPTIONS });
    await expect(refused).rejects.toMatchObject({
      name: 'AI_APICallError',
      statusCode: client === 'google' ? 404 : 400,
    });
  });
});
