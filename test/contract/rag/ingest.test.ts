import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { POLLING } from '../../support/polling.ts';
import { BROKEN, ENDLESS } from '../../support/vector-store-upstream.ts';
import { FILE_STORE, type Json, NO_KEY, type StoreServer, startStoreServer } from '../vector-stores/store-server.ts';

let server: StoreServer;
let key: string;
let team: string;
beforeAll(async () => {
  server = await startStoreServer();
  key = await server.newKey();
  team = await server.newKey({ team_id: await server.newTeam('readers') });
});
afterAll(() => server.stop());

const base64 = (content: string | Uint8Array): string => Buffer.from(content).toString('base64');
const fileOf = (content: string | Uint8Array, filename = 'a.md'): Json => ({ filename, content: base64(content) });

const ingest = (body: Json, sentKey: string | null = key) => server.ask('POST', '/v1/rag/ingest', body, sentKey);
const withStore = (vectorStore: Json, more: Json = {}): Json => ({
  file: fileOf('a text'),
  ingest_options: { vector_store: vectorStore, ...more },
});

const ID = expect.stringMatching(/^ingest_[\w-]{36}$/) as string;
const detail = (error: string, more: Json = {}): Json => ({ detail: { error, ...more } });

/** Bodies of the requests to the upstream since a number of requests. */
const sentSince = (count: number): readonly string[] =>
  server.upstream.received.slice(count).map(({ method, path }) => `${method} ${path}`);

describe('rag.ingest', () => {
  it('200: a file is uploaded to a new store, which is registered for the team of the key', async () => {
    const before = server.upstream.received.length;
    const [status, body] = await ingest(
      withStore(
        { custom_llm_provider: 'openai' },
        { name: 'docs', chunking_strategy: { chunk_size: 400, chunk_overlap: 100 } },
      ),
      team,
    );
    const id = String((body as Json)['vector_store_id']);
    const fileId = String((body as Json)['file_id']);
    expect([status, body]).toEqual([200, { id: ID, status: 'completed', vector_store_id: id, file_id: fileId }]);
    expect(sentSince(before).slice(0, 4)).toEqual([
      'POST /v1/files',
      'POST /v1/vector_stores',
      `POST /v1/vector_stores/${id}/files`,
      `GET /v1/vector_stores/${id}/files/${fileId}`,
    ]);
    const [upload, create, add] = server.upstream.received.slice(before);
    expect(upload?.body).toMatch(/name="purpose"\r\n\r\nassistants\r\n[^]*filename="a\.txt"[^]*\r\n\r\na text\r\n--/);
    expect(JSON.parse(create?.body ?? '')).toEqual({ name: 'docs' });
    expect(JSON.parse(add?.body ?? '')).toEqual({
      file_id: fileId,
      chunking_strategy: { type: 'static', static: { max_chunk_size_tokens: 400, chunk_overlap_tokens: 100 } },
    });
    const [, listed] = await server.ask('GET', '/vector_store/list', undefined, team);
    expect(listed).toMatchObject({ data: [{ vector_store_id: id, vector_store_name: 'docs', team_id: 'readers' }] });
    expect((await ingest(withStore({ vector_store_id: id })))[0]).toBe(403);
  });

  it('200: a named registered store has its own provider and account; only options of the upload survive', async () => {
    const id = await server.newStore();
    const hostile = {
      vector_store_id: id,
      custom_llm_provider: 'bedrock',
      api_base: 'http://127.0.0.1:1/v1',
      api_key: 'sk-caller',
      s3_bucket: 'b',
      custom_metadata: { a: 'b' },
      file_description: 'd',
    };
    const before = server.upstream.received.length;
    const [status, body] = await ingest(withStore(hostile));
    expect([status, body]).toEqual([
      200,
      { id: ID, status: 'completed', vector_store_id: id, file_id: expect.stringMatching(/^file-up/) as string },
    ]);
    const add = server.upstream.received.slice(before).find(({ path }) => path.endsWith('/files') && path.includes(id));
    expect(JSON.parse(add?.body ?? '')).toEqual({
      file_id: (body as Json)['file_id'],
      attributes: { a: 'b', file_description: 'd' },
    });
  });

  it('200: a form with the parts `file` and `request`, and an ingest that does not wait', async () => {
    const id = await server.newStore();
    const form = new FormData();
    form.append('file', new Blob(['%PDF-1.7 x']), '../x y.bin');
    form.append(
      'request',
      JSON.stringify({ ingest_options: { vector_store: { vector_store_id: id, wait_for_ingestion: false } } }),
    );
    const before = server.upstream.received.length;
    const answer = await fetch(`${server.app.url}/rag/ingest`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body: form,
    });
    expect([answer.status, await answer.json()]).toMatchObject([200, { status: 'in_progress', vector_store_id: id }]);
    expect(server.upstream.received[before]?.body).toContain('filename="x_y.pdf"\r\ncontent-type: application/pdf');
  });

  it('200: a failed pipeline; what it created at the provider is deleted', async () => {
    const failed = { id: ID, status: 'failed', vector_store_id: '', file_id: null };
    const [stores, files] = [server.upstream.stores(), server.upstream.files()];
    expect(await ingest({ file: fileOf(BROKEN), ingest_options: { vector_store: {} } })).toEqual([
      200,
      { ...failed, error: 'The file cannot be read.' },
    ]);
    const late = { vector_store: { ingestion_timeout: 0.3 } };
    expect(await ingest({ file: fileOf(ENDLESS), ingest_options: late })).toEqual([
      200,
      { ...failed, error: 'The file was not searchable after 0.3 seconds.' },
    ]);
    expect([server.upstream.stores(), server.upstream.files()]).toEqual([stores, files]);
    const unknown = { file_id: 'file-nope', ingest_options: { vector_store: { vector_store_id: FILE_STORE } } };
    expect(await ingest(unknown, server.app.adminKey)).toEqual([
      200,
      { ...failed, error: `No vector store found with id '${FILE_STORE}'.` },
    ]);
  });

  it('429 of a used-up rate limit, and a disconnect of the client: what was created at the provider is deleted', async () => {
    const [stores, files] = [server.upstream.stores(), server.upstream.files()];
    const slow = await server.newKey({ rpm_limit: 1 });
    expect((await ingest({ file: fileOf('a'), ingest_options: { vector_store: {} } }, slow))[0]).toBe(429);
    expect([server.upstream.stores(), server.upstream.files()]).toEqual([stores, files]);

    const client = new AbortController();
    const before = server.upstream.received.length;
    const answer = fetch(`${server.app.url}/v1/rag/ingest`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ file: fileOf(ENDLESS), ingest_options: { vector_store: {} } }),
      signal: client.signal,
    });
    await expect.poll(() => sentSince(before).at(-1), POLLING).toMatch(/^GET/);
    client.abort();
    await expect(answer).rejects.toThrow();
    await expect.poll(() => [server.upstream.stores(), server.upstream.files()], POLLING).toEqual([stores, files]);
  });

  it.each([
    [{}, 'Must provide file, file_url, or file_id'],
    [{ ingest_options: { vector_store: { custom_llm_provider: 'zzz' } } }, 'Must provide file, file_url, or file_id'],
    [{ file: fileOf('a') }, 'ingest_options must contain vector_store'],
    [
      { file_url: 'http://127.0.0.1:1/', ingest_options: { vector_store: {} } },
      'file_url is not supported here: send the content of the file, or a file_id.',
    ],
    [
      withStore({ custom_llm_provider: 'zzz' }),
      "Provider 'zzz' is not supported for RAG ingestion. Supported providers: openai, custom_openai, openai_like, litellm_proxy",
    ],
    [
      withStore({ api_key: 'sk-caller' }),
      'vector_store.api_key is not accepted: register the vector store with its account.',
    ],
    [{ file_id: 'file-1', ingest_options: { vector_store: {} } }, 'file_id needs a vector_store_id.'],
    [{ file: { content: '*' }, ingest_options: { vector_store: {} } }, 'file.content must be Base64.'],
    [{ file: 3 }, 'file must be an object with filename and content.'],
    [withStore({ wait_for_ingestion: 'x' }), 'wait_for_ingestion must be a boolean.'],
    [
      withStore({}, { chunking_strategy: { chunk_size: 50 } }),
      'chunking_strategy.chunk_size must be a whole number from 100 to 4096.',
    ],
  ])('400: %j', async (body, message) => {
    const before = server.upstream.received.length;
    expect(await ingest(body)).toEqual([400, detail(message)]);
    expect(sentSince(before)).toEqual([]);
  });

  it.each([
    ['', 'The file is empty.', 'empty_file'],
    [Buffer.from([0x50, 0x4b, 3, 4, 0, 0xff]), 'Archives are not ingested.', 'archive_not_allowed'],
    [Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0]), 'Programs are not ingested.', 'executable_not_allowed'],
    [Buffer.from([0xff, 0xd8, 0]), 'Only PDF documents and UTF-8 text are ingested.', 'unsupported_format'],
  ])('400: a file of an unsupported type: %j', async (content, message, reason) => {
    const body = { file: fileOf(content, 'a.txt'), ingest_options: { vector_store: {} } };
    expect(await ingest(body)).toEqual([400, detail(message, { reason })]);
  });

  it('400: a part `ingest_options` of a form is not read', async () => {
    const form = new FormData();
    form.append('file', new Blob(['x']), 'a.txt');
    form.append('ingest_options', JSON.stringify({ vector_store: {} }));
    const headers = { authorization: `Bearer ${key}` };
    const answer = await fetch(`${server.app.url}/v1/rag/ingest`, { method: 'POST', headers, body: form });
    expect([answer.status, await answer.json()]).toEqual([400, detail('ingest_options must contain vector_store')]);
  });

  it('401: no key', async () => {
    expect(await ingest({}, null)).toEqual([401, NO_KEY]);
  });

  it('403: a store of another team', async () => {
    const id = await server.newStore(team);
    expect(await ingest(withStore({ vector_store_id: id }))).toEqual([
      403,
      {
        error: {
          message: `The team of the key is not allowed to access the vector store ${id}.`,
          type: 'team_vector_store_access_denied',
          param: null,
          code: '403',
        },
      },
    ]);
  });

  it('404: a store that is not registered, and a file of another key', async () => {
    expect(await ingest(withStore({ vector_store_id: 'vs_nope' }))).toEqual([
      404,
      detail('Vector store with ID vs_nope not found'),
    ]);
    const file = await server.newFile('secret');
    const body = { file_id: file, ingest_options: { vector_store: { vector_store_id: await server.newStore() } } };
    expect(await ingest(body)).toEqual([404, detail(`No such File object: ${file}`)]);
  });

  it('422: a body that is not JSON', async () => {
    expect((await server.ask('POST', '/v1/rag/ingest', '{', key))[0]).toBe(422);
  });
});
