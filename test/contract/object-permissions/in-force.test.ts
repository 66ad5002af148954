import { stringify } from 'yaml';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type McpTestUpstream, startMcpUpstream } from '../../support/mcp-upstream.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';

let app: TestApp;
let upstream: McpTestUpstream;

function config() {
  const server = (id: string, members: object = {}) => ({
    server_id: id,
    transport: 'http',
    url: upstream.url,
    ...members,
  });
  return {
    mcp_servers: { one: server('one'), two: server('two') },
    agents: [
      { agent_name: 'first', agent_card_params: { url: 'http://127.0.0.1:9/' } },
      { agent_name: 'second', agent_card_params: { url: 'http://127.0.0.1:9/' } },
    ],
    vector_store_registry: ['vs_1', 'vs_2'].map((id) => ({
      vector_store_name: id,
      litellm_params: {
        vector_store_id: id,
        custom_llm_provider: 'openai',
        api_base: 'http://127.0.0.1:9',
        api_key: 'k',
      },
    })),
  };
}

beforeAll(async () => {
  upstream = await startMcpUpstream();
  app = await startApp({ config: config() });
}, 60_000);
afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

type Json = Readonly<Record<string, unknown>>;

async function ask(method: string, path: string, body: unknown, key: string, headers: Record<string, string> = {}) {
  const answer = await app.call(method, path, body, { authorization: `Bearer ${key}`, ...headers });
  return { status: answer.status, body: (await answer.json()) as Json };
}

const admin = (method: string, path: string, body?: unknown) => ask(method, path, body, app.adminKey);
const newKey = async (body: object) => String((await admin('POST', '/key/generate', body)).body['key']);

/** Names of the MCP servers that the list of tools has for a key. */
async function serversOf(key: string, headers: Record<string, string> = {}): Promise<readonly string[]> {
  const { body } = await ask('GET', '/mcp-rest/tools/list', undefined, key, headers);
  return Object.keys((body['server_outcomes'] as Json | undefined) ?? {}).toSorted();
}

/** Names of vector stores and agents; `-` for each one that the key may not use. Their upstreams do not exist. */
async function usableBy(key: string, headers: Record<string, string> = {}): Promise<readonly string[]> {
  const stores = await Promise.all(
    ['vs_1', 'vs_2'].map(async (id) => {
      const { body } = await ask('POST', `/v1/vector_stores/${id}/search`, { query: 'q' }, key, headers);
      return JSON.stringify(body).includes('not allowed to access') ? '-' : id;
    }),
  );
  const agents = await Promise.all(
    ['first', 'second'].map(async (name) => {
      const message = { role: 'user', messageId: 'm', parts: [{ kind: 'text', text: 'hi' }] };
      const rpc = { jsonrpc: '2.0', id: 1, method: 'message/send', params: { message } };
      const { body } = await ask('POST', `/a2a/${name}`, rpc, key, headers);
      return JSON.stringify(body).includes('Access denied') ? '-' : name;
    }),
  );
  return [...stores, ...agents];
}

const FIRST = { mcp_servers: ['one'], vector_stores: ['vs_1'], agents: ['first'] };
const SECOND = { mcp_servers: ['two'], vector_stores: ['vs_2'], agents: ['second'] };
const BOTH = { mcp_servers: ['one', 'two'], vector_stores: ['vs_1', 'vs_2'], agents: ['first', 'second'] };

describe('rights of the owners of a key', () => {
  it('of a team: keys without own rights inherit them, also after a change; others have the intersection', async () => {
    await admin('POST', '/team/new', { team_id: 't', object_permission: FIRST });
    const plain = await newKey({ team_id: 't' });
    const both = await newKey({ team_id: 't', object_permission: BOTH });
    for (const key of [plain, both]) {
      // oxlint-disable-next-line no-await-in-loop -- one key after another
      expect([await serversOf(key), await usableBy(key)]).toEqual([['one'], ['vs_1', '-', 'first', '-']]);
    }
    const { body } = await ask('GET', '/v1/agents', undefined, plain);
    expect((body as unknown as readonly Json[]).map(({ agent_name }) => agent_name)).toEqual(['first']);

    await admin('POST', '/team/update', { team_id: 't', object_permission: SECOND });
    expect([await serversOf(plain), await usableBy(plain)]).toEqual([['two'], ['-', 'vs_2', '-', 'second']]);
    await admin('POST', '/team/update', { team_id: 't', object_permission: null });
    expect([await serversOf(plain), await serversOf(both)]).toEqual([[], ['one', 'two']]);
  });

  it('of a user and an organization: they limit the key', async () => {
    await admin('POST', '/user/new', { user_id: 'u', auto_create_key: false, object_permission: FIRST });
    const key = await newKey({ user_id: 'u', object_permission: BOTH });
    expect([await serversOf(key), await usableBy(key)]).toEqual([['one'], ['vs_1', '-', 'first', '-']]);
    await admin('POST', '/user/update', { user_id: 'u', object_permission: { mcp_servers: ['no-mcp-servers'] } });
    expect(await serversOf(key)).toEqual([]);

    const organization = { organization_id: 'o', organization_alias: 'O', object_permission: SECOND };
    await admin('POST', '/organization/new', organization);
    await admin('POST', '/team/new', { team_id: 'of-o', organization_id: 'o', object_permission: BOTH });
    const ofTeam = await newKey({ team_id: 'of-o' });
    expect([await serversOf(ofTeam), await usableBy(ofTeam)]).toEqual([['two'], ['-', 'vs_2', '-', 'second']]);
  });

  it('of a customer: they limit the calls that name the customer', async () => {
    await admin('POST', '/customer/new', { user_id: 'c', object_permission: FIRST });
    const key = await newKey({ object_permission: BOTH });
    const named = { 'x-litellm-end-user-id': 'c' };
    expect([await serversOf(key), await usableBy(key)]).toEqual([
      ['one', 'two'],
      ['vs_1', 'vs_2', 'first', 'second'],
    ]);
    expect([await serversOf(key, named), await usableBy(key, named)]).toEqual([['one'], ['vs_1', '-', 'first', '-']]);
    await admin('POST', '/customer/update', { user_id: 'c', object_permission: SECOND });
    expect(await serversOf(key, { 'x-litellm-customer-id': 'c' })).toEqual(['two']);
    expect(await serversOf(key, { 'x-litellm-customer-id': 'unknown' })).toEqual(['one', 'two']);
  });

  it('of a user: a tool that they do not list is refused, at the REST route and at the MCP endpoint', async () => {
    await admin('POST', '/user/new', {
      user_id: 'listing',
      auto_create_key: false,
      object_permission: { mcp_tool_permissions: { one: ['slow'] } },
    });
    const key = await newKey({ user_id: 'listing', object_permission: BOTH });
    const call = { server_id: 'one', name: 'echo', arguments: { text: 'x' } };
    const { status, body } = await ask('POST', '/mcp-rest/tools/call', call, key);
    expect([status, JSON.stringify(body)]).toEqual([403, expect.stringContaining("Tool 'echo' is not allowed")]);
    const rpc = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'one-echo', arguments: { text: 'x' } } };
    const answer = await app.call('POST', '/mcp', rpc, {
      authorization: `Bearer ${key}`,
      accept: 'application/json, text/event-stream',
    });
    expect(await answer.text()).toContain("Error: Tool 'echo' is not allowed for your key/team on server 'one'.");
  });
});

describe('switches', () => {
  it('require_key_mcp_access_defined and require_end_user_mcp_access_defined apply after a reload', async () => {
    await admin('POST', '/team/new', { team_id: 'inherited', object_permission: FIRST });
    await admin('POST', '/customer/new', { user_id: 'bare' });
    const inherits = await newKey({ team_id: 'inherited' });
    const own = await newKey({ object_permission: BOTH });
    const bare = { 'x-litellm-end-user-id': 'bare' };
    expect([await serversOf(inherits), await serversOf(own, bare)]).toEqual([['one'], ['one', 'two']]);
    const switches = { require_key_mcp_access_defined: true, require_end_user_mcp_access_defined: 'true' };
    await app.reload(stringify({ ...config(), general_settings: switches }));
    expect([await serversOf(inherits), await serversOf(own, bare), await serversOf(own)]).toEqual([
      [],
      [],
      ['one', 'two'],
    ]);
  });
});
