import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/start-app.ts';

let app: TestApp;

beforeAll(async () => {
  app = await startApp({
    config: { agents: [{ agent_name: 'of-file', agent_card_params: { url: 'http://127.0.0.1:1/' } }] },
  });
});

afterAll(() => app.stop());

const AGENT = `... on A2aAgent { agentId name card params staticHeaders extraHeaders accessGroupIds rpmLimit tpmLimit
  sessionRpmLimit sessionTpmLimit enabled isPublic hasKillSwitch isFromConfig }
  ... on UserError { message code }`;

async function ask(query: string, input?: object, key = app.adminKey): Promise<Record<string, unknown>> {
  const response = await fetch(`${app.url}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables: input === undefined ? {} : { input } }),
  });
  const answer = (await response.json()) as { data?: Record<string, unknown>; errors?: unknown };
  return { ...answer.data, ...(answer.errors === undefined ? {} : { errors: answer.errors }) };
}

/** Runs a mutation. Returns its result, or the whole answer when it has request errors only. */
const change = async (name: string, input: object, key?: string) => {
  const type = `${name.charAt(0).toUpperCase()}${name.slice(1)}A2aAgentInput`;
  const field = `${name}A2aAgent`;
  const query = `mutation ($input: ${type}!) { ${field}(input: $input) { __typename ${AGENT} } }`;
  const answer = await ask(query, input, key);
  return (answer[field] ?? answer) as Record<string, unknown>;
};

const list = (key?: string) =>
  ask(
    '{ a2aAgents(orderBy: { field: NAME, direction: ASC }) { totalCount nodes { name isFromConfig } } }',
    undefined,
    key,
  );

describe('A2A agents in the graph', () => {
  it('show limits above 32 bits, which the HTTP API accepts', async () => {
    const limits = { tpm_limit: 5_000_000_000, rpm_limit: 5_000_000_000 };
    const sessionLimits = { session_tpm_limit: 5_000_000_000, session_rpm_limit: 5_000_000_000 };
    await app.call('POST', '/v1/agents', { agent_name: 'wide', ...limits, ...sessionLimits });
    const names = 'agentId rpmLimit tpmLimit sessionRpmLimit sessionTpmLimit';
    const answer = await ask(`{ a2aAgents(filter: { name: "wide" }) { nodes { ${names} } } }`);
    const shown = { rpmLimit: 5e9, tpmLimit: 5e9, sessionRpmLimit: 5e9, sessionTpmLimit: 5e9 };
    expect(answer).toEqual({ a2aAgents: { nodes: [{ agentId: expect.any(String), ...shown }] } });
    const { agentId } = (answer as { a2aAgents: { nodes: { agentId: string }[] } }).a2aAgents.nodes[0] ?? {};
    await app.call('DELETE', `/v1/agents/${agentId}`);
  });

  it('are created, listed, changed, published and deleted, with the same state over HTTP', async () => {
    const created = await change('create', {
      name: 'one',
      card: { url: 'http://127.0.0.1:1/', protocolVersion: '0.3' },
      params: { api_key: 'hidden', cost_per_query: 1 },
      staticHeaders: { authorization: 'Bearer hidden' },
      rpmLimit: 5,
      killSwitch: { url: 'http://127.0.0.1:1/' },
    });
    expect(created).toEqual({
      __typename: 'A2aAgent',
      agentId: expect.any(String),
      name: 'one',
      card: expect.objectContaining({ url: 'http://127.0.0.1:1/', protocolVersion: '0.3' }),
      params: { api_key: 'REDACTED', cost_per_query: 1 },
      staticHeaders: { authorization: '*****' },
      extraHeaders: [],
      accessGroupIds: [],
      rpmLimit: 5,
      tpmLimit: null,
      sessionRpmLimit: null,
      sessionTpmLimit: null,
      enabled: true,
      isPublic: false,
      hasKillSwitch: true,
      isFromConfig: false,
    });
    const agent = created['agentId'];
    expect(await change('update', { agent, name: 'two', rpmLimit: null, killSwitch: null })).toMatchObject({
      name: 'two',
      rpmLimit: null,
      hasKillSwitch: false,
      staticHeaders: { authorization: '*****' },
    });
    expect(await change('publish', { agent })).toMatchObject({ isPublic: true });
    expect(await list()).toEqual({
      a2aAgents: {
        totalCount: 2,
        nodes: [
          { name: 'of-file', isFromConfig: true },
          { name: 'two', isFromConfig: false },
        ],
      },
    });
    const overHttp = await app.call('GET', `/v1/agents/${String(agent)}`);
    expect(await overHttp.json()).toMatchObject({ agent_name: 'two', rpm_limit: null, kill_switch: null });
    expect(await change('delete', { agent })).toMatchObject({ __typename: 'A2aAgent', name: 'two' });
    expect(await change('delete', { agent })).toMatchObject({ code: 'NOT_FOUND' });
  });

  it('are refused with the reason', async () => {
    expect(await change('create', { name: 'of-file' })).toMatchObject({ code: 'CONFLICT' });
    expect(await change('create', { name: 'x', rpmLimit: -1 })).toMatchObject({
      code: 'INVALID_INPUT',
      message: '`rpmLimit` must not be negative.',
    });
    expect(await change('update', { agent: 'nope', name: 'x' })).toMatchObject({ code: 'NOT_FOUND' });
    expect(await change('publish', { agent: 'nope' })).toMatchObject({ code: 'NOT_FOUND' });
  });

  it('are changed by administrators only, and listed for keys that name them', async () => {
    const generated = await app.call('POST', '/key/generate', { object_permission: { agents: ['of-file'] } });
    const { key } = (await generated.json()) as { readonly key: string };
    expect(await list(key)).toEqual({
      a2aAgents: { totalCount: 1, nodes: [{ name: 'of-file', isFromConfig: true }] },
    });
    for (const [name, input] of [
      ['create', { name: 'x' }],
      ['update', { agent: 'x' }],
      ['delete', { agent: 'x' }],
      ['publish', { agent: 'x' }],
    ] as const)
      // oxlint-disable-next-line no-await-in-loop -- one request after another
      expect(await change(name, input, key)).toMatchObject({
        errors: [{ extensions: { code: 'FORBIDDEN' } }],
      });
  });
});
