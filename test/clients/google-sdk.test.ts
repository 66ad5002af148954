import { ApiError, FunctionCallingConfigMode, GoogleGenAI, type GenerateContentResponse } from '@google/genai';
import { LLMock } from '@copilotkit/aimock';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/start-app.ts';

const USAGE = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };
const TOOLS = [
  {
    functionDeclarations: [
      {
        name: 'get_weather',
        parametersJsonSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
      },
    ],
  },
];

let upstream: LLMock;
let app: TestApp;
let google: GoogleGenAI;

beforeAll(async () => {
  upstream = new LLMock({ port: 0 });
  upstream.onMessage('hello', { content: 'Grüß Gott 😀', usage: USAGE });
  upstream.onMessage('weather', { toolCalls: [{ name: 'get_weather', arguments: '{"city":"Wien"}' }], usage: USAGE });
  upstream.onMessage('think', { content: 'Done', reasoning: 'Let me see', usage: USAGE });
  await upstream.start();
  app = await startApp({
    config: {
      model_list: [
        { model_name: 'flash', litellm_params: { model: 'gemini/g', api_base: upstream.url, api_key: 'k' } },
        { model_name: 'gpt', litellm_params: { model: 'openai/o', api_base: `${upstream.url}/v1`, api_key: 'k' } },
      ],
    },
  });
  const generated = await app.call('POST', '/key/generate', {});
  const { key } = (await generated.json()) as { key: string };
  google = new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: app.url, apiVersion: 'v1beta' } });
});

afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

async function collect(stream: AsyncGenerator<GenerateContentResponse>): Promise<readonly GenerateContentResponse[]> {
  const chunks: GenerateContentResponse[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks;
}

it("Google's SDK reads a stored interaction, and deletes it", async () => {
  const { id, steps } = await google.interactions.create({ model: 'flash', input: 'hello' });
  expect(await google.interactions.get(id)).toMatchObject({ id, steps });
  await google.interactions.delete(id);
  await expect(google.interactions.get(id)).rejects.toMatchObject({ statusCode: 404 });
});

describe.each(['flash', 'gpt'])("Google's SDK on the model %s", (model) => {
  const COUNTS = { promptTokenCount: 11, candidatesTokenCount: 7, totalTokenCount: 18 };

  it('gets an interaction, whole and streamed', async () => {
    const whole = await google.interactions.create({ model, input: 'hello' });
    expect(whole).toMatchObject({ status: 'completed', usage: { total_input_tokens: 11, total_output_tokens: 7 } });
    expect(whole.steps).toEqual([{ type: 'model_output', content: [{ type: 'text', text: 'Grüß Gott 😀' }] }]);
    const events: string[] = [];
    let words = '';
    for await (const event of await google.interactions.create({ model, input: 'hello', stream: true })) {
      events.push(event.event_type);
      if (event.event_type === 'step.delta' && event.delta.type === 'text') words += event.delta.text;
    }
    expect([words, events.at(0), events.at(-1)]).toEqual([
      'Grüß Gott 😀',
      'interaction.created',
      'interaction.completed',
    ]);
  });

  it('gets text', async () => {
    const answer = await google.models.generateContent({
      model,
      contents: 'hello',
      config: { systemInstruction: 'Be brief.', temperature: 0.1, maxOutputTokens: 50 },
    });
    expect(answer.text).toBe('Grüß Gott 😀');
    expect(answer.usageMetadata).toMatchObject(COUNTS);
    expect(answer.candidates?.[0]?.finishReason).toBe('STOP');
  });

  it('gets the same text as a stream', async () => {
    const chunks = await collect(await google.models.generateContentStream({ model, contents: 'hello' }));
    expect(chunks.map(({ text }) => text ?? '').join('')).toBe('Grüß Gott 😀');
    expect(chunks.at(-1)?.usageMetadata).toMatchObject(COUNTS);
    expect(chunks.at(-1)?.candidates?.[0]?.finishReason).toBe('STOP');
  });

  it('gets a function call, and sends its result', async () => {
    const config = {
      tools: TOOLS,
      toolConfig: {
        functionCallingConfig: { mode: FunctionCallingConfigMode.ANY, allowedFunctionNames: ['get_weather'] },
      },
    };
    const whole = await google.models.generateContent({ model, contents: 'weather', config });
    const chunks = await collect(await google.models.generateContentStream({ model, contents: 'weather', config }));
    for (const calls of [whole.functionCalls, chunks.flatMap(({ functionCalls }) => functionCalls ?? [])])
      expect(calls).toMatchObject([{ name: 'get_weather', args: { city: 'Wien' } }]);
    const modelTurn = whole.candidates?.[0]?.content;
    const result = { functionResponse: { name: 'get_weather', response: { output: '18 degrees' } } };
    const contents = [
      { role: 'user', parts: [{ text: 'weather' }] },
      ...(modelTurn ? [modelTurn] : []),
      { role: 'user', parts: [result] },
    ];
    await google.models.generateContent({ model, contents, config: { tools: TOOLS } });
    expect(upstream.getLastRequest()?.body?.messages).toMatchObject([
      { role: 'user', content: 'weather' },
      { role: 'assistant', tool_calls: [{ function: { name: 'get_weather' } }] },
      { role: 'tool', content: expect.stringContaining('18 degrees') },
    ]);
  });

  it('gets thoughts separate from text', async () => {
    const answer = await google.models.generateContent({
      model,
      contents: 'think',
      config: { thinkingConfig: { includeThoughts: true, thinkingBudget: 1024 } },
    });
    expect(answer.text).toBe('Done');
    expect(answer.candidates?.[0]?.content?.parts?.filter(({ thought }) => thought).map(({ text }) => text)).toEqual([
      'Let me see',
    ]);
  });

  it('gets the message of an error', async () => {
    upstream.nextRequestError(429, { message: 'Quota exceeded', type: 'RESOURCE_EXHAUSTED' });
    const refused = google.models.generateContent({ model, contents: 'hello' });
    await expect(refused).rejects.toBeInstanceOf(ApiError);
    await expect(refused).rejects.toMatchObject({ status: 429, message: expect.stringContaining('Quota exceeded') });
  });
});

it("Google's SDK counts tokens, lists models and describes one", async () => {
  // These counts are estimates, because the mock reports none: 4 for a message, and one for 3.5 bytes of its text.
  for (const model of ['flash', 'gpt', 'demo'])
    expect((await google.models.countTokens({ model, contents: 'x'.repeat(35) })).totalTokens).toBe(14);
  const names: unknown[] = [];
  for await (const { name } of await google.models.list({ config: { pageSize: 2 } })) names.push(name);
  expect(names).toEqual(['models/flash', 'models/gpt', 'models/demo']);
  expect(await google.models.get({ model: 'gpt' })).toMatchObject({ name: 'models/gpt', displayName: 'gpt' });
  await expect(google.models.get({ model: 'nothing' })).rejects.toMatchObject({ status: 404 });
  await expect(google.models.countTokens({ model: 'nothing', contents: 'x' })).rejects.toMatchObject({ status: 404 });
});

it("Google's SDK reports an unconfigured model and an unknown key", async () => {
  await expect(google.models.generateContent({ model: 'nothing', contents: 'x' })).rejects.toMatchObject({
    status: 404,
  });
  const stranger = new GoogleGenAI({ apiKey: 'sk-unknown', httpOptions: { baseUrl: app.url, apiVersion: 'v1beta' } });
  await expect(stranger.models.generateContent({ model: 'flash', contents: 'x' })).rejects.toMatchObject({
    status: 401,
    message: expect.stringContaining('UNAUTHENTICATED'),
  });
});
