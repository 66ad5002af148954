import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { TestApp } from '../support/start-app.ts';
import { LACKS_POSTGRESQL, startTwoApps, type TwoApps } from '../support/two-apps.ts';

const ADMIN = 'sk-the-admin-of-owners-of-two-processes';
/** The goal is one second. The deadline is longer, because the machine runs other tests at the same time. */
const SOON = { timeout: 60_000, interval: 20 };

describe.skipIf(LACKS_POSTGRESQL)('a change of an owner in one of two processes', () => {
  let two: TwoApps;
  let here: TestApp;
  let there: TestApp;
  let createdOwners = 0;
  beforeAll(async () => {
    two = await startTwoApps(ADMIN);
    ({ here, there } = two);
  });
  afterAll(() => two.stop());

  const manage = async (path: string, body: object): Promise<Readonly<Record<string, unknown>>> => {
    const answer = await here.call('POST', path, body);
    expect([path, answer.status]).toEqual([path, 200]);
    return (await answer.json()) as Readonly<Record<string, unknown>>;
  };
  const statusAt = async (app: TestApp, key: string, path = '/v1/models'): Promise<number> =>
    (await app.call('GET', path, undefined, { authorization: `Bearer ${key}` })).status;

  /** Creates a key of a user in a team, and loads it in both processes. */
  async function loadedKey(role: string) {
    createdOwners += 1;
    const [user_id, team_id] = [`user-${createdOwners}`, `team-${createdOwners}`];
    await manage('/user/new', { user_id, user_role: role });
    await manage('/team/new', { team_id, members_with_roles: [{ user_id, role: 'user' }] });
    const { key } = await manage('/key/generate', { user_id, team_id, user_role: role });
    const owner = { user_id, team_id, key: String(key) };
    expect([await statusAt(here, owner.key), await statusAt(there, owner.key)]).toEqual([200, 200]);
    return owner;
  }

  it.each([
    ['their user is deleted', '/user/delete', ({ user_id }) => ({ user_ids: [user_id] })],
    ['their team is deleted', '/team/delete', ({ team_id }) => ({ team_ids: [team_id] })],
    ['their team is blocked', '/team/block', ({ team_id }) => ({ team_id })],
    ['their user is removed from the team', '/team/member_delete', ({ user_id, team_id }) => ({ user_id, team_id })],
  ] satisfies readonly (readonly [string, string, (owner: { user_id: string; team_id: string }) => object])[])(
    'ends the keys in the other process soon: %s',
    async (_what, path, body) => {
      const owner = await loadedKey('internal_user');
      await manage(path, body(owner));
      expect(await statusAt(here, owner.key)).toBe(401);
      await vi.waitFor(async () => expect(await statusAt(there, owner.key)).toBe(401), SOON);
    },
  );

  it('closes administrative routes to a demoted administrator in the other process soon', async () => {
    const { user_id, key } = await loadedKey('proxy_admin');
    expect(await statusAt(there, key, '/user/list')).toBe(200);
    await manage('/user/update', { user_id, user_role: 'internal_user' });
    expect(await statusAt(here, key, '/user/list')).toBe(403);
    await vi.waitFor(async () => expect(await statusAt(there, key, '/user/list')).toBe(403), SOON);
  });
});
