import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/start-app.ts';

let app: TestApp;
/** Keys of a user and of a team. */
let [ann, team] = ['', ''];

beforeAll(async () => {
  app = await startApp();
  await app.call('POST', '/team/new', { team_id: 'red' });
  const keyOf = async (body: object): Promise<string> =>
    ((await (await app.call('POST', '/key/generate', body)).json()) as { readonly key: string }).key;
  ann = await keyOf({ user_id: 'ann' });
  team = await keyOf({ team_id: 'red' });
});
afterAll(() => app.stop());

const ALL_FIELDS = '{ id memoryId name value metadata userId teamId createdAt updatedAt }';

/** Fields of `data` of an answer, with `errors` if there are any. */
async function ask(query: string, input?: object, key = ann): Promise<Record<string, unknown>> {
  const response = await fetch(`${app.url}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables: input === undefined ? {} : { input } }),
  });
  const answer = (await response.json()) as { data?: Record<string, unknown>; errors?: unknown };
  return { ...answer.data, ...(answer.errors === undefined ? {} : { errors: answer.errors }) };
}

/** Runs a mutation. Returns its result. */
const change = async (name: 'Create' | 'Put' | 'Delete', input: object, key?: string) => {
  const field = `${name.toLowerCase()}Memory`;
  const query = `mutation ($input: ${name}MemoryInput!) {
    ${field}(input: $input) { __typename ... on Memory ${ALL_FIELDS} ... on UserError { message code } } }`;
  const answer = await ask(query, input, key);
  return (answer[field] ?? answer) as Record<string, unknown>;
};

const TIME = expect.stringMatching(/^\d{4}-/) as string;
const ID = expect.any(String) as string;

describe('memory in the graph', () => {
  it('is stored, read, changed and removed; HTTP reads the changes', async () => {
    const shown = {
      __typename: 'Memory',
      id: ID,
      memoryId: ID,
      name: 'n',
      value: 'v',
      metadata: [1, { a: null }],
      userId: 'ann',
      teamId: null,
      createdAt: TIME,
      updatedAt: TIME,
    };
    const created = await change('Create', { name: 'n', value: 'v', metadata: [1, { a: null }] });
    expect(created).toEqual(shown);
    expect(await change('Create', { name: 'n', value: 'w' })).toMatchObject({ code: 'CONFLICT' });
    expect(await change('Put', { name: 'n', value: 'w' })).toEqual({ ...shown, value: 'w' });
    expect(await change('Put', { name: 'n', metadata: null })).toEqual({ ...shown, value: 'w', metadata: null });
    expect(await change('Put', { name: 'new' })).toMatchObject({ code: 'INVALID_INPUT' });
    const overHttp = await fetch(`${app.url}/v1/memory/n`, { headers: { authorization: `Bearer ${ann}` } });
    expect(await overHttp.json()).toMatchObject({ value: 'w', metadata: null });
    const node = `{ node(id: "${String(created['id'])}") { ... on Memory { value } } }`;
    expect(await ask(node)).toEqual({ node: { value: 'w' } });
    expect((await ask(node, undefined, team))['node']).toBeNull();
    expect(await change('Delete', { name: 'n' }, team)).toMatchObject({ code: 'NOT_FOUND' });
    expect(await change('Delete', { name: 'n' })).toMatchObject({ name: 'n' });
    expect(await change('Delete', { name: 'n' })).toMatchObject({ code: 'NOT_FOUND' });
  });

  it('is listed in pages, for its owner only', async () => {
    for (const name of ['b', 'a1', 'a2']) await change('Put', { name, value: 'v' });
    await change('Create', { name: 'of team', value: 'v' }, team);
    const list = (args: string, key?: string) =>
      ask(`{ memories${args} { totalCount nodes { name } pageInfo { hasNextPage } } }`, undefined, key);
    const page = (names: readonly string[], totalCount = names.length, hasNextPage = false) => ({
      memories: { totalCount, nodes: names.map((name) => ({ name })), pageInfo: { hasNextPage } },
    });
    expect(await list('')).toEqual(page(['a2', 'a1', 'b']));
    expect(await list('(filter: { namePrefix: "a" }, orderBy: { field: NAME, direction: ASC }, first: 1)')).toEqual(
      page(['a1'], 2, true),
    );
    expect(await list('(filter: { name: "b" })')).toEqual(page(['b']));
    expect(await list('', team)).toEqual(page(['of team']));
    expect(await list('', app.adminKey)).toEqual(page(['of team', 'a2', 'a1', 'b']));
  });

  it('of another owner can be changed by administrators only', async () => {
    expect(JSON.stringify(await change('Create', { name: 'x', value: 'v', userId: 'bob' }))).toContain('FORBIDDEN');
    expect(await change('Create', { name: 'x', value: 'v', userId: 'bob' }, app.adminKey)).toMatchObject({
      userId: 'bob',
    });
    expect(await change('Delete', { name: 'x', userId: 'bob' }, app.adminKey)).toMatchObject({ userId: 'bob' });
  });
});
