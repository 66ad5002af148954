import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type OwnerCalls, startOwnerCalls } from './owner-calls.ts';

let calls: OwnerCalls;

beforeAll(async () => {
  calls = await startOwnerCalls();
});
afterAll(() => calls.stop());

const RESET = String.raw`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC`;
const refused = (subject: string, type: string, limit: number) => ({
  error: {
    message: expect.stringMatching(
      new RegExp(
        `^Rate limit exceeded for ${subject}. Limit type: ${type}. Current limit: ${limit}, Remaining: 0. Limit resets at: ${RESET}$`,
      ),
    ) as string,
    type: 'throttling_error',
    param: null,
    code: '429',
  },
});

describe('limits of owners', () => {
  it('are shared by all keys of a team', async () => {
    await calls.manage('/team/new', { team_id: 'pool', rpm_limit: 2 });
    const [one, two] = [await calls.newKey({ team_id: 'pool' }), await calls.newKey({ team_id: 'pool' })];
    const first = await calls.chat(one);
    expect(first.status).toBe(200);
    expect(Object.fromEntries(first.headers)).toMatchObject({
      'x-ratelimit-team-limit-requests': '2',
      'x-ratelimit-team-remaining-requests': '1',
    });
    expect(first.headers.get('x-ratelimit-limit-requests')).toBeNull();
    expect((await calls.chat(two)).status).toBe(200);
    for (const key of [one, two]) {
      const third = await calls.chat(key);
      expect([third.status, third.body]).toEqual([429, refused('team: pool', 'requests', 2)]);
      expect(Object.fromEntries(third.headers)).toMatchObject({ 'retry-after': '60', rate_limit_type: 'requests' });
    }
    expect((await calls.chat(await calls.newKey({}))).status).toBe(200);
  });

  it('of a model are shared by all keys of a team', async () => {
    await calls.manage('/team/new', { team_id: 'models', metadata: { model_rpm_limit: { priced: 2 } } });
    const [one, two] = [await calls.newKey({ team_id: 'models' }), await calls.newKey({ team_id: 'models' })];
    for (const key of [one, two]) expect((await calls.chat(key)).status).toBe(200);
    const third = await calls.chat(one);
    expect([third.status, third.body]).toEqual([429, refused('model_per_team: models:priced', 'requests', 2)]);
    expect((await calls.chat(one, 'free')).status).toBe(200);
  });

  it('of a user hold for all its keys', async () => {
    await calls.manage('/user/new', { user_id: 'ann', auto_create_key: false, rpm_limit: 1 });
    const [one, two] = [await calls.newKey({ user_id: 'ann' }), await calls.newKey({ user_id: 'ann' })];
    expect((await calls.chat(one)).status).toBe(200);
    const second = await calls.chat(two);
    expect([second.status, second.body]).toEqual([429, refused('user: ann', 'requests', 1)]);
  });
});
