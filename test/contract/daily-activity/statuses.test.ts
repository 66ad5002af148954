import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { awayFromMidnight } from '../../support/away-from-midnight.ts';

beforeEach(awayFromMidnight);

const DAYS = 'start_date=2026-01-01&end_date=2100-01-01';
const YEARS = 'start_date=2026-01-01&end_date=2027-12-31';

interface ActivityAnswer {
  readonly results: readonly {
    readonly breakdown: Readonly<Record<string, Readonly<Record<string, { readonly metadata: object }>>>>;
  }[];
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly api_keys: readonly { readonly metrics: object; readonly metadata: object }[];
}

// Each entity has the number of its calls that an administrator sees, and an id with one call. Calls without a user or
// team count for `user` and `team`, too. Every call has tags of its client.
const ENTITIES = [
  { entity: 'user', path: '/user', param: 'user_id', calls: 4, entityId: 'internal-1' },
  { entity: 'team', path: '/team', param: 'team_ids', calls: 4, entityId: 'team-1' },
  { entity: 'tag', path: '/tag', param: 'tags', calls: 4, entityId: 'red' },
  { entity: 'organization', path: '/organization', param: 'organization_ids', calls: 1, entityId: 'org-1' },
  { entity: 'endUser', path: '/customer', param: 'end_user_ids', calls: 1, entityId: 'customer-1' },
  { entity: 'agent', path: '/agent', param: 'agent_ids', calls: 1, entityId: 'agent-1' },
] as const;

/** Routes of each entity: the end of the path, a further query parameter, and a query that is refused with 422. */
const ROUTE_ENDINGS = [
  { kind: '', end: '', extra: '', invalid: 'page=0' },
  { kind: 'Whole', end: '/aggregated', extra: '', invalid: 'api_key_limit=1001' },
  { kind: 'Keys', end: '/aggregated/keys', extra: '', invalid: 'limit=0' },
  { kind: 'Search', end: '/aggregated/search', extra: '&search=Alias', invalid: 'search=' },
  { kind: 'ModelKeys', end: '/aggregated/model_top_keys', extra: '&model_group=demo', invalid: 'model_group=' },
  { kind: 'Export', end: '/export', extra: '', invalid: 'export_type=zzz' },
] as const;

const UNCACHED_ROUTE = { kind: 'UncachedKeys', end: '/aggregated/cache_leakage_keys', extra: '', invalid: 'limit=0' };

const ALL_ROUTES = ENTITIES.flatMap((entity) =>
  [...ROUTE_ENDINGS, ...(entity.entity === 'user' ? [UNCACHED_ROUTE] : [])].map((row) => ({
    ...entity,
    ...row,
    name: `dailyActivity.${entity.entity}${row.kind}`,
    url: `${entity.path}/daily/activity${row.end}`,
    validUrl: `${entity.path}/daily/activity${row.end}?${DAYS}${row.extra}`,
  })),
);

let app: TestApp;
let keys: Readonly<Record<'internal' | 'member' | 'team' | 'plain' | 'viewer', string>>;

/** Creates a row. Returns its key, or an empty text for a row without a key. */
const create = async (path: string, body: object): Promise<string> => {
  const answer = await app.call('POST', path, body);
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { readonly key?: string }).key ?? '';
};

async function chat(key: string, fields: object = {}): Promise<void> {
  const body = { model: 'demo', messages: [{ role: 'user', content: 'hi' }], ...fields };
  const headers = { authorization: `Bearer ${key}`, 'user-agent': 'tester/1.0' };
  const answer = await app.call('POST', '/v1/chat/completions', body, headers);
  await answer.arrayBuffer();
  expect(answer.status).toBe(200);
}

beforeAll(async () => {
  app = await startApp({ config: { general_settings: { demo_model: true } } });
  await create('/organization/new', { organization_id: 'org-1', organization_alias: 'Organization' });
  await create('/user/new', { user_id: 'internal-1', user_email: 'one@example.com', user_role: 'internal_user' });
  await create('/user/new', { user_id: 'internal-2', user_role: 'internal_user' });
  await create('/team/new', {
    team_id: 'team-1',
    team_alias: 'Team',
    organization_id: 'org-1',
    members_with_roles: [
      { role: 'admin', user_id: 'internal-1' },
      { role: 'user', user_id: 'internal-2' },
    ],
  });
  await create('/customer/new', { user_id: 'customer-1', alias: 'Customer' });
  keys = {
    internal: await create('/key/generate', { user_id: 'internal-1', key_alias: 'alias-1' }),
    member: await create('/key/generate', { user_id: 'internal-2', agent_id: 'agent-1' }),
    team: await create('/key/generate', { team_id: 'team-1', key_alias: 'alias-team' }),
    plain: await create('/key/generate', {}),
    viewer: await create('/user/new', { user_id: 'viewer-1', user_role: 'proxy_admin_viewer' }),
  };
  await chat(keys.internal, { metadata: { tags: ['red'] } });
  await chat(keys.member);
  await chat(keys.team);
  await chat(keys.plain, { user: 'customer-1' });
});
afterAll(() => app.stop());

async function send(path: string, key: string | null): Promise<readonly [number, unknown]> {
  const answer = await fetch(`${app.url}${path}`, key === null ? {} : { headers: { authorization: `Bearer ${key}` } });
  const text = await answer.text();
  return [
    answer.status,
    answer.headers.get('content-type')?.startsWith('application/json') === true ? JSON.parse(text) : text,
  ];
}

const read = async (path: string, key = app.adminKey): Promise<ActivityAnswer> => {
  const [status, answer] = await send(path, key);
  expect(status).toBe(200);
  return answer as ActivityAnswer;
};

describe('dailyActivity.user and similar routes', () => {
  it.each(ALL_ROUTES)('$name 200: administrators, also read-only administrators', async ({ validUrl }) => {
    const [adminAnswer, viewerAnswer] = [await send(validUrl, app.adminKey), await send(validUrl, keys.viewer)];
    expect(adminAnswer[0]).toBe(200);
    expect(viewerAnswer).toEqual(adminAnswer);
  });

  it.each(ALL_ROUTES)('$name 400: missing and invalid dates', async ({ url, extra }) => {
    const missing = { detail: { error: 'Please provide start_date and end_date' } };
    expect(await send(`${url}?${extra.slice(1)}`, app.adminKey)).toEqual([400, missing]);
    const [status, answer] = await send(`${url}?start_date=2026-1-1&end_date=2026-01-02${extra}`, app.adminKey);
    expect([status, Object.keys((answer as { readonly detail: object }).detail)]).toEqual([400, ['error']]);
  });

  it.each(ALL_ROUTES)('$name 401: no key', async ({ validUrl }) => {
    expect(await send(validUrl, null)).toMatchObject([401, { error: { type: 'auth_error' } }]);
  });

  it.each(ALL_ROUTES)('$name 422: an invalid parameter', async ({ url, invalid, extra }) => {
    const [name = ''] = invalid.split('=');
    const otherParameters = extra.startsWith(`&${name}=`) ? '' : extra;
    const [status, answer] = await send(`${url}?${DAYS}${otherParameters}&${invalid}`, app.adminKey);
    const { detail } = answer as { readonly detail: readonly { readonly loc: readonly string[] }[] };
    expect([status, detail.map(({ loc }) => loc)]).toEqual([422, [['query', name]]]);
  });

  it.each(ALL_ROUTES.filter(({ entity }) => entity === 'user' || entity === 'tag' || entity === 'organization'))(
    '$name 403: a key without a user',
    async ({ validUrl, entity }) => {
      const error = `Keys without a user cannot query ${entity} analytics. Use a key of a user, or call as a proxy admin.`;
      expect(await send(validUrl, keys.plain)).toEqual([403, { detail: { error } }]);
    },
  );

  it.each(ALL_ROUTES.filter(({ entity }) => entity === 'endUser' || entity === 'agent'))(
    '$name 401: keys of users and of read-only users',
    async ({ name, validUrl }) => {
      expect(await send(validUrl, keys.internal)).toMatchObject([401, { error: { type: 'auth_error' } }]);
      await create('/user/new', { user_id: `reader-${name}`, user_role: 'internal_user_viewer' });
      const key = await create('/key/generate', { user_id: `reader-${name}` });
      expect((await send(validUrl, key))[0]).toBe(401);
    },
  );

  it.each(ALL_ROUTES.filter(({ entity }) => entity === 'team'))(
    '$name 404: a key without a user, and another team',
    async ({ validUrl }) => {
      expect(await send(validUrl, keys.plain)).toEqual([404, { detail: { error: 'User= None not found' } }]);
      const [status] = await send(`${validUrl}&team_ids=team-2`, keys.internal);
      expect(status).toBe(404);
    },
  );
});

describe('an administrator sees', () => {
  it.each(ENTITIES)('calls with and without filters: $entity', async ({ path, param, calls, entityId, entity }) => {
    const ofAll = await read(`${path}/daily/activity?${DAYS}`);
    expect(ofAll.metadata['total_api_requests']).toBe(calls);
    const ofEntity = await read(`${path}/daily/activity?${DAYS}&${param}=${entityId}`);
    expect(ofEntity.metadata['total_api_requests']).toBe(1);
    expect(Object.keys(ofEntity.results[0]?.breakdown['entities'] ?? {})).toEqual([entityId]);
    const ofOthers = await read(`${path}/daily/activity?${DAYS}&exclude_${param}=${entityId}`);
    expect(ofOthers.metadata['total_api_requests']).toBe(calls - 1);
    const metadata = {
      user: { user_email: 'one@example.com', user_alias: null },
      team: { team_alias: 'Team' },
      tag: {},
      organization: { organization_alias: 'Organization' },
      endUser: { alias: 'Customer' },
      agent: {},
    };
    expect(ofEntity.results[0]?.breakdown['entities']?.[entityId]?.metadata).toEqual(metadata[entity]);
  });

  it('at most api_key_limit keys in an aggregated answer, with the number of all keys', async () => {
    const whole = await read(`/tag/daily/activity/aggregated?${DAYS}&api_key_limit=1`);
    expect(Object.keys(whole.results[0]?.breakdown['api_keys'] ?? {})).toHaveLength(1);
    const counts = { red: 1, 'User-Agent: tester': 4, 'User-Agent: tester/1.0': 4 };
    expect(whole.metadata).toMatchObject({ api_key_limit: 1, total_api_keys: 4, entity_total_api_keys: counts });
    expect(whole.metadata['total_api_requests']).toBe(4);
  });

  it('keys by page, search and model', async () => {
    const pages = `/user/daily/activity/aggregated/keys?${DAYS}`;
    const page = await read(`${pages}&offset=3&limit=2`);
    expect(page).toMatchObject({ total_api_keys: 4, offset: 3, limit: 2 });
    expect(page.api_keys).toHaveLength(1);
    const found = await read(`/user/daily/activity/aggregated/search?${DAYS}&search=ALIAS-1`);
    expect(found.api_keys).toEqual([
      {
        api_key: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
        metrics: expect.objectContaining({ api_requests: 1, successful_requests: 1, failed_requests: 0 }) as object,
        metadata: {
          key_alias: 'alias-1',
          team_id: null,
          user_id: 'internal-1',
          user_email: 'one@example.com',
          key_exists: true,
        },
      },
    ]);
    expect((await read(`/user/daily/activity/aggregated/model_top_keys?${DAYS}&model_group=nope`)).api_keys).toEqual(
      [],
    );
  });

  it('a table by day and entity, and by a further field', async () => {
    const table = async (query: string): Promise<readonly string[]> =>
      String((await send(`/user/daily/activity/export?${DAYS}${query}`, app.adminKey))[1]).split('\r\n');
    const lines = await table('');
    expect(lines[0]).toMatch(/^date,entity_id,entity_alias,api_key,.*,cache_creation_input_tokens$/);
    // The head, calls without a user, two users, and the empty text after the last line.
    expect(lines).toHaveLength(5);
    expect(lines[2]).toMatch(/^\d{4}-\d\d-\d\d,internal-1,,,,,,,/);
    expect((await table('&export_type=daily_with_keys')).join()).toContain('alias-1,internal-1,one@example.com');
    expect((await table('&export_type=daily_with_models')).join()).toContain('demo/demo');
    const [, rows] = await send(
      `/user/daily/activity/export?${DAYS}&format=json&export_type=daily_with_users`,
      app.adminKey,
    );
    expect(rows).toContainEqual(expect.objectContaining({ entity_id: 'internal-1', user_email: 'one@example.com' }));
  });

  it('pages of days', async () => {
    const page = await read(`/user/daily/activity?${YEARS}&page=2&page_size=1`);
    expect(page.results).toEqual([]);
    expect(page.metadata).toMatchObject({ page: 2, total_pages: 1, has_more: false });
  });
});

describe('a user sees', () => {
  const total = async (path: string, key: string): Promise<unknown> =>
    (await read(`${path}/daily/activity?${DAYS}`, key)).metadata['total_api_requests'];

  it('only their own calls, by user and by tag', async () => {
    expect([await total('/user', keys.internal), await total('/tag', keys.internal)]).toEqual([1, 1]);
    const detail = { error: 'You can only view your own spend data.' };
    expect(await send(`/user/daily/activity?${DAYS}&user_id=internal-2`, keys.internal)).toEqual([403, { detail }]);
  });

  it('all calls of a team as its administrator, and only their own calls as a member', async () => {
    // The only call of the team was made with the key of the team, not with a key of the member.
    expect([await total('/team', keys.internal), await total('/team', keys.member)]).toEqual([1, 0]);
  });

  it('the calls of an organization as its administrator', async () => {
    expect((await send(`/organization/daily/activity?${DAYS}`, keys.internal))[0]).toBe(403);
    await app.call('POST', '/organization/member_add', {
      organization_id: 'org-1',
      member: { role: 'org_admin', user_id: 'internal-1' },
    });
    expect(await total('/organization', keys.internal)).toBe(1);
    expect((await send(`/organization/daily/activity?${DAYS}&organization_ids=org-2`, keys.internal))[0]).toBe(403);
  });
});

describe('tagUse.daily and similar routes', () => {
  const ROUTES = [
    ['tagUse.daily', '/tag/dau'],
    ['tagUse.weekly', '/tag/wau'],
    ['tagUse.monthly', '/tag/mau'],
    ['tagUse.distinct', '/tag/distinct'],
    ['tagUse.summary', `/tag/summary?${DAYS}`],
    ['tagUse.users', '/tag/user-agent/per-user-analytics'],
  ] as const;
  const day = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
  const users = (from: string | null, to: string | null, date: string) =>
    ['User-Agent: tester', 'User-Agent: tester/1.0'].map((tag) => ({
      tag,
      active_users: 2,
      date,
      period_start: from,
      period_end: to,
    }));

  it.each(ROUTES)('%s 401: no key, a key without a user, and a key of a user', async (_name, path) => {
    expect([
      (await send(path, null))[0],
      (await send(path, keys.plain))[0],
      (await send(path, keys.internal))[0],
    ]).toEqual([401, 401, 401]);
  });

  it.each([
    ['tagUse.summary', '/tag/summary?start_date=zzz&end_date=2026-01-01'],
    ['tagUse.users', '/tag/user-agent/per-user-analytics?start_date=zzz&end_date=2026-01-01'],
  ])('%s 400: invalid dates', async (_name, path) => {
    expect((await send(path, app.adminKey))[0]).toBe(400);
  });

  it.each([
    ['tagUse.summary', '/tag/summary'],
    ['tagUse.users', '/tag/user-agent/per-user-analytics?page_size=0'],
  ])('%s 422: an invalid parameter', async (_name, path) => {
    expect((await send(path, app.adminKey))[0]).toBe(422);
  });

  it('tagUse.daily 200: users of each client today', async () => {
    expect(await send('/tag/dau', app.adminKey)).toEqual([200, { results: users(null, null, day(0)) }]);
    const [, red] = await send('/tag/dau?tag_filter=red', app.adminKey);
    expect(red).toEqual({ results: [{ ...users(null, null, day(0))[0], tag: 'red', active_users: 1 }] });
  });

  it('tagUse.weekly 200, tagUse.monthly 200: users of each client in the last window, which ends tomorrow', async () => {
    const formatDay = (days: number, options: Intl.DateTimeFormatOptions): string =>
      new Date(Date.parse(day(days))).toLocaleDateString('en-US', { ...options, timeZone: 'UTC' });
    const [week, month] = [formatDay(-5, { month: 'short', day: '2-digit' }), formatDay(-28, { month: 'short' })];
    // Windows are numbered from 1: the last of seven has today. A week has 7 days and a month 30, with both ends.
    const ends = (days: number) => [`${day(days)} 00:00:00`, `${day(1)} 00:00:00`] as const;
    expect(await send('/tag/wau', app.adminKey)).toEqual([200, { results: users(...ends(-5), `Week 7 (${week})`) }]);
    expect(await send('/tag/mau', app.adminKey)).toEqual([200, { results: users(...ends(-28), `Month 7 (${month})`) }]);
  });

  it('tagUse.distinct 200, tagUse.summary 200: tags, most calls first', async () => {
    const tags = ['User-Agent: tester', 'User-Agent: tester/1.0', 'red'];
    expect(await send('/tag/distinct', app.adminKey)).toEqual([200, { results: tags.map((tag) => ({ tag })) }]);
    const [status, summary] = await send(`/tag/summary?${DAYS}`, app.adminKey);
    const counts = { total_requests: 4, successful_requests: 4, failed_requests: 0 };
    expect([status, summary]).toMatchObject([
      200,
      { results: [{ tag: tags[0], unique_users: 2, ...counts }, { tag: tags[1] }, { tag: 'red', unique_users: 1 }] },
    ]);
  });

  it('tagUse.users 200: users with their client, where each call counts once', async () => {
    const [status, answer] = await send('/tag/user-agent/per-user-analytics?page_size=1', app.adminKey);
    const result = {
      user_id: 'internal-1',
      user_email: 'one@example.com',
      user_agent: 'User-Agent: tester',
      total_requests: 1,
    };
    expect([status, answer]).toMatchObject([
      200,
      { results: [result], total_count: 2, page: 1, page_size: 1, total_pages: 2 },
    ]);
  });
});
