import { LLMock } from '@copilotkit/aimock';
import OpenAI, { AzureOpenAI, toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/start-app.ts';

const CREDENTIAL = 'sk-upstream-credential-0123456789';
const PICTURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const SOUND = Buffer.from([0x52, 0x49, 0x46, 0x46, 0x00, 0xff]);

let upstream: LLMock;
let app: TestApp;
let openai: OpenAI;

beforeAll(async () => {
  upstream = new LLMock({ port: 0 });
  upstream.onImage('a cat', { image: { b64Json: PICTURE.toString('base64'), revisedPrompt: 'a fine cat' } });
  const transcribed = {
    transcription: {
      text: 'hello there',
      duration: 2.5,
      language: 'english',
      usage: {
        type: 'tokens',
        input_tokens: 14,
        input_token_details: { text_tokens: 4, audio_tokens: 10 },
        output_tokens: 5,
        total_tokens: 19,
      },
    },
  };
  upstream.onTranscription(transcribed);
  upstream.onTranslation(transcribed);
  await upstream.start();
  const params = { api_base: `${upstream.url}/v1`, api_key: CREDENTIAL };
  app = await startApp({
    config: {
      model_list: [
        { model_name: 'painter', litellm_params: { model: 'aiml/dall-e-3', ...params } },
        { model_name: 'sized', litellm_params: { model: 'fal_ai/openai/gpt-image-2', ...params } },
        { model_name: 'scribe', litellm_params: { model: 'openai/gpt-4o-mini-transcribe', ...params } },
        { model_name: 'whisper', litellm_params: { model: 'openai/whisper-1', ...params } },
      ],
    },
  });
  const made = await app.call('POST', '/key/generate', {});
  const { key } = (await made.json()) as { key: string };
  openai = new OpenAI({ apiKey: key, baseURL: `${app.url}/v1`, maxRetries: 0 });
});

afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

const costOf = (response: Response): string | null => response.headers.get('x-litellm-response-cost');
const sound = () => toFile(SOUND, 'hello.wav');

describe('images of the official SDK', () => {
  it('are generated, and priced by their size in the catalog', async () => {
    const body = { model: 'sized', prompt: 'a cat', size: '1024x1024', quality: 'low' } as const;
    const { data, response } = await openai.images.generate(body).withResponse();
    expect(data.data).toEqual([{ b64_json: PICTURE.toString('base64'), revised_prompt: 'a fine cat' }]);
    expect(costOf(response)).toBe('0.006');
  });

  it('are edited', async () => {
    const image = await toFile(PICTURE, 'cat.png', { type: 'image/png' });
    const { data, response } = await openai.images
      .edit({ model: 'painter', image: [image, image], prompt: 'a cat' })
      .withResponse();
    expect(data.data).toHaveLength(1);
    expect(costOf(response)).toBe('0.052');
  });

  it('have no variations where the upstream no longer offers them', async () => {
    const image = await toFile(PICTURE, 'cat.png');
    await expect(openai.images.createVariation({ model: 'painter', image })).rejects.toMatchObject({ status: 404 });
  });

  it("are found by Azure's client", async () => {
    const settings = { apiKey: openai.apiKey ?? '', apiVersion: '2024-10-21', maxRetries: 0 };
    const azure = new AzureOpenAI({ ...settings, endpoint: app.url, deployment: 'painter' });
    expect((await azure.images.generate({ model: 'x', prompt: 'a cat' })).data).toHaveLength(1);
  });
});

describe('recordings of the official SDK', () => {
  it('are transcribed, and billed by their tokens', async () => {
    const { data, response } = await openai.audio.transcriptions
      .create({ model: 'scribe', file: await sound() })
      .withResponse();
    expect(data).toMatchObject({ text: 'hello there', usage: { type: 'tokens', input_tokens: 14 } });
    expect(costOf(response)).toBe('0.0000425');
  });

  it('are billed by seconds where the answer has a duration', async () => {
    const { data, response } = await openai.audio.transcriptions
      .create({
        model: 'whisper',
        file: await sound(),
        response_format: 'verbose_json',
        timestamp_granularities: ['word'],
      })
      .withResponse();
    expect(data).toMatchObject({ text: 'hello there', duration: 2.5 });
    expect(costOf(response)).toBe('0.00025');
  });

  it('are transcribed as a stream', async () => {
    const stream = await openai.audio.transcriptions.create({ model: 'scribe', file: await sound(), stream: true });
    const events: string[] = [];
    for await (const event of stream) if (event.type === 'transcript.text.delta') events.push(event.delta);
    expect(events.join('')).toBe('hello there');
  });

  it('are translated', async () => {
    const answer = await openai.audio.translations.create({ model: 'whisper', file: await sound() });
    expect(answer.text).toBe('hello there');
  });
});
