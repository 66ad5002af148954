import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/start-app.ts';
import { startVideoUpstream, type VideoUpstream } from '../support/video-upstream.ts';

let app: TestApp;
let upstream: VideoUpstream;
let openai: OpenAI;
/** Client with the key of another owner. */
let otherClient: OpenAI;

async function newClient(): Promise<OpenAI> {
  const made = await app.call('POST', '/key/generate', {});
  const { key } = (await made.json()) as { readonly key: string };
  return new OpenAI({ apiKey: key, baseURL: `${app.url}/v1`, maxRetries: 0 });
}

beforeAll(async () => {
  upstream = await startVideoUpstream();
  app = await startApp({
    config: {
      model_list: [
        {
          model_name: 'sora-2',
          litellm_params: { model: 'openai/sora-2', api_base: `${upstream.url}/v1`, api_key: 'k' },
        },
      ],
    },
  });
  openai = await newClient();
  otherClient = await newClient();
});
afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

describe('videos of the official SDK', () => {
  it('are created with a picture, read, downloaded, remixed, listed for their owner only, and deleted', async () => {
    const picture = await toFile(Buffer.from([1, 2, 3]), 'a.png', { type: 'image/png' });
    const video = await openai.videos.create({ model: 'sora-2', prompt: 'a cat', input_reference: picture });
    expect(video).toMatchObject({ object: 'video', status: 'queued', seconds: '4' });
    const plain = await openai.videos.create({ model: 'sora-2', prompt: 'a dog', seconds: '8' });
    expect(plain).toMatchObject({ status: 'queued', seconds: '8' });
    expect(await openai.videos.retrieve(video.id)).toMatchObject({ id: video.id, status: 'completed' });
    const content = await openai.videos.downloadContent(video.id);
    expect([...new Uint8Array(await content.arrayBuffer())]).toEqual([0, 1, 2, 255]);
    const remix = await openai.videos.remix(video.id, { prompt: 'at night' });
    expect(remix).toMatchObject({ remixed_from_video_id: video.id });
    const listed = await openai.videos.list();
    expect(listed.data.map(({ id }) => id)).toEqual([remix.id, plain.id, video.id]);
    expect((await otherClient.videos.list()).data).toEqual([]);
    await expect(otherClient.videos.retrieve(video.id)).rejects.toMatchObject({ status: 404 });
    expect(await openai.videos.delete(video.id)).toMatchObject({ id: video.id, deleted: true });
    await expect(openai.videos.retrieve(video.id)).rejects.toMatchObject({ status: 404 });
  });
});
