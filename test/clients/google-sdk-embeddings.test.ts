import { GoogleGenAI } from '@google/genai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../support/fault-server.ts';
import { startApp, type TestApp } from '../support/start-app.ts';

const VECTORS = [
  [0.5, -0.25],
  [1, 2],
];

let upstream: FaultServer;
let app: TestApp;
const sdks = new Map<string, GoogleGenAI>();

beforeAll(async () => {
  upstream = await startFaultServer();
  upstream.answer((response, _socket, { body }) => {
    const { input, model } = JSON.parse(body) as { input: readonly string[]; model: string };
    const data = input.map((_text, index) => ({ object: 'embedding', index, embedding: VECTORS[index] }));
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ object: 'list', model, data, usage: { prompt_tokens: 4, total_tokens: 4 } }));
  });
  const params = { model: 'openai/text-embedding-3-small', api_base: `${upstream.url}/v1`, api_key: 'k' };
  app = await startApp({
    config: {
      model_list: [
        { model_name: 'vectors', litellm_params: params },
        { model_name: 'demo', litellm_params: { model: 'demo' } },
      ],
    },
  });
  for (const apiVersion of ['v1', 'v1beta'])
    sdks.set(apiVersion, new GoogleGenAI({ apiKey: app.adminKey, httpOptions: { baseUrl: app.url, apiVersion } }));
});

afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

function sdk(version: string): GoogleGenAI {
  const found = sdks.get(version);
  if (found === undefined) throw new Error(`There is no SDK for ${version}.`);
  return found;
}

async function post(path: string, body: unknown) {
  const response = await app.call('POST', path, body);
  return {
    status: response.status,
    body: (await response.json()) as unknown,
    dropped: response.headers.get('x-gateway-dropped-params'),
  };
}

describe.each(['v1', 'v1beta'])("Google's SDK at %s", (version) => {
  it('embeds several contents with a model of another provider', async () => {
    const { embeddings } = await sdk(version).models.embedContent({
      model: 'vectors',
      contents: ['one', 'two'],
      config: { outputDimensionality: 2 },
    });
    expect(embeddings?.map(({ values }) => values)).toEqual(VECTORS);
    expect(JSON.parse(upstream.received.at(-1)?.body ?? '')).toEqual({
      model: 'text-embedding-3-small',
      input: ['one', 'two'],
      dimensions: 2,
    });
  });

  it("lists models in Google's format, with their capabilities", async () => {
    const listed = [];
    for await (const model of await sdk(version).models.list()) listed.push(model);
    expect(listed).toMatchObject([
      { name: 'models/vectors', supportedActions: ['embedContent', 'batchEmbedContents'] },
      { name: 'models/demo', supportedActions: ['generateContent', 'countTokens'] },
    ]);
    expect(await sdk(version).models.get({ model: 'vectors' })).toMatchObject({ name: 'models/vectors' });
  });

  it('generates content', async () => {
    const { text } = await sdk(version).models.generateContent({ model: 'demo', contents: 'Hello' });
    expect(text).toMatch(/Hello$/);
  });
});

describe('embedContent and batchEmbedContents', () => {
  const content = { parts: [{ text: 'one' }, { text: 'two' }] };

  it('embed one content, and name the dropped fields', async () => {
    const embedRequest = { content, taskType: 'RETRIEVAL_QUERY' };
    expect(await post('/v1beta/models/vectors:embedContent', embedRequest)).toEqual({
      status: 200,
      body: { embedding: { values: VECTORS[0] }, usageMetadata: { promptTokenCount: 4, totalTokenCount: 4 } },
      dropped: 'taskType',
    });
    // The parts of one content are joined to one text.
    expect(JSON.parse(upstream.received.at(-1)?.body ?? '')).toMatchObject({ input: ['one\ntwo'] });
  });

  it('read the settings that newer clients send', async () => {
    const embedContentConfig = { outputDimensionality: 2, title: 't' };
    const embedRequest = { requests: [{ model: 'models/vectors', content, embedContentConfig }] };
    const { dropped } = await post('/v1/models/vectors:batchEmbedContents', embedRequest);
    expect(dropped).toBe('title');
    expect(JSON.parse(upstream.received.at(-1)?.body ?? '')).toMatchObject({ dimensions: 2 });
  });

  it.each([
    ['embedContent', {}, "Invalid value for 'content': it must be an object with parts."],
    [
      'embedContent',
      { content: { parts: [{ inlineData: {} }] } },
      "Invalid value for 'content.parts': it must be an array of texts.",
    ],
    ['batchEmbedContents', {}, "Invalid value for 'requests': it must be an array of objects."],
    [
      'batchEmbedContents',
      { requests: [] },
      "Invalid value for 'requests': it must be an array of at least one request.",
    ],
    [
      'batchEmbedContents',
      { requests: [{ content }, { content, outputDimensionality: 2 }] },
      "Invalid value for 'requests': it must be an array of requests with the same outputDimensionality.",
    ],
  ])('refuse an invalid body of %s with 400: %j', async (method, body, message) => {
    expect(await post(`/v1beta/models/vectors:${method}`, body)).toMatchObject({
      status: 400,
      body: { error: { code: 400, message, status: 'INVALID_ARGUMENT' } },
    });
  });
});
