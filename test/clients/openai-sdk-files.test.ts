import { LLMock } from '@copilotkit/aimock';
import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/start-app.ts';

const CREDENTIAL = 'sk-upstream-credential-0123456789';

let upstream: LLMock;
let app: TestApp;
let openai: OpenAI;
let stranger: OpenAI;
let admin: OpenAI;

async function clientOf(draft: object): Promise<OpenAI> {
  const made = await app.call('POST', '/key/generate', draft);
  const { key } = (await made.json()) as { key: string };
  return new OpenAI({ apiKey: key, baseURL: `${app.url}/v1`, maxRetries: 0 });
}

beforeAll(async () => {
  upstream = new LLMock({ port: 0 });
  await upstream.start();
  const params = { api_base: `${upstream.url}/v1`, api_key: CREDENTIAL };
  app = await startApp({
    config: {
      model_list: [{ model_name: 'assistant', litellm_params: { model: 'openai/up-1', ...params } }],
    },
  });
  openai = await clientOf({ key_alias: 'owner' });
  stranger = await clientOf({ key_alias: 'stranger' });
  admin = new OpenAI({ apiKey: app.adminKey, baseURL: `${app.url}/v1`, maxRetries: 0 });
});

afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

const line = (customId: string, model = 'assistant'): string =>
  JSON.stringify({ custom_id: customId, method: 'POST', url: '/v1/chat/completions', body: { model, messages: [] } });

const upload = async (lines: string): Promise<OpenAI.FileObject> =>
  openai.files.create({ file: await toFile(Buffer.from(lines), 'lines.jsonl'), purpose: 'batch' });

describe('files of the official SDK', () => {
  it('are stored under an id of the gateway, and are downloaded unchanged', async () => {
    const bytes = Buffer.from([0xff, 0x00, 0x0d, 0x0a, 0x2d, 0x2d, 0xc3, 0x28]);
    const file = await openai.files.create({ file: await toFile(bytes, 'naïve.bin'), purpose: 'user_data' });
    expect(file).toMatchObject({ object: 'file', filename: 'naïve.bin', purpose: 'user_data', bytes: 8 });
    expect(file.id).toMatch(/^file-[0-9a-f]{32}$/);
    expect(await openai.files.retrieve(file.id)).toEqual(file);
    expect(Buffer.from(await (await openai.files.content(file.id)).arrayBuffer())).toEqual(bytes);
    expect(await openai.files.delete(file.id)).toEqual({ id: file.id, object: 'file', deleted: true });
    await expect(openai.files.retrieve(file.id)).rejects.toMatchObject({ status: 404 });
  });

  it('are listed in pages, to their owner and to administrators only', async () => {
    const reader = await clientOf({ key_alias: 'lister' });
    // Newest first, as in the list.
    const createdIds: string[] = [];
    for (const name of ['a', 'b', 'c'])
      createdIds.unshift(
        (await reader.files.create({ file: await toFile(Buffer.from(name), name), purpose: 'evals' })).id,
      );
    const ids: string[] = [];
    for await (const { id } of reader.files.list({ limit: 2 })) ids.push(id);
    expect(ids).toEqual(createdIds);
    expect((await reader.files.list({ order: 'asc', purpose: 'evals' })).data.map(({ id }) => id)).toEqual(
      createdIds.toReversed(),
    );
    expect((await stranger.files.list()).data).toEqual([]);
    expect((await admin.files.list()).data.map(({ id }) => id)).toEqual(expect.arrayContaining(createdIds));
    const [id = ''] = createdIds;
    await expect(stranger.files.retrieve(id)).rejects.toMatchObject({ status: 404, message: /No such File object/ });
    await expect(stranger.files.content(id)).rejects.toMatchObject({ status: 404 });
    await expect(stranger.files.delete(id)).rejects.toMatchObject({ status: 404 });
    expect((await admin.files.retrieve(id)).id).toBe(id);
  });
});

describe('batches of the official SDK', () => {
  it('read and write files of the gateway, for their owner only', async () => {
    const file = await upload(`${line('one')}\n\n${line('two', 'assistant')}\n`);
    const batch = await openai.batches.create({
      input_file_id: file.id,
      endpoint: '/v1/chat/completions',
      completion_window: '24h',
      metadata: { note: 'mine' },
    });
    expect(batch).toMatchObject({ object: 'batch', input_file_id: file.id, metadata: { note: 'mine' } });
    expect(batch.id).toMatch(/^batch_[0-9a-f]{32}$/);
    let current = batch;
    // The mock completes a batch after a few reads.
    for (let read = 0; read < 10 && current.status !== 'completed'; read += 1)
      current = await openai.batches.retrieve(batch.id);
    expect(current).toMatchObject({ id: batch.id, status: 'completed', input_file_id: file.id });
    expect(current.output_file_id).toMatch(/^file-[0-9a-f]{32}$/);
    const output = await (await openai.files.content(current.output_file_id ?? '')).text();
    expect(output).toContain('"custom_id":"one"');
    expect(output).toContain('"model":"up-1"');
    expect((await openai.files.retrieve(current.output_file_id ?? '')).id).toBe(current.output_file_id);
    await expect(stranger.files.content(current.output_file_id ?? '')).rejects.toMatchObject({ status: 404 });
    const listed = await openai.batches.list();
    expect(listed.data).toMatchObject([{ id: batch.id, status: 'completed', output_file_id: current.output_file_id }]);
    expect((await stranger.batches.list()).data).toEqual([]);
    await expect(stranger.batches.retrieve(batch.id)).rejects.toMatchObject({ status: 404 });
    await expect(stranger.batches.cancel(batch.id)).rejects.toMatchObject({ status: 404 });
  });

  it('have ids of the gateway in the answer to a cancellation', async () => {
    const file = await upload(line('one'));
    const body = { input_file_id: file.id, endpoint: '/v1/chat/completions', completion_window: '24h' } as const;
    const { id } = await openai.batches.create(body);
    expect(await openai.batches.cancel(id)).toMatchObject({ id, input_file_id: file.id });
  });
});
