import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/start-app.ts';

let app: TestApp;
let user: string;

beforeAll(async () => {
  app = await startApp();
  user = ((await (await app.call('POST', '/key/generate', {})).json()) as { readonly key: string }).key;
  await app.call('POST', '/team/new', { team_id: 't1' });
});
afterAll(() => app.stop());

async function ask(query: string, input?: object, key = app.adminKey): Promise<Record<string, unknown>> {
  const response = await fetch(`${app.url}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables: input === undefined ? {} : { input } }),
  });
  const answer = (await response.json()) as { data?: Record<string, unknown>; errors?: unknown };
  return { ...answer.data, ...(answer.errors === undefined ? {} : { errors: answer.errors }) };
}

const set = async (input: object, key?: string): Promise<unknown> => {
  const answer = await ask(
    `mutation ($input: SetToolPolicyInput!) { setToolPolicy(input: $input) { __typename
      ... on ToolPolicy { name inputPolicy outputPolicy teamId keyHash } ... on UserError { message code } } }`,
    input,
    key,
  );
  return answer['setToolPolicy'] ?? answer;
};
const end = async (input: object): Promise<unknown> => {
  const answer = await ask(
    `mutation ($input: DeleteToolOverrideInput!) { deleteToolOverride(input: $input) { __typename
      ... on ToolOverride { teamId keyHash alias } ... on UserError { message code } } }`,
    input,
  );
  return answer['deleteToolOverride'] ?? answer;
};

describe('tools in the graph', () => {
  it('have policies and overrides, the same as over HTTP', async () => {
    expect(await set({ name: 'a', inputPolicy: 'TRUSTED', outputPolicy: 'TRUSTED' })).toEqual({
      __typename: 'ToolPolicy',
      name: 'a',
      inputPolicy: 'TRUSTED',
      outputPolicy: 'TRUSTED',
      teamId: null,
      keyHash: null,
    });
    expect(await set({ name: 'a', inputPolicy: 'BLOCKED', team: 't1' })).toEqual({
      __typename: 'ToolPolicy',
      name: 'a',
      inputPolicy: 'BLOCKED',
      outputPolicy: null,
      teamId: 't1',
      keyHash: null,
    });
    const fields = `id toolId name origin inputPolicy outputPolicy callCount keyHash teamId userAgent lastUsedAt createdAt
      updatedAt overrides { overrideId teamId keyHash alias createdAt } calls { requestId at model costUsd tokens }`;
    const { tool } = (await ask(`{ tool(name: "a") { ${fields} } }`)) as { tool: Record<string, unknown> };
    const text = expect.any(String) as string;
    expect(tool).toEqual({
      id: text,
      toolId: text,
      name: 'a',
      origin: 'user_defined',
      inputPolicy: 'TRUSTED',
      outputPolicy: 'TRUSTED',
      callCount: 0,
      keyHash: null,
      teamId: null,
      userAgent: null,
      lastUsedAt: null,
      createdAt: text,
      updatedAt: text,
      overrides: [{ overrideId: text, teamId: 't1', keyHash: null, alias: null, createdAt: text }],
      calls: [],
    });
    const { node } = await ask(`{ node(id: "${String(tool['id'])}") { ... on Tool { name } } }`);
    expect(node).toEqual({ name: 'a' });
    const detail = await app.call('GET', '/v1/tool/a/detail');
    expect(await detail.json()).toMatchObject({ tool: { input_policy: 'trusted' }, overrides: [{ team_id: 't1' }] });
    expect(await end({ name: 'a', team: 't1' })).toEqual({
      __typename: 'ToolOverride',
      teamId: 't1',
      keyHash: null,
      alias: null,
    });
    expect(await end({ name: 'a', team: 't1' })).toEqual({
      __typename: 'NotFoundError',
      message: "No override found for tool 'a' with the given scope",
      code: 'NOT_FOUND',
    });
  });

  it('are listed by name, policy and number of calls', async () => {
    await set({ name: 'list-b', inputPolicy: 'BLOCKED' });
    await set({ name: 'list-a', inputPolicy: 'UNTRUSTED' });
    const list = async (args: string): Promise<unknown> => {
      const { tools } = (await ask(`{ tools(${args}) { totalCount nodes { name } pageInfo { hasNextPage } } }`)) as {
        tools: { totalCount: number; nodes: { name: string }[] };
      };
      return [tools.totalCount, tools.nodes.map(({ name }) => name)];
    };
    expect(await list('filter: {name: "LIST-"}, orderBy: {field: NAME, direction: ASC}')).toEqual([
      2,
      ['list-a', 'list-b'],
    ]);
    expect(await list('filter: {name: "list-"}, orderBy: {field: CALL_COUNT}, first: 1')).toEqual([
      2,
      [expect.any(String) as string],
    ]);
    expect(await list('filter: {name: "list-", hasPolicy: true}')).toEqual([1, ['list-b']]);
    expect(await list('filter: {name: "list-", inputPolicy: UNTRUSTED}')).toEqual([1, ['list-a']]);
  });

  it('report their cost', async () => {
    expect(await ask('{ toolSpend(from: "2026-01-01", to: "2026-01-02") { tools { name } days { date } } }')).toEqual({
      toolSpend: { tools: [], days: [] },
    });
    expect(await ask('{ toolSpend(from: "x") { tools { name } } }')).toMatchObject({
      toolSpend: null,
      errors: [{ extensions: { code: 'INVALID_INPUT' } }],
    });
  });

  it('return errors of changes, and refuse users', async () => {
    expect(await set({ name: 'x' })).toEqual({
      __typename: 'InvalidInputError',
      message: 'At least one of input_policy or output_policy must be provided',
      code: 'INVALID_INPUT',
    });
    expect(await set({ name: 'x', inputPolicy: 'BLOCKED', key: 'nope' })).toMatchObject({ code: 'NOT_FOUND' });
    expect(await set({ name: 'x', inputPolicy: 'BLOCKED' }, user)).toMatchObject({
      errors: [{ extensions: { code: 'FORBIDDEN' } }],
    });
    expect(await ask('{ tools { totalCount } tool(name: "a") { name } }', undefined, user)).toMatchObject({
      errors: [{ extensions: { code: 'FORBIDDEN' } }, { extensions: { code: 'FORBIDDEN' } }],
    });
    expect(await ask('{ tool(name: "nope") { name } }')).toEqual({ tool: null });
  });
});
