import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FILE_STORE, type Json, NO_KEY, type StoreServer, startStoreServer } from './store-server.ts';

let server: StoreServer;
let user: string;
let viewer: string;
beforeAll(async () => {
  server = await startStoreServer();
  user = await server.newKey();
  const [, created] = await server.ask('POST', '/user/new', { user_id: 'v', user_role: 'proxy_admin_viewer' });
  viewer = String((created as Json)['key']);
});
afterAll(() => server.stop());

const STORE_SECRET = 'sk-kept-value';
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string;

const row = (id: string, overrides: Json = {}): Json => ({
  vector_store_id: id,
  custom_llm_provider: 'openai',
  vector_store_name: null,
  vector_store_description: null,
  vector_store_metadata: null,
  created_at: TIME,
  updated_at: TIME,
  litellm_credential_name: null,
  litellm_params: {},
  team_id: null,
  user_id: 'default_user_id',
  ...overrides,
});

const register = (id: string, more: Json = {}) =>
  server.ask('POST', '/vector_store/new', { vector_store_id: id, custom_llm_provider: 'openai', ...more });

const missing = (member: string): Json => ({
  detail: [{ type: 'missing', loc: ['body', member], msg: 'Field required' }],
});
const ofFile: Json = {
  detail: {
    error: `The vector store ${FILE_STORE} is in the configuration file. Change it there.`,
    vector_store_id: FILE_STORE,
  },
};
const envelope = expect.objectContaining({ error: expect.objectContaining({ code: '403' }) as Json }) as Json;

describe('vectorStores.create', () => {
  it('200: a store is registered; secrets are encrypted at rest and shown as REDACTED', async () => {
    const sent = {
      vector_store_name: 'n',
      vector_store_description: 'd',
      vector_store_metadata: '{"a":1}',
      litellm_credential_name: 'c',
      litellm_params: { api_key: 'sk-hidden-value', api_base: 'http://h/v1' },
      team_id: 't',
    };
    const shown = row('new', {
      ...sent,
      vector_store_metadata: { a: 1 },
      litellm_params: { api_key: 'REDACTED', api_base: 'http://h/v1' },
    });
    expect(await register('new', sent)).toEqual([
      200,
      { status: 'success', message: 'Vector store new created successfully', vector_store: shown },
    ]);
    expect(await server.ask('POST', '/vector_store/info', { vector_store_id: 'new' })).toEqual([
      200,
      { vector_store: shown },
    ]);
    const [, audit] = await server.ask('GET', '/audit?object_id=new');
    expect(JSON.stringify(audit)).toContain('"new"');
    expect(JSON.stringify(audit)).not.toContain('sk-hidden-value');
  });

  it('400: an id that is taken, also in the configuration file; missing members; control characters', async () => {
    await register('taken');
    expect(await register('taken')).toEqual([400, { detail: 'Vector store with ID taken already exists' }]);
    expect(await register(FILE_STORE)).toEqual([400, { detail: `Vector store with ID ${FILE_STORE} already exists` }]);
    expect(await server.ask('POST', '/vector_store/new', {})).toEqual([
      400,
      { detail: 'vector_store_id and custom_llm_provider are required' },
    ]);
    expect(await register('a\u0000b')).toEqual([
      400,
      {
        detail: 'vector_store_id must have at most 1024 characters, no control character and no unpaired surrogate',
      },
    ]);
  });

  it.each(['a\0b', 'a\ud800b'])('400: a description that the database cannot store: %j', async (description) => {
    const message = 'vector_store_description must have no NUL character and no unpaired surrogate';
    expect(await register('described', { vector_store_description: description })).toEqual([400, { detail: message }]);
    expect((await register('described', { vector_store_description: 'two\nlines' }))[0]).toBe(200);
    await server.ask('POST', '/vector_store/delete', { vector_store_id: 'described' });
  });

  it('401 without a key and 401 for a key of no administrator; 403 for a read-only administrator', async () => {
    const draft = { vector_store_id: 'x', custom_llm_provider: 'openai' };
    expect(await server.ask('POST', '/vector_store/new', draft, null)).toEqual([401, NO_KEY]);
    expect((await server.ask('POST', '/vector_store/new', draft, user))[0]).toBe(401);
    expect(await server.ask('POST', '/vector_store/new', draft, viewer)).toEqual([403, envelope]);
  });

  it('422: wrong types', async () => {
    expect(await register('x', { litellm_params: 3 })).toEqual([
      422,
      { detail: [{ type: 'dict_type', loc: ['body', 'litellm_params'], msg: 'Input should be a valid dictionary' }] },
    ]);
  });
});

describe('vectorStores.list', () => {
  it('200: administrators see all in pages; a key sees those of its team, without parameters', async () => {
    const teamKey = await server.newKey({ team_id: await server.newTeam('list-team') });
    await register('of-team', { team_id: 'list-team', litellm_params: { api_base: 'http://h/v1' } });
    const [, first] = await server.ask('GET', '/vector_store/list?page=1&page_size=1');
    expect(first).toMatchObject({
      object: 'list',
      current_page: 1,
      data: [
        row(FILE_STORE, {
          vector_store_name: 'of the file',
          vector_store_description: 'd',
          vector_store_metadata: { a: 1 },
          created_at: null,
          updated_at: null,
          user_id: null,
          litellm_params: { api_base: `${server.upstream.url}/v1`, api_key: 'os.environ/STORE_ACCOUNT' },
        }),
      ],
    });
    const { total_count: count, total_pages: pages } = first as Json;
    expect([count === pages, Number(count) > 1]).toEqual([true, true]);
    expect(await server.ask('GET', '/v1/vector_store/list', undefined, teamKey)).toEqual([
      200,
      {
        object: 'list',
        data: [row('of-team', { team_id: 'list-team' })],
        total_count: 1,
        current_page: 1,
        total_pages: 1,
      },
    ]);
    expect(await server.ask('GET', '/vector_store/list', undefined, user)).toEqual([
      200,
      { object: 'list', data: [], total_count: 0, current_page: 1, total_pages: 0 },
    ]);
  });

  it('401: no key', async () => {
    expect(await server.ask('GET', '/vector_store/list', undefined, null)).toEqual([401, NO_KEY]);
  });

  it('422: a page below 1', async () => {
    expect((await server.ask('GET', '/vector_store/list?page=0'))[0]).toBe(422);
  });
});

describe('vectorStores.get', () => {
  it('200: a store without a team, by its id, for every key; 401 without a key', async () => {
    await register('open', { litellm_params: { api_base: 'http://h/v1' } });
    const body = { vector_store_id: 'open' };
    expect(await server.ask('POST', '/vector_store/info', body, user)).toEqual([200, { vector_store: row('open') }]);
    expect(await server.ask('POST', '/vector_store/info', body, null)).toEqual([401, NO_KEY]);
  });

  it('403: a store of another team, and one that the list of the key does not have', async () => {
    await register('foreign', { team_id: 'other' });
    const limited = await server.newKey({ object_permission: { vector_stores: ['only-this'] } });
    expect(await server.ask('POST', '/vector_store/info', { vector_store_id: 'foreign' }, user)).toEqual([
      403,
      {
        error: {
          message: 'The team of the key is not allowed to access the vector store foreign.',
          type: 'team_vector_store_access_denied',
          param: null,
          code: '403',
        },
      },
    ]);
    expect(await server.ask('POST', '/vector_store/info', { vector_store_id: 'foreign' }, limited)).toEqual([
      403,
      {
        error: {
          message: 'The key is not allowed to access the vector store foreign.',
          type: 'key_vector_store_access_denied',
          param: null,
          code: '403',
        },
      },
    ]);
  });

  it('404: an unknown id; 422: none', async () => {
    expect(await server.ask('POST', '/vector_store/info', { vector_store_id: 'nope' })).toEqual([
      404,
      { detail: 'Vector store with ID nope not found' },
    ]);
    expect(await server.ask('POST', '/vector_store/info', {})).toEqual([422, missing('vector_store_id')]);
  });
});

describe('vectorStores.update', () => {
  const update = (id: string, more: Json, key?: string | null) =>
    server.ask('POST', '/vector_store/update', { vector_store_id: id, ...more }, key);

  it('200: sent members change; a redacted secret keeps its value', async () => {
    await register('up', { litellm_params: { api_key: STORE_SECRET, api_base: 'http://h/v1' }, team_id: 't' });
    const sent = { vector_store_name: 'm', litellm_params: { api_key: 'REDACTED', api_base: 'http://i/v1' } };
    expect(await update('up', sent)).toEqual([
      200,
      {
        status: 'success',
        message: 'Vector store up updated successfully',
        vector_store: row('up', { ...sent, team_id: 't' }),
      },
    ]);
  });

  it('400: a store of the configuration file, and a blank provider', async () => {
    expect(await update(FILE_STORE, { vector_store_name: 'x' })).toEqual([400, ofFile]);
    await register('blank');
    expect(await update('blank', { custom_llm_provider: ' ' })).toEqual([
      400,
      { detail: 'vector_store_id and custom_llm_provider are required' },
    ]);
  });

  it('401 without a key and for a key of no administrator; 403 for a read-only administrator', async () => {
    expect(await update('x', {}, null)).toEqual([401, NO_KEY]);
    expect((await update('x', {}, user))[0]).toBe(401);
    expect(await update('x', {}, viewer)).toEqual([403, envelope]);
  });

  it('404: an unknown id; 422: none', async () => {
    expect(await update('nope', {})).toEqual([404, { detail: 'Vector store with ID nope not found' }]);
    expect(await server.ask('POST', '/vector_store/update', {})).toEqual([422, missing('vector_store_id')]);
  });
});

describe('vectorStores.delete', () => {
  const remove = (id: string, key?: string | null) =>
    server.ask('POST', '/vector_store/delete', { vector_store_id: id }, key);

  it('200, then 404: the registration is removed once', async () => {
    await register('gone');
    expect(await remove('gone')).toEqual([
      200,
      { status: 'success', message: 'Vector store gone deleted successfully' },
    ]);
    expect(await remove('gone')).toEqual([404, { detail: 'Vector store with ID gone not found' }]);
  });

  it('400: a store of the configuration file', async () => {
    expect(await remove(FILE_STORE)).toEqual([400, ofFile]);
  });

  it('401 without a key and for a key of no administrator; 403 for a read-only administrator; 422 without an id', async () => {
    expect(await remove('x', null)).toEqual([401, NO_KEY]);
    expect((await remove('x', user))[0]).toBe(401);
    expect(await remove('x', viewer)).toEqual([403, envelope]);
    expect(await server.ask('POST', '/vector_store/delete', {})).toEqual([422, missing('vector_store_id')]);
  });
});

describe('the registry of the configuration file', () => {
  it('is read again on a reload', async () => {
    const other = await startStoreServer();
    try {
      await other.app.reload(
        'vector_store_registry:\n  - litellm_params: {vector_store_id: b, custom_llm_provider: openai}\n',
      );
      const [, body] = await other.ask('GET', '/vector_store/list');
      expect(body).toMatchObject({ total_count: 1, data: [{ vector_store_id: 'b' }] });
    } finally {
      await other.stop();
    }
  });
});
