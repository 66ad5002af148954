import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { newTrace, spansIn } from '../inference/trace-spans.ts';
import { echoRequests, newKey, sendAs } from './targets.ts';
import { POLLING } from '../../support/polling.ts';

const JSON_TYPE = { 'content-type': 'application/json' };

let app: TestApp;
let target: FaultServer;
let key: string;

beforeAll(async () => {
  target = await startFaultServer();
  const names = ['OPENAI', 'ANTHROPIC', 'GEMINI', 'COHERE', 'MISTRAL', 'AZURE', 'OPENROUTER', 'DEEPGRAM', 'FAL_AI'];
  const env = {
    ...Object.fromEntries(
      names.flatMap((name) => [
        [`${name}_API_BASE`, target.url],
        [`${name}_API_KEY`, 'k'],
      ]),
    ),
    AWS_BEARER_TOKEN_BEDROCK: 'k',
    AWS_BEDROCK_RUNTIME_ENDPOINT: target.url,
  };
  app = await startApp({ env });
  key = await newKey(app);
  // The first query builds the graph, which is slow. No test has to wait for that.
  await (await app.call('POST', '/graphql', { query: '{ __typename }' })).text();
});

beforeEach(() => echoRequests(target));

afterAll(async () => {
  await app.stop();
  await target.stop();
});

/** Makes the target answer every request with this content type and body. */
function answerWith(type: string, body: string | Buffer, headers: Record<string, string> = {}): void {
  target.answer((response) => {
    response.writeHead(200, { 'content-type': type, ...headers });
    response.end(body);
  });
}

/** Sends a call and reads the answer. Returns the spend row of the call. */
async function rowOf(path: string, body: BodyInit, type: string | null = 'application/json') {
  const { traceId, headers } = newTrace();
  const requestHeaders = type === null ? headers : { ...headers, 'content-type': type };
  const response = await sendAs(app, key, { method: 'POST', path, body, headers: requestHeaders });
  await response.arrayBuffer();
  return await rowIn(traceId);
}

/**
 * Spend row of the first span of a trace. Polls, because the records of the first call of a process can be late. Throws
 * when the trace is still missing at the deadline.
 */
async function rowIn(traceId: string): Promise<Record<string, unknown> | undefined> {
  const spans = await vi.waitFor(() => spansIn(app, traceId), POLLING);
  return (spans as readonly { readonly spendRow: Record<string, unknown> }[])[0]?.spendRow;
}

const json = (value: unknown): string => JSON.stringify(value);
const events = (...values: readonly unknown[]): string => values.map((value) => `data: ${json(value)}\n\n`).join('');
const lines = (...values: readonly unknown[]): string => values.map((value) => `${json(value)}\n`).join('');

const OPENAI_USAGE = { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 };
const CHOICES = [{ index: 0, message: { role: 'assistant', content: 'x' }, finish_reason: 'stop' }];

describe('the usage in an answer is priced', () => {
  const haikuPath = '/bedrock/model/anthropic.claude-haiku-4-5-20251001-v1:0';
  // Costs are usage times list price. With `gpt-4o`: 1000 × 2.50 USD / 10⁶ + 100 × 10 USD / 10⁶ = 0.0035 USD.
  it.each([
    [
      'a response',
      '/openai_passthrough/v1/responses',
      { model: 'gpt-4o', input: 'x' },
      { id: 'r', object: 'response', model: 'gpt-4o', output: [], usage: { input_tokens: 1000, output_tokens: 100 } },
      '0.0035',
    ],
    [
      'embeddings',
      '/openai/v1/embeddings',
      { model: 'text-embedding-3-small', input: 'x' },
      { object: 'list', data: [{ embedding: [1] }], usage: { prompt_tokens: 1000, total_tokens: 1000 } },
      '0.00002',
    ],
    [
      'images',
      '/openai/v1/images/generations',
      { model: 'gpt-image-1', prompt: 'x' },
      {
        created: 1,
        data: [{ b64_json: 'AA==' }],
        usage: { input_tokens: 100, output_tokens: 1000, input_tokens_details: { text_tokens: 100, image_tokens: 0 } },
      },
      '0.0405',
    ],
    [
      'the characters of a speech',
      '/openai/v1/audio/speech',
      { model: 'tts-1', input: 'x'.repeat(1000), voice: 'alloy' },
      { bytes: 'of sound' },
      '0.015',
    ],
    [
      'an unknown path whose answer has `usage` in a known format',
      '/openai/v1/other/thing',
      { model: 'gpt-4o' },
      { id: 'x', usage: OPENAI_USAGE },
      '0.0035',
    ],
    [
      'a deployment of Azure, with the price of the model in the answer',
      '/azure/openai/deployments/mine/chat/completions?api-version=1',
      { messages: [] },
      { id: 'c', object: 'chat.completion', model: 'gpt-4o', choices: CHOICES, usage: OPENAI_USAGE },
      '0.0035',
    ],
    [
      'the cost that OpenRouter reports',
      '/openrouter/v1/chat/completions',
      { model: 'openai/gpt-4o', messages: [] },
      { id: 'c', choices: CHOICES, usage: { ...OPENAI_USAGE, cost: 0.5 } },
      '0.5',
    ],
    [
      'a chat of Cohere',
      '/cohere/v1/chat',
      { model: 'command-r-08-2024', message: 'x' },
      { text: 'x', meta: { billed_units: { input_tokens: 1000, output_tokens: 100 } } },
      '0.00021',
    ],
    [
      'searches of Cohere',
      '/cohere/v2/rerank',
      { model: 'rerank-v3.5', query: 'x', documents: [] },
      { results: [], meta: { billed_units: { search_units: 3 } } },
      '0.006',
    ],
    [
      'embeddings of Cohere',
      '/cohere/v2/embed',
      { model: 'embed-english-v3.0', texts: ['x'] },
      { embeddings: { float: [[1]] }, meta: { billed_units: { input_tokens: 1000 } } },
      '0.0001',
    ],
    [
      'a completion of Mistral',
      '/mistral/v1/fim/completions',
      { model: 'mistral-small-latest', prompt: 'x' },
      { id: 'c', choices: CHOICES, usage: OPENAI_USAGE },
      '0.00021',
    ],
    [
      'generated content as an array',
      '/gemini/v1beta/x/models/gemini-2.5-flash:streamGenerateContent',
      { contents: [] },
      [
        { candidates: [{}], usageMetadata: { promptTokenCount: 1000 } },
        { candidates: [{}], usageMetadata: { promptTokenCount: 1000, candidatesTokenCount: 100 } },
      ],
      '0.00055',
    ],
    [
      'a conversation of Bedrock',
      `${haikuPath}/converse`,
      { messages: [] },
      { output: {}, usage: { inputTokens: 1000, outputTokens: 100, totalTokens: 1100 } },
      '0.0015',
    ],
    [
      'an invocation of Bedrock',
      `${haikuPath}/invoke`,
      { messages: [] },
      { content: [], usage: { input_tokens: 1000, output_tokens: 100 } },
      '0.0015',
    ],
    [
      'embeddings of Bedrock',
      '/bedrock/model/amazon.titan-embed-text-v2:0/invoke',
      { inputText: 'x' },
      { embedding: [1], inputTextTokenCount: 1000 },
      '0.00002',
    ],
    [
      'the seconds of a recording of Deepgram',
      '/deepgram/v1/listen?model=nova-3',
      { url: 'https://example.com/a.wav' },
      { metadata: { duration: 100 }, results: {} },
      '0.007167',
    ],
    ['the images of Fal', '/fal_ai/fal-ai/flux/schnell', { prompt: 'x' }, { images: [{ url: 'u' }] }, '0.003'],
    [
      'an image of Fal in the requested resolution',
      '/fal_ai/fal-ai/nano-banana-2',
      { prompt: 'x', resolution: '4K' },
      { images: [{ url: 'u' }] },
      '0.16',
    ],
    [
      'images of Fal in the size of the answer, not in another requested one',
      '/fal_ai/fal-ai/nano-banana-2',
      { prompt: 'x', num_images: 2, resolution: '1K' },
      {
        images: [
          { url: 'u', width: 2752, height: 1536 },
          { url: 'v', width: 2752, height: 1536 },
        ],
      },
      '0.24',
    ],
    [
      'an image of Fal in the requested quality',
      '/fal_ai/openai/gpt-image-2',
      { prompt: 'x', quality: 'low' },
      { images: [{ url: 'u', width: 1024, height: 1024 }] },
      '0.006',
    ],
    [
      'an image of Fal in a size that is not in the catalog, at the price of the model',
      '/fal_ai/openai/gpt-image-2',
      { prompt: 'x', quality: 'low' },
      { images: [{ url: 'u', width: 640, height: 640 }] },
      '0.145',
    ],
  ])('%s', async (_name, path, body, answer, costUsd) => {
    answerWith('application/json', json(answer));
    expect(await rowOf(path, json(body))).toMatchObject({ costUsd, status: 'SUCCESS' });
  });

  it.each([
    [
      'text/event-stream',
      '/openai/v1/chat/completions',
      { model: 'gpt-4o', stream: true },
      events(
        { id: 'c', choices: [{ index: 0, delta: { content: 'x' } }] },
        { id: 'c', choices: [], usage: OPENAI_USAGE },
      ),
      '0.0035',
    ],
    [
      'text/event-stream',
      '/anthropic/v1/other',
      { model: 'claude-sonnet-4-5' },
      events(
        {
          type: 'message_start',
          message: { model: 'claude-sonnet-4-5', usage: { input_tokens: 1000, output_tokens: 1 } },
        },
        { type: 'message_delta', usage: { output_tokens: 100 } },
      ),
      '0.0045',
    ],
    [
      'text/event-stream',
      '/cohere/v2/chat',
      { model: 'command-r-08-2024', stream: true },
      events(
        { type: 'message-start', id: 'm', delta: { message: { role: 'assistant' } } },
        { type: 'message-end', delta: { usage: { tokens: { input_tokens: 1000, output_tokens: 100 } } } },
      ),
      '0.00021',
    ],
    [
      'application/stream+json',
      '/cohere/v1/chat',
      { model: 'command-r-08-2024', stream: true },
      lines(
        { event_type: 'text-generation', text: 'x' },
        {
          event_type: 'stream-end',
          response: { meta: { billed_units: { input_tokens: 1000, output_tokens: 100 } } },
        },
      ),
      '0.00021',
    ],
  ])('a stream of %s at %s', async (type, path, body, answer, costUsd) => {
    answerWith(type, answer);
    expect(await rowOf(path, json(body))).toMatchObject({ costUsd, status: 'SUCCESS' });
  });

  it('token counts in headers of Bedrock, if the body has no usage', async () => {
    const counts = { 'x-amzn-bedrock-input-token-count': '1000', 'x-amzn-bedrock-output-token-count': '100' };
    answerWith('application/json', '{"generation":"x"}', counts);
    const path = '/bedrock/model/anthropic.claude-haiku-4-5-20251001-v1:0/invoke';
    expect(await rowOf(path, '{"prompt":"x"}')).toMatchObject({ costUsd: '0.0015' });
  });

  it('a transcription, with the price of the model in its form', async () => {
    const form = new FormData();
    form.set('model', 'whisper-1');
    form.set('file', new Blob(['RIFF']), 'a.wav');
    answerWith('application/json', json({ text: 'x', duration: 100 }));
    expect(await rowOf('/openai/v1/audio/transcriptions', form, null)).toMatchObject({
      modelGroup: 'whisper-1',
      costUsd: '0.01',
    });
  });
});

describe('tokens are estimated', () => {
  it('for a stream of a known format without usage: an output token for each event, an input token for every 4 request bytes', async () => {
    const chunk = { id: 'c', choices: [{ index: 0, delta: { content: 'x' } }] };
    answerWith('text/event-stream', events(...Array.from({ length: 100 }, () => chunk)));
    const body = json({ model: 'gpt-4o', stream: true, messages: [{ role: 'user', content: 'x'.repeat(3_940) }] });
    expect(await rowOf('/openai/v1/chat/completions', body)).toMatchObject({
      usage: { inputTokens: Math.ceil(body.length / 4), outputTokens: 100 },
      status: 'SUCCESS',
    });
  });

  it('if the caller disconnects before the usage arrives', async () => {
    const { traceId, headers } = newTrace();
    target.answer((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(events({ id: 'c', choices: [{ index: 0, delta: { content: 'x' } }] }));
    });
    const disconnect = new AbortController();
    const response = await fetch(`${app.url}/openai/v1/chat/completions`, {
      method: 'POST',
      headers: { ...JSON_TYPE, ...headers, authorization: `Bearer ${key}` },
      body: json({ model: 'gpt-4o', stream: true, messages: [] }),
      signal: disconnect.signal,
    });
    await response.body?.getReader().read();
    disconnect.abort();
    await target.nextDisconnect();
    const row = await rowIn(traceId);
    expect(row).toMatchObject({ usage: { outputTokens: 1 } });
    expect(Number(row?.['costUsd'])).toBeGreaterThan(0);
  });
});

describe('a call with an unknown cost', () => {
  it('has no cost in its spend row, and is counted in lensgate_unpriced_calls_total', async () => {
    expect(await rowOf('/openai/v1/batches', '{"input_file_id":"f"}')).toMatchObject({ costUsd: null });
    const metrics = await (await app.call('GET', '/metrics')).text();
    expect(metrics).toMatch(/^lensgate_unpriced_calls_total\{provider="openai"\} [1-9]/m);
  });
});
