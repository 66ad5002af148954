import Anthropic from '@anthropic-ai/sdk';
import { LLMock } from '@copilotkit/aimock';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/start-app.ts';

const CREDENTIAL = 'sk-upstream-credential-0123456789';
const USAGE = { prompt_tokens: 1000, completion_tokens: 200, input_tokens: 1000, output_tokens: 200 };

let upstream: LLMock;
let app: TestApp;
let anthropic: Anthropic;
let openai: OpenAI;

beforeAll(async () => {
  upstream = new LLMock({ port: 0 });
  upstream.onMessage('hello', { content: 'Hello from upstream, Zoë 😀', usage: USAGE });
  upstream.onMessage('weather', {
    toolCalls: [{ name: 'get_weather', arguments: JSON.stringify({ city: 'Oslo' }), id: 'toolu_1' }],
    usage: USAGE,
  });
  await upstream.start();
  const priceAndKey = { api_key: CREDENTIAL, input_cost_per_token: 0.001, output_cost_per_token: 0.01 };
  app = await startApp({
    config: {
      litellm_settings: { cache: true, cache_params: { type: 'local' } },
      model_list: [
        {
          model_name: 'claude',
          litellm_params: { model: 'anthropic/claude-opus-4-8', api_base: upstream.url, ...priceAndKey },
        },
        {
          model_name: 'gpt',
          litellm_params: { model: 'openai/gpt-4o', api_base: `${upstream.url}/v1`, ...priceAndKey },
        },
      ],
    },
  });
  anthropic = new Anthropic({ apiKey: app.adminKey, baseURL: app.url, maxRetries: 0 });
  openai = new OpenAI({ apiKey: app.adminKey, baseURL: `${app.url}/v1`, maxRetries: 0 });
});
afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

/** Runs a call twice. Returns both results and the number of requests that the upstream received. */
async function twice<Result>(call: () => Promise<Result>) {
  const before = upstream.getRequests().length;
  const first = await call();
  const second = await call();
  return { first, second, sent: upstream.getRequests().length - before };
}

describe.each(['gpt', 'claude'])('cached answers of %s', (model) => {
  it('OpenAI: a chat and its stream, with tool calls', async () => {
    const messages = [{ role: 'user' as const, content: 'weather' }];
    const whole = await twice(() => openai.chat.completions.create({ model, messages }));
    expect(whole.sent).toBe(1);
    expect(whole.second).toEqual(whole.first);
    const streamed = await twice(async () => {
      const chunks = [];
      for await (const chunk of await openai.chat.completions.create({ model, messages, stream: true }))
        chunks.push(chunk);
      return chunks;
    });
    expect(streamed.sent).toBe(1);
    expect(streamed.first.length).toBeGreaterThan(1);
    expect(streamed.second).toEqual(streamed.first);
  });

  it('OpenAI: a response and its stream', async () => {
    const whole = await twice(() => openai.responses.create({ model, input: 'hello' }));
    expect(whole.sent).toBe(1);
    expect(whole.second.output_text).toBe('Hello from upstream, Zoë 😀');
    expect(whole.second.id).toBe(whole.first.id);
    const streamed = await twice(async () => {
      const events = [];
      for await (const event of await openai.responses.create({ model, input: 'hello', stream: true }))
        events.push(event);
      return events;
    });
    expect(streamed.sent).toBe(1);
    expect(streamed.second.at(-1)?.type).toBe('response.completed');
    expect(streamed.second).toEqual(streamed.first);
  });

  it('Anthropic: a message and its stream', async () => {
    const messages = [{ role: 'user' as const, content: 'hello' }];
    const whole = await twice(() => anthropic.messages.create({ model, max_tokens: 99, messages }));
    expect(whole.sent).toBe(1);
    expect(whole.second).toEqual(whole.first);
    const streamed = await twice(() => anthropic.messages.stream({ model, max_tokens: 99, messages }).finalMessage());
    expect(streamed.sent).toBe(1);
    expect(streamed.second.content).toEqual([expect.objectContaining({ text: 'Hello from upstream, Zoë 😀' })]);
    expect(streamed.second).toEqual(streamed.first);
  });
});
