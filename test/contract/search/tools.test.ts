import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Json, NO_KEY, type SearchServer, startSearchServer } from './search-server.ts';

let server: SearchServer;
/** Keys of a user and of a read-only administrator. */
let userKey: string;
let viewerKey: string;
beforeAll(async () => {
  server = await startSearchServer();
  userKey = await server.newKey();
  const [, created] = await server.ask('POST', '/user/new', { user_id: 'v', user_role: 'proxy_admin_viewer' });
  viewerKey = String((created as Json)['key']);
});
afterAll(() => server.stop());

const SECRET = 'sk-hidden-search-key';
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string;
const ID = expect.any(String) as string;

const draft = (name: string, more: Json = {}): Json => ({
  search_tool: {
    search_tool_name: name,
    litellm_params: { search_provider: 'perplexity', api_key: SECRET },
    search_tool_info: { description: 'd' },
    ...more,
  },
});
/** A stored tool in an answer. */
const shown = (name: string, more: Json = {}): Json => ({
  search_tool_id: ID,
  search_tool_name: name,
  litellm_params: { search_provider: 'perplexity', api_key: 'REDACTED' },
  search_tool_info: { description: 'd' },
  created_at: TIME,
  updated_at: TIME,
  ...more,
});
const create = (name: string, more?: Json) => server.ask('POST', '/search_tools', draft(name, more));
/** Stores a tool. Returns its id. */
const createdId = async (name: string): Promise<string> => String(((await create(name))[1] as Json)['search_tool_id']);

const forbidden = expect.objectContaining({ error: expect.objectContaining({ code: '403' }) as Json }) as Json;
const missing = (...loc: readonly string[]): Json => ({
  detail: [{ type: 'missing', loc: ['body', ...loc], msg: 'Field required' }],
});
const notFound = { detail: 'Search tool with ID nope not found' };
const changeInFile = { detail: 'The search tool pplx is in the configuration file. Change it there.' };
/** Id of the first tool of the configuration file. */
const idOfFileTool = async (): Promise<string> => {
  const [, body] = await server.ask('GET', '/search_tools/list');
  return String((body as { readonly search_tools: readonly Json[] }).search_tools[0]?.['search_tool_id']);
};

describe('searchTools.create', () => {
  it('200: a tool is stored; its secret is shown as REDACTED, and is not in the audit log', async () => {
    const [status, body] = await create('new');
    expect([status, body]).toEqual([200, shown('new')]);
    const id = String((body as Json)['search_tool_id']);
    expect(await server.ask('GET', `/search_tools/${id}`)).toEqual([200, shown('new', { is_from_config: false })]);
    const [, audit] = await server.ask('GET', `/audit?object_id=${id}`);
    expect(JSON.stringify(audit)).toContain('"new"');
    expect(JSON.stringify(audit)).not.toContain(SECRET);
  });

  it('400: the name of a stored tool or of a tool of the file; values that cannot be stored', async () => {
    await create('taken');
    expect(await create('taken')).toEqual([400, { detail: 'Search tool with name taken already exists' }]);
    expect(await create('pplx')).toEqual([400, { detail: 'Search tool with name pplx already exists' }]);
    const wrong: readonly (readonly [Json, string])[] = [
      [{ search_tool_name: ' ' }, 'search_tool_name must not be empty'],
      [
        { search_tool_name: 'a\0' },
        'search_tool_name must have at most 256 characters, no control character and no unpaired surrogate',
      ],
      [{ litellm_params: {} }, 'litellm_params.search_provider is required'],
      [{ litellm_params: { search_provider: 'x', api_key: 3 } }, 'litellm_params.api_key must be a string'],
      [{ search_tool_info: { a: '\ud800' } }, 'search_tool_info must have no NUL character and no unpaired surrogate'],
      [{ search_tool_info: { a: '\0' } }, 'search_tool_info must have no NUL character and no unpaired surrogate'],
    ];
    for (const [more, detail] of wrong) expect(await create('wrong', more)).toEqual([400, { detail }]);
    const [status] = await create('escape', { search_tool_info: { a: String.raw`the text \u0000` } });
    expect(status).toBe(200);
  });

  it('401 without a key and with the key of a user; 403 for a read-only administrator', async () => {
    expect(await server.ask('POST', '/search_tools', draft('x'), null)).toEqual([401, NO_KEY]);
    expect((await server.ask('POST', '/search_tools', draft('x'), userKey))[0]).toBe(401);
    expect(await server.ask('POST', '/search_tools', draft('x'), viewerKey)).toEqual([403, forbidden]);
  });

  it('422: missing members', async () => {
    expect(await server.ask('POST', '/search_tools', {})).toEqual([422, missing('search_tool')]);
    expect(await server.ask('POST', '/search_tools', { search_tool: { litellm_params: {} } })).toEqual([
      422,
      missing('search_tool', 'search_tool_name'),
    ]);
  });
});

describe('searchTools.list and searchTools.get', () => {
  it('200: tools of the file, with references to secrets, and stored tools', async () => {
    const id = await createdId('listed');
    const [status, body] = await server.ask('GET', '/search_tools/list', undefined, viewerKey);
    const tools = (body as { readonly search_tools: readonly Json[] }).search_tools;
    expect(status).toBe(200);
    expect(tools[0]).toEqual({
      search_tool_id: expect.stringMatching(/^[0-9a-f]{32}$/) as string,
      search_tool_name: 'pplx',
      litellm_params: {
        search_provider: 'perplexity',
        api_base: `${server.upstream.url}/perplexity`,
        api_key: 'os.environ/SEARCH_ACCOUNT',
      },
      search_tool_info: { description: 'The web' },
      created_at: null,
      updated_at: null,
      is_from_config: true,
    });
    expect(tools.find((tool) => tool['search_tool_id'] === id)).toEqual(shown('listed', { is_from_config: false }));
  });

  it('404: an unknown id', async () => {
    expect(await server.ask('GET', '/search_tools/nope')).toEqual([404, notFound]);
  });

  it.each(['/search_tools/list', '/search_tools/nope', '/search_tools/ui/available_providers'])(
    '401 without a key and with the key of a user: %s',
    async (path) => {
      expect(await server.ask('GET', path, undefined, null)).toEqual([401, NO_KEY]);
      expect((await server.ask('GET', path, undefined, userKey))[0]).toBe(401);
    },
  );
});

describe('searchTools.update', () => {
  const update = (id: string, body: unknown, key?: string | null) =>
    server.ask('PUT', `/search_tools/${id}`, body, key);

  it('200: replaces name and parameters; REDACTED keeps the secret; absent information is kept', async () => {
    const id = await createdId('before');
    const params = {
      search_provider: 'perplexity',
      api_key: 'REDACTED',
      api_base: `${server.upstream.url}/perplexity`,
    };
    expect(await update(id, draft('after', { litellm_params: params, search_tool_info: undefined }))).toEqual([
      200,
      shown('after', { litellm_params: params }),
    ]);
    expect((await server.ask('POST', '/v1/search/after', { query: 'x' }))[0]).toBe(200);
    expect(server.upstream.received.at(-1)?.headers.authorization).toBe(`Bearer ${SECRET}`);
    expect((await server.ask('POST', '/v1/search/before', { query: 'x' }))[0]).toBe(404);
  });

  it('400: the name of another tool; a tool of the configuration file', async () => {
    const id = await createdId('renamed');
    await create('other');
    const exists = (name: string) => [400, { detail: `Search tool with name ${name} already exists` }];
    expect(await update(id, draft('other'))).toEqual(exists('other'));
    expect(await update(id, draft('pplx'))).toEqual(exists('pplx'));
    expect(await update(await idOfFileTool(), draft('x'))).toEqual([400, changeInFile]);
  });

  it('401, 403, 404 and 422', async () => {
    expect(await update('nope', draft('x'), null)).toEqual([401, NO_KEY]);
    expect((await update('nope', draft('x'), userKey))[0]).toBe(401);
    expect(await update('nope', draft('x'), viewerKey)).toEqual([403, forbidden]);
    expect(await update('nope', draft('x'))).toEqual([404, notFound]);
    expect(await update('nope', {})).toEqual([422, missing('search_tool')]);
  });
});

describe('searchTools.delete', () => {
  const remove = (id: string, key?: string | null) => server.ask('DELETE', `/search_tools/${id}`, undefined, key);

  it('200: a tool is removed; 404 afterwards', async () => {
    const id = await createdId('gone');
    expect(await remove(id)).toEqual([
      200,
      { message: `Search tool ${id} deleted successfully`, search_tool_name: 'gone' },
    ]);
    expect(await remove(id)).toEqual([404, { detail: `Search tool with ID ${id} not found` }]);
  });

  it('400: a tool of the configuration file; 401 and 403', async () => {
    expect(await remove(await idOfFileTool())).toEqual([400, changeInFile]);
    expect(await remove('nope', null)).toEqual([401, NO_KEY]);
    expect((await remove('nope', userKey))[0]).toBe(401);
    expect(await remove('nope', viewerKey)).toEqual([403, forbidden]);
  });
});

describe('searchTools.providers', () => {
  it('401: no key', async () => {
    expect(await server.ask('GET', '/search_tools/ui/available_providers', undefined, null)).toEqual([401, NO_KEY]);
  });

  it('200: the supported providers', async () => {
    expect(await server.ask('GET', '/search_tools/ui/available_providers')).toEqual([
      200,
      {
        providers: [
          { provider_name: 'perplexity', ui_friendly_name: 'Perplexity' },
          { provider_name: 'tavily', ui_friendly_name: 'Tavily' },
          { provider_name: 'exa_ai', ui_friendly_name: 'Exa AI' },
          { provider_name: 'brave', ui_friendly_name: 'Brave Search' },
          { provider_name: 'serper', ui_friendly_name: 'Serper' },
          { provider_name: 'searxng', ui_friendly_name: 'SearXNG' },
        ],
      },
    ]);
  });
});

describe('searchTools.test', () => {
  const test = (body: unknown, key?: string | null) => server.ask('POST', '/search_tools/test_connection', body, key);
  const params = (more: Json = {}): Json => ({
    litellm_params: {
      search_provider: 'perplexity',
      api_base: `${server.upstream.url}/perplexity`,
      api_key: SECRET,
      ...more,
    },
  });

  it('200: a success, and a failure whose message does not have the key', async () => {
    expect(await test(params())).toEqual([
      200,
      {
        status: 'success',
        message: 'The search tool answered the test query.',
        test_query: 'test',
        results_count: 1,
      },
    ]);
    expect(await test(params({ api_base: `${server.upstream.url}/perplexity/broken` }))).toEqual([
      200,
      { status: 'error', message: 'refused: <secret>', error_type: 'UpstreamFailed' },
    ]);
  });

  it('200: a failure that repeats a long key with an escaped character', async () => {
    const half = 'k'.repeat(600);
    const broken = params({ api_base: `${server.upstream.url}/perplexity/broken`, api_key: `${half}"${half}` });
    expect(await test(broken)).toEqual([
      200,
      { status: 'error', message: 'refused: <secret>', error_type: 'UpstreamFailed' },
    ]);
  });

  it('400, 401, 403 and 422', async () => {
    expect((await test('{'))[0]).toBe(422);
    expect(await test({})).toEqual([422, missing('litellm_params')]);
    expect(await test(params(), null)).toEqual([401, NO_KEY]);
    expect((await test(params(), userKey))[0]).toBe(401);
    expect(await test(params(), viewerKey)).toEqual([403, forbidden]);
  });
});

describe('search tools of the configuration file', () => {
  it('change with a reload, and hide stored tools with their names', async () => {
    const other = await startSearchServer();
    try {
      await other.ask('POST', '/search_tools', draft('later'));
      await other.app.reload(
        'search_tools:\n  - { search_tool_name: later, litellm_params: { search_provider: brave } }\n',
      );
      const [, body] = await other.ask('GET', '/v1/search/tools');
      expect(body).toEqual({
        object: 'list',
        data: [{ search_tool_name: 'later', search_provider: 'brave', description: null }],
      });
    } finally {
      await other.stop();
    }
  });
});
