import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SearchUpstream, startSearchUpstream } from '../support/search-upstream.ts';
import { startApp, type TestApp } from '../support/start-app.ts';

let app: TestApp;
let upstream: SearchUpstream;
let user: string;

beforeAll(async () => {
  upstream = await startSearchUpstream();
  app = await startApp({
    config: {
      search_tools: [
        {
          search_tool_name: 'of-file',
          litellm_params: { search_provider: 'tavily', api_base: `${upstream.url}/tavily`, api_key: 'sk-file' },
        },
      ],
    },
  });
  const made = await app.call('POST', '/key/generate', { object_permission: { search_tools: ['of-file'] } });
  user = ((await made.json()) as { readonly key: string }).key;
});
afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

const ALL_FIELDS = '{ id searchToolId name provider params info isFromConfig createdAt updatedAt }';
const FAILURE = '... on UserError { message code }';

/** Fields of `data` of an answer, with `errors` if there are any. */
async function ask(query: string, input?: object, key = app.adminKey): Promise<Record<string, unknown>> {
  const response = await fetch(`${app.url}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables: input === undefined ? {} : { input } }),
  });
  const answer = (await response.json()) as { data?: Record<string, unknown>; errors?: unknown };
  return { ...answer.data, ...(answer.errors === undefined ? {} : { errors: answer.errors }) };
}

/** Runs a mutation. Returns its result. */
const change = async (name: 'Create' | 'Update' | 'Delete', input: object, key?: string) => {
  const field = `${name.toLowerCase()}SearchTool`;
  const query = `mutation ($input: ${name}SearchToolInput!) {
    ${field}(input: $input) { __typename ... on SearchTool ${ALL_FIELDS} ${FAILURE} } }`;
  const answer = await ask(query, input, key);
  return (answer[field] ?? answer) as Record<string, unknown>;
};

const search = (input: object, key = user) =>
  ask(
    `mutation ($input: SearchWebInput!) { searchWeb(input: $input) {
      __typename ... on WebSearch { callId costUsd results { title url snippet date lastUpdated } } ${FAILURE} } }`,
    input,
    key,
  );

const TIME = expect.stringMatching(/^\d{4}-/) as string;
const ID = expect.any(String) as string;

describe('search tools in the graph', () => {
  it('are stored, read, changed and removed; HTTP reads the changes', async () => {
    const params = { search_provider: 'perplexity', api_key: 'sk-hidden' };
    const created = await change('Create', { name: 'one', params, info: { description: 'd' } });
    const shown = {
      __typename: 'SearchTool',
      id: ID,
      searchToolId: ID,
      name: 'one',
      provider: 'perplexity',
      params: { ...params, api_key: 'REDACTED' },
      info: { description: 'd' },
      isFromConfig: false,
      createdAt: TIME,
      updatedAt: TIME,
    };
    expect(created).toEqual(shown);
    const id = created['id'] as string;
    const node = await ask(`{ node(id: "${id}") { ... on SearchTool ${ALL_FIELDS} } }`);
    expect(node['node']).toMatchObject({ name: 'one' });
    const update = { searchTool: id, params: { ...params, api_key: 'REDACTED', timeout: 3 }, info: null };
    const changed = { ...shown, params: update.params, info: null };
    expect(await change('Update', update)).toEqual(changed);
    const listed = await app.call('GET', `/search_tools/${String(created['searchToolId'])}`);
    expect(await listed.json()).toMatchObject({ search_tool_name: 'one', litellm_params: update.params });
    expect(
      await ask(`{ searchTools(filter: { name: "O" }, orderBy: { field: NAME }) { totalCount nodes { name } } }`),
    ).toEqual({
      searchTools: { totalCount: 2, nodes: [{ name: 'one' }, { name: 'of-file' }] },
    });
    expect(await ask(`{ searchTools(filter: { provider: "tavily" }) { nodes { name params isFromConfig } } }`)).toEqual(
      {
        searchTools: {
          nodes: [
            {
              name: 'of-file',
              params: { search_provider: 'tavily', api_base: `${upstream.url}/tavily`, api_key: 'REDACTED' },
              isFromConfig: true,
            },
          ],
        },
      },
    );
    expect(await change('Delete', { searchTool: String(created['searchToolId']) })).toEqual(changed);
    expect(await change('Delete', { searchTool: id })).toMatchObject({ __typename: 'NotFoundError' });
  });

  it('are refused for a used name, invalid parameters, and the key of a user', async () => {
    const params = { search_provider: 'tavily' };
    expect(await change('Create', { name: 'of-file', params })).toMatchObject({
      code: 'CONFLICT',
      message: 'Search tool with name of-file already exists',
    });
    expect(await change('Create', { name: 'x', params: {} })).toMatchObject({ code: 'INVALID_INPUT' });
    expect(await change('Create', { name: 'x', params: 3 })).toMatchObject({ code: 'INVALID_INPUT' });
    expect(await change('Create', { name: 'x', params }, user)).toMatchObject({
      errors: [{ extensions: { code: 'FORBIDDEN' } }],
    });
    expect(await ask(`{ searchTools { nodes { name } } }`, undefined, user)).toMatchObject({
      errors: [{ extensions: { code: 'FORBIDDEN' } }],
    });
  });

  it('can be tested without storing them', async () => {
    const test = (path: string) =>
      ask(
        `mutation ($input: TestSearchToolInput!) {
          testSearchTool(input: $input) { ... on SearchToolTest { results failure } ${FAILURE} } }`,
        { params: { search_provider: 'tavily', api_base: `${upstream.url}${path}`, api_key: 'k' } },
      );
    expect(await test('/tavily')).toEqual({ testSearchTool: { results: 1, failure: null } });
    expect(await test('/tavily/broken')).toEqual({
      testSearchTool: { results: null, failure: 'refused: <secret>' },
    });
  });
});

describe('searchWeb', () => {
  it('returns results and the exact cost', async () => {
    const input = { searchTool: 'of-file', queries: ['x'], maxResults: 1, country: 'de', callId: 'my-call' };
    expect(await search({ ...input, parameters: { topic: 'news' }, domains: ['a.test'] })).toEqual({
      searchWeb: {
        __typename: 'WebSearch',
        callId: 'my-call',
        costUsd: '0.008',
        results: [{ title: 'T1', url: 'https://a.test/1', snippet: 'S1', date: '2026-01-02', lastUpdated: null }],
      },
    });
    expect(upstream.received.at(-1)?.json).toEqual({
      topic: 'news',
      query: 'x',
      max_results: 1,
      include_domains: ['a.test'],
      country: 'germany',
    });
  });

  it('fails for an unknown tool, no query, a failing provider, and a tool that the key may not use', async () => {
    expect(await search({ searchTool: 'nope', queries: ['x'] })).toMatchObject({ searchWeb: { code: 'NOT_FOUND' } });
    expect(await search({ searchTool: 'of-file', queries: [] })).toMatchObject({
      searchWeb: { code: 'INVALID_INPUT' },
    });
    expect(await search({ searchTool: 'of-file', queries: ['status:503'] })).toMatchObject({
      searchWeb: { code: 'UPSTREAM_FAILED' },
    });
    await change('Create', { name: 'other', params: { search_provider: 'tavily' } });
    expect(JSON.stringify(await search({ searchTool: 'other', queries: ['x'] }))).toContain('FORBIDDEN');
  });
});
