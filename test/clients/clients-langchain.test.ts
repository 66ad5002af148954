import { LLMock } from '@copilotkit/aimock';
import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/start-app.ts';

const USAGE = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };

let upstream: LLMock;
let app: TestApp;
let apiKey: string;

beforeAll(async () => {
  upstream = new LLMock({ port: 0 });
  upstream.onMessage('hello', { content: 'Grüß Gott 😀', usage: USAGE });
  upstream.onMessage('weather', { toolCalls: [{ name: 'get_weather', arguments: '{"city":"Wien"}' }], usage: USAGE });
  upstream.onEmbedding('hello', { embedding: [0.25, -0.5] });
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
      ],
    },
  });
  const generated = await app.call('POST', '/key/generate', {});
  ({ key: apiKey } = (await generated.json()) as { key: string });
});

afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

const settings = () => ({ apiKey, maxRetries: 0, configuration: { baseURL: `${app.url}/v1` } });

describe.each(['of-openai', 'of-anthropic'])('LangChain on a model %s', (model) => {
  it('gets text, whole and streamed', async () => {
    const chat = new ChatOpenAI({ model, temperature: 0, ...settings() });
    const whole = await chat.invoke('hello');
    expect(whole.content).toBe('Grüß Gott 😀');
    expect(whole.usage_metadata).toMatchObject({ input_tokens: 11, output_tokens: 7, total_tokens: 18 });
    let text = '';
    for await (const chunk of await chat.stream('hello')) text += chunk.text;
    expect(text).toBe('Grüß Gott 😀');
  });

  it('calls a tool', async () => {
    const parameters = { type: 'object', properties: { city: { type: 'string' } } };
    const chat = new ChatOpenAI({ model, ...settings() }).bindTools([
      { type: 'function', function: { name: 'get_weather', parameters } },
    ]);
    const answer = await chat.invoke('weather');
    expect(answer.tool_calls).toMatchObject([{ name: 'get_weather', args: { city: 'Wien' } }]);
  });
});

it('LangChain gets embeddings', async () => {
  const embeddings = new OpenAIEmbeddings({ model: 'of-openai', encodingFormat: 'float', ...settings() });
  expect(await embeddings.embedQuery('hello')).toEqual([0.25, -0.5]);
});
