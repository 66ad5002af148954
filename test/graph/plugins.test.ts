import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/start-app.ts';

let app: TestApp;
let user: string;

beforeAll(async () => {
  app = await startApp();
  user = ((await (await app.call('POST', '/key/generate', {})).json()) as { readonly key: string }).key;
});
afterAll(() => app.stop());

const ALL = `{ id pluginId name source { kind repo url path ref sha } version description author { name email } homepage
  keywords category domain namespace enabled createdAt updatedAt }`;

async function ask(query: string, input?: object, key = app.adminKey): Promise<Record<string, unknown>> {
  const response = await fetch(`${app.url}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables: input === undefined ? {} : { input } }),
  });
  const answer = (await response.json()) as { data?: Record<string, unknown>; errors?: unknown };
  return { ...answer.data, ...(answer.errors === undefined ? {} : { errors: answer.errors }) };
}

const change = async (name: 'Register' | 'Enable' | 'Disable' | 'Delete', input: object, key?: string) => {
  const field = `${name.toLowerCase()}Plugin`;
  const query = `mutation ($input: ${name}PluginInput!) {
    ${field}(input: $input) { __typename ... on Plugin ${ALL} ... on UserError { message code } } }`;
  const answer = await ask(query, input, key);
  return (answer[field] ?? answer) as Record<string, unknown>;
};

const TIME = expect.stringMatching(/^\d{4}-/) as string;
const ID = expect.any(String) as string;
const NOTHING = { repo: null, url: null, path: null, ref: null, sha: null };
const GITHUB = { kind: 'GITHUB', repo: 'org/x' };

describe('plugins in the graph', () => {
  it('are registered, read, changed and removed, with the same state over HTTP', async () => {
    const input = {
      name: 'one',
      source: { kind: 'GIT_SUBDIR', url: 'https://git.test/x.git', path: 'p', ref: 'v1', sha: 'b'.repeat(40) },
      version: '1.0.0',
      description: 'd',
      author: { name: 'A', email: 'a@b.test' },
      homepage: 'https://h.test/',
      keywords: ['k'],
      category: 'c',
      domain: 'do',
      namespace: 'na',
    };
    const shown = {
      __typename: 'Plugin',
      id: ID,
      pluginId: ID,
      ...input,
      source: { ...NOTHING, ...input.source },
      enabled: true,
      createdAt: TIME,
      updatedAt: TIME,
    };
    const created = await change('Register', input);
    expect(created).toEqual(shown);
    const { __typename: _type, ...node } = created;
    expect(await ask(`{ plugin(name: "one") ${ALL} }`)).toEqual({ plugin: node });
    expect(await ask(`{ node(id: "${String(created['id'])}") { ... on Plugin ${ALL} } }`)).toEqual({ node });
    expect(await change('Disable', { name: 'one' })).toEqual({ ...shown, enabled: false });
    const overHttp = await app.call('GET', '/claude-code/plugins/one');
    expect(await overHttp.json()).toMatchObject({ id: created['pluginId'], enabled: false, author: input.author });
    expect(await change('Enable', { name: 'one' })).toEqual(shown);
    const bare = { version: null, description: null, author: null, homepage: null, keywords: [], category: null };
    expect(await change('Register', { name: 'one', source: GITHUB })).toEqual({
      ...shown,
      ...bare,
      domain: null,
      namespace: null,
      source: { ...NOTHING, ...GITHUB },
    });
    expect(await change('Delete', { name: 'one' })).toMatchObject({ __typename: 'Plugin', name: 'one' });
    for (const name of ['Delete', 'Enable', 'Disable'] as const)
      expect(await change(name, { name: 'one' })).toEqual({
        __typename: 'NotFoundError',
        message: "Plugin 'one' not found",
        code: 'NOT_FOUND',
      });
    expect(await ask('{ plugin(name: "one") { name } }')).toEqual({ plugin: null });
    expect(await ask(`{ node(id: "${String(created['id'])}") { id } }`)).toEqual({ node: null });
  });

  it('are listed in pages', async () => {
    for (const name of ['b', 'a-1', 'c']) await change('Register', { name, source: GITHUB, category: name });
    await change('Disable', { name: 'c' });
    const list = async (args: string) =>
      (await ask(`{ plugins${args} { totalCount nodes { name } pageInfo { hasNextPage endCursor } } }`))['plugins'];
    const page = (names: readonly string[], totalCount = names.length, hasNextPage = false) => ({
      totalCount,
      nodes: names.map((name) => ({ name })),
      pageInfo: { hasNextPage, endCursor: ID },
    });
    expect(await list('')).toEqual(page(['c', 'a-1', 'b']));
    const first = await list('(orderBy: { field: NAME, direction: ASC }, first: 2)');
    expect(first).toEqual(page(['a-1', 'b'], 3, true));
    const { endCursor } = (first as { readonly pageInfo: { readonly endCursor: string } }).pageInfo;
    expect(await list(`(orderBy: { field: NAME, direction: ASC }, first: 2, after: "${endCursor}")`)).toEqual(
      page(['c'], 3),
    );
    expect(await list('(filter: { enabled: true })')).toEqual(page(['a-1', 'b']));
    expect(await list('(filter: { enabled: false })')).toEqual(page(['c']));
    expect(await list('(filter: { name: "A-" })')).toEqual(page(['a-1']));
    expect(await list('(filter: { name: " ", category: "b" })')).toEqual(page(['b']));
  });

  it('are refused with the reason', async () => {
    expect(await change('Register', { name: 'x', source: { kind: 'URL', url: 'http://git.test/x' } })).toEqual({
      __typename: 'InvalidInputError',
      message:
        'source.url must be an https:// address without user name and password; http:// is for loopback addresses only',
      code: 'INVALID_INPUT',
    });
    const forbidden = [
      expect.objectContaining({ extensions: expect.objectContaining({ code: 'FORBIDDEN' }) as object }),
    ];
    expect(await change('Register', { name: 'x', source: GITHUB }, user)).toMatchObject({ errors: forbidden });
    for (const name of ['Delete', 'Enable', 'Disable'] as const)
      expect(await change(name, { name: 'b' }, user)).toMatchObject({ errors: forbidden });
    expect(await ask('{ plugin(name: "b") { name } }', undefined, user)).toEqual({ plugin: null, errors: forbidden });
    expect(await ask('{ plugins { totalCount } }', undefined, user)).toMatchObject({ errors: forbidden });
  });
});
