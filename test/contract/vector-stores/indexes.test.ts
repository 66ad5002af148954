import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FILE_STORE, type Json, NO_KEY, type StoreServer, startStoreServer } from './store-server.ts';

let server: StoreServer;
/** Id at the provider of the store behind the index `handbook`. It is not registered. */
let store: string;
/** Keys that may read the index, read and change it, and do nothing with it. */
let reader: string;
let writer: string;
let stranger: string;
/** Key of a team that may read the index. */
let member: string;
let viewer: string;

const params = (id: string): Json => ({ vector_store_index: id, vector_store_name: 'of the file' });
const create = (name: string, more: Json = {}, key?: string | null) =>
  server.ask('POST', '/v1/indexes', { index_name: name, litellm_params: params(store), ...more }, key);
const granted = (...permissions: readonly string[]): Json => ({
  allowed_vector_store_indexes: [{ index_name: 'handbook', index_permissions: permissions }],
});

beforeAll(async () => {
  server = await startStoreServer();
  store = await server.newStore();
  await server.ask('POST', '/vector_store/delete', { vector_store_id: store });
  await create('handbook', { index_info: { a: 1 } });
  reader = await server.newKey(granted('read'));
  writer = await server.newKey(granted('read', 'write'));
  stranger = await server.newKey();
  await server.ask('POST', '/team/new', { team_id: 'readers', team_alias: 'readers', ...granted('read') });
  member = await server.newKey({ team_id: 'readers' });
  const [, created] = await server.ask('POST', '/user/new', { user_id: 'v', user_role: 'proxy_admin_viewer' });
  viewer = String((created as Json)['key']);
});
afterAll(() => server.stop());

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string;
const row = (name: string, more: Json = {}): Json => ({
  id: expect.stringMatching(/^[\da-f-]{36}$/) as string,
  index_name: name,
  litellm_params: params(store),
  index_info: null,
  created_at: TIME,
  created_by: 'default_user_id',
  updated_at: TIME,
  updated_by: 'default_user_id',
  ...more,
});
const handbook = (more: Json = {}): Json => row('handbook', { index_info: { a: 1 }, ...more });
const missing = (...path: readonly string[]): Json => ({
  detail: [{ type: 'missing', loc: ['body', ...path], msg: 'Field required' }],
});
const ADMINS_ONLY = expect.objectContaining({
  error: expect.objectContaining({ type: 'auth_error', code: '401' }) as Json,
}) as Json;
const notAdmin = expect.objectContaining({ error: expect.objectContaining({ code: '403' }) as Json }) as Json;

describe('vectorStoreIndexes.create', () => {
  it('200: an index of the store of a provider, which is not created', async () => {
    const sent = server.upstream.received.length;
    expect(await create('manual', { index_info: { b: 2 } })).toEqual([200, row('manual', { index_info: { b: 2 } })]);
    expect(server.upstream.received.length).toBe(sent);
    const [, { id }] = (await server.ask('GET', '/v1/indexes/manual')) as readonly [number, Json];
    const [, audit] = await server.ask('GET', `/audit?object_id=${String(id)}`);
    expect(JSON.stringify(audit)).toContain('"manual"');
  });

  it('400: a taken name, the id of a registered store, an unknown account, and names that paths cannot have', async () => {
    expect(await create('handbook')).toEqual([400, { detail: 'Index handbook already exists' }]);
    expect(await create(FILE_STORE)).toEqual([
      400,
      { detail: `A registered vector store has the id ${FILE_STORE}. Choose another name for the index.` },
    ]);
    const unknown = { vector_store_index: 'i', vector_store_name: 'none' };
    expect(await create('new', { litellm_params: unknown })).toEqual([
      400,
      { detail: 'No registered vector store has the name none' },
    ]);
    expect(await create(' ')).toEqual([400, { detail: 'index_name is required' }]);
    for (const name of ['a/b', '..', '.', 'a\u0000b', 'x'.repeat(1025)]) expect((await create(name))[0]).toBe(400);
    for (const id of ['../files', '..']) expect((await create('new', { litellm_params: params(id) }))[0]).toBe(400);
  });

  it('401: no key, and a key of no administrator', async () => {
    expect(await create('x', {}, null)).toEqual([401, NO_KEY]);
    for (const key of [stranger, writer]) expect(await create('x', {}, key)).toEqual([401, ADMINS_ONLY]);
  });

  it('403: an administrator that may only read', async () => {
    expect(await create('x', {}, viewer)).toEqual([403, notAdmin]);
  });

  it('422: missing members, and members of another type', async () => {
    expect(await server.ask('POST', '/v1/indexes', { litellm_params: params('i') })).toEqual([
      422,
      missing('index_name'),
    ]);
    expect(await create('x', { litellm_params: { vector_store_index: 'i' } })).toEqual([
      422,
      missing('litellm_params', 'vector_store_name'),
    ]);
    expect((await create('x', { litellm_params: [] }))[0]).toBe(422);
    expect((await create('x', { index_info: 'a' }))[0]).toBe(422);
  });
});

describe('vectorStoreIndexes.list', () => {
  it('200: all for administrators, and for other keys those that they may read, without their stores', async () => {
    const list = (key?: string) => server.ask('GET', '/v1/indexes', undefined, key);
    for (const key of [server.app.adminKey, viewer]) {
      const [status, body] = await list(key);
      expect([status, body]).toEqual([
        200,
        expect.objectContaining({ object: 'list', current_page: 1, total_pages: 1 }),
      ]);
      expect((body as { readonly data: readonly Json[] }).data).toContainEqual(handbook());
    }
    const own = { object: 'list', data: [handbook({ litellm_params: {} })], total_count: 1 };
    for (const key of [reader, writer, member])
      expect(await list(key)).toEqual([200, { ...own, current_page: 1, total_pages: 1 }]);
    expect(await list(stranger)).toEqual([
      200,
      { object: 'list', data: [], total_count: 0, current_page: 1, total_pages: 0 },
    ]);
    const [, second] = await server.ask('GET', '/v1/indexes?page=2&page_size=1');
    expect(second).toMatchObject({ data: [row('manual', { index_info: { b: 2 } })], current_page: 2 });
  });

  it('401: no key', async () => {
    expect(await server.ask('GET', '/v1/indexes', undefined, null)).toEqual([401, NO_KEY]);
  });

  it('422: a page out of range', async () => {
    expect((await server.ask('GET', '/v1/indexes?page=0'))[0]).toBe(422);
    expect((await server.ask('GET', '/v1/indexes?page_size=101'))[0]).toBe(422);
  });
});

describe('vectorStoreIndexes.get', () => {
  it('200: one index', async () => {
    expect(await server.ask('GET', '/v1/indexes/handbook')).toEqual([200, handbook()]);
    expect(await server.ask('GET', '/v1/indexes/handbook', undefined, reader)).toEqual([
      200,
      handbook({ litellm_params: {} }),
    ]);
  });

  it('401: no key', async () => {
    expect(await server.ask('GET', '/v1/indexes/handbook', undefined, null)).toEqual([401, NO_KEY]);
  });

  it('404: an unknown index, and one that the key may not read', async () => {
    expect(await server.ask('GET', '/v1/indexes/none')).toEqual([404, { detail: 'Index none not found' }]);
    expect(await server.ask('GET', '/v1/indexes/handbook', undefined, stranger)).toEqual([
      404,
      { detail: 'Index handbook not found' },
    ]);
  });
});

describe('vectorStoreIndexes.delete', () => {
  it('200: deletes the index, and the store at the provider is not deleted', async () => {
    await create('old');
    expect(await server.ask('DELETE', '/v1/indexes/old')).toEqual([
      200,
      { status: 'success', message: 'Index old deleted successfully' },
    ]);
    expect(server.upstream.stores()).toContain(store);
    expect((await server.ask('GET', '/v1/indexes/old'))[0]).toBe(404);
  });

  it('401: no key, and a key of no administrator', async () => {
    expect(await server.ask('DELETE', '/v1/indexes/handbook', undefined, null)).toEqual([401, NO_KEY]);
    expect(await server.ask('DELETE', '/v1/indexes/handbook', undefined, writer)).toEqual([401, ADMINS_ONLY]);
  });

  it('403: an administrator that may only read', async () => {
    expect(await server.ask('DELETE', '/v1/indexes/handbook', undefined, viewer)).toEqual([403, notAdmin]);
  });

  it('404: an unknown index', async () => {
    expect(await server.ask('DELETE', '/v1/indexes/none')).toEqual([404, { detail: 'Index none not found' }]);
  });
});

const refusedTo = (permission: string): readonly [number, unknown] => [
  403,
  {
    error: expect.objectContaining({
      message: `The key is not allowed to ${permission} the index handbook. Add it to \`allowed_vector_store_indexes\` of the key or its team.`,
      type: 'key_vector_store_access_denied',
    }) as Json,
  },
];

describe('the name of an index in place of the id of a store', () => {
  const search = (key?: string) => server.ask('POST', '/v1/vector_stores/handbook/search', { query: 'q' }, key);

  it('searches the store with its account, for keys that may read the index', async () => {
    for (const key of [server.app.adminKey, viewer, reader, writer, member]) {
      expect((await search(key))[0]).toBe(200);
      expect(server.upstream.received.at(-1)?.path).toBe(`/v1/vector_stores/${store}/search`);
    }
    const sent = server.upstream.received.length;
    expect(await search(stranger)).toEqual(refusedTo('read'));
    expect((await server.ask('POST', `/v1/vector_stores/${store}/search`, { query: 'q' }, reader))[0]).toBe(404);
    expect(server.upstream.received.length).toBe(sent);
  });

  it('uses the account that an administrator registered, not a store that another key created with its name', async () => {
    expect((await server.ask('POST', '/v1/vector_stores', { name: 'late' }, stranger))[0]).toBe(200);
    const account = {
      vector_store_id: 'vs_late',
      vector_store_name: 'late',
      custom_llm_provider: 'openai',
      litellm_params: { api_base: `${server.upstream.url}/late/v1`, api_key: 'sk-late' },
    };
    expect((await server.ask('POST', '/vector_store/new', account))[0]).toBe(200);
    await create('of-late', { litellm_params: { vector_store_index: store, vector_store_name: 'late' } });
    await server.ask('POST', '/v1/vector_stores/of-late/search', { query: 'q' });
    expect(server.upstream.received.at(-1)?.path).toBe(`/late/v1/vector_stores/${store}/search`);
  });

  it('is in the answers, which do not have the id of the store', async () => {
    const [status, found] = await server.ask('GET', '/v1/vector_stores/handbook', undefined, reader);
    expect([status, found]).toEqual([200, expect.objectContaining({ id: 'handbook', object: 'vector_store' })]);
    const file = await server.newFile('a', store);
    for (const path of ['/v1/vector_stores/handbook/files', `/v1/vector_stores/handbook/files/${file}`]) {
      const [, body] = await server.ask('GET', path, undefined, reader);
      expect(JSON.stringify(body)).toContain('"vector_store_id":"handbook"');
      expect(JSON.stringify(body)).not.toContain(store);
    }
  });

  it('changes the files of the store, for keys that may write', async () => {
    const add = (file: string, key: string) =>
      server.ask('POST', '/v1/vector_stores/handbook/files', { file_id: file }, key);
    const file = await server.newFile('b');
    const sent = server.upstream.received.length;
    for (const key of [reader, member]) expect(await add(file, key)).toEqual(refusedTo('write'));
    expect((await add(file, viewer))[0]).toBe(403);
    // The file is of the account, and not of the key.
    expect((await add(file, writer))[0]).toBe(404);
    expect(server.upstream.received.length).toBe(sent);
    expect((await add(file, server.app.adminKey))[0]).toBe(200);
    expect((await server.ask('DELETE', `/v1/vector_stores/handbook/files/${file}`, undefined, writer))[0]).toBe(200);
  });

  it('changes and deletes no store', async () => {
    const sent = server.upstream.received.length;
    const refusal = [
      400,
      {
        error: expect.objectContaining({
          message: 'handbook is the name of an index. Change or delete the vector store by its id.',
        }) as Json,
      },
    ];
    for (const key of [server.app.adminKey, writer]) {
      expect(await server.ask('DELETE', '/v1/vector_stores/handbook', undefined, key)).toEqual(refusal);
      expect(await server.ask('POST', '/v1/vector_stores/handbook', { name: 'n' }, key)).toEqual(refusal);
    }
    expect((await server.ask('DELETE', '/v1/vector_stores/handbook', undefined, reader))[0]).toBe(403);
    expect(server.upstream.received.length).toBe(sent);
  });

  it('is refused by a list of vector stores that has neither the index nor its store', async () => {
    const limited = (id: string) => server.newKey({ ...granted('read'), object_permission: { vector_stores: [id] } });
    expect((await search(await limited('vs_other')))[0]).toBe(403);
    for (const id of ['handbook', store]) expect((await search(await limited(id)))[0]).toBe(200);
  });

  it('answers a query and takes a file', async () => {
    const query = { model: 'assistant', messages: [{ role: 'user', content: 'q' }] };
    const ask = (key: string) =>
      server.ask('POST', '/v1/rag/query', { ...query, retrieval_config: { vector_store_id: 'handbook' } }, key);
    expect((await ask(reader))[0]).toBe(200);
    expect((await ask(stranger))[0]).toBe(403);
    const file = { filename: 'a.txt', content: Buffer.from('text').toString('base64') };
    const ingest = (key: string) => {
      const options = { vector_store: { vector_store_id: 'handbook' } };
      return server.ask('POST', '/v1/rag/ingest', { file, ingest_options: options }, key);
    };
    expect(await ingest(writer)).toEqual([
      200,
      expect.objectContaining({ status: 'completed', vector_store_id: 'handbook' }),
    ]);
    expect((await ingest(reader))[0]).toBe(403);
  });

  it('becomes the id of the store in tools', async () => {
    const tools = [{ type: 'file_search', vector_store_ids: ['handbook', FILE_STORE] }, { type: 'other' }];
    const ask = (key: string, sent: readonly Json[] = tools) =>
      server.ask('POST', '/v1/responses', { model: 'assistant', input: 'x', tools: sent }, key);
    for (const key of [reader, member, server.app.adminKey]) {
      await ask(key);
      const sent = JSON.parse(server.upstream.received.at(-1)?.body ?? '{}') as Json;
      expect(sent['tools']).toEqual([
        { type: 'file_search', vector_store_ids: [store, FILE_STORE] },
        { type: 'other' },
      ]);
    }
    const before = server.upstream.received.length;
    expect(await ask(stranger)).toEqual(refusedTo('read'));
    // The store behind the index needs the right to the index, too.
    expect(await ask(stranger, [{ type: 'file_search', vector_store_ids: [store] }])).toEqual(refusedTo('read'));
    expect(server.upstream.received.length).toBe(before);
  });

  it('gives no right to a store with the id of its name, nor the right to that store the right to it', async () => {
    await create('decoy', { litellm_params: params('handbook') });
    const allowed = [{ index_name: 'decoy', index_permissions: ['read'] }];
    const key = await server.newKey({ allowed_vector_store_indexes: allowed });
    const tools = [{ type: 'file_search', vector_store_ids: ['handbook'] }];
    const body = { model: 'assistant', input: 'x', tools };
    const before = server.upstream.received.length;
    expect(await server.ask('POST', '/v1/responses', body, key)).toEqual(refusedTo('read'));
    for (const one of [key, reader]) expect((await server.ask('POST', '/openai/v1/responses', body, one))[0]).toBe(403);
    expect(server.upstream.received.length).toBe(before);
    await server.ask('DELETE', '/v1/indexes/decoy');
  });

  it('is a 503 when its account is no longer registered', async () => {
    const account = { vector_store_id: 'vs_account', custom_llm_provider: 'openai', vector_store_name: 'account' };
    await server.ask('POST', '/vector_store/new', account);
    await create('lost', { litellm_params: { vector_store_index: 'i', vector_store_name: 'account' } });
    await server.ask('POST', '/vector_store/delete', { vector_store_id: 'vs_account' });
    expect(await server.ask('POST', '/v1/vector_stores/lost/search', { query: 'q' })).toEqual([
      503,
      {
        error: expect.objectContaining({
          message: 'The vector store account of the index lost is not registered.',
        }) as Json,
      },
    ]);
  });
});
