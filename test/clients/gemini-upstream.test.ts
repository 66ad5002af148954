import { LLMock } from '@copilotkit/aimock';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/start-app.ts';

const CREDENTIAL = 'google-credential-0123456789';
const TOOLS: OpenAI.ChatCompletionTool[] = [
  {
    type: 'function',
    function: {
      name: 'get_weather',
      parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    },
  },
];
const USAGE = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };

let upstream: LLMock;
let app: TestApp;
let openai: OpenAI;

beforeAll(async () => {
  upstream = new LLMock({ port: 0 });
  upstream.onMessage('hello', { content: 'Grüß Gott 😀', usage: USAGE });
  upstream.onMessage('weather', { toolCalls: [{ name: 'get_weather', arguments: '{"city":"Wien"}' }], usage: USAGE });
  await upstream.start();
  app = await startApp({
    config: {
      model_list: [
        {
          model_name: 'flash',
          litellm_params: { model: 'gemini/gemini-2.5-flash', api_base: upstream.url, api_key: CREDENTIAL },
        },
      ],
    },
  });
  const generated = await app.call('POST', '/key/generate', {});
  const { key } = (await generated.json()) as { key: string };
  openai = new OpenAI({ apiKey: key, baseURL: `${app.url}/v1`, maxRetries: 0 });
});

afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

const ask = (content: string) => ({ model: 'flash', messages: [{ role: 'user' as const, content }] });

describe("OpenAI's SDK with a model of Google", () => {
  it('gets text', async () => {
    const answer = await openai.chat.completions.create({ ...ask('hello'), temperature: 0.5 });
    expect(answer).toMatchObject({
      object: 'chat.completion',
      model: 'flash',
      choices: [{ message: { role: 'assistant', content: 'Grüß Gott 😀' }, finish_reason: 'stop' }],
      usage: USAGE,
    });
    const upstreamRequest = upstream.getLastRequest();
    expect(upstreamRequest?.path).toContain('/v1beta/models/gemini-2.5-flash:generateContent');
    expect(Object.keys(upstreamRequest?.headers ?? {})).toContain('x-goog-api-key');
    expect(upstreamRequest?.headers['authorization']).toBeUndefined();
  });

  it('gets text as a stream, with the usage at its end', async () => {
    const stream = await openai.chat.completions.create({
      ...ask('hello'),
      stream: true,
      stream_options: { include_usage: true },
    });
    let text = '';
    const reasons: string[] = [];
    let usage: unknown;
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? '';
      const reason = chunk.choices[0]?.finish_reason;
      if (reason) reasons.push(reason);
      usage = chunk.usage ?? usage;
    }
    expect({ text, reasons }).toEqual({ text: 'Grüß Gott 😀', reasons: ['stop'] });
    expect(usage).toMatchObject(USAGE);
  });

  it.each([false, true])('calls a tool, streamed: %s', async (stream) => {
    const body = { ...ask('weather'), tools: TOOLS };
    const message = stream
      ? await openai.chat.completions.stream(body).finalChatCompletion()
      : await openai.chat.completions.create(body);
    expect(message.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: { tool_calls: [{ type: 'function', function: { name: 'get_weather', arguments: '{"city":"Wien"}' } }] },
    });
  });

  it("gets the message of Google's error", async () => {
    upstream.nextRequestError(429, { message: 'Quota exceeded', type: 'RESOURCE_EXHAUSTED' });
    await expect(openai.chat.completions.create(ask('hello'))).rejects.toMatchObject({
      status: 429,
      message: expect.stringContaining('GeminiException - Quota exceeded'),
    });
  });
});
