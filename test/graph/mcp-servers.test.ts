import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/start-app.ts';

let app: TestApp;
let teamKey: string;

beforeAll(async () => {
  app = await startApp({
    config: { mcp_servers: { docs: { server_id: 'f', url: 'http://127.0.0.1:9/file', access_groups: ['reading'] } } },
  });
  await app.call('POST', '/team/new', { team_id: 'team' });
  const answer = await app.call('POST', '/key/generate', { user_id: 'member', team_id: 'team' });
  teamKey = ((await answer.json()) as { readonly key: string }).key;
});
afterAll(() => app.stop());

type Answer = Readonly<Record<string, unknown>>;

async function ask(query: string, input?: object, key = app.adminKey): Promise<Answer> {
  const response = await fetch(`${app.url}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables: input === undefined ? {} : { input } }),
  });
  const { data, errors } = (await response.json()) as { data?: Answer; errors?: readonly Answer[] };
  return { ...data, ...(errors === undefined ? {} : { errors: errors.map(({ message }) => message) }) };
}

const SERVER = `{ id serverId name alias description transport url accessGroups allowedTools allowsAllKeys isPublic approval
  params isFromConfig createdAt updatedAt }`;
const TOOLSET = '{ id toolsetId name description tools { serverId toolName } createdAt updatedAt }';

/** Runs a mutation, such as `createMcpServer`. */
async function change(field: string, input: object, key?: string): Promise<Answer> {
  const type = field.endsWith('Toolset') ? 'McpToolset' : 'McpServer';
  const fields = type === 'McpToolset' ? TOOLSET : SERVER;
  const inputType = `${field.charAt(0).toUpperCase()}${field.slice(1).replace('submitMcp', 'createMcp')}Input`.replace(
    'SubmitMcp',
    'CreateMcp',
  );
  const answer = await ask(
    `mutation ($input: ${inputType}!) { ${field}(input: $input) {
      __typename ... on ${type} ${fields} ... on UserError { message code } } }`,
    input,
    key,
  );
  return (answer[field] ?? answer) as Answer;
}

const TIME = expect.stringMatching(/^\d{4}-/) as string;
const PARAMS = {
  server_name: 'wiki',
  url: 'http://127.0.0.1:9/mcp',
  transport: 'http',
  auth_type: 'api_key',
  auth_value: 'upstream-token',
};

const wiki = {
  __typename: 'McpServer',
  id: expect.any(String) as string,
  serverId: 's1',
  name: 'wiki',
  alias: 'wiki',
  description: null,
  transport: 'HTTP',
  url: 'http://127.0.0.1:9/mcp',
  accessGroups: [],
  allowedTools: [],
  allowsAllKeys: false,
  isPublic: false,
  approval: 'ACTIVE',
  params: {
    server_name: 'wiki',
    alias: 'wiki',
    url: 'http://127.0.0.1:9/mcp',
    transport: 'http',
    auth_type: 'api_key',
    credentials: { auth_value: 'REDACTED' },
  },
  isFromConfig: false,
  createdAt: TIME,
  updatedAt: TIME,
};

describe('MCP servers in the graph', () => {
  it('are created, read, changed and deleted, with the same state over HTTP', async () => {
    const created = await change('createMcpServer', { serverId: 's1', params: PARAMS });
    expect(created).toEqual(wiki);
    const byId = await ask(`{ node(id: ${JSON.stringify(created['id'])}) { __typename ... on McpServer ${SERVER} } }`);
    expect(byId).toEqual({ node: created });
    const params = { rpm: 3, alias: null, credentials: { auth_value: 'REDACTED' } };
    expect(await change('updateMcpServer', { server: created['id'], params })).toEqual({
      ...wiki,
      params: { ...wiki.params, rpm: 3 },
    });
    const overHttp = (await (await app.call('GET', '/v1/mcp/server/s1')).json()) as Answer;
    expect(overHttp).toMatchObject({ server_id: 's1', rpm: 3, alias: 'wiki', credentials: { auth_value: 'REDACTED' } });
    expect(await change('deleteMcpServer', { server: 's1' })).toMatchObject({ serverId: 's1' });
    expect(await change('deleteMcpServer', { server: 's1' })).toEqual({
      __typename: 'NotFoundError',
      message: "MCP server 's1' not found.",
      code: 'NOT_FOUND',
    });
  });

  it('are listed in pages, filtered and ordered', async () => {
    for (const name of ['b', 'a'])
      await change('createMcpServer', { serverId: name, params: { ...PARAMS, server_name: name } });
    const list = async (args: string, key?: string) => {
      const query = `{ mcpServers${args} { totalCount edges { cursor node { serverId } } pageInfo { hasNextPage } } }`;
      const { mcpServers } = (await ask(query, undefined, key)) as {
        readonly mcpServers: {
          readonly totalCount: number;
          readonly edges: readonly { readonly cursor: string; readonly node: { readonly serverId: string } }[];
          readonly pageInfo: { readonly hasNextPage: boolean };
        };
      };
      const { totalCount, edges, pageInfo } = mcpServers;
      return {
        totalCount,
        ids: edges.map(({ node }) => node.serverId),
        more: pageInfo.hasNextPage,
        last: edges.at(-1)?.cursor,
      };
    };
    expect(await list('')).toMatchObject({ totalCount: 3, ids: ['f', 'b', 'a'], more: false });
    const first = await list('(first: 2, orderBy: { field: NAME, direction: ASC })');
    expect(first).toMatchObject({ totalCount: 3, ids: ['a', 'b'], more: true });
    expect(await list(`(first: 2, after: "${first.last}", orderBy: { field: NAME, direction: ASC })`)).toMatchObject({
      ids: ['f'],
    });
    expect(await list('(filter: { isFromConfig: true })')).toMatchObject({ ids: ['f'] });
    expect(await list('(filter: { accessGroup: "reading" })')).toMatchObject({ ids: ['f'] });
    expect(await list('(filter: { name: "B", transport: HTTP })')).toMatchObject({ ids: ['b'] });
    expect(await list('', teamKey)).toMatchObject({ totalCount: 0, ids: [] });
    for (const name of ['b', 'a']) await change('deleteMcpServer', { server: name });
  });

  it('are refused with the reason', async () => {
    const refused = async (field: string, input: object) => (await change(field, input))['code'];
    expect(await refused('createMcpServer', { params: { zzz: 1 } })).toBe('INVALID_INPUT');
    expect(await refused('createMcpServer', { params: 'x' })).toBe('INVALID_INPUT');
    expect(await refused('createMcpServer', { params: { ...PARAMS, server_name: 'DOCS' } })).toBe('CONFLICT');
    expect(await refused('updateMcpServer', { server: 'f', params: {} })).toBe('CONFLICT');
    expect(await refused('deleteMcpServer', { server: 'f' })).toBe('CONFLICT');
    expect((await change('createMcpServer', { params: PARAMS }, teamKey))['errors']).toEqual([
      'Only proxy administrators may change MCP servers and toolsets.',
    ]);
  });

  it('are submitted by a team, and approved or rejected', async () => {
    const submitted = await change('submitMcpServer', { serverId: 'sub', params: PARAMS }, teamKey);
    expect(submitted).toMatchObject({ serverId: 'sub', approval: 'PENDING_REVIEW', url: null });
    const submissions = '{ mcpSubmissions { serverId approval } }';
    expect(await ask(submissions)).toEqual({ mcpSubmissions: [{ serverId: 'sub', approval: 'PENDING_REVIEW' }] });
    expect((await ask(submissions, undefined, teamKey))['errors']).toEqual([
      'Only proxy administrators may see submitted MCP servers.',
    ]);
    const review = (approved: boolean) => change('reviewMcpServer', { server: 'sub', approved, notes: 'n' });
    expect(await review(false)).toMatchObject({ approval: 'REJECTED' });
    expect(await review(true)).toMatchObject({ approval: 'ACTIVE', params: { review_notes: 'n' } });
    expect((await change('reviewMcpServer', { server: 'f', approved: true }))['code']).toBe('NOT_FOUND');
  });
});

describe('toolsets in the graph', () => {
  it('are created, listed, changed and deleted', async () => {
    const tools = [{ serverId: 'f', toolName: 'read' }];
    const created = await change('createMcpToolset', { name: 'ts', tools });
    const toolset = {
      __typename: 'McpToolset',
      id: expect.any(String) as string,
      toolsetId: expect.any(String) as string,
      name: 'ts',
      description: null,
      tools,
      createdAt: TIME,
      updatedAt: TIME,
    };
    expect(created).toEqual(toolset);
    const listed = '{ mcpToolsets(name: "T") { totalCount nodes { name } } }';
    expect(await ask(listed)).toEqual({ mcpToolsets: { totalCount: 1, nodes: [{ name: 'ts' }] } });
    expect(await ask(listed, undefined, teamKey)).toEqual({ mcpToolsets: { totalCount: 0, nodes: [] } });
    expect(await change('updateMcpToolset', { toolset: created['id'], description: 'd', tools: [] })).toEqual({
      ...toolset,
      description: 'd',
      tools: [],
    });
    expect((await change('createMcpToolset', { name: 'TS' }))['code']).toBe('CONFLICT');
    expect((await change('createMcpToolset', { name: 'a/b' }))['code']).toBe('INVALID_INPUT');
    expect(await change('deleteMcpToolset', { toolset: created['id'] })).toMatchObject({ name: 'ts' });
    expect((await change('deleteMcpToolset', { toolset: created['id'] }))['code']).toBe('NOT_FOUND');
  });
});
