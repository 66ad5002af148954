import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { POLLING } from '../../support/polling.ts';
import { awayFromMidnight } from '../../support/away-from-midnight.ts';

beforeEach(awayFromMidnight);

const PATH = '/gateway/daily/activity';
const NO_COUNTS = { total_successful_requests: 0, total_failed_requests: 0, by_date: [], by_route: [] };
const day = (days = 0): string => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

describe('gatewayActivity.daily', () => {
  let app: TestApp;
  let userKey = '';
  let plainKey = '';
  let viewerKey = '';
  beforeAll(async () => {
    app = await startApp({ config: { general_settings: { demo_model: true, proxy_batch_write_at: 0.1 } } });
    const newKey = async (path: string, body: object): Promise<string> =>
      ((await (await app.call('POST', path, body)).json()) as { readonly key: string }).key;
    viewerKey = await newKey('/user/new', { user_id: 'viewer', user_role: 'proxy_admin_viewer' });
    userKey = await newKey('/user/new', { user_id: 'user', user_role: 'internal_user' });
    plainKey = await newKey('/key/generate', {});
    const chat = { model: 'demo', messages: [{ role: 'user', content: 'hi' }] };
    await (await app.call('POST', '/v1/chat/completions', chat)).text();
    await (await app.call('POST', '/v1/chat/completions', { ...chat, stream: true })).text();
    await (await app.call('POST', '/v1/chat/completions', { ...chat, model: 'nope' })).text();
    await (await app.call('POST', '/v1/embeddings', {}, { authorization: 'Bearer sk-wrong' })).text();
    await vi.waitFor(async () => {
      if ((await read()).total_failed_requests !== 2) throw new Error('The counts are not committed.');
    }, POLLING);
  });
  afterAll(() => app.stop());

  const read = async (query = ''): Promise<typeof NO_COUNTS> =>
    (await (await app.call('GET', `${PATH}${query}`)).json()) as typeof NO_COUNTS;

  const allCounts = () => ({
    total_successful_requests: 2,
    total_failed_requests: 2,
    by_date: [{ date: day(), successful_requests: 2, failed_requests: 2 }],
    by_route: [
      { category: 'llm', route: '/chat/completions', successful_requests: 2, failed_requests: 1 },
      { category: 'llm', route: '/embeddings', successful_requests: 0, failed_requests: 1 },
    ],
  });

  /** Dates are compared as texts with the day of each count. Of a repeated parameter, the last value is used. */
  const PERIODS: readonly (readonly [query: string, counts: 'all' | 'none'])[] = [
    ['', 'all'],
    [`?start_date=${day()}&end_date=${day()}`, 'all'],
    [`?start_date=${day()}`, 'all'],
    [`?end_date=${day()}`, 'all'],
    ['?start_date=&end_date=', 'all'],
    ['?start_date=2026-1-1&end_date=zzz', 'all'],
    [`?start_date=${day(1)}`, 'none'],
    [`?end_date=${day(-1)}`, 'none'],
    [`?start_date=${day(1)}&end_date=${day(-1)}`, 'none'],
    [`?start_date=${day()}&start_date=${day(1)}`, 'none'],
    [`?start_date=zzz&end_date=${day()}`, 'none'],
    ['?foo=1', 'all'],
  ];
  it.each(PERIODS)('gatewayActivity.daily 200: the query `%s` gives %s of the counts', async (query, counts) => {
    expect(await read(query)).toEqual(counts === 'none' ? NO_COUNTS : allCounts());
  });

  const send = async (key: string | null): Promise<readonly [number, unknown]> => {
    const answer = await fetch(
      `${app.url}${PATH}`,
      key === null ? {} : { headers: { authorization: `Bearer ${key}` } },
    );
    return [answer.status, await answer.json()];
  };

  it('gatewayActivity.daily 200: a read-only administrator', async () => {
    expect(await send(viewerKey)).toEqual([200, allCounts()]);
  });

  it('gatewayActivity.daily 403: the key of a user who is not an administrator, and a key without a user', async () => {
    const refusal = [403, { detail: 'Only proxy administrators can see the counts of the whole deployment.' }];
    expect([await send(userKey), await send(plainKey)]).toEqual([refusal, refusal]);
  });

  it('gatewayActivity.daily 401: no key', async () => {
    const message =
      'Authentication Error, No api key passed in. Send it as `Authorization: Bearer sk-...`: the `Bearer ` prefix is needed.';
    expect(await send(null)).toEqual([401, { error: { message, type: 'auth_error', param: 'None', code: '401' } }]);
  });
});
