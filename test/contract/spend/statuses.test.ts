import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/start-app.ts';

interface Row {
  readonly row: string;
  /** Method and path. */
  readonly at: string;
  readonly body?: unknown;
  /** Path and value of a member of the answer to an administrator. */
  readonly shows: readonly [path: string, value: unknown];
}

const DAYS = 'start_date=2026-01-01&end_date=2100-01-01';
const TIMES = 'start_date=2026-01-01 00:00:00&end_date=2100-01-01 00:00:00';

/** Reports for administrators only. */
const ADMIN_ROWS: readonly Row[] = [
  { row: 'spend.total', at: 'GET /global/spend', shows: ['max_budget', 0] },
  { row: 'spend.days', at: 'GET /global/spend/logs', shows: ['0.spend', 0] },
  { row: 'spend.byKey', at: 'GET /global/spend/keys?limit=1', shows: ['length', 1] },
  { row: 'spend.byTeam', at: 'GET /global/spend/teams', shows: ['teams.length', 2] },
  { row: 'spend.byModel', at: 'GET /global/spend/models', shows: ['0.model', 'demo/demo'] },
  { row: 'spend.byTag', at: `GET /global/spend/tags?${DAYS}&tags=red`, shows: ['spend_per_tag.0.log_count', 1] },
  { row: 'spend.tagNames', at: 'GET /global/spend/all_tag_names', shows: ['tag_names.length', 3] },
  { row: 'spend.byProvider', at: 'GET /global/spend/provider', shows: ['0.provider', 'demo'] },
  { row: 'spend.endUsers', at: 'GET /global/all_end_users', shows: ['end_users.length', 2] },
  { row: 'spend.byEndUser', at: 'POST /global/spend/end_users', body: {}, shows: ['length', 2] },
  { row: 'spend.report', at: `GET /global/spend/report?${DAYS}`, shows: ['0.teams.length', 2] },
  { row: 'spend.keyReport', at: `GET /key/spend/report?${DAYS}`, shows: ['length', 2] },
  { row: 'spend.userReport', at: `GET /user/spend/report?${DAYS}&user_id=user-1`, shows: ['0.user_id', 'user-1'] },
  { row: 'spend.teamReport', at: `GET /team/spend/report?${DAYS}&team_id=team-1`, shows: ['0.team_id', 'team-1'] },
  {
    row: 'spend.organizationReport',
    at: `GET /organization/spend/report?${DAYS}&organization_id=nope`,
    shows: ['', []],
  },
  { row: 'spend.captureRate', at: `GET /spend/capture_rate?${DAYS}`, shows: ['total_requests', 2] },
  {
    row: 'spend.userPage',
    at: 'GET /management/v1/spend_logs/users?filter[startTime][gte]=2026-01-01&filter[startTime][lte]=2100-01-01',
    shows: ['meta.total_count', 1],
  },
  { row: 'spend.refresh', at: 'POST /global/spend/refresh', shows: ['', null] },
  { row: 'globalActivity.days', at: `GET /global/activity?${DAYS}`, shows: ['sum_api_requests', 2] },
  { row: 'globalActivity.models', at: `GET /global/activity/model?${DAYS}`, shows: ['0.daily_data.0.api_requests', 2] },
  {
    row: 'globalActivity.exceptions',
    at: `GET /global/activity/exceptions?${DAYS}&model_group=demo`,
    shows: ['sum_num_rate_limit_exceptions', 0],
  },
  {
    row: 'globalActivity.exceptionsByDeployment',
    at: `GET /global/activity/exceptions/deployment?${DAYS}&model_group=demo`,
    shows: ['length', 0],
  },
  {
    row: 'globalActivity.cacheHits',
    at: `GET /global/activity/cache_hits?${DAYS}`,
    shows: ['totals.api_requests', 2],
  },
];

/** Reports that users may read about their own calls. */
const USER_ROWS: readonly Row[] = [
  { row: 'spend.logs', at: `GET /spend/logs?${DAYS}&summarize=false`, shows: ['length', 2] },
  { row: 'spend.search', at: `GET /spend/logs/v2?${TIMES}&page_size=1`, shows: ['total_pages', 2] },
  { row: 'spend.session', at: 'GET /spend/logs/session/ui?session_id=session-1', shows: ['total', 1] },
  { row: 'spend.content', at: 'GET /spend/logs/ui/nope', shows: ['', null] },
  { row: 'spend.users', at: 'GET /spend/users?user_id=nope', shows: ['0', null] },
  { row: 'spend.tags', at: `GET /spend/tags?${DAYS}`, shows: ['length', 3] },
];

/** Rows with other access rules. */
const OTHER_ROWS: readonly Row[] = [
  { row: 'spend.keys', at: 'GET /spend/keys', shows: ['length', 2] },
  {
    row: 'spend.calculate',
    at: 'POST /spend/calculate',
    body: { completion_response: { model: 'gpt-4o', usage: { prompt_tokens: 1_000, completion_tokens: 100 } } },
    shows: ['cost', 0.0035],
  },
  {
    row: 'spend.estimate',
    at: 'POST /cost/estimate',
    body: { model: 'gpt-4o', input_tokens: 1_000, output_tokens: 100, num_requests_per_day: 2 },
    shows: ['daily_cost', 0.007],
  },
  { row: 'spend.reset', at: 'POST /global/spend/reset', shows: ['status', 'success'] },
];

const ROWS = [...ADMIN_ROWS, ...USER_ROWS, ...OTHER_ROWS];

/** A request that a row refuses. */
type Refusal = readonly [row: string, status: number, at: string, body?: unknown];

/** The request of a row with invalid dates. */
const withInvalidDates = ({ row, at }: Row): Refusal => [
  row,
  400,
  `${at.split('?', 1)[0]}?start_date=zzz&end_date=2026-01-01&model_group=demo`,
];

/** Rows whose query has no `start_date` and `end_date`. */
const WITHOUT_DATES = new Set(['spend.session', 'spend.content', 'spend.byEndUser', 'spend.refresh', 'spend.userPage']);

const REFUSALS: readonly Refusal[] = [
  ...[...ADMIN_ROWS, ...USER_ROWS].filter(({ row }) => !WITHOUT_DATES.has(row)).map(withInvalidDates),
  ['spend.byEndUser', 400, 'POST /global/spend/end_users', { startTime: 'zzz', endTime: '2026-01-01' }],
  ['spend.byEndUser', 422, 'POST /global/spend/end_users', []],
  ['spend.session', 400, 'GET /spend/logs/session/ui?session_id=x&sort_by=zzz'],
  ['spend.session', 422, 'GET /spend/logs/session/ui'],
  ['spend.search', 422, `GET /spend/logs/v2?${TIMES}&page_size=0`],
  ['spend.captureRate', 422, 'GET /spend/capture_rate'],
  ['spend.report', 422, `GET /global/spend/report?${DAYS}&group_by=zzz`],
  ['spend.calculate', 400, 'POST /spend/calculate', { model: 'gpt-4o' }],
  ['spend.calculate', 400, 'POST /spend/calculate', { model: 'zzz', messages: [] }],
  ['spend.calculate', 422, 'POST /spend/calculate', []],
  ['spend.estimate', 422, 'POST /cost/estimate', '{'],
  ['spend.estimate', 404, 'POST /cost/estimate', { model: 'zzz', input_tokens: 1, output_tokens: 1 }],
  ['spend.estimate', 422, 'POST /cost/estimate', { input_tokens: 1 }],
  ['spend.estimate', 422, 'POST /cost/estimate', { model: 'gpt-4o', input_tokens: -1 }],
  ['globalActivity.exceptions', 422, `GET /global/activity/exceptions?${DAYS}`],
  ['globalActivity.exceptionsByDeployment', 422, 'GET /global/activity/exceptions/deployment'],
  ['globalActivity.cacheHits', 422, 'GET /global/activity/cache_hits'],
];

const memberAt = (value: unknown, path: string): unknown =>
  path === ''
    ? value
    : path.split('.').reduce<unknown>((inner, name) => (inner as Record<string, unknown> | null)?.[name], value);

describe('spend.logs, spend.total and similar routes', () => {
  let app: TestApp;
  let userKey = '';
  let plainKey = '';
  beforeAll(async () => {
    app = await startApp({ config: { general_settings: { demo_model: true } } });
    const newKey = async (body: object): Promise<string> => {
      const answer = (await (await app.call('POST', '/key/generate', body)).json()) as { readonly key: string };
      return answer.key;
    };
    userKey = await newKey({ user_id: 'user-1', team_id: 'team-1' });
    plainKey = await newKey({});
    const chat = async (key: string, more: object): Promise<void> => {
      const body = { model: 'demo', messages: [{ role: 'user', content: 'hi' }], ...more };
      const headers = { authorization: `Bearer ${key}`, 'user-agent': 'tester/1.0' };
      expect((await app.call('POST', '/v1/chat/completions', body, headers)).status).toBe(200);
    };
    await chat(userKey, { user: 'customer-1', metadata: { tags: ['red'], session_id: 'session-1' } });
    await chat(plainKey, {});
  });
  afterAll(() => app.stop());

  async function send(at: string, key: string | null, body?: unknown): Promise<readonly [number, unknown]> {
    const [method = '', path = ''] = at.split(/ (.*)/s);
    const answer = await fetch(`${app.url}${path}`, {
      method,
      headers: key === null ? {} : { authorization: `Bearer ${key}` },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    return [answer.status, await answer.json()];
  }

  it.each(ROWS)('$row 200: an administrator', async ({ at, body, shows: [path, value] }) => {
    const [status, answer] = await send(at, app.adminKey, body);
    expect([status, memberAt(answer, path)]).toEqual([200, value]);
  });

  it.each(ROWS)('$row 401: no key', async ({ at, body }) => {
    const [status, answer] = await send(at, null, body);
    expect([status, memberAt(answer, 'error.type')]).toEqual([401, 'auth_error']);
  });

  const refused = REFUSALS.map(([row, wanted, at, body]) => ({ row, wanted, at, body }));
  it.each(refused)('$row $wanted: $at', async ({ wanted, at, body }) => {
    const [status, answer] = await send(at, app.adminKey, body);
    expect([status, Object.keys(answer as object).length]).toEqual([wanted, 1]);
  });

  it.each(ADMIN_ROWS)('$row 401: a non-admin key, with and without a user', async ({ at, body }) => {
    const [[ofUser], [ofKey]] = [await send(at, userKey, body), await send(at, plainKey, body)];
    expect([ofUser, ofKey]).toEqual([401, 401]);
  });

  it('spend.logs 200: a user sees only calls of that user; 401: a key without a user', async () => {
    const [status, rows] = await send('GET /spend/logs', userKey);
    const wanted = { user: 'user-1', team_id: 'team-1', end_user: 'customer-1', session_id: 'session-1' };
    const request_tags = ['red', 'User-Agent: tester', 'User-Agent: tester/1.0'];
    expect([status, rows]).toEqual([200, [expect.objectContaining({ ...wanted, request_tags, status: 'success' })]]);
    expect((await send('GET /spend/logs', plainKey))[0]).toBe(401);
  });

  it('spend.session 200: a call without a session is found by its trace, which every list shows as its session', async () => {
    const [, listed] = await send(`GET /spend/logs/ui?${TIMES}`, app.adminKey);
    const { data } = listed as { readonly data: readonly Readonly<Record<string, unknown>>[] };
    const call = data.find((row) => row['user'] !== 'user-1');
    expect(call?.['session_id']).toMatch(/^[0-9a-f]{32}$/);
    const page = { data: [call], total: 1, page: 1, page_size: 50, total_pages: 1 };
    const named = `session_id=${String(call?.['session_id'])}`;
    expect(await send(`GET /spend/logs/session/ui?${named}`, app.adminKey)).toEqual([200, page]);
    expect(await send(`GET /spend/logs/ui?${TIMES}&${named}`, app.adminKey)).toEqual([
      200,
      { ...page, total_is_capped: false },
    ]);
    const ids = { request_id: call?.['request_id'], session_id: call?.['session_id'] };
    expect(await send(`GET /spend/logs?${named}`, app.adminKey)).toEqual([200, [expect.objectContaining(ids)]]);
  });

  it('spend.content 200: messages, response and request of a call', async () => {
    const [, rows] = await send('GET /spend/logs', userKey);
    const [, content] = await send(`GET /spend/logs/ui/${String(memberAt(rows, '0.request_id'))}`, userKey);
    expect(Object.keys(content as object)).toEqual(['messages', 'response', 'proxy_server_request']);
  });

  it('spend.reset 401: a non-admin key, with and without a user', async () => {
    const [[ofUser], [ofKey]] = [
      await send('POST /global/spend/reset', userKey),
      await send('POST /global/spend/reset', plainKey),
    ];
    expect([ofUser, ofKey]).toEqual([401, 401]);
  });
});
