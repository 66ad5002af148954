import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type McpTestUpstream, startMcpUpstream } from '../../support/mcp-upstream.ts';
import { POLLING } from '../../support/polling.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';

let app: TestApp;
let upstream: McpTestUpstream;
let guarded: McpTestUpstream;
/** Keys: with a grant of one tool, without a grant, and with a limit of one call per minute. */
const keys: Record<'granted' | 'none' | 'limited', string> = { granted: '', none: '', limited: '' };

const http = (url: string, members: object = {}) => ({ transport: 'http', url, ...members });

beforeAll(async () => {
  upstream = await startMcpUpstream();
  guarded = await startMcpUpstream({ authorization: 'Bearer right' });
  const mcp_info = {
    mcp_server_cost_info: { default_cost_per_query: 0.5, tool_name_to_cost_per_query: { echo: 0.25 } },
  };
  app = await startApp({
    config: {
      guardrails: [
        {
          guardrail_name: 'words',
          litellm_params: {
            guardrail: 'litellm_content_filter',
            mode: ['pre_call', 'post_call'],
            default_on: true,
            blocked_words: [{ keyword: 'forbiddenword', action: 'BLOCK', description: 'not here' }],
            patterns: [{ pattern_type: 'prebuilt', pattern_name: 'email', action: 'MASK' }],
          },
        },
      ],
      mcp_servers: {
        main: http(upstream.url, { mcp_info, description: 'Main.', allowed_params: { slow: [] } }),
        refusing: http(guarded.url, { auth_type: 'bearer_token', auth_value: 'wrong' }),
        down: http('http://127.0.0.1:9/mcp'),
        hurried: http(upstream.url, { timeout: 2, disallowed_tools: ['fail'] }),
      },
    },
  });
  keys.granted = await newKey({ object_permission: { mcp_tool_permissions: { main: ['echo', 'slow'] } } });
  keys.none = await newKey({});
  keys.limited = await newKey({
    object_permission: { mcp_servers: ['main'] },
    metadata: { mcp_rpm_limit: { main: 1 } },
  });
}, 60_000);
afterAll(async () => {
  await app.stop();
  await upstream.stop();
  await guarded.stop();
});

async function newKey(body: object): Promise<string> {
  const answer = (await (await app.call('POST', '/key/generate', body)).json()) as { key: string };
  return answer.key;
}

interface Body {
  readonly tools?: readonly { readonly name: string; readonly mcp_info?: unknown }[];
  readonly server_outcomes?: Readonly<Record<string, unknown>>;
  readonly error?: unknown;
}
type Answer = readonly [number, Body];

async function ask(method: string, path: string, body?: unknown, key = app.adminKey): Promise<Answer> {
  const answer = await app.call(method, path, body, { authorization: `Bearer ${key}` });
  return [answer.status, (await answer.json()) as Body];
}

const call = (body: object, key?: string): Promise<Answer> => ask('POST', '/mcp-rest/tools/call', body, key);

const serverId = async (name: string): Promise<string> => {
  const [, { server_outcomes: outcomes }] = await ask('GET', `/mcp-rest/tools/list?mcp_server_name=${name}`);
  return Object.keys(outcomes ?? {})[0] ?? '';
};

const failure = (error: string, message: string) => ({ detail: { error, message } });
const TOOL = { title: null, outputSchema: null, icons: null, annotations: null, _meta: null };

describe('mcpTools.list', () => {
  it('200: tools of all servers, with prefixes', async () => {
    const [status, { tools }] = await ask('GET', '/v1/mcp/tools');
    expect(status).toBe(200);
    const names = (tools ?? []).map(({ name }) => name);
    expect(names).toEqual([
      ...['echo', 'fail', 'big', 'slow', 'cut'].map((name) => `main-${name}`),
      ...['echo', 'big', 'slow', 'cut'].map((name) => `hurried-${name}`),
    ]);
    expect(tools?.[0]).toMatchObject({ ...TOOL, name: 'main-echo', description: 'Repeats a text.' });
    expect(await ask('GET', '/v1/mcp/tools', undefined, keys.none)).toEqual([200, { tools: [] }]);
  });

  it('401: no key', async () => {
    expect((await fetch(`${app.url}/v1/mcp/tools`)).status).toBe(401);
  });
});

describe('mcpTools.ofServers', () => {
  it('200: tools of one server, without prefixes, as the key may use them', async () => {
    const [status, body] = await ask('GET', '/mcp-rest/tools/list?server_id=main', undefined, keys.granted);
    const id = await serverId('main');
    expect([status, body]).toEqual([
      200,
      {
        tools: ['echo', 'slow'].map((name) => expect.objectContaining({ name }) as object),
        server_outcomes: { [id]: { status: 'ok', tool_count: 2 } },
        error: null,
        message: 'Successfully retrieved tools',
      },
    ]);
    expect(body.tools?.[0]?.mcp_info).toEqual({
      server_name: 'main',
      description: 'Main.',
      server_id: id,
      alias: 'main',
      mcp_server_cost_info: { default_cost_per_query: 0.5, tool_name_to_cost_per_query: { echo: 0.25 } },
    });
  });

  it('200: all servers, with the outcome of each', async () => {
    const [, { tools, server_outcomes: outcomes, error }] = await ask('GET', '/mcp-rest/tools/list');
    expect(error).toBeNull();
    expect(tools?.length).toBe(9);
    expect(Object.values(outcomes ?? {})).toEqual([
      { status: 'ok', tool_count: 5 },
      { status: 'auth_required', http_status: 401 },
      { status: 'unreachable' },
      { status: 'ok', tool_count: 4 },
    ]);
  });

  it('200: a key without servers gets no tool and the reason', async () => {
    expect(await ask('GET', '/mcp-rest/tools/list', undefined, keys.none)).toEqual([
      200,
      { tools: [], error: 'unexpected_error', message: 'The key is not allowed to access any MCP server.' },
    ]);
  });

  it('401: no key, and a server that refuses its credential', async () => {
    expect((await fetch(`${app.url}/mcp-rest/tools/list`)).status).toBe(401);
    const answer = await app.call('GET', '/mcp-rest/tools/list?server_id=refusing');
    expect([answer.status, await answer.json()]).toEqual([401, { detail: 'Unauthorized' }]);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="upstream"');
  });

  it('403: an unknown server, and one without a grant', async () => {
    const refused = (name: string) => [
      403,
      failure('access_denied', `The key is not allowed to access server ${name}`),
    ];
    expect(await ask('GET', '/mcp-rest/tools/list?server_id=nope')).toEqual(refused('nope'));
    expect(await ask('GET', '/mcp-rest/tools/list?server_id=down', undefined, keys.granted)).toEqual(refused('down'));
  });

  it('404: an unknown toolset', async () => {
    expect(await ask('GET', '/mcp-rest/tools/list?toolset_name=nope')).toEqual([
      404,
      failure('server_not_found', "MCP server, toolset, or access group 'nope' not found"),
    ]);
  });

  it('422: an invalid flag', async () => {
    expect((await ask('GET', '/mcp-rest/tools/list?include_disabled_tools=perhaps'))[0]).toBe(422);
  });

  it('502: a server that cannot be reached', async () => {
    expect(await ask('GET', '/mcp-rest/tools/list?server_id=down')).toEqual([
      502,
      failure('unreachable', 'Failed to list tools from server down'),
    ]);
  });
});

describe('mcpTools.call', () => {
  const echo = { server_id: 'main', name: 'echo', arguments: { text: 'hi' } };
  const result = (text: string, isError = false) => ({
    _meta: null,
    content: [{ type: 'text', text, annotations: null, _meta: null }],
    structuredContent: null,
    isError,
    resultType: 'complete',
  });

  it('200: the result of the tool, by its name with and without prefix', async () => {
    expect(await call(echo, keys.granted)).toEqual([200, result('echo: hi')]);
    expect(await call({ ...echo, name: 'main-echo' }, keys.granted)).toEqual([200, result('echo: hi')]);
  });

  it('200: a tool that fails', async () => {
    expect(await call({ server_id: 'main', name: 'fail' })).toEqual([200, result('it failed', true)]);
  });

  it('200: the call is charged and recorded, with a span of a tool', async () => {
    const key = await newKey({ object_permission: { mcp_servers: ['main'] } });
    await call({ ...echo, name: 'main-echo' }, key);
    await call({ server_id: 'main', name: 'fail' }, key);
    type Log = { call_type: string; model: string; model_group: string; spend: number; status: string };
    const logs = async (): Promise<readonly Log[]> => {
      const info = (await ask('GET', '/key/info', undefined, key))[1] as unknown as { key: string };
      const [, rows] = await ask('GET', `/spend/logs?api_key=${info.key}&summarize=false`);
      return rows as unknown as readonly Log[];
    };
    await expect.poll(async () => (await logs()).length, POLLING).toBe(2);
    const shown = (await logs()).map(({ call_type, model, model_group, spend, status }) => ({
      call_type,
      model,
      model_group,
      spend,
      status,
    }));
    expect(shown).toEqual(
      expect.arrayContaining([
        {
          call_type: 'call_mcp_tool',
          model: 'MCP: main-echo',
          model_group: 'MCP: main-echo',
          spend: 0.25,
          status: 'success',
        },
        { call_type: 'call_mcp_tool', model: 'MCP: fail', model_group: 'MCP: fail', spend: 0, status: 'failure' },
      ]),
    );
  });

  it('200: guardrails mask texts of arguments before the server gets them', async () => {
    const masked = { ...echo, arguments: { text: 'write to john.doe@example.com' } };
    expect(await call(masked, keys.granted)).toEqual([200, result('echo: write to [EMAIL_REDACTED]')]);
  });

  it('400: a guardrail refuses the arguments', async () => {
    const [status, body] = await call({ ...echo, arguments: { text: 'a forbiddenword' } }, keys.granted);
    expect([status, body]).toMatchObject([400, { detail: { error: 'guardrail_violation' } }]);
  });

  it('400: a missing parameter', async () => {
    expect(await call({}, keys.none)).toEqual([
      400,
      failure('missing_parameter', 'server_id is required in request body'),
    ]);
    expect(await call({ server_id: 'main' })).toEqual([
      400,
      failure('missing_parameter', 'name is required in request body'),
    ]);
  });

  it('400: a name that is too long for records', async () => {
    const message = 'The name of a tool has at most 1024 characters.';
    expect(await call({ ...echo, name: 'x'.repeat(1_025) })).toEqual([
      400,
      { error: { message, type: 'bad_request_error', param: 'name', code: '400' } },
    ]);
  });

  it('401: no key, and a server that refuses its credential', async () => {
    expect((await fetch(`${app.url}/mcp-rest/tools/call`, { method: 'POST', body: '{}' })).status).toBe(401);
    expect(await call({ server_id: 'refusing', name: 'echo' })).toEqual([401, { detail: 'Unauthorized' }]);
  });

  it('403: a server or tool without a grant, a refused parameter, and a tool of another server', async () => {
    expect(await call({ ...echo, server_id: 'down' }, keys.granted)).toEqual([
      403,
      failure('access_denied', 'The key is not allowed to access server down'),
    ]);
    expect(await call({ server_id: 'main', name: 'fail' }, keys.granted)).toEqual([
      403,
      failure(
        'access_denied',
        "Tool 'fail' is not allowed for your key/team on server 'main'. Contact proxy admin for access.",
      ),
    ]);
    expect((await call({ server_id: 'hurried', name: 'fail' }))[0]).toBe(403);
    expect(await call({ server_id: 'main', name: 'slow', arguments: { a: 1 } })).toEqual([
      403,
      failure('access_denied', 'The parameters a are not allowed for tool slow. Contact proxy admin for access.'),
    ]);
    expect(await call({ server_id: 'main', name: 'hurried-echo' })).toEqual([
      403,
      failure('tool_server_mismatch', "The tool 'hurried-echo' belongs to another MCP server than 'main'."),
    ]);
  });

  it('404: an unknown server', async () => {
    expect(await call({ server_id: 'nope', name: 'x', arguments: {} })).toEqual([
      404,
      failure('server_not_found', "MCP server 'nope' not found"),
    ]);
  });

  it('422: arguments that are no object, and a used-up budget', async () => {
    expect((await call({ ...echo, arguments: [] }))[0]).toBe(422);
    const key = await newKey({ max_budget: 0, object_permission: { mcp_servers: ['main'] } });
    expect((await call(echo, key))[0]).toBe(422);
  });

  it('429: more calls than the key may make in a minute', async () => {
    expect((await call(echo, keys.limited))[0]).toBe(200);
    const [status, body] = await call(echo, keys.limited);
    expect(status).toBe(429);
    expect(JSON.stringify(body)).toContain('Rate limit exceeded for mcp_per_key');
  });

  it('502: a server that cannot be reached', async () => {
    expect(await call({ server_id: 'down', name: 'echo' })).toEqual([
      502,
      failure('unreachable', 'The MCP server down cannot be reached.'),
    ]);
  });

  it('504: a tool that is slower than the deadline of its server', async () => {
    expect(await call({ server_id: 'hurried', name: 'slow' })).toEqual([
      504,
      failure('timeout', 'The MCP server hurried did not answer within 2 s.'),
    ]);
    await expect.poll(() => upstream.slow, POLLING).toMatchObject({ waiting: 0, cancelled: 1 });
  });
});

describe('mcpTools.health', () => {
  it('200: whether each server answers', async () => {
    const [main, down] = [await serverId('main'), 'down'];
    const [status, body] = await ask('GET', '/v1/mcp/server/health');
    const statuses = (body as unknown as readonly { server_id: string; status: string }[]).map((one) => one.status);
    expect([status, statuses]).toEqual([200, ['healthy', 'unhealthy', 'unhealthy', 'healthy']]);
    expect(await ask('GET', `/v1/mcp/server/health?server_ids=${main}&server_ids=${down}`)).toEqual([
      200,
      [{ server_id: main, status: 'healthy' }],
    ]);
  });

  it('401: no key', async () => {
    expect((await fetch(`${app.url}/v1/mcp/server/health`)).status).toBe(401);
  });
});
