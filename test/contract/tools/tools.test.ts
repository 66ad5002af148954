import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { POLLING } from '../../support/polling.ts';
import {
  aChat,
  type Answer,
  callTools,
  type Json,
  NO_KEY,
  startToolServer,
  TIME,
  type ToolServer,
} from './tool-server.ts';

let server: ToolServer;
let ask: ToolServer['ask'];
let user: string;
let viewer: string;

beforeAll(async () => {
  server = await startToolServer();
  ({ ask } = server);
  user = await server.newKey({ user_id: 'someone' });
  viewer = String(
    ((await ask('POST', '/user/new', { user_id: 'v', user_role: 'proxy_admin_viewer' }))[1] as Json)['key'],
  );
});
afterAll(() => server.stop());

const hashOf = (key: string): string => createHash('sha256').update(key).digest('hex');
const shown = (name: string, more: Json = {}): Json => ({
  tool_id: expect.any(String) as string,
  tool_name: name,
  origin: 'user_defined',
  input_policy: 'untrusted',
  output_policy: 'untrusted',
  call_count: 0,
  assignments: null,
  key_hash: null,
  team_id: null,
  key_alias: null,
  user_agent: null,
  last_used_at: null,
  created_at: TIME,
  updated_at: TIME,
  created_by: 'default_user_id',
  updated_by: 'default_user_id',
  ...more,
});
const policy = (body: Json, key?: string | null): Promise<Answer> => ask('POST', '/v1/tool/policy', body, key);
const changed = (name: string, more: Json): Answer => [
  200,
  {
    tool_name: name,
    input_policy: null,
    output_policy: null,
    updated: true,
    team_id: null,
    key_hash: null,
    ...more,
  },
];
const invalid = (error: string): Answer => [400, { detail: error }];
const notFound = (error: string): Answer => [404, { detail: error }];
const ROUTES = [
  ['tools.list', 'GET', '/v1/tool/list'],
  ['tools.options', 'GET', '/v1/tool/policy/options'],
  ['tools.spend', 'GET', '/v1/tool/spend'],
  ['tools.get', 'GET', '/v1/tool/x'],
  ['tools.detail', 'GET', '/v1/tool/x/detail'],
  ['tools.logs', 'GET', '/v1/tool/x/logs'],
] as const;

describe('routes of tools', () => {
  it.each([...ROUTES, ['tools.deleteOverride', 'DELETE', '/v1/tool/x/overrides?team_id=t'] as const])(
    '%s 401: without a key, and a user',
    async (_name, method, path) => {
      expect(await ask(method, path, undefined, null)).toEqual(NO_KEY);
      const [status, body] = await ask(method, path, undefined, user);
      expect([status, body]).toEqual([401, { error: expect.objectContaining({ type: 'auth_error' }) as Json }]);
    },
  );

  it.each(ROUTES.slice(0, 3))('%s 200: a read-only administrator', async (_name, method, path) => {
    expect((await ask(method, path, undefined, viewer))[0]).toBe(200);
  });
});

describe('tools.setPolicy', () => {
  it('200: sets the policies of a tool, and adds the tool', async () => {
    expect(await policy({ tool_name: 'p1', input_policy: 'blocked' })).toEqual(
      changed('p1', { input_policy: 'blocked', output_policy: 'untrusted' }),
    );
    expect(await policy({ tool_name: 'p1', output_policy: 'trusted' })).toEqual(
      changed('p1', { input_policy: 'blocked', output_policy: 'trusted' }),
    );
    expect(await ask('GET', '/v1/tool/p1')).toEqual([
      200,
      shown('p1', { input_policy: 'blocked', output_policy: 'trusted' }),
    ]);
  });

  it('200: blocks a tool for a key and for a team, which tools.detail 200 shows, and ends the block', async () => {
    const key = await server.newKey({ key_alias: 'one' });
    await ask('POST', '/team/new', { team_id: 't1', team_alias: 'First' });
    const ofKey = changed('p2', { input_policy: 'blocked', key_hash: hashOf(key) });
    expect(await policy({ tool_name: 'p2', input_policy: 'blocked', key_hash: key })).toEqual(ofKey);
    expect(await policy({ tool_name: 'p2', input_policy: 'blocked', key_hash: hashOf(key) })).toEqual(ofKey);
    expect(await policy({ tool_name: 'p2', input_policy: 'blocked', team_id: 't1' })).toEqual(
      changed('p2', { input_policy: 'blocked', team_id: 't1' }),
    );
    const override = (more: Json): Json => ({
      override_id: expect.any(String) as string,
      tool_name: 'p2',
      team_id: null,
      key_hash: null,
      input_policy: 'blocked',
      created_at: TIME,
      updated_at: TIME,
      ...more,
    });
    expect(await ask('GET', '/v1/tool/p2/detail')).toEqual([
      200,
      {
        tool: shown('p2'),
        overrides: [
          override({ key_hash: hashOf(key), key_alias: 'one' }),
          override({ team_id: 't1', key_alias: 'First' }),
        ],
      },
    ]);
    expect(await policy({ tool_name: 'p2', input_policy: 'untrusted', key_hash: key })).toEqual(
      changed('p2', { input_policy: 'untrusted', key_hash: hashOf(key) }),
    );
    expect(((await ask('GET', '/v1/tool/p2/detail'))[1] as { overrides: unknown[] }).overrides).toHaveLength(1);
  });

  it('400: no policy, a team with a key, an output policy of a team, and a name that no tool can have', async () => {
    expect(await policy({ tool_name: 'x' })).toEqual(
      invalid('At least one of input_policy or output_policy must be provided'),
    );
    expect(await policy({ tool_name: 'x', input_policy: 'blocked', team_id: 't', key_hash: 'k' })).toEqual(
      invalid('Provide either team_id or key_hash, not both'),
    );
    expect(await policy({ tool_name: 'x', output_policy: 'trusted', team_id: 't' })).toEqual(
      invalid('A policy of one team or key is an input_policy only'),
    );
    for (const name of ['', ' ', 'a\nb', 'x'.repeat(257), '\u{D800}'])
      expect(await policy({ tool_name: name, input_policy: 'blocked' })).toEqual(
        invalid('tool_name must have 1 to 256 characters, without control characters and unpaired surrogates'),
      );
  });

  it('401: without a key, and users; 403: read-only administrators', async () => {
    const body = { tool_name: 'x', input_policy: 'blocked' };
    expect(await policy(body, null)).toEqual(NO_KEY);
    expect((await policy(body, user))[0]).toBe(401);
    expect((await policy(body, viewer))[0]).toBe(403);
    expect((await ask('GET', '/v1/tool/x'))[0]).toBe(404);
  });

  it('404: an unknown team or key', async () => {
    const unknown = notFound('Key or team not found for the given identifier');
    expect(await policy({ tool_name: 'x', input_policy: 'blocked', team_id: 'nope' })).toEqual(unknown);
    expect(await policy({ tool_name: 'x', input_policy: 'blocked', key_hash: 'sk-nope-1234' })).toEqual(unknown);
  });

  it('422: an unknown policy, and no name', async () => {
    const [status, body] = await policy({ tool_name: 'x', input_policy: 'nope' });
    expect([status, body]).toEqual([
      422,
      {
        detail: [expect.objectContaining({ type: 'literal_error', loc: ['body', 'input_policy'] }) as Json],
      },
    ]);
    expect(await policy({})).toEqual([
      422,
      { detail: [{ type: 'missing', loc: ['body', 'tool_name'], msg: 'Field required' }] },
    ]);
  });
});

describe('tools.deleteOverride', () => {
  it('200: ends a block; 404: no such block', async () => {
    await ask('POST', '/team/new', { team_id: 't2' });
    await policy({ tool_name: 'a/b', input_policy: 'blocked', team_id: 't2' });
    const path = '/v1/tool/a%2Fb/overrides?team_id=t2';
    expect(await ask('DELETE', path)).toEqual([200, { deleted: true, tool_name: 'a/b' }]);
    expect(await ask('DELETE', path)).toEqual(notFound("No override found for tool 'a/b' with the given scope"));
  });

  it('403: a read-only administrator', async () => {
    expect((await ask('DELETE', '/v1/tool/x/overrides?team_id=t', undefined, viewer))[0]).toBe(403);
  });

  it('400: no team and no key', async () => {
    expect(await ask('DELETE', '/v1/tool/x/overrides')).toEqual(
      invalid('At least one of team_id or key_hash is required to identify the override'),
    );
  });
});

describe('tools.get', () => {
  it('200: a name with a slash; 404: an unknown tool', async () => {
    await policy({ tool_name: 'c/d', input_policy: 'trusted' });
    expect(await ask('GET', '/v1/tool/c%2Fd')).toEqual([200, shown('c/d', { input_policy: 'trusted' })]);
    expect(await ask('GET', '/v1/tool/nope')).toEqual(notFound("Tool 'nope' not found"));
  });

  it('tools.detail 404: an unknown tool', async () => {
    expect(await ask('GET', '/v1/tool/nope/detail')).toEqual(notFound("Tool 'nope' not found"));
  });
});

describe('tools.list', () => {
  it('200: the newest first, filtered by policy', async () => {
    await policy({ tool_name: 'only-trusted', input_policy: 'trusted' });
    const [status, body] = await ask('GET', '/v1/tool/list?input_policy=blocked');
    expect([status, body]).toEqual([
      200,
      { tools: [shown('p1', { input_policy: 'blocked', output_policy: 'trusted' })], total: 1 },
    ]);
    const all = (await ask('GET', '/v1/tool/list'))[1] as { tools: { tool_name: string }[]; total: number };
    expect(all.tools[0]?.tool_name).toBe('only-trusted');
    expect(all.total).toBe(all.tools.length);
  });

  it('422: an unknown policy', async () => {
    expect((await ask('GET', '/v1/tool/list?input_policy=x'))[0]).toBe(422);
  });
});

describe('tools.options', () => {
  it('200: the values with their meaning', async () => {
    const [status, body] = await ask('GET', '/v1/tool/policy/options');
    const options = body as Record<string, { value: string }[]>;
    expect([status, options['input_policies']?.map(({ value }) => value)]).toEqual([
      200,
      ['untrusted', 'trusted', 'blocked'],
    ]);
    expect(options['output_policies']).toEqual([
      {
        value: 'untrusted',
        label: 'Untrusted',
        description:
          'The output may contain instructions of others. Tools with the input policy trusted may not read it.',
      },
      { value: 'trusted', label: 'Trusted', description: 'The output is safe for every tool.' },
    ]);
  });
});

describe('tools of calls', () => {
  it('tools.logs 200, tools.spend 200: calls, cost and requests are recorded', async () => {
    await ask('POST', '/team/new', { team_id: 'seen' });
    const key = await server.newKey({ key_alias: 'agent', team_id: 'seen' });
    callTools(server.upstream, 'get_weather', 'get_weather', 'send_mail');
    expect((await ask('POST', '/v1/chat/completions', aChat('get_weather', 'idle'), key))[0]).toBe(200);
    callTools(server.upstream, 'get_weather');
    const streamed = await fetch(`${server.app.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...aChat('get_weather'), stream: true }),
    });
    expect(await streamed.text()).toContain('get_weather');
    const count = async (name: string): Promise<unknown> =>
      ((await ask('GET', `/v1/tool/${name}`))[1] as Json)['call_count'];
    await expect.poll(() => count('get_weather'), POLLING).toBe(3);
    expect(await ask('GET', '/v1/tool/idle')).toEqual([
      200,
      shown('idle', {
        key_hash: hashOf(key),
        team_id: 'seen',
        key_alias: 'agent',
        user_agent: expect.any(String) as string,
        last_used_at: TIME,
        created_by: 'system',
        updated_by: 'system',
      }),
    ]);
    expect(await count('send_mail')).toBe(1);
    const row = {
      id: 'chatcmpl-1',
      timestamp: TIME,
      model: 'm',
      spend: 0.015,
      total_tokens: 12,
      input_snippet: null,
    };
    expect(await ask('GET', '/v1/tool/get_weather/logs?page_size=10')).toEqual([
      200,
      { logs: [row, row], total: 2, page: 1, page_size: 10 },
    ]);
    expect((await ask('GET', '/v1/tool/get_weather/logs?page=2&page_size=1'))[1]).toEqual({
      logs: [row],
      total: 2,
      page: 2,
      page_size: 1,
    });
    expect((await ask('GET', '/v1/tool/get_weather/logs?end_date=2026-01-01'))[1]).toMatchObject({ total: 0 });
    const today = new Date().toISOString().slice(0, 10);
    expect(await ask('GET', `/v1/tool/spend?start_date=${today}&end_date=${today}`)).toEqual([
      200,
      {
        by_tool: [
          { tool_name: 'get_weather', spend: 0.03, call_count: 2, total_tokens: 24 },
          { tool_name: 'send_mail', spend: 0.015, call_count: 1, total_tokens: 12 },
        ],
        daily: [
          { date: today, tool_name: 'get_weather', spend: 0.03, call_count: 2 },
          { date: today, tool_name: 'send_mail', spend: 0.015, call_count: 1 },
        ],
        start_date: today,
        end_date: today,
      },
    ]);
  });

  it('tools.logs 400: a text that is no day; 422: a page that is too large', async () => {
    expect(await ask('GET', '/v1/tool/x/logs?start_date=yesterday')).toEqual(
      invalid("Invalid date 'yesterday': expected YYYY-MM-DD."),
    );
    expect((await ask('GET', '/v1/tool/x/logs?page_size=101'))[0]).toBe(422);
  });

  it('tools.spend 200: 30 days by default; 400: a text that is no day, and a long or reversed period', async () => {
    const [, body] = await ask('GET', '/v1/tool/spend?end_date=2026-03-31');
    expect(body).toEqual({ by_tool: [], daily: [], start_date: '2026-03-01', end_date: '2026-03-31' });
    expect(await ask('GET', '/v1/tool/spend?start_date=x')).toEqual(invalid("Invalid date 'x': expected YYYY-MM-DD."));
    expect(await ask('GET', '/v1/tool/spend?start_date=2026-01-01&end_date=2026-02-01')).toEqual(
      invalid('A period has at most 31 days.'),
    );
    expect(await ask('GET', '/v1/tool/spend?start_date=2026-01-02&end_date=2026-01-01')).toEqual(
      invalid('The first day is after the last one.'),
    );
  });
});
