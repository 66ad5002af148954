import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { POLLING } from '../../support/polling.ts';
import { type Json, NO_KEY, type SearchServer, startSearchServer } from './search-server.ts';
import { found, FULL_SEARCH, RESULTS, VENDORS } from './vendor-cases.ts';

let server: SearchServer;
let userKey: string;
beforeAll(async () => {
  server = await startSearchServer();
  userKey = await server.newKey();
});
afterAll(() => server.stop());

const search = (tool: string, body: Json, key: string | null = userKey) =>
  server.ask('POST', `/v1/search/${tool}`, body, key);
const lastReceived = () => server.upstream.received.at(-1);

/** Body of a 400. */
const error = (message: string, more: Json = {}): Json => ({
  error: { message, type: 'invalid_request_error', param: null, code: '400', ...more },
});

describe('search.callTool', () => {
  it.each(VENDORS)('200: a search in the format of its provider: %s', async (tool, { sent, header, answer }) => {
    expect(await search(tool, FULL_SEARCH)).toEqual([200, answer]);
    const received = lastReceived();
    expect(received).toMatchObject(sent);
    expect(received?.json).toEqual(sent.json);
    expect(received?.query).toEqual(sent.query);
    expect(received?.path.endsWith('/search')).toBe(true);
    expect(received?.headers[header[0]]).toBe(header[1]);
    expect(JSON.stringify(received)).not.toContain(userKey);
    expect(JSON.stringify(received)).not.toContain('of the caller');
  });

  it('200: at most max_results of the results of the provider; the unversioned path', async () => {
    const [status, body] = await server.ask('POST', '/search/searxng', { query: 'x', max_results: 1 }, userKey);
    expect([status, body]).toEqual([
      200,
      { object: 'search', results: [{ ...RESULTS[0], date: '2026-01-02T00:00:00' }] },
    ]);
  });

  it('200: the account of the environment, for a tool without an account', async () => {
    expect((await search('of%20the%20environment', { query: 'x' }))[0]).toBe(200);
    expect(lastReceived()?.headers.authorization).toBe('Bearer environment-key');
  });

  it('200: after a failure of one tool, another tool of this name answers', async () => {
    const answers = [await search('shared', { query: 'x' }), await search('shared', { query: 'x' })];
    expect(answers).toEqual([
      [200, found()],
      [200, found()],
    ]);
    const paths = server.upstream.received.slice(-3).map(({ path }) => path);
    expect(paths.toSorted()).toEqual(['/perplexity/broken/search', '/tavily/search', '/tavily/search']);
  });

  it.each([
    [{}, 'query', "/search: Missing required parameter: 'query'."],
    [{ query: '' }, 'query', "/search: Missing required parameter: 'query'."],
    ...[' ', [], ['a', 1], Array.from({ length: 6 }, () => 'a'), 'a'.repeat(8_193), 'a\ud800'].map(
      (query) =>
        [
          { query },
          'query',
          "/search: Invalid value for parameter 'query': it must be a text, or a list of 1 to 5 texts, of at most 8192 characters each.",
        ] as const,
    ),
    ...[0, 101, 1.5, '5'].map(
      (count) =>
        [
          { query: 'x', max_results: count },
          'max_results',
          "/search: Invalid value for parameter 'max_results': it must be a whole number from 1 to 100.",
        ] as const,
    ),
    ...['a.test', ['a b'], Array.from({ length: 21 }, () => 'a.test')].map(
      (domains) =>
        [
          { query: 'x', search_domain_filter: domains },
          'search_domain_filter',
          "/search: Invalid value for parameter 'search_domain_filter': it must be a list of at most 20 domains.",
        ] as const,
    ),
    [
      { query: 'x', country: 'usa' },
      'country',
      "/search: Invalid value for parameter 'country': it must be a country code of two letters.",
    ],
  ] as const)('400: an invalid search: %j', async (body, param, message) => {
    const before = server.upstream.received.length;
    expect(await search('pplx', body)).toEqual([400, error(message, { param })]);
    expect(server.upstream.received.length).toBe(before);
  });

  it('400: a tool with an unsupported provider', async () => {
    expect(await search('foreign', { query: 'x' })).toEqual([
      400,
      error(
        "The search provider 'you_com' is not supported. Supported providers: perplexity, tavily, exa_ai, brave, serper, searxng",
      ),
    ]);
  });

  it('400: a query that a guardrail blocks, or masks for a provider with queries in the URL; others are sent masked', async () => {
    const guarded = await server.newKey({ guardrails: ['words'] });
    const before = server.upstream.received.length;
    const [status, body] = await search('pplx', { query: 'forbidden fruit' }, guarded);
    expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining('forbidden')]);
    expect(server.upstream.received.length).toBe(before);
    expect((await search('pplx', { query: 'who is a@b.test' }, guarded))[0]).toBe(200);
    expect(lastReceived()?.json).toEqual({ query: 'who is [EMAIL_REDACTED]' });
    // Brave gets the query in the URL, where no mask is sent.
    expect((await search('brave', { query: 'who is a@b.test' }, guarded))[0]).toBe(400);
  });

  it('401: no key', async () => {
    expect(await search('pplx', { query: 'x' }, null)).toEqual([401, NO_KEY]);
  });

  it('403: a tool that is not in the list of the key', async () => {
    const limited = await server.newKey({ object_permission: { search_tools: ['tavily'] } });
    expect(await search('pplx', { query: 'x' }, limited)).toEqual([
      403,
      {
        error: {
          message: 'The key is not allowed to use the search tool pplx.',
          type: 'key_search_tool_access_denied',
          param: null,
          code: '403',
        },
      },
    ]);
    expect((await search('tavily', { query: 'x' }, limited))[0]).toBe(200);
  });

  it('403: a tool that is not in the list of the team or the user of the key', async () => {
    const object_permission = { search_tools: ['tavily'] };
    await server.ask('POST', '/team/new', { team_id: 'limited', object_permission });
    await server.ask('POST', '/user/new', { user_id: 'limited', auto_create_key: false, object_permission });
    const keys = [
      await server.newKey({ team_id: 'limited', object_permission: { search_tools: ['pplx', 'tavily'] } }),
      await server.newKey({ user_id: 'limited' }),
    ];
    for (const key of keys) {
      // oxlint-disable-next-line no-await-in-loop -- one key after another
      const statuses = [await search('pplx', { query: 'x' }, key), await search('tavily', { query: 'x' }, key)];
      expect(statuses.map(([status]) => status)).toEqual([403, 200]);
    }
  });

  it('404: an unknown tool', async () => {
    expect(await search('zzz', { query: 'x' })).toEqual([
      404,
      { error: { message: "Search tool 'zzz' not found", type: 'not_found_error', param: null, code: '404' } },
    ]);
  });

  it('408: a provider that does not answer within the timeout of the tool', async () => {
    const [status, body] = await search('hasty', { query: 'no answer' });
    expect([status, body]).toEqual([408, { error: expect.objectContaining({ code: '408' }) as Json }]);
  });

  it('422: an exhausted budget', async () => {
    const poor = await server.newKey({ max_budget: 0.005 });
    expect((await search('tavily', { query: 'x' }, poor))[0]).toBe(200);
    await expect.poll(async () => (await search('tavily', { query: 'x' }, poor))[0], POLLING).toBe(422);
  });

  it('429: the limit of the key; the limit of the provider, whose answer repeats the credential, which is hidden', async () => {
    const slow = await server.newKey({ rpm_limit: 1 });
    expect((await search('pplx', { query: 'x' }, slow))[0]).toBe(200);
    expect((await search('pplx', { query: 'x' }, slow))[0]).toBe(429);
    const [status, body] = await search('pplx', { query: 'status:429' });
    expect(status).toBe(429);
    expect(JSON.stringify(body)).toContain('refused: <secret>');
  });

  it.each(['no list', 'no json'])('500: an answer without a list of results: %s', async (query) => {
    const [status, body] = await search('pplx', { query });
    expect(status).toBe(500);
    expect(JSON.stringify(body)).toContain('The answer of Perplexity is no list of results.');
  });

  it('503: a tool without a key', async () => {
    const [status, body] = await search('without%20key', { query: 'x' });
    expect(status).toBe(503);
    expect(JSON.stringify(body)).toContain('The search tool without key has no api_key.');
  });
});

describe('search.call', () => {
  const call = (body: unknown, key: string | null = userKey) => server.ask('POST', '/v1/search', body, key);

  it('200: search_tool_name selects the tool, also on the unversioned path', async () => {
    const body = { search_tool_name: 'tavily', query: 'x' };
    expect(await call(body)).toEqual([200, found()]);
    expect(lastReceived()?.json).toEqual({ query: 'x' });
    expect(await server.ask('POST', '/search', body, userKey)).toEqual([200, found()]);
  });

  it('400: no tool, a tool that is no text, a body that is no object, and wrong JSON', async () => {
    expect(await call({ query: 'x' })).toEqual([
      400,
      error("/search: Missing required parameter: 'search_tool_name'.", { param: 'search_tool_name' }),
    ]);
    expect((await call({ query: 'x', search_tool_name: 3 }))[0]).toBe(400);
    expect((await call([]))[0]).toBe(400);
    expect((await call('{'))[0]).toBe(400);
  });

  it('401: no key', async () => {
    expect(await call({ query: 'x' }, null)).toEqual([401, NO_KEY]);
  });

  it.each([403, 404, 408, 422, 429, 500, 503])('%s in the cases of search.callTool', async (status) => {
    const limited = await server.newKey({ object_permission: { search_tools: ['tavily'] } });
    const poor = await server.newKey({ max_budget: 0 });
    const requests: Readonly<Record<number, readonly [tool: string, query: string, key: string]>> = {
      403: ['pplx', 'x', limited],
      404: ['zzz', 'x', userKey],
      408: ['hasty', 'no answer', userKey],
      422: ['pplx', 'x', poor],
      429: ['pplx', 'status:429', userKey],
      500: ['pplx', 'status:500', userKey],
      503: ['without key', 'x', userKey],
    };
    const [tool = '', query = '', key = ''] = requests[status] ?? [];
    expect((await call({ search_tool_name: tool, query }, key))[0]).toBe(status);
  });
});

describe('search.tools', () => {
  it('200: the tools that the key may use, once for each name', async () => {
    const limited = await server.newKey({ object_permission: { search_tools: ['pplx', 'shared'] } });
    expect(await server.ask('GET', '/v1/search/tools', undefined, limited)).toEqual([
      200,
      {
        object: 'list',
        data: [
          { search_tool_name: 'pplx', search_provider: 'perplexity', description: 'The web' },
          { search_tool_name: 'shared', search_provider: 'perplexity', description: null },
        ],
      },
    ]);
    const [, all] = await server.ask('GET', '/search/tools', undefined, userKey);
    expect((all as { readonly data: unknown }).data).toHaveLength(12);
  });

  it('401: no key', async () => {
    expect(await server.ask('GET', '/v1/search/tools', undefined, null)).toEqual([401, NO_KEY]);
  });
});
