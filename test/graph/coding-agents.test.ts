import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../support/fault-server.ts';
import { startApp, type TestApp } from '../support/start-app.ts';

let app: TestApp;
let upstream: FaultServer;
let keyOfTeam: string;
let otherKeyOfTeam: string;
let keyWithoutTeam: string;
let otherKey: string;
let launchCount = 0;

const agent = (id: string, status: string) => ({
  id,
  name: 'Fix it',
  status,
  source: { repository: 'https://code.example/o/r', ref: 'main' },
  target: { branchName: 'agent/fix', url: `https://agents.example/${id}`, autoCreatePr: true },
  createdAt: '2026-01-01T00:00:00Z',
});

async function newKey(settings: Record<string, unknown>): Promise<string> {
  const response = await app.call('POST', '/key/generate', settings);
  return ((await response.json()) as { readonly key: string }).key;
}

beforeAll(async () => {
  upstream = await startFaultServer();
  app = await startApp({ env: { CODEAGENT_API_BASE: upstream.url, CODEAGENT_API_KEY: 'agent-key' } });
  const response = await app.call('POST', '/team/new', { team_alias: 't' });
  const { team_id } = (await response.json()) as { readonly team_id: string };
  keyOfTeam = await newKey({ team_id });
  otherKeyOfTeam = await newKey({ team_id });
  keyWithoutTeam = await newKey({});
  otherKey = await newKey({});
});

beforeEach(() => {
  upstream.answer((response, _socket, { method, path, body }) => {
    response.setHeader('content-type', 'application/json');
    const [, , , id, action] = path.split('/');
    if (method === 'POST' && id === undefined) {
      if (!body.includes('prompt')) {
        response.statusCode = 400;
        return response.end('{"error":"prompt is required"}');
      }
      launchCount += 1;
      return response.end(JSON.stringify(agent(`bc_${launchCount}`, 'CREATING')));
    }
    if (action === 'conversation')
      return response.end(JSON.stringify({ id, messages: [{ id: 'm1', type: 'user_message', text: 'go' }] }));
    if (method === 'GET') return response.end(JSON.stringify(agent(id ?? '', 'RUNNING')));
    return response.end(JSON.stringify({ id }));
  });
});

afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

interface Answer {
  readonly data: Record<string, never> | null;
  readonly errors?: readonly { readonly message: string; readonly extensions: { readonly code: string } }[];
}

async function ask(key: string, query: string, variables: Record<string, unknown> = {}): Promise<Answer> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ query, variables });
  return (await (await fetch(`${app.url}/graphql`, { method: 'POST', headers, body })).json()) as Answer;
}

const LAUNCH = `mutation ($input: LaunchCodingAgentInput!) { launchCodingAgent(input: $input) {
  __typename
  ... on CodingAgent { id agentId name status source { url ref } target { branchName url autoCreatePr } teamId costUsd }
  ... on UserError { code message } } }`;
const INPUT = { prompt: 'Fix it', sourceUrl: 'https://code.example/o/r', ref: 'main', autoCreatePr: true };

async function launchAs(key: string): Promise<{ readonly id: string; readonly agentId: string }> {
  const { data } = await ask(key, LAUNCH, { input: INPUT });
  return (data as unknown as { readonly launchCodingAgent: { readonly id: string; readonly agentId: string } })
    .launchCodingAgent;
}

const idsSeenBy = async (key: string): Promise<readonly string[]> => {
  const { data } = await ask(key, '{ codingAgents { nodes { agentId } } }');
  const fields = data as unknown as {
    readonly codingAgents: { readonly nodes: readonly { readonly agentId: string }[] };
  };
  return fields.codingAgents.nodes.map(({ agentId }) => agentId);
};

describe('launchCodingAgent', () => {
  it('sends the launch in the format of the provider, and returns the agent', async () => {
    const { data } = await ask(keyWithoutTeam, LAUNCH, { input: { ...INPUT, model: 'm', branchName: 'b' } });
    expect(data).toEqual({
      launchCodingAgent: {
        __typename: 'CodingAgent',
        id: Buffer.from(`CodingAgent:bc_${launchCount}`).toString('base64'),
        agentId: `bc_${launchCount}`,
        name: 'Fix it',
        status: 'CREATING',
        source: { url: 'https://code.example/o/r', ref: 'main' },
        target: { branchName: 'agent/fix', url: `https://agents.example/bc_${launchCount}`, autoCreatePr: true },
        teamId: null,
        costUsd: '0',
      },
    });
    const request = upstream.received.at(-1);
    expect([request?.path, request?.headers.authorization]).toEqual(['/v0/agents', `Basic ${btoa('agent-key:')}`]);
    expect(JSON.parse(request?.body ?? '')).toEqual({
      prompt: { text: 'Fix it' },
      source: { repository: 'https://code.example/o/r', ref: 'main' },
      target: { branchName: 'b', autoCreatePr: true },
      model: 'm',
    });
  });

  it('returns errors and failures of the provider as members of the union', async () => {
    upstream.answer((response) => response.writeHead(400).end('{"error":"bad repository"}'));
    expect(await ask(keyWithoutTeam, LAUNCH, { input: INPUT })).toEqual({
      data: {
        launchCodingAgent: { __typename: 'InvalidInputError', code: 'INVALID_INPUT', message: 'bad repository' },
      },
    });
    upstream.answer((response) => response.writeHead(503).end('{"error":{"message":"down"}}'));
    expect(await ask(keyWithoutTeam, LAUNCH, { input: INPUT })).toEqual({
      data: { launchCodingAgent: { __typename: 'UpstreamFailedError', code: 'UPSTREAM_FAILED', message: 'down' } },
    });
    upstream.answer((response) => response.end('no agent'));
    expect(await ask(keyWithoutTeam, LAUNCH, { input: INPUT })).toMatchObject({
      data: { launchCodingAgent: { __typename: 'UpstreamFailedError' } },
    });
  });

  it('is refused when the provider answers with an agent of another key, over both transports', async () => {
    const { agentId } = await launchAs(keyWithoutTeam);
    upstream.answer((response) => response.end(JSON.stringify(agent(agentId, 'CREATING'))));
    const { data, errors } = await ask(otherKey, LAUNCH, { input: INPUT });
    expect([data, errors?.[0]?.extensions.code]).toEqual([null, 'FORBIDDEN']);
    const headers = { authorization: `Bearer ${otherKey}` };
    expect((await app.call('POST', '/cursor/v0/agents', { prompt: { text: 'go' } }, headers)).status).toBe(403);
    // The owner gets the stored agent.
    expect((await launchAs(keyWithoutTeam)).agentId).toBe(agentId);
    expect(await idsSeenBy(otherKey)).not.toContain(agentId);
  });

  it('is refused for a read-only key', async () => {
    const readOnly = await app.call('POST', '/user/new', { user_role: 'internal_user_viewer' });
    const { key } = (await readOnly.json()) as { readonly key: string };
    expect((await ask(key, LAUNCH, { input: INPUT })).errors?.[0]?.extensions.code).toBe('FORBIDDEN');
  });
});

describe('codingAgents', () => {
  it('lists the agents of the caller and its team, or all for administrators, latest first', async () => {
    const ownAgent = await launchAs(keyWithoutTeam);
    const agentOfTeam = await launchAs(keyOfTeam);
    expect((await idsSeenBy(keyWithoutTeam))[0]).toBe(ownAgent.agentId);
    expect(await idsSeenBy(keyWithoutTeam)).not.toContain(agentOfTeam.agentId);
    expect(await idsSeenBy(otherKeyOfTeam)).toEqual(await idsSeenBy(keyOfTeam));
    expect((await idsSeenBy(app.adminKey)).slice(0, 2)).toEqual([agentOfTeam.agentId, ownAgent.agentId]);
    expect(await idsSeenBy(otherKey)).toEqual([]);
  });

  it('are refused over HTTP for a key outside their team, also with an encoded id in the path', async () => {
    const { agentId } = await launchAs(keyOfTeam);
    const statusOf = async (key: string, method: string, path: string): Promise<readonly [number, unknown]> => {
      const answer = await fetch(`${app.url}${path}`, { method, headers: { authorization: `Bearer ${key}` } });
      return [answer.status, await answer.json()];
    };
    const requestsBefore = upstream.received.length;
    for (const [method, path] of [
      ['GET', `/codeagent/v0/agents/${agentId}`],
      ['GET', `/cursor/v0/agents/${agentId}/conversation`],
      ['DELETE', `/codeagent/v0/agents/${agentId}`],
      ['DELETE', `/codeagent/v0/agents/${agentId.replace('_', '%5F')}`],
      ['POST', `/codeagent/v0/agents/${agentId}/stop`],
    ] as const) {
      const [status, body] = await statusOf(keyWithoutTeam, method, path);
      expect([path, status]).toEqual([path, 403]);
      expect(JSON.stringify(body)).toContain('The coding agent belongs to another key or team.');
    }
    expect(upstream.received.length).toBe(requestsBefore);
    expect((await statusOf(otherKeyOfTeam, 'GET', `/codeagent/v0/agents/${agentId}`))[0]).toBe(200);
    expect((await statusOf(app.adminKey, 'GET', `/codeagent/v0/agents/${agentId}`))[0]).toBe(200);
  });

  it('shows an agent that was launched over HTTP, until it is deleted over HTTP', async () => {
    const headers = { authorization: `Bearer ${keyWithoutTeam}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ prompt: { text: 'x' } });
    const response = await fetch(`${app.url}/cursor/v0/agents`, { method: 'POST', headers, body });
    const { id } = (await response.json()) as { readonly id: string };
    expect(await idsSeenBy(keyWithoutTeam)).toContain(id);
    await (await fetch(`${app.url}/codeagent/v0/agents/${id}`, { method: 'DELETE', headers })).text();
    expect(await idsSeenBy(keyWithoutTeam)).not.toContain(id);
  });
});

describe('codingAgent', () => {
  const QUERY = `query ($id: ID!) { codingAgent(id: $id) { agentId status conversation { messageId role text } } }`;

  it('reads the current state and conversation by either id, and stores the state', async () => {
    const { id, agentId } = await launchAs(keyWithoutTeam);
    const conversation = [{ messageId: 'm1', role: 'USER', text: 'go' }];
    for (const agentOrNodeId of [id, agentId])
      expect(await ask(keyWithoutTeam, QUERY, { id: agentOrNodeId })).toEqual({
        data: { codingAgent: { agentId, status: 'RUNNING', conversation } },
      });
    const { data } = await ask(keyWithoutTeam, 'query ($id: ID!) { node(id: $id) { ... on CodingAgent { status } } }', {
      id,
    });
    expect(data).toEqual({ node: { status: 'RUNNING' } });
  });

  it('is not found by another key, with `codingAgent` and with `node`', async () => {
    const { id } = await launchAs(keyOfTeam);
    const answer = await ask(keyWithoutTeam, QUERY, { id });
    expect([answer.data, answer.errors?.[0]?.extensions.code]).toEqual([{ codingAgent: null }, 'NOT_FOUND']);
    expect((await ask(keyWithoutTeam, 'query ($id: ID!) { node(id: $id) { id } }', { id })).data).toEqual({
      node: null,
    });
  });
});

describe('changes of an agent', () => {
  const change = (name: string) =>
    `mutation ($id: ID!) { ${name}(input: { id: $id }) { __typename ... on CodingAgent { agentId } ... on UserError { code } } }`;
  const FOLLOW_UP = `mutation ($id: ID!) { followUpCodingAgent(input: { id: $id, prompt: "more" }) {
    __typename ... on CodingAgent { agentId } ... on UserError { code } } }`;

  it.each([
    ['followUpCodingAgent', FOLLOW_UP, 'POST', '/followup'],
    ['stopCodingAgent', change('stopCodingAgent'), 'POST', '/stop'],
    ['deleteCodingAgent', change('deleteCodingAgent'), 'DELETE', ''],
  ])('%s is allowed for the owner, and returns NOT_FOUND to others', async (name, mutation, method, path) => {
    const { id, agentId } = await launchAs(keyWithoutTeam);
    const requestsBefore = upstream.received.length;
    expect(await ask(keyOfTeam, mutation, { id })).toEqual({
      data: { [name]: { __typename: 'NotFoundError', code: 'NOT_FOUND' } },
    });
    expect(upstream.received).toHaveLength(requestsBefore);
    expect(await ask(keyWithoutTeam, mutation, { id })).toEqual({
      data: { [name]: { __typename: 'CodingAgent', agentId } },
    });
    const request = upstream.received.at(-1);
    expect([request?.method, request?.path]).toEqual([method, `/v0/agents/${agentId}${path}`]);
    expect(request?.body ?? '').toBe(path === '/followup' ? '{"prompt":{"text":"more"}}' : '');
    expect((await idsSeenBy(keyWithoutTeam)).includes(agentId)).toBe(name !== 'deleteCodingAgent');
  });

  it('fail for an agent that the provider no longer has', async () => {
    const { id } = await launchAs(keyWithoutTeam);
    upstream.answer((response) => response.writeHead(404).end('{"error":"Agent not found"}'));
    expect(await ask(keyWithoutTeam, change('stopCodingAgent'), { id })).toEqual({
      data: { stopCodingAgent: { __typename: 'NotFoundError', code: 'NOT_FOUND' } },
    });
  });
});
