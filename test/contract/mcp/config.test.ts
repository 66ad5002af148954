import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConfigError } from '../../../src/runtime/settings/config-fault.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';

let app: TestApp;

beforeAll(async () => {
  app = await startApp({
    config: { mcp_servers: { one: { url: 'http://127.0.0.1:9/one' }, tool: { command: 'npx', args: ['x'] } } },
    env: { LITELLM_ENABLE_MCP_STDIO: 'true' },
  });
});
afterAll(() => app.stop());

const SERVER = { url: 'http://127.0.0.1:9/x' };

type Shown = Readonly<Record<string, unknown>>;
const list = async (): Promise<readonly unknown[]> => {
  const servers = (await (await app.call('GET', '/v1/mcp/server')).json()) as readonly Shown[];
  return servers.map(({ server_name: name, transport, is_config: isConfig }) => [name, transport, isConfig]);
};

async function faultsOf(servers: unknown, env: Record<string, string> = {}): Promise<unknown> {
  try {
    const started = await startApp({
      config: { mcp_servers: servers, strict_config: true },
      env,
    });
    await started.stop();
    return 'started';
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.faults.map(({ key, message }) => `${key} ${message}`);
  }
}

describe('mcp_servers of the configuration file', () => {
  it('are http by default, and stdio with a command; a reload replaces them', async () => {
    expect(await list()).toEqual([
      ['one', 'http', true],
      ['tool', 'stdio', true],
    ]);
    const [before] = (await (await app.call('GET', '/v1/mcp/server')).json()) as readonly Shown[];
    await app.reload(
      'mcp_servers:\n  one: { url: http://127.0.0.1:9/two }\n  two: { url: http://127.0.0.1:9/two, transport: sse }\n',
    );
    expect(await list()).toEqual([
      ['one', 'http', true],
      ['two', 'sse', true],
    ]);
    const [after] = (await (await app.call('GET', '/v1/mcp/server')).json()) as readonly Shown[];
    expect(after).toMatchObject({ server_id: before?.['server_id'], url: 'http://127.0.0.1:9/two' });
    await app.reload('mcp_servers:\n  a-b: { url: http://127.0.0.1:9/two }\n');
    expect(await list()).toEqual([
      ['one', 'http', true],
      ['two', 'sse', true],
    ]);
  });

  it.each([
    [[SERVER], ['mcp_servers is not a map of servers by name']],
    [{ s: 'x' }, ['mcp_servers.s is not a map of settings']],
    [{ s: { ...SERVER, urll: 1 } }, ['mcp_servers.s.urll is not a known setting; did you mean url?']],
    [{ s: { transport: 'http' } }, ['mcp_servers.s Value error, url is required for the transport http']],
    [{ s: { ...SERVER, rpm: 'x' } }, ['mcp_servers.s rpm Input should be a number from 0']],
    [
      { 'a-b': SERVER },
      ["mcp_servers.a-b The server name must not contain '-', which separates names of servers and tools. Found: a-b"],
    ],
    [
      { s: { ...SERVER, auth_type: 'oauth2' } },
      ['mcp_servers.s oauth2_flow must be authorization_code or client_credentials'],
    ],
    [
      { s: SERVER, t: { ...SERVER, alias: 'S' } },
      [
        expect.stringMatching(
          /^mcp_servers\.t The MCP server \w{32} has the name or alias 's'\. Names and aliases must be unique/,
        ),
      ],
    ],
    [
      { s: { ...SERVER, server_id: 'i' }, t: { ...SERVER, server_id: 'i' } },
      ['mcp_servers.t has the server_id of another server'],
    ],
    [
      { s: { ...SERVER, auth_value: 'os.environ/NOT_SET' } },
      ['mcp_servers.s.auth_value the environment variable NOT_SET it refers to is not set'],
    ],
    [
      { s: { command: 'npx' } },
      ['mcp_servers.s is not served: LENSGATE_ENABLE_MCP_STDIO is off, or does not allow the command of the server'],
    ],
  ])('end the start with the reason: %j', async (servers, faults) => {
    expect(await faultsOf(servers)).toEqual(faults);
  });

  it('may run a further command that a setting allows', async () => {
    const on = { LENSGATE_ENABLE_MCP_STDIO: 'true' };
    expect(await faultsOf({ s: { command: 'own' } }, on)).toHaveLength(1);
    expect(await faultsOf({ s: { command: 'own' } }, { ...on, LENSGATE_MCP_STDIO_COMMANDS: 'own,other' })).toBe(
      'started',
    );
  });
});
