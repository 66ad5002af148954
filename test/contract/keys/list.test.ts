import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/start-app.ts';

let app: TestApp;
/** Secrets of keys by alias, in the order of creation. */
const keys: Record<string, string> = {};
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

beforeAll(async () => {
  app = await startApp();
  for (const [alias, draft] of Object.entries({
    a: { team_id: 't', user_id: 'u' },
    b: { team_id: 't' },
    c: { user_id: 'u' },
    d: {},
    viewer: { user_role: 'proxy_admin_viewer' },
  })) {
    const response = await app.call('POST', '/key/generate', { ...draft, key_alias: alias });
    keys[alias] = ((await response.json()) as { key: string }).key;
  }
  await app.call('POST', '/key/block', { key: keys['b'] });
});

afterAll(() => app.stop());

async function get(query: string, key = app.adminKey) {
  const response = await app.call('GET', `/key/list${query}`, undefined, { authorization: `Bearer ${key}` });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const hashes = (...aliases: readonly string[]): readonly string[] => aliases.map((alias) => sha256(keys[alias] ?? ''));
const page = (aliases: readonly string[], total = aliases.length, overrides: object = {}) => ({
  status: 200,
  body: {
    keys: hashes(...aliases),
    total_count: total,
    current_page: 1,
    total_pages: Math.ceil(total / 10),
    ...overrides,
  },
});

async function graph(query: string, variables: object = {}, key = app.adminKey): Promise<unknown> {
  const body = { query, variables };
  return await (await app.call('POST', '/graphql', body, { authorization: `Bearer ${key}` })).json();
}

describe('keys.list', () => {
  it.each<[string, readonly string[], number?, object?]>([
    ['', ['viewer', 'd', 'c', 'b', 'a']],
    ['?page=1&size=2', ['viewer', 'd'], 5, { total_pages: 3 }],
    ['?page=3&size=2', ['a'], 5, { current_page: 3, total_pages: 3 }],
    ['?page=999&size=2', [], 5, { current_page: 999, total_pages: 3 }],
    ['?team_id=t', ['b', 'a']],
    ['?team_id=', ['viewer', 'd', 'c', 'b', 'a']],
    ['?user_id=u&team_id=t', ['a']],
    ['?user_id=unknown', []],
    ['?organization_id=nope', []],
    ['?key_alias=c', ['c']],
    ['?status=revoked', ['b']],
    ['?status=deleted', []],
    ['?sort_by=key_alias&sort_order=asc&size=3', ['a', 'b', 'c'], 5, { total_pages: 2 }],
  ])('keys.list 200: an administrator lists keys with the query %j', async (query, aliases, total, overrides) => {
    expect(await get(query)).toEqual(page(aliases, total, overrides));
  });

  it('keys.list 200: keys by project, organization and access group', async () => {
    const emptyApp = await startApp();
    try {
      const post = async (path: string, body: object): Promise<Readonly<Record<string, unknown>>> =>
        (await (await emptyApp.call('POST', path, body)).json()) as Readonly<Record<string, unknown>>;
      const { organization_id: organization } = await post('/organization/new', { organization_alias: 'org' });
      await post('/team/new', { team_id: 't' });
      const { project_id: project } = await post('/project/new', { team_id: 't', project_alias: 'project' });
      const { access_group_id: group } = await post('/v1/access_group', { access_group_name: 'group' });
      await post('/key/generate', { key_alias: 'plain' });
      await post('/key/generate', { key_alias: 'of org', organization_id: organization });
      await post('/key/generate', { key_alias: 'of project', team_id: 't', project_id: project });
      await post('/key/generate', { key_alias: 'of group', access_group_ids: [group] });
      const listedBy = async (query: string): Promise<unknown> => {
        const answer = await emptyApp.call('GET', `/key/list?return_full_object=true&${query}`);
        const { keys: rows, total_count: total } = (await answer.json()) as {
          keys: readonly { readonly key_alias: string }[];
          total_count: number;
        };
        return [rows.map(({ key_alias: alias }) => alias), total];
      };
      expect(await listedBy(`organization_id=${String(organization)}`)).toEqual([['of org'], 1]);
      expect(await listedBy(`project_id=${String(project)}`)).toEqual([['of project'], 1]);
      expect(await listedBy(`access_group_id=${String(group)}`)).toEqual([['of group'], 1]);
      expect(await listedBy(`access_group_id=${String(group)}&project_id=${String(project)}`)).toEqual([[], 0]);
    } finally {
      await emptyApp.stop();
    }
  });

  it('keys.list 200: a key by its hash, as a whole row', async () => {
    const { body } = await get(`?key_hash=${sha256(keys['b'] ?? '')}&return_full_object=true`);
    expect(body).toMatchObject({ keys: [{ token: sha256(keys['b'] ?? ''), key_alias: 'b', blocked: true }] });
  });

  it('keys.list 200: a key of a user lists only keys of that user, and an admin viewer lists all', async () => {
    expect(await get('', keys['c'])).toEqual(page(['c', 'a']));
    expect(await get('?team_id=t', keys['c'])).toEqual(page(['a']));
    expect(await get('', keys['viewer'])).toEqual(page(['viewer', 'd', 'c', 'b', 'a']));
  });

  it('keys.list 403: the keys of another user', async () => {
    const message = "You are not authorized to check another user's keys";
    expect(await get('?user_id=other', keys['c'])).toEqual({
      status: 403,
      body: { error: { message, type: 'bad_request_error', param: 'user_id', code: '403' } },
    });
  });

  it('keys.list 403: a key without a user', async () => {
    const message = "No 'user_id' is associated with your API key.";
    for (const query of ['', '?user_id=u', '?team_id=t'])
      expect(await get(query, keys['d'])).toEqual({
        status: 403,
        body: { error: { message, type: 'bad_request_error', param: 'user_id', code: '403' } },
      });
  });

  it('keys.list 401: an unknown key', async () => {
    expect((await get('', 'sk-there-is-no-such-key')).status).toBe(401);
  });

  it.each([
    ['sort_by', 'Invalid sort column. Must be one of: spend, max_budget, created_at, updated_at, token, key_alias'],
    ['status', "Invalid status value. Supported: 'active', 'expired', 'revoked', 'deleted'."],
    ['sort_order', 'Invalid sort order. Must be one of: asc, desc'],
  ])('keys.list 400: an invalid %s', async (field, message) => {
    expect(await get(`?${field}=zzz`)).toEqual({
      status: 400,
      body: { error: { message, type: 'internal_server_error', param: 'None', code: '400' } },
    });
  });

  it.each([
    ['page=0', { type: 'greater_than_equal', msg: 'Input should be greater than or equal to 1' }],
    ['size=0', { type: 'greater_than_equal', msg: 'Input should be greater than or equal to 1' }],
    ['size=101', { type: 'less_than_equal', msg: 'Input should be less than or equal to 100' }],
    ['size=abc', { type: 'int_parsing', msg: 'Input should be a valid integer, unable to parse string as an integer' }],
  ])('keys.list 422: the query %s', async (query, fault) => {
    const [name] = query.split('=');
    expect(await get(`?${query}`)).toEqual({
      status: 422,
      body: { detail: [{ ...fault, loc: ['query', name] }] },
    });
  });
});

describe('virtualKeys of the graph', () => {
  const LIST = `query ($filter: VirtualKeyFilter, $first: Int, $after: String, $last: Int, $before: String) {
    virtualKeys(filter: $filter, first: $first, after: $after, last: $last, before: $before) {
      totalCount edges { cursor node { alias } }
      pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`;
  interface ListAnswer {
    readonly data: {
      readonly virtualKeys: {
        readonly totalCount: number;
        readonly edges: readonly { readonly cursor: string; readonly node: { readonly alias: string } }[];
        readonly pageInfo: {
          readonly hasNextPage: boolean;
          readonly hasPreviousPage: boolean;
          readonly endCursor: string;
        };
      };
    };
  }
  async function list(variables: object, key?: string) {
    const { virtualKeys } = ((await graph(LIST, variables, key)) as ListAnswer).data;
    const { hasNextPage, hasPreviousPage } = virtualKeys.pageInfo;
    return {
      aliases: virtualKeys.edges.map(({ node }) => node.alias).join(),
      total: virtualKeys.totalCount,
      hasPreviousAndNext: [hasPreviousPage, hasNextPage],
      cursors: virtualKeys.edges.map(({ cursor }) => cursor),
    };
  }

  it('pages by cursor in both directions, with the total count', async () => {
    const first = await list({ first: 2 });
    expect(first).toMatchObject({ aliases: 'viewer,d', total: 5, hasPreviousAndNext: [false, true] });
    const second = await list({ first: 2, after: first.cursors.at(-1) });
    expect(second).toMatchObject({ aliases: 'c,b', total: 5, hasPreviousAndNext: [true, true] });
    const last = await list({ first: 2, after: second.cursors.at(-1) });
    expect(last).toMatchObject({ aliases: 'a', total: 5, hasPreviousAndNext: [true, false] });
    expect(await list({ last: 2, before: last.cursors[0] })).toMatchObject({
      aliases: 'c,b',
      hasPreviousAndNext: [true, true],
    });
    expect(await list({ last: 2 })).toMatchObject({ aliases: 'b,a', hasPreviousAndNext: [true, false] });
  });

  it.each([
    [{ teamId: 't' }, 'b,a'],
    [{ userId: 'u' }, 'c,a'],
    [{ alias: 'd' }, 'd'],
    [{ blocked: true }, 'b'],
    [{ blocked: false, teamId: 't' }, 'a'],
    [{ teamId: '' }, 'viewer,d,c,b,a'],
  ])('lists the keys that match the filter %j', async (filter, aliases) => {
    expect(await list({ filter })).toMatchObject({ aliases, total: aliases.split(',').length });
  });

  it('shows a user only the keys of that user', async () => {
    expect(await list({}, keys['c'])).toMatchObject({ aliases: 'c,a', total: 2 });
  });

  it.each([{ first: 0 }, { first: 101 }, { last: 0 }, { after: 'x' }, { first: 1, last: 1 }])(
    'refuses the arguments %j',
    async (variables) => {
      expect(await graph(LIST, variables)).toMatchObject({ errors: [{ extensions: { code: 'INVALID_INPUT' } }] });
    },
  );
});

describe('key mutations of the graph', () => {
  const FIELDS = '{ __typename ... on UserError { message code } ... on VirtualKey { alias blocked teamId models } }';
  const mutate = async (name: string, input: object, fields = FIELDS): Promise<unknown> => {
    const type = name.charAt(0).toUpperCase() + name.slice(1);
    const query = `mutation ($input: ${type}Input!) { ${name}(input: $input) ${fields} }`;
    return ((await graph(query, { input })) as { data: Record<string, unknown> }).data[name];
  };
  const generateKey = async (draft: object = {}): Promise<string> =>
    ((await (await app.call('POST', '/key/generate', draft)).json()) as { key: string }).key;
  const statusOf = async (key: string): Promise<number> =>
    (await app.call('GET', '/key/info', undefined, { authorization: `Bearer ${key}` })).status;

  it('update, block and unblock a key', async () => {
    const key = await generateKey({ team_id: 't', models: ['demo'] });
    const row = { __typename: 'VirtualKey', alias: 'graph', blocked: false, teamId: null, models: ['demo'] };
    // A blank team id removes the key from its team.
    expect(await mutate('updateKey', { key, alias: 'graph', teamId: ' ' })).toEqual(row);
    expect(await mutate('blockKey', { key })).toEqual({ ...row, blocked: true });
    expect(await statusOf(key)).toBe(401);
    expect(await mutate('unblockKey', { key: sha256(key) })).toEqual(row);
    expect(await statusOf(key)).toBe(200);
    expect(await mutate('updateKey', { key, models: null })).toEqual({ ...row, models: [] });
  });

  it('rotate and delete a key', async () => {
    const key = await generateKey();
    const fields = '{ ... on GeneratedKey { key virtualKey { hash rotatedAt } } }';
    const rotated = (await mutate('regenerateKey', { key }, fields)) as { key: string };
    // The hash identifies the key, so it stays the hash of the first secret.
    expect(rotated).toEqual({
      key: expect.stringMatching(/^sk-/),
      virtualKey: { hash: sha256(key), rotatedAt: expect.any(String) },
    });
    expect([await statusOf(key), await statusOf(rotated.key)]).toEqual([401, 200]);
    const deletedFields = '{ ... on DeletedKeys { virtualKeys { hash deletedAt } } }';
    expect(await mutate('deleteKeys', { keys: [rotated.key], aliases: ['unknown'] }, deletedFields)).toEqual({
      virtualKeys: [{ hash: sha256(key), deletedAt: expect.any(String) }],
    });
    expect(await statusOf(rotated.key)).toBe(401);
  });

  it.each(['updateKey', 'blockKey', 'unblockKey', 'regenerateKey'])(
    'report an unknown and a malformed key: %s',
    async (name) => {
      const input = { key: 'sk-there-is-no-such-key' };
      const fields = '{ __typename ... on UserError { message code } }';
      expect(await mutate(name, input, fields)).toEqual({
        __typename: 'NotFoundError',
        message: 'Key not found.',
        code: 'NOT_FOUND',
      });
      expect(await mutate(name, { ...input, key: 'abc' }, fields)).toEqual({
        __typename: 'InvalidInputError',
        message: 'Invalid key format.',
        code: 'INVALID_INPUT',
      });
    },
  );

  it('refuse a taken alias, an invalid or taken secret, and a deletion without keys', async () => {
    const key = await generateKey();
    const typenameOf = (name: string, input: object) => mutate(name, input, '{ __typename }');
    expect([
      await typenameOf('updateKey', { key, alias: 'a' }),
      await typenameOf('regenerateKey', { key, newKey: 'sk-1' }),
      await typenameOf('regenerateKey', { key, newKey: key }),
      await typenameOf('deleteKeys', {}),
    ]).toEqual(
      ['Conflict', 'InvalidInput', 'Conflict', 'InvalidInput'].map((kind) => ({ __typename: `${kind}Error` })),
    );
  });

  it('are refused for an admin viewer', async () => {
    const query = 'mutation ($input: BlockKeyInput!) { blockKey(input: $input) { __typename } }';
    expect(await graph(query, { input: { key: keys['a'] } }, keys['viewer'])).toMatchObject({
      errors: [{ message: 'Only proxy admins can do this.', extensions: { code: 'FORBIDDEN' } }],
    });
    expect(await statusOf(keys['a'] ?? '')).toBe(200);
  });
});
