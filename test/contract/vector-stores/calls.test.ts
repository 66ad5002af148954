import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { POLLING } from '../../support/polling.ts';
import { startApp } from '../../support/start-app.ts';
import { FILE_STORE, type Json, NO_KEY, type StoreServer, startStoreServer } from './store-server.ts';

let server: StoreServer;
/** A key of the team that owns the store, one without a team, and one whose list has only another store. */
let member: string;
let stranger: string;
let limited: string;
let store: string;
let file: string;

beforeAll(async () => {
  server = await startStoreServer();
  member = await server.newKey({ team_id: await server.newTeam('owners') });
  stranger = await server.newKey();
  limited = await server.newKey({ team_id: 'owners', object_permission: { vector_stores: ['vs_other'] } });
  store = await server.newStore(member);
  file = await server.newFile('a text', store);
});
afterAll(() => server.stop());

type RowName = 'get' | 'search' | 'update' | 'delete';
type FileRowName = 'list' | 'create' | 'get' | 'update' | 'content' | 'delete';
type StoreRow = readonly [
  name: `providerStores.${RowName}` | `storeFiles.${FileRowName}`,
  method: string,
  path: string,
  body: Json | undefined,
];

/** Rows about one store: name, method, path below the store, and body. */
const STORE_ROWS: readonly StoreRow[] = [
  ['providerStores.get', 'GET', '', undefined],
  ['providerStores.search', 'POST', '/search', { query: 'q' }],
  ['providerStores.update', 'POST', '', { name: 'n' }],
  ['storeFiles.list', 'GET', '/files', undefined],
  ['storeFiles.create', 'POST', '/files', { file_id: 'FILE' }],
  ['storeFiles.get', 'GET', '/files/FILE', undefined],
  ['storeFiles.update', 'POST', '/files/FILE', { attributes: { a: 'b' } }],
  ['storeFiles.content', 'GET', '/files/FILE/content', undefined],
  ['storeFiles.delete', 'DELETE', '/files/FILE', undefined],
  ['providerStores.delete', 'DELETE', '', undefined],
];

/** Sends the request of a row about a store. */
const ask = (row: StoreRow, key: string | null, { id = store, fileId = file } = {}) => {
  const [, method, path, body] = row;
  const sent = body === undefined ? undefined : JSON.stringify(body).replace('FILE', fileId);
  return server.ask(method, `/v1/vector_stores/${id}${path.replace('FILE', fileId)}`, sent, key);
};

const WITH_BODY = STORE_ROWS.filter(([, method]) => method === 'POST');

describe('rows about one store', () => {
  it.each(STORE_ROWS)('%s 401: no key', async (...row) => {
    expect(await ask(row, null)).toEqual([401, NO_KEY]);
  });

  it.each(STORE_ROWS)(
    '%s 403: a store of another team, and one that the list of the key does not have',
    async (...row) => {
      const refusal = (message: string, type: string) => [403, { error: { message, type, param: null, code: '403' } }];
      expect(await ask(row, stranger)).toEqual(
        refusal(
          `The team of the key is not allowed to access the vector store ${store}.`,
          'team_vector_store_access_denied',
        ),
      );
      expect(await ask(row, limited)).toEqual(
        refusal(`The key is not allowed to access the vector store ${store}.`, 'key_vector_store_access_denied'),
      );
    },
  );

  it.each(STORE_ROWS)('%s 404: a store without registration, for a key of no administrator', async (...row) => {
    const error = { type: 'not_found_error', param: null, code: '404' };
    expect(await ask(row, member, { id: 'vs_nope' })).toEqual([
      404,
      { error: { ...error, message: 'Vector store with ID vs_nope not found' } },
    ]);
    expect(server.upstream.received.some(({ path }) => path.includes('vs_nope'))).toBe(false);
  });

  it.each(WITH_BODY)('%s 400: a body that is not JSON', async (...[, method, path]) => {
    const address = `/v1/vector_stores/${store}${path.replace('FILE', file)}`;
    expect((await server.ask(method, address, '{', member))[0]).toBe(400);
  });

  it.each(STORE_ROWS)('%s 200: the answer of the provider, for a key of the team', async (...row) => {
    const [id, fileId] = [await server.newStore(member), await server.newFile('own text')];
    if (row[0] !== 'storeFiles.create') await server.addFile(id, fileId);
    // Only administrators may add a file without an id of the gateway.
    const key = row[0] === 'storeFiles.create' ? server.app.adminKey : member;
    const [status, body] = await ask(row, key, { id, fileId });
    expect(status).toBe(200);
    expect(body).toMatchObject(EXPECTED[row[0]]({ id, fileId }));
    const { method, path, authorization } = server.upstream.received.at(-1) ?? {};
    expect([method, path]).toEqual([row[1], `/v1/vector_stores/${id}${row[2].replace('FILE', fileId)}`]);
    expect(authorization).not.toContain(member);
  });
});

type Ids = { readonly id: string; readonly fileId: string };

const EXPECTED: Readonly<Record<StoreRow[0], (ids: Ids) => Json>> = {
  'providerStores.get': ({ id }) => ({ id, object: 'vector_store', name: 'n' }),
  'providerStores.search': ({ fileId }) => ({
    object: 'vector_store.search_results.page',
    search_query: 'q',
    data: [{ file_id: fileId, content: [{ type: 'text', text: 'own text' }] }],
  }),
  'providerStores.update': ({ id }) => ({ id, object: 'vector_store', name: 'n' }),
  'providerStores.delete': ({ id }) => ({ id, object: 'vector_store.deleted', deleted: true }),
  'storeFiles.list': ({ fileId }) => ({ object: 'list', data: [{ id: fileId }] }),
  'storeFiles.create': ({ id, fileId }) => ({ id: fileId, vector_store_id: id, status: 'in_progress' }),
  'storeFiles.get': ({ id, fileId }) => ({ id: fileId, vector_store_id: id, status: 'completed' }),
  'storeFiles.update': ({ fileId }) => ({ id: fileId, attributes: { a: 'b' } }),
  'storeFiles.content': () => ({ data: [{ type: 'text', text: 'own text' }] }),
  'storeFiles.delete': ({ fileId }) => ({ id: fileId, deleted: true }),
};

describe('providerStores.list', () => {
  it('200: administrators see all stores of the account, other keys those of their team', async () => {
    const other = await server.newStore();
    const idsFor = async (key: string): Promise<readonly unknown[]> => {
      const [status, body] = await server.ask('GET', '/v1/vector_stores', undefined, key);
      expect(status).toBe(200);
      return ((body as Json)['data'] as readonly Json[]).map(({ id }) => id);
    };
    expect(await idsFor(server.app.adminKey)).toEqual(expect.arrayContaining([store, other]));
    const own = await idsFor(member);
    expect([own.includes(store), own.includes(other)]).toEqual([true, false]);
    expect(await idsFor(stranger)).toEqual([]);
  });

  it('400: a provider without this API; 401: no key', async () => {
    expect(await server.ask('GET', '/v1/vector_stores?custom_llm_provider=zzz')).toEqual([
      400,
      {
        error: {
          message:
            "Vector stores of the provider 'zzz' are not supported. Supported providers: openai, custom_openai, openai_like, litellm_proxy",
          type: 'invalid_request_error',
          param: null,
          code: '400',
        },
      },
    ]);
    expect(await server.ask('GET', '/v1/vector_stores', undefined, null)).toEqual([401, NO_KEY]);
  });

  it('401: no account of the provider is configured', async () => {
    const bare = await startApp();
    try {
      const answer = await bare.call('GET', '/v1/vector_stores');
      const message = 'openai API key not found. Store a credential of the provider `openai` or set OPENAI_API_KEY.';
      expect([answer.status, await answer.json()]).toEqual([401, { detail: message }]);
    } finally {
      await bare.stop();
    }
  });
});

describe('providerStores.create', () => {
  it('200: the store is created at the provider and registered for the team of the key', async () => {
    const own = await server.newStore(member);
    const [, { vector_store: registered }] = (await server.ask('POST', '/vector_store/info', {
      vector_store_id: own,
    })) as [number, { vector_store: Json }];
    expect(registered).toMatchObject({ vector_store_name: 'n', custom_llm_provider: 'openai', team_id: 'owners' });
  });

  it('400: file ids that are no texts; 401: no key; 403: a read-only key; 404: a file of another key', async () => {
    const create = (body: Json, key: string | null = member) => server.ask('POST', '/v1/vector_stores', body, key);
    expect(await create({ file_ids: 3 })).toEqual([
      400,
      {
        error: {
          message: 'file_ids must be a list of strings.',
          type: 'bad_request_error',
          param: 'file_ids',
          code: '400',
        },
      },
    ]);
    const tooMany = await create({ file_ids: Array.from({ length: 501 }, () => file) });
    expect(tooMany).toMatchObject([400, { error: { message: 'file_ids must have at most 500 ids.' } }]);
    expect(await create({}, null)).toEqual([401, NO_KEY]);
    await server.ask('POST', '/user/new', { user_id: 'reader', user_role: 'internal_user_viewer' });
    const readOnly = await server.newKey({ user_id: 'reader' });
    expect((await create({}, readOnly))[0]).toBe(403);
    const error = { type: 'not_found_error', param: null, code: '404' };
    expect(await create({ file_ids: [file] })).toEqual([
      404,
      { error: { ...error, message: `No such File object: ${file}` } },
    ]);
  });
});

describe('calls about vector stores', () => {
  it('use the account of the registration; the key of the caller never reaches the provider', async () => {
    await server.ask('POST', `/v1/vector_stores/${FILE_STORE}/search`, { query: 'q', api_key: 'sk-caller' }, stranger);
    const last = server.upstream.received.at(-1);
    expect(last).toMatchObject({ authorization: expect.stringContaining('sk-store-account') as string });
    expect(JSON.parse(last?.body ?? '')).toEqual({ query: 'q' });
  });

  it('add a file by its id of the gateway, which stays the id of the file', async () => {
    const form = new FormData();
    form.append('purpose', 'assistants');
    form.append('file', new Blob(['gateway text']), 'a.txt');
    const headers = { authorization: `Bearer ${member}` };
    const uploaded = await fetch(`${server.app.url}/v1/files`, { method: 'POST', headers, body: form });
    const { id } = (await uploaded.json()) as { readonly id: string };
    const storeId = await server.newStore(member);
    const [status, added] = await server.ask('POST', `/v1/vector_stores/${storeId}/files`, { file_id: id }, member);
    expect([status, added]).toMatchObject([200, { id, status: 'in_progress' }]);
    const sent = server.upstream.received.at(-1)?.body ?? '';
    expect([sent.includes(id), sent.includes('file-up')]).toEqual([false, true]);
    const read = await server.ask('GET', `/v1/vector_stores/${storeId}/files/${id}`, undefined, member);
    expect(read).toMatchObject([200, { id, status: 'completed' }]);
    expect((await server.ask('POST', `/v1/vector_stores/${storeId}/files`, { file_id: id }, stranger))[0]).toBe(403);
  });

  it('relay an error of the provider unchanged', async () => {
    expect(await server.ask('GET', '/v1/vector_stores/vs_nope')).toEqual([
      404,
      {
        error: {
          message: "No vector store found with id 'vs_nope'.",
          type: 'invalid_request_error',
          param: null,
          code: null,
        },
      },
    ]);
  });

  it('are recorded with their call type', async () => {
    const key = await server.newKey({ team_id: 'owners' });
    await server.ask('POST', `/v1/vector_stores/${store}/search`, { query: 'q' }, key);
    await expect
      .poll(async () => {
        const [, rows] = await server.ask('GET', `/spend/logs?api_key=${key}`);
        return rows;
      }, POLLING)
      .toMatchObject([{ call_type: 'avector_store_search', custom_llm_provider: 'openai', spend: 0 }]);
  });

  it('delete the registration of a store that the provider no longer has, but none of the configuration file', async () => {
    const id = await server.newStore(member);
    await server.ask('DELETE', `/v1/vector_stores/${id}`, undefined, member);
    expect((await server.ask('POST', '/vector_store/info', { vector_store_id: id }))[0]).toBe(404);
    expect((await server.ask('DELETE', `/v1/vector_stores/${FILE_STORE}`))[0]).toBe(400);
  });

  it('refuse to delete a store without a team for a key that did not register it', async () => {
    const id = await server.newStore();
    expect((await server.ask('DELETE', `/v1/vector_stores/${id}`, undefined, stranger))[0]).toBe(403);
    expect((await server.ask('GET', `/v1/vector_stores/${id}`, undefined, stranger))[0]).toBe(200);
  });

  it('refuse a store whose account names a variable that is not set; the default account is not used', async () => {
    const before = server.upstream.received.length;
    for (const [name, params] of Object.entries({
      api_key: { api_key: 'os.environ/UNSET_STORE_KEY' },
      api_base: { api_key: 'sk-own', api_base: 'os.environ/UNSET_STORE_BASE' },
    })) {
      const draft = { vector_store_id: `unset_${name}`, custom_llm_provider: 'openai', litellm_params: params };
      expect((await server.ask('POST', '/vector_store/new', draft))[0]).toBe(200);
      const message = `The ${name} of the vector store unset_${name} names a variable that is not set.`;
      expect(await server.ask('GET', `/v1/vector_stores/unset_${name}`)).toMatchObject([503, { error: { message } }]);
    }
    expect(server.upstream.received).toHaveLength(before);
  });

  it('refuse ids that leave the path of the provider', async () => {
    const id = encodeURIComponent('../files');
    await server.ask('GET', `/v1/vector_stores/${id}`);
    expect(server.upstream.received.at(-1)?.path).not.toBe('/v1/files');
  });
});

it('providerStores.delete 400: a store of the configuration file', async () => {
  expect(await server.ask('DELETE', `/v1/vector_stores/${FILE_STORE}`)).toEqual([
    400,
    {
      error: {
        message: `The vector store ${FILE_STORE} is in the configuration file. Remove it there first.`,
        type: 'invalid_request_error',
        param: null,
        code: '400',
      },
    },
  ]);
});
