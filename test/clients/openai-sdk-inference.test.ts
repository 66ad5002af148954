import { LLMock } from '@copilotkit/aimock';
import OpenAI, { AzureOpenAI } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/start-app.ts';

const CREDENTIAL = 'sk-upstream-credential-0123456789';
const VECTOR = [0.25, -0.5, 0.125];
const SOUND = Buffer.from([0xff, 0xfb, 0x90, 0x00, 0xc3, 0x28]);

let upstream: LLMock;
let app: TestApp;
let openai: OpenAI;
let key: string;

beforeAll(async () => {
  upstream = new LLMock({ port: 0 });
  upstream.onEmbedding('hello', { embedding: VECTOR });
  upstream.onModerate('harm', { flagged: true, categories: { violence: true }, category_scores: { violence: 0.9 } });
  upstream.onSpeech('hello', { audio: SOUND.toString('base64'), format: 'mp3' });
  upstream.onRerank('cat', [{ index: 1, relevance_score: 0.75 }]);
  await upstream.start();
  app = await startApp({
    config: {
      model_list: [
        {
          model_name: 'vectors',
          litellm_params: {
            model: 'openai/text-embedding-3-small',
            api_base: `${upstream.url}/v1`,
            api_key: CREDENTIAL,
            input_cost_per_token: 0.00000002,
          },
        },
        {
          model_name: 'watchman',
          litellm_params: {
            model: 'openai/omni-moderation-latest',
            api_base: `${upstream.url}/v1`,
            api_key: CREDENTIAL,
          },
        },
        {
          model_name: 'voice',
          litellm_params: { model: 'openai/tts-1', api_base: `${upstream.url}/v1`, api_key: CREDENTIAL },
        },
        {
          model_name: 'order',
          litellm_params: { model: 'cohere/rerank-v3.5', api_base: `${upstream.url}/v2`, api_key: CREDENTIAL },
        },
      ],
    },
  });
  const made = await app.call('POST', '/key/generate', { key_alias: 'sdk' });
  ({ key } = (await made.json()) as { key: string });
  openai = new OpenAI({ apiKey: key, baseURL: `${app.url}/v1`, maxRetries: 0 });
});

afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

const dot = (left: readonly number[], right: readonly number[]): number =>
  left.reduce((sum, value, index) => sum + value * (right[index] ?? 0), 0);

describe('embeddings of the official SDK', () => {
  it('are numbers with the default encoding of the SDK, base64', async () => {
    const { data, response } = await openai.embeddings.create({ model: 'vectors', input: 'hello' }).withResponse();
    expect(data).toMatchObject({ object: 'list', model: 'vectors', data: [{ index: 0, embedding: VECTOR }] });
    expect(upstream.getRequests().at(-1)?.path).toBe('/v1/embeddings');
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'x-litellm-model-id': expect.stringMatching(/^vectors#[0-9a-f]{12}$/),
      'x-litellm-model-group': 'vectors',
      'x-litellm-call-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
  });

  it('are numbers with the encoding `float`', async () => {
    const { data } = await openai.embeddings.create({
      model: 'vectors',
      input: ['hello', 'hello again'],
      encoding_format: 'float',
    });
    expect(data.map(({ index, embedding }) => [index, embedding])).toEqual([
      [0, VECTOR],
      [1, VECTOR],
    ]);
  });

  it('by the demo model are the same in both encodings, and more similar for texts with common words', async () => {
    const input = ['The cat sat on the mat', 'A cat on a mat', 'Quarterly revenue grew', ''];
    const fromBase64 = await openai.embeddings.create({ model: 'demo', input });
    const fromFloats = await openai.embeddings.create({ model: 'demo', input, encoding_format: 'float' });
    expect(fromFloats).toEqual(fromBase64);
    expect(fromFloats).toMatchObject({
      notice: expect.stringContaining('built-in demo model of Lensgate'),
      model: 'demo',
      // The demo model counts one token per four characters of a text, rounded up: 6 + 4 + 6 + 0.
      usage: { prompt_tokens: 16, total_tokens: 16 },
    });
    const [sat, cat, revenue, nothing] = fromBase64.data.map(({ embedding }) => embedding);
    for (const vector of [sat, cat, revenue, nothing]) {
      expect(vector).toHaveLength(256);
      expect(dot(vector ?? [], vector ?? [])).toBeCloseTo(1, 5);
    }
    expect(dot(sat ?? [], cat ?? [])).toBeGreaterThan(dot(sat ?? [], revenue ?? []));
  });

  it('by the demo model accept token ids in place of texts', async () => {
    const { data, usage } = await openai.embeddings.create({ model: 'demo', input: [[1, 2, 3], [4]] });
    expect([data.length, usage]).toEqual([2, { prompt_tokens: 4, total_tokens: 4 }]);
    expect((await openai.embeddings.create({ model: 'demo', input: [1, 2, 3] })).data).toEqual(data.slice(0, 1));
  });

  it.each([
    ['dimensions', 64, '256 for the demo model'],
    ['encoding_format', 'int8', '"float" or "base64"'],
  ])('by the demo model are refused with an unsupported %s', async (field, value, wanted) => {
    await expect(openai.embeddings.create({ model: 'demo', input: 'x', [field]: value })).rejects.toMatchObject({
      status: 400,
      param: field,
      message: `400 /embeddings: Invalid type for parameter '${field}': it must be ${wanted}.`,
    });
  });

  it('fail with 400 for an input of a wrong type', async () => {
    await expect(openai.embeddings.create({ model: 'vectors', input: { a: 1 } as never })).rejects.toMatchObject({
      status: 400,
      param: 'input',
    });
  });
});

describe('completions of the official SDK', () => {
  /** 82 characters: 21 tokens of the demo model. The prompt `Hello` has 2. */
  const DEMO_TEXT = 'This is the built-in demo model of Lensgate, not a language model. You said: Hello';

  it('return one choice for each prompt', async () => {
    const answer = await openai.completions.create({ model: 'demo', prompt: ['Hello', 'Hello'] });
    expect(answer).toMatchObject({
      id: expect.stringMatching(/^cmpl-demo-/),
      object: 'text_completion',
      model: 'demo',
      choices: [0, 1].map((index) => ({ text: DEMO_TEXT, index, logprobs: null, finish_reason: 'stop' })),
      usage: { prompt_tokens: 4, completion_tokens: 42, total_tokens: 46 },
    });
  });

  it('stream the same choices, and end with the requested usage', async () => {
    const stream = await openai.completions.create({
      model: 'demo',
      prompt: 'Hello',
      stream: true,
      stream_options: { include_usage: true },
    });
    const chunks: OpenAI.Completion[] = [];
    for await (const chunk of stream) chunks.push(chunk);
    expect(chunks.map(({ choices }) => choices[0]?.text ?? '').join('')).toBe(DEMO_TEXT);
    expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe('stop');
    expect(chunks.at(-1)).toMatchObject({
      choices: [],
      usage: { prompt_tokens: 2, completion_tokens: 21, total_tokens: 23 },
    });
  });

  it('stream usage only on request', async () => {
    const stream = await openai.completions.create({ model: 'demo', prompt: 'Hello', stream: true });
    const usages: unknown[] = [];
    for await (const { usage } of stream) usages.push(usage ?? null);
    expect(new Set(usages)).toEqual(new Set([null]));
  });
});

describe('moderations of the official SDK', () => {
  it('are the scores of the upstream', async () => {
    const answer = await openai.moderations.create({ model: 'watchman', input: 'harm' });
    expect(answer).toMatchObject({
      model: 'watchman',
      results: [{ flagged: true, categories: { violence: true }, category_scores: { violence: 0.9 } }],
    });
  });

  it('without a model call omni-moderation-latest, which must exist', async () => {
    await expect(openai.moderations.create({ input: 'harm' })).rejects.toMatchObject({
      status: 400,
      param: null,
      message: expect.stringContaining('Invalid model name passed in model=omni-moderation-latest.'),
    });
  });
});

it('speech of the official SDK has the bytes of the upstream, at the price of the catalog', async () => {
  const response = await openai.audio.speech.create({ model: 'voice', voice: 'alloy', input: 'hello' });
  expect(Buffer.from(await response.arrayBuffer())).toEqual(SOUND);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'content-type': 'audio/mpeg',
    // Five characters at 0.000015 USD.
    'x-litellm-response-cost': '0.000075',
  });
});

describe('a reranking', () => {
  const rerank = (body: object): Promise<Response> => app.call('POST', '/v1/rerank', body);

  it('by an upstream is returned, and costs nothing without a number of searches', async () => {
    const response = await rerank({ model: 'order', query: 'cat', documents: ['dog', 'cat'] });
    expect(await response.json()).toMatchObject({ results: [{ index: 1, relevance_score: 0.75 }] });
    expect(upstream.getRequests().at(-1)?.path).toBe('/v2/rerank');
    // The price is per search, and this upstream reports no number of searches.
    expect(response.headers.get('x-litellm-response-cost')).toBe('0');
  });

  it('by the demo model ranks texts with common words first', async () => {
    const documents = ['Quarterly revenue grew', { text: 'A cat on a mat' }, 'The cat'];
    const response = await rerank({ model: 'demo', query: 'the cat', documents, top_n: 2 });
    const { results, ...otherMembers } = (await response.json()) as {
      results: { index: number; relevance_score: number }[];
    };
    expect(results.map(({ index }) => index)).toEqual([2, 1]);
    expect(results[0]?.relevance_score).toBeCloseTo(1, 5);
    expect(otherMembers).toMatchObject({
      notice: expect.stringContaining('built-in demo model of Lensgate'),
      // Query and documents: 2 + 6 + 4 + 2.
      usage: { total_tokens: 14 },
    });
  });
});

it("Azure's client of the official SDK finds its deployments", async () => {
  const settings = { apiKey: key, apiVersion: '2024-10-21', maxRetries: 0 };
  const azure = (deployment: string) => new AzureOpenAI({ ...settings, endpoint: app.url, deployment });
  const model = 'whatever the body says';
  const vectors = await azure('vectors').embeddings.create({ model, input: 'hello' });
  expect(vectors).toMatchObject({ model: 'vectors', data: [{ embedding: VECTOR }] });
  const text = await azure('demo').completions.create({ model, prompt: 'Hello' });
  const chat = await azure('demo').chat.completions.create({ model, messages: [{ role: 'user', content: 'Hello' }] });
  expect([text.model, chat.model]).toEqual(['demo', 'demo']);
  expect(text.choices[0]?.text).toContain('You said: Hello');
  expect(text.choices[0]?.text).toBe(chat.choices[0]?.message.content);
});
