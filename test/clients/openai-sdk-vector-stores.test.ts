import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type StoreServer, startStoreServer } from '../contract/vector-stores/store-server.ts';

let server: StoreServer;
let openai: OpenAI;
let stranger: OpenAI;

const clientOf = async (settings: Record<string, unknown>): Promise<OpenAI> =>
  new OpenAI({ apiKey: await server.newKey(settings), baseURL: `${server.app.url}/v1`, maxRetries: 0 });

beforeAll(async () => {
  server = await startStoreServer();
  openai = await clientOf({ team_id: await server.newTeam('sdk') });
  stranger = await clientOf({});
});
afterAll(() => server.stop());

describe('vector stores of the official SDK', () => {
  it('are created, changed, listed and deleted', async () => {
    const store = await openai.vectorStores.create({ name: 'docs' });
    expect(store).toMatchObject({ object: 'vector_store', name: 'docs' });
    expect(await openai.vectorStores.retrieve(store.id)).toMatchObject({ id: store.id });
    expect(await openai.vectorStores.update(store.id, { name: 'changed' })).toMatchObject({ name: 'changed' });
    const listed = await openai.vectorStores.list();
    expect(listed.data.map(({ id }) => id)).toEqual([store.id]);
    expect((await stranger.vectorStores.list()).data).toEqual([]);
    await expect(stranger.vectorStores.retrieve(store.id)).rejects.toMatchObject({
      status: 403,
      type: 'team_vector_store_access_denied',
    });
    expect(await openai.vectorStores.delete(store.id)).toMatchObject({ id: store.id, deleted: true });
    await expect(openai.vectorStores.retrieve(store.id)).rejects.toMatchObject({ status: 404 });
  });

  it('get batches of files, and wait until these are searchable', async () => {
    const store = await openai.vectorStores.create({});
    const upload = async (text: string) =>
      await openai.files.create({ file: await toFile(Buffer.from(text), 'a.txt'), purpose: 'assistants' });
    const [one, two] = [await upload('one'), await upload('two')];
    const batch = await openai.vectorStores.fileBatches.createAndPoll(store.id, { file_ids: [one.id, two.id] });
    expect(batch).toMatchObject({ status: 'completed', vector_store_id: store.id });
    const listed = await openai.vectorStores.fileBatches.listFiles(batch.id, { vector_store_id: store.id });
    expect(listed.data).toHaveLength(2);
    await expect(
      stranger.vectorStores.fileBatches.retrieve(batch.id, { vector_store_id: store.id }),
    ).rejects.toMatchObject({ status: 403 });
    await expect(stranger.vectorStores.fileBatches.create(store.id, { file_ids: [one.id] })).rejects.toMatchObject({
      status: 403,
    });
  });

  it('get files, wait until these are searchable, and find their texts', async () => {
    const store = await openai.vectorStores.create({});
    const file = await openai.files.create({
      file: await toFile(Buffer.from('the answer is 42'), 'a.txt'),
      purpose: 'assistants',
    });
    const added = await openai.vectorStores.files.createAndPoll(store.id, { file_id: file.id }, { pollIntervalMs: 10 });
    expect(added).toMatchObject({ id: file.id, status: 'completed' });
    const found = await openai.vectorStores.search(store.id, { query: 'answer', max_num_results: 3 });
    expect(found.data).toMatchObject([{ score: 1, content: [{ type: 'text', text: 'the answer is 42' }] }]);
    const content = await openai.vectorStores.files.content(file.id, { vector_store_id: store.id });
    expect(content.data).toEqual([{ type: 'text', text: 'the answer is 42' }]);
    const removed = await openai.vectorStores.files.delete(file.id, { vector_store_id: store.id });
    expect(removed).toMatchObject({ id: file.id, deleted: true });
    expect((await openai.vectorStores.files.list(store.id)).data).toEqual([]);
  });
});
