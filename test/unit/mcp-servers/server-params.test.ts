import { describe, expect, it } from 'vitest';
import { InvalidInput } from '../../../src/domain/errors.ts';
import type { JsonObject } from '../../../src/domain/json-object.ts';
import { mcpServerOf } from '../../../src/domain/mcp-servers/mcp-server-of.ts';
import { changedParams, checkedParams, type StdioRules } from '../../../src/domain/mcp-servers/server-params.ts';

const OFF: StdioRules = { isEnabled: false, extraCommands: [] };
const ON: StdioRules = { isEnabled: true, extraCommands: ['own'] };
const HTTP = { server_name: 's', url: 'http://127.0.0.1:9/mcp', transport: 'http' };

/** The server of params. */
const serverOf = (params: JsonObject) =>
  mcpServerOf({
    id: 'i',
    params: checkedParams(params, ON),
    isFromConfig: false,
    createdAt: null,
    createdBy: null,
    updatedAt: null,
    updatedBy: null,
  });

function failureOf(params: JsonObject, stdio = OFF): unknown {
  try {
    return checkedParams(params, stdio);
  } catch (error) {
    if (!(error instanceof InvalidInput)) throw error;
    const [issue] = error.issues;
    return issue === undefined ? error.message : [issue.path.join('.'), issue.rule];
  }
}

describe('params of MCP servers', () => {
  it('have their usual names, the alias of the name, and credentials in one place', () => {
    const sent = { ...HTTP, server_name: 'my  server', access_groups: ['g'], authentication_token: 't', url: HTTP.url };
    expect(checkedParams({ ...sent, description: null, credentials: { client_id: 'c' } }, OFF)).toEqual({
      server_name: 'my  server',
      alias: 'my_server',
      url: HTTP.url,
      transport: 'http',
      mcp_access_groups: ['g'],
      credentials: { auth_value: 't', client_id: 'c' },
    });
    expect(checkedParams({}, OFF)).toEqual({});
  });

  it.each([
    [{ zzz: 1 }, ['body.zzz', 'extra_forbidden']],
    [{ credentials: { zzz: 1 } }, ['body.credentials.zzz', 'extra_forbidden']],
    [{ url: 1 }, ['body.url', 'value_error']],
    [{ allowed_tools: ['a', 1] }, ['body.allowed_tools', 'value_error']],
    [{ timeout: -1 }, ['body.timeout', 'value_error']],
    [{ ...HTTP, transport: 'zzz' }, ['body.transport', 'enum']],
    [{ ...HTTP, auth_type: 'zzz' }, ['body.auth_type', 'enum']],
    [{ server_name: 's', transport: 'http' }, ['body', 'value_error']],
    [{ ...HTTP, url: 'ftp://h/' }, ['body', 'value_error']],
    [{ transport: 'stdio', command: 'npx' }, ['body', 'value_error']],
    [{ ...HTTP, alias: ' ' }, 'The alias must not be blank.'],
    [
      { ...HTTP, server_name: 'a-b' },
      "The server name must not contain '-', which separates names of servers and tools. Found: a-b",
    ],
    [
      { ...HTTP, alias: 'a/b' },
      'The alias must have at most 256 characters, no comma, no slash and no control character.',
    ],
    [{ ...HTTP, dcr_bridge: true }, 'dcr_bridge requires the auth_type true_passthrough or oauth_delegate.'],
  ])('are refused: %j', (params, failure) => {
    expect(failureOf(params)).toEqual(failure);
  });

  it('of stdio servers need one of the allowed commands', () => {
    for (const command of ['npx', 'own'])
      expect(failureOf({ transport: 'stdio', command }, ON)).toEqual({ transport: 'stdio', command });
    for (const command of ['cat', '/bin/npx', '', undefined])
      expect(failureOf({ transport: 'stdio', command }, ON)).toEqual(['body', 'value_error']);
  });

  it('change: null removes, redacted secrets stay, and credentials are completed until the type changes', () => {
    const before = checkedParams(
      { ...HTTP, auth_type: 'token', auth_value: 'v', client_id: 'c', static_headers: { a: 'x' }, rpm: 3 },
      OFF,
    );
    const changes = { rpm: null, credentials: { client_id: 'd' }, static_headers: { a: 'REDACTED', b: 'y' } };
    expect(changedParams(before, changes, OFF)).toEqual({
      ...HTTP,
      alias: 's',
      auth_type: 'token',
      credentials: { auth_value: 'v', client_id: 'd' },
      static_headers: { a: 'x', b: 'y' },
    });
    const other = changedParams(before, { auth_type: 'api_key', auth_value: 'w' }, OFF);
    expect(other['credentials']).toEqual({ auth_value: 'w' });
  });
});

describe('an MCP server', () => {
  it('has defaults for absent params', () => {
    expect(serverOf({})).toMatchObject({
      name: null,
      alias: null,
      transport: 'sse',
      url: null,
      auth: { kind: 'none' },
      allowsAllKeys: false,
      isOnPublicInternet: true,
      timeoutMs: null,
      prices: { perCall: null, byTool: new Map() },
    });
  });

  it.each([
    ['api_key', 'X-API-Key', 'v'],
    ['bearer_token', 'Authorization', 'Bearer v'],
    ['basic', 'Authorization', 'Basic dg=='],
    ['authorization', 'Authorization', 'v'],
    ['token', 'Authorization', 'token v'],
  ])('of the type %s sends a header, and is not called without its value', (authType, name, value) => {
    const { auth } = serverOf({ ...HTTP, auth_type: authType, auth_value: 'v' });
    expect(auth.kind === 'header' ? [auth.name, auth.value.reveal()] : auth).toEqual([name, value]);
    expect(serverOf({ ...HTTP, auth_type: authType }).auth).toEqual({ kind: 'unsupported', authType });
  });

  it.each([
    [{ auth_type: 'true_passthrough' }, { kind: 'caller_token', requiresKey: false }],
    [{ auth_type: 'oauth_delegate' }, { kind: 'caller_token', requiresKey: true }],
    [
      { auth_type: 'oauth2', delegate_auth_to_upstream: true },
      { kind: 'caller_token', requiresKey: true },
    ],
    [
      { auth_type: 'oauth2', oauth2_flow: 'authorization_code' },
      { kind: 'unsupported', authType: 'oauth2' },
    ],
    [{ auth_type: 'aws_sigv4' }, { kind: 'unsupported', authType: 'aws_sigv4' }],
  ])('authenticates as configured: %j', (params, auth) => {
    expect(serverOf({ ...HTTP, ...params }).auth).toEqual(auth);
  });

  it('with client credentials needs an address, a client and its secret', () => {
    const flow = { auth_type: 'oauth2', oauth2_flow: 'client_credentials', client_id: 'c', scopes: ['a'] };
    expect(serverOf({ ...HTTP, ...flow, token_url: 'http://h/t' }).auth.kind).toBe('unsupported');
    expect(serverOf({ ...HTTP, ...flow, token_url: 'http://h/t', client_secret: 's' }).auth).toMatchObject({
      kind: 'client_credentials',
      tokenUrl: 'http://h/t',
      clientId: 'c',
      scopes: ['a'],
      audience: null,
    });
  });

  it('has prices in picodollars', () => {
    const costs = { default_cost_per_query: 0.01, tool_name_to_cost_per_query: { a: 0.5, b: 'x' } };
    expect(serverOf({ ...HTTP, mcp_info: { mcp_server_cost_info: costs }, timeout: 1.5 })).toMatchObject({
      prices: { perCall: 10_000_000_000n, byTool: new Map([['a', 500_000_000_000n]]) },
      timeoutMs: 1500,
    });
  });

  it('has no negative price, and no deadline that a timer cannot have', () => {
    const costs = { default_cost_per_query: -5, tool_name_to_cost_per_query: { a: '-0.5', b: 0 } };
    expect(serverOf({ ...HTTP, mcp_info: { mcp_server_cost_info: costs }, timeout: 1e300 })).toMatchObject({
      prices: { perCall: null, byTool: new Map([['b', 0n]]) },
      timeoutMs: 2 ** 31 - 1,
    });
  });
});
