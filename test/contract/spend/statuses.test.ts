import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/start-app.ts';

interface Row {
  /** Name of the operation. */
  readonly row: string;
  /** Method and path. */
  readonly request: string;
  readonly body?: unknown;
  /** Path and value of a member of the answer to an administrator. */
  readonly expects: readonly [path: string, value: unknown];
}

const DAYS = 'start_date=2026-01-01&end_date=2100-01-01';
const TIMES = 'start_date=2026-01-01 00:00:00&end_date=2100-01-01 00:00:00';

/**
 * Reports for administrators only. The expected counts follow from the two keys and two calls of `beforeAll`. In counts
 * of teams and end users, the call without one counts as one more. Besides `red`, two tags name the `user-agent`.
 */
const ADMIN_ROWS: readonly Row[] = [
  { row: 'spend.total', request: 'GET /global/spend', expects: ['max_budget', 0] },
  { row: 'spend.days', request: 'GET /global/spend/logs', expects: ['0.spend', 0] },
  { row: 'spend.byKey', request: 'GET /global/spend/keys?limit=1', expects: ['length', 1] },
  { row: 'spend.byTeam', request: 'GET /global/spend/teams', expects: ['teams.length', 2] },
  { row: 'spend.byModel', request: 'GET /global/spend/models', expects: ['0.model', 'demo/demo'] },
  { row: 'spend.byTag', request: `GET /global/spend/tags?${DAYS}&tags=red`, expects: ['spend_per_tag.0.log_count', 1] },
  { row: 'spend.tagNames', request: 'GET /global/spend/all_tag_names', expects: ['tag_names.length', 3] },
  { row: 'spend.byProvider', request: 'GET /global/spend/provider', expects: ['0.provider', 'demo'] },
  { row: 'spend.endUsers', request: 'GET /global/all_end_users', expects: ['end_users.length', 2] },
  { row: 'spend.byEndUser', request: 'POST /global/spend/end_users', body: {}, expects: ['length', 2] },
  { row: 'spend.report', request: `GET /global/spend/report?${DAYS}`, expects: ['0.teams.length', 2] },
  { row: 'spend.keyReport', request: `GET /key/spend/report?${DAYS}`, expects: ['length', 2] },
  {
    row: 'spend.userReport',
    request: `GET /user/spend/report?${DAYS}&user_id=user-1`,
    expects: ['0.user_id', 'user-1'],
  },
  {
    row: 'spend.teamReport',
    request: `GET /team/spend/report?${DAYS}&team_id=team-1`,
    expects: ['0.team_id', 'team-1'],
  },
  {
    row: 'spend.organizationReport',
    request: `GET /organization/spend/report?${DAYS}&organization_id=nope`,
    expects: ['', []],
  },
  { row: 'spend.captureRate', request: `GET /spend/capture_rate?${DAYS}`, expects: ['total_requests', 2] },
  {
    row: 'spend.userPage',
    request: 'GET /management/v1/spend_logs/users?filter[startTime][gte]=2026-01-01&filter[startTime][lte]=2100-01-01',
    expects: ['meta.total_count', 1],
  },
  { row: 'spend.refresh', request: 'POST /global/spend/refresh', expects: ['', null] },
  { row: 'globalActivity.days', request: `GET /global/activity?${DAYS}`, expects: ['sum_api_requests', 2] },
  {
    row: 'globalActivity.models',
    request: `GET /global/activity/model?${DAYS}`,
    expects: ['0.daily_data.0.api_requests', 2],
  },
  {
    row: 'globalActivity.exceptions',
    request: `GET /global/activity/exceptions?${DAYS}&model_group=demo`,
    expects: ['sum_num_rate_limit_exceptions', 0],
  },
  {
    row: 'globalActivity.exceptionsByDeployment',
    request: `GET /global/activity/exceptions/deployment?${DAYS}&model_group=demo`,
    expects: ['length', 0],
  },
  {
    row: 'globalActivity.cacheHits',
    request: `GET /global/activity/cache_hits?${DAYS}`,
    expects: ['totals.api_requests', 2],
  },
];

/** Reports that users may read about their own calls. */
const USER_ROWS: readonly Row[] = [
  { row: 'spend.logs', request: `GET /spend/logs?${DAYS}&summarize=false`, expects: ['length', 2] },
  { row: 'spend.search', request: `GET /spend/logs/v2?${TIMES}&page_size=1`, expects: ['total_pages', 2] },
  { row: 'spend.session', request: 'GET /spend/logs/session/ui?session_id=session-1', expects: ['total', 1] },
  { row: 'spend.content', request: 'GET /spend/logs/ui/nope', expects: ['', null] },
  { row: 'spend.users', request: 'GET /spend/users?user_id=nope', expects: ['0', null] },
  { row: 'spend.tags', request: `GET /spend/tags?${DAYS}`, expects: ['length', 3] },
];

/** Rows with other access rules. */
const OTHER_ROWS: readonly Row[] = [
  { row: 'spend.keys', request: 'GET /spend/keys', expects: ['length', 2] },
  // `gpt-4o` costs 1,000 × 2.50 USD / 10⁶ + 100 × 10 USD / 10⁶.
  {
    row: 'spend.calculate',
    request: 'POST /spend/calculate',
    body: { completion_response: { model: 'gpt-4o', usage: { prompt_tokens: 1_000, completion_tokens: 100 } } },
    expects: ['cost', 0.0035],
  },
  {
    row: 'spend.estimate',
    request: 'POST /cost/estimate',
    body: { model: 'gpt-4o', input_tokens: 1_000, output_tokens: 100, num_requests_per_day: 2 },
    expects: ['daily_cost', 0.007],
  },
  { row: 'spend.reset', request: 'POST /global/spend/reset', expects: ['status', 'success'] },
];

const ROWS = [...ADMIN_ROWS, ...USER_ROWS, ...OTHER_ROWS];

/** A request that a row refuses. */
type Refusal = readonly [row: string, status: number, request: string, body?: unknown];

/** The request of a row with invalid dates. */
const withInvalidDates = ({ row, request }: Row): Refusal => [
  row,
  400,
  `${request.split('?', 1)[0]}?start_date=zzz&end_date=2026-01-01&model_group=demo`,
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
    const chat = async (key: string, members: object): Promise<void> => {
      const body = { model: 'demo', messages: [{ role: 'user', content: 'hi' }], ...members };
      const headers = { authorization: `Bearer ${key}`, 'user-agent': 'tester/1.0' };
      expect((await app.call('POST', '/v1/chat/completions', body, headers)).status).toBe(200);
    };
    await chat(userKey, { user: 'customer-1', metadata: { tags: ['red'], session_id: 'session-1' } });
    await chat(plainKey, {});
  });
  afterAll(() => app.stop());

  async function send(request: string, key: string | null, body?: unknown): Promise<readonly [number, unknown]> {
    // At the first space only: a path may contain spaces.
    const [method = '', path = ''] = request.split(/ (.*)/s);
    const answer = await fetch(`${app.url}${path}`, {
      method,
      headers: key === null ? {} : { authorization: `Bearer ${key}` },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    return [answer.status, await answer.json()];
  }

  it.each(ROWS)('$row 200: an administrator', async ({ request, body, expects: [path, value] }) => {
    const [status, answer] = await send(request, app.adminKey, body);
    expect([status, memberAt(answer, path)]).toEqual([200, value]);
  });

  it.each(ROWS)('$row 401: no key', async ({ request, body }) => {
    const [status, answer] = await send(request, null, body);
    expect([status, memberAt(answer, 'error.type')]).toEqual([401, 'auth_error']);
  });

  const refused = REFUSALS.map(([row, expected, request, body]) => ({ row, expected, request, body }));
  it.each(refused)('$row $expected: $request', async ({ expected, request, body }) => {
    const [status, answer] = await send(request, app.adminKey, body);
    // The only member is `error` or `detail`.
    expect([status, Object.keys(answer as object).length]).toEqual([expected, 1]);
  });

  it.each(ADMIN_ROWS)('$row 401: a non-admin key, with and without a user', async ({ request, body }) => {
    const [[withUser], [withoutUser]] = [await send(request, userKey, body), await send(request, plainKey, body)];
    expect([withUser, withoutUser]).toEqual([401, 401]);
  });

  it('spend.logs 200: a user sees only calls of that user; 401: a key without a user', async () => {
    const [status, rows] = await send('GET /spend/logs', userKey);
    const row = { user: 'user-1', team_id: 'team-1', end_user: 'customer-1', session_id: 'session-1' };
    const request_tags = ['red', 'User-Agent: tester', 'User-Agent: tester/1.0'];
    expect([status, rows]).toEqual([200, [expect.objectContaining({ ...row, request_tags, status: 'success' })]]);
    expect((await send('GET /spend/logs', plainKey))[0]).toBe(401);
  });

  it('spend.session 200: a call without a session is found by its trace, which every list shows as its session', async () => {
    const [, listed] = await send(`GET /spend/logs/ui?${TIMES}`, app.adminKey);
    const { data } = listed as { readonly data: readonly Readonly<Record<string, unknown>>[] };
    const call = data.find((row) => row['user'] !== 'user-1');
    expect(call?.['session_id']).toMatch(/^[0-9a-f]{32}$/);
    const page = { data: [call], total: 1, page: 1, page_size: 50, total_pages: 1 };
    const sessionQuery = `session_id=${String(call?.['session_id'])}`;
    expect(await send(`GET /spend/logs/session/ui?${sessionQuery}`, app.adminKey)).toEqual([200, page]);
    expect(await send(`GET /spend/logs/ui?${TIMES}&${sessionQuery}`, app.adminKey)).toEqual([
      200,
      { ...page, total_is_capped: false },
    ]);
    const ids = { request_id: call?.['request_id'], session_id: call?.['session_id'] };
    expect(await send(`GET /spend/logs?${sessionQuery}`, app.adminKey)).toEqual([200, [expect.objectContaining(ids)]]);
  });

  it('spend.content 200: messages, response and request of a call', async () => {
    const [, rows] = await send('GET /spend/logs', userKey);
    const [, content] = await send(`GET /spend/logs/ui/${String(memberAt(rows, '0.request_id'))}`, userKey);
    expect(Object.keys(content as object)).toEqual(['messages', 'response', 'proxy_server_request']);
  });

  it('spend.reset 401: a non-admin key, with and without a user', async () => {
    const [[withUser], [withoutUser]] = [
      await send('POST /global/spend/reset', userKey),
      await send('POST /global/spend/reset', plainKey),
    ];
    expect([withUser, withoutUser]).toEqual([401, 401]);
  });
});
