import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type OwnerCalls, startOwnerCalls } from './owner-calls.ts';
import { POLLING } from '../../support/polling.ts';

let calls: OwnerCalls;

beforeAll(async () => {
  calls = await startOwnerCalls();
});
afterAll(() => calls.stop());

const exceeded = (subject: string, cost: string, budget: string) => ({
  error: {
    message: `Budget has been exceeded! ${subject} Current cost: ${cost}, Max budget: ${budget}`,
    type: 'budget_exceeded',
    param: null,
    code: '422',
  },
});

async function statusOrRefusal(key: string, model?: string) {
  const { status, body } = await calls.chat(key, model);
  return status === 200 ? status : [status, body];
}

async function spendOf(key: string): Promise<number> {
  const answer = await calls.app.call('GET', `/key/info?key=${key}`);
  return ((await answer.json()) as { info: { spend: number } }).info.spend;
}

describe('the budget of a team', () => {
  it('is shared by the keys of the team, and refuses calls when the spend of the team exceeds it', async () => {
    await calls.manage('/team/new', { team_id: 'shared', max_budget: 2 });
    const keys = [await calls.newKey({ team_id: 'shared' }), await calls.newKey({ team_id: 'shared' })] as const;
    // The budget of a team does not refuse a spend that equals it.
    for (const key of [...keys, keys[0]]) expect(await statusOrRefusal(key)).toBe(200);
    for (const key of keys) expect(await statusOrRefusal(key)).toEqual([422, exceeded('Team=shared', '3.0', '2.0')]);
    expect(await statusOrRefusal(keys[0], 'free')).toBe(200);
    expect(await statusOrRefusal(await calls.newKey({}))).toBe(200);
    await calls.manage('/team/update', { team_id: 'shared', max_budget: 4 });
    expect(await statusOrRefusal(keys[1])).toBe(200);
  });

  it('refuses the first call if it is zero', async () => {
    await calls.manage('/team/new', { team_id: 'zero', max_budget: 0 });
    const key = await calls.newKey({ team_id: 'zero' });
    expect(await statusOrRefusal(key)).toEqual([422, exceeded('Team=zero', '0.0', '0.0')]);
  });

  it('includes earlier spend of the keys of the team, also of a deleted key', async () => {
    await calls.manage('/team/new', { team_id: 'later' });
    const [firstKey, secondKey] = [await calls.newKey({ team_id: 'later' }), await calls.newKey({ team_id: 'later' })];
    for (const key of [firstKey, secondKey, firstKey]) expect(await statusOrRefusal(key)).toBe(200);
    // A new budget counts stored spend only, so wait until the spend is stored.
    await vi.waitFor(async () => expect([await spendOf(firstKey), await spendOf(secondKey)]).toEqual([2, 1]), POLLING);
    await calls.manage('/key/delete', { keys: [secondKey] });
    await calls.manage('/team/update', { team_id: 'later', max_budget: 2 });
    expect(await statusOrRefusal(firstKey)).toEqual([422, exceeded('Team=later', '3.0', '2.0')]);
  });
});

describe('a budget with a window', () => {
  it.concurrent.each([
    { owner: { team_id: 'windowed' }, path: '/team/new', subject: 'Team=windowed', cost: '2.0' },
    { owner: { user_id: 'windowed' }, path: '/user/new', subject: 'User=windowed', cost: '1.0' },
  ])('admits calls again after the end of the window: $subject', async ({ owner, path, subject, cost }) => {
    await calls.manage(path, {
      ...owner,
      ...(path === '/user/new' ? { auto_create_key: false } : {}),
      max_budget: 1,
      budget_duration: '2s',
    });
    const key = await calls.newKey(owner);
    // The budget of a user refuses a spend that equals it. The budget of a team does not, so it admits one call more.
    // A refusal has the spend of its window. The second round is in a later window.
    for (let round = 1; round <= 2; round += 1) {
      const reset = String.raw`. Budget window: 2s. Budget resets at: \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$`;
      const { message, ...error } = exceeded(subject, cost, '1.0').error;
      const refusal = {
        error: { ...error, message: expect.stringMatching(new RegExp(`^${message}${reset}`)) as string },
      };
      await vi.waitFor(async () => expect(await statusOrRefusal(key)).toEqual([422, refusal]), POLLING);
      await vi.waitFor(async () => expect(await statusOrRefusal(key)).toBe(200), { ...POLLING, interval: 200 });
    }
  });
});

describe('the budget of a user', () => {
  it('refuses calls with keys without a team, and counts the spend of all keys of the user', async () => {
    await calls.manage('/user/new', { user_id: 'bob', auto_create_key: false, max_budget: 2 });
    await calls.manage('/team/new', { team_id: 'of-bob' });
    const [firstKey, secondKey] = [await calls.newKey({ user_id: 'bob' }), await calls.newKey({ user_id: 'bob' })];
    const keyInTeam = await calls.newKey({ user_id: 'bob', team_id: 'of-bob' });
    for (const key of [firstKey, keyInTeam]) expect(await statusOrRefusal(key)).toBe(200);
    for (const key of [firstKey, secondKey])
      expect(await statusOrRefusal(key)).toEqual([422, exceeded('User=bob', '2.0', '2.0')]);
    expect(await statusOrRefusal(keyInTeam)).toBe(200);
  });
});

describe('the budget of a member', () => {
  it('refuses calls only with keys of the member in the team', async () => {
    await calls.manage('/user/new', { user_id: 'cem', auto_create_key: false });
    await calls.manage('/team/new', { team_id: 'club' });
    await calls.manage('/team/member_add', {
      team_id: 'club',
      member: { role: 'user', user_id: 'cem' },
      max_budget_in_team: 1,
    });
    const key = await calls.newKey({ user_id: 'cem', team_id: 'club' });
    expect(await statusOrRefusal(key)).toBe(200);
    expect(await statusOrRefusal(key)).toEqual([422, exceeded('TeamMember=cem:club', '1.0', '1.0')]);
    expect(await statusOrRefusal(await calls.newKey({ user_id: 'cem' }))).toBe(200);
    expect(await statusOrRefusal(await calls.newKey({ team_id: 'club' }))).toBe(200);
  });
});
