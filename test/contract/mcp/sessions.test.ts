import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { INITIALIZE, type McpGateway, rpc, startMcpGateway } from './mcp-gateway.ts';

let gateway: McpGateway;

beforeAll(async () => {
  gateway = await startMcpGateway();
});
afterAll(() => gateway.stop());

const asKey = (): { readonly authorization: string } => ({ authorization: `Bearer ${gateway.key}` });

async function openSession(headers: Readonly<Record<string, string>> = {}): Promise<string> {
  const { headers: sent } = await gateway.send(INITIALIZE, { headers });
  return sent.get('mcp-session-id') ?? '';
}

const row = (id: string, overrides: object = {}) => ({
  session_id_prefix: id.slice(0, 8),
  client_name: 'test',
  client_version: '1.2',
  user_id: null,
  user_email: null,
  key_alias: null,
  team_id: null,
  team_alias: null,
  client_ip: '127.0.0.1',
  idle_seconds: 0,
  in_flight_requests: 0,
  ...overrides,
});

const forbidden = (what: string) => ({ detail: { error: `Only proxy admins can ${what} sessions of MCP clients.` } });
const noKey = { error: expect.objectContaining({ type: 'auth_error', code: '401' }) as object };

async function ask(method: string, search = '', key: string | null = gateway.app.adminKey) {
  const answer = await fetch(`${gateway.app.url}/v1/mcp/sessions${search}`, {
    method,
    headers: key === null ? {} : { authorization: `Bearer ${key}` },
  });
  return [answer.status, await answer.json()];
}

describe('mcpSessions.list', () => {
  it('200: the sessions of this process, with their clients and users', async () => {
    expect(await ask('GET')).toEqual([
      200,
      { worker_pid: process.pid, total_sessions: 0, by_client: [], by_user: [], sessions: [] },
    ]);
    const ids = [await openSession(), await openSession(asKey())] as const;
    expect(await ask('GET')).toEqual([
      200,
      {
        worker_pid: process.pid,
        total_sessions: 2,
        by_client: [{ label: 'test', count: 2 }],
        by_user: expect.arrayContaining([{ label: 'anna', count: 1 }]) as unknown,
        sessions: [
          row(ids[0], { user_id: expect.toSatisfy((id) => id === null || typeof id === 'string') as unknown }),
          row(ids[1], { user_id: 'anna', key_alias: 'agent' }),
        ],
      },
    ]);
  });

  it('401: no key', async () => {
    expect(await ask('GET', '', null)).toEqual([401, noKey]);
  });

  it('403: a key of no administrator', async () => {
    expect(await ask('GET', '', gateway.key)).toEqual([403, forbidden('see')]);
  });
});

describe('mcpSessions.end', () => {
  it('200: sessions of a user and with a start of their id are ended', async () => {
    const id = await openSession(asKey());
    const search = `?session_id_prefix=${id.slice(0, 10)}`;
    expect(await ask('DELETE', `${search}&user_id=bert`)).toEqual([
      200,
      { worker_pid: process.pid, terminated_sessions: 0, sessions: [] },
    ]);
    expect(await ask('DELETE', `${search}&user_id=anna`)).toEqual([
      200,
      {
        worker_pid: process.pid,
        terminated_sessions: 1,
        sessions: [row(id, { user_id: 'anna', key_alias: 'agent' })],
      },
    ]);
    expect((await gateway.send(rpc('ping'), { headers: { ...asKey(), 'mcp-session-id': id } })).status).toBe(404);
  });

  it('400: no condition', async () => {
    const error = 'Name the sessions: session_id_prefix, user_id, or both.';
    expect(await ask('DELETE')).toEqual([400, { detail: { error } }]);
  });

  it('401: no key', async () => {
    expect(await ask('DELETE', '?user_id=anna', null)).toEqual([401, noKey]);
  });

  it('403: a key of no administrator', async () => {
    expect(await ask('DELETE', '?user_id=anna', gateway.key)).toEqual([403, forbidden('end')]);
  });

  it('422: a start of an id that is too short', async () => {
    const loc = ['query', 'session_id_prefix'];
    const issue = { type: 'string_too_short', loc, msg: 'String should have at least 8 characters' };
    expect(await ask('DELETE', '?session_id_prefix=abcdefg')).toEqual([422, { detail: [issue] }]);
  });
});
