import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { DATABASES, type ScratchDatabase } from '../../ports/engines.ts';
import { POLLING } from '../../support/polling.ts';
import type { Json } from '../../support/tenancy-client.ts';
import { type Issuer, startIssuer, tokenEnvironment } from '../../support/token-issuer.ts';
import { type OwnerCalls, startOwnerCalls } from '../owners/owner-calls.ts';

/** Longer than the time after which the totals of owners are read again. */
const REREAD_MS = 7_000;

const CONFIG = {
  general_settings: {
    enable_jwt_auth: true,
    litellm_jwtauth: {
      user_id_jwt_field: 'sub',
      user_id_upsert: true,
      team_ids_jwt_field: 'teams',
      org_id_jwt_field: 'org',
    },
  },
};

/**
 * Owners of budgets, the claims of a token, and the number of calls of 1 USD that are admitted with the token. Budgets
 * are 1 USD. The budget of a team refuses only a spend above it, so it admits a second call. The budget of the
 * organization is 3 USD. It counts the calls of a token without a team and of a token of its team.
 */
const OWNERS: readonly (readonly [name: string, claims: Json, admitted: number])[] = [
  ['team', { sub: 'ann', teams: ['team'] }, 2],
  ['team with a window', { sub: 'ann', teams: ['windowed'] }, 2],
  ['user', { sub: 'bob' }, 1],
  ['member', { sub: 'cem', teams: ['club'] }, 1],
  ['organization', { sub: 'dan', org: 'acme' }, 2],
  ['organization of a team', { sub: 'ann', teams: ['of-acme'] }, 1],
];

describe.each(DATABASES)('budgets of owners of signed tokens on $name', (engine) => {
  describe.skipIf(engine.skipReason !== null)('with the database', () => {
    let issuer: Issuer;
    const opened: { readonly calls: OwnerCalls; readonly scratch: ScratchDatabase | null }[] = [];

    beforeAll(async () => {
      issuer = await startIssuer(['ES256']);
    });
    afterAll(async () => {
      for (const { calls, scratch } of opened) {
        await calls.stop();
        await scratch?.remove();
      }
      await issuer.stop();
    });

    /** Starts an app for one test. The tests wait most of the time, so they run at the same time. */
    async function open(): Promise<OwnerCalls> {
      // With SQLite the app has the database in its own folder.
      const scratch: ScratchDatabase | null = engine.name === 'postgresql' ? await engine.create() : null;
      const ofEngine = scratch?.appOptions.env ?? { LENSGATE_SQLITE_DRIVER: engine.name };
      const calls = await startOwnerCalls(CONFIG, { ...tokenEnvironment(issuer), ...ofEngine });
      opened.push({ calls, scratch });
      return calls;
    }

    const token = (claims: Json): Promise<string> => issuer.token(claims, { alg: 'ES256' });
    const statusOf = async (calls: OwnerCalls, key: string): Promise<number> => (await calls.chat(key)).status;

    async function info(calls: OwnerCalls, path: string, ...members: readonly string[]): Promise<unknown> {
      const answer = await calls.app.call('GET', path);
      let value: unknown = await answer.json();
      for (const member of members) value = (value as Json)[member];
      return value;
    }

    async function graphSpend(calls: OwnerCalls): Promise<unknown> {
      const query = `{ teams(first: 50) { nodes { teamId totalSpendUsd } } users(first: 50) { nodes { userId totalSpendUsd } } }`;
      const answer = await calls.app.call('POST', '/graphql', { query });
      const { data } = (await answer.json()) as {
        readonly data: Readonly<Record<'teams' | 'users', { readonly nodes: readonly Json[] }>>;
      };
      const { teams, users } = data;
      return {
        team: teams.nodes.find(({ teamId }) => teamId === 'team')?.['totalSpendUsd'],
        user: users.nodes.find(({ userId }) => userId === 'bob')?.['totalSpendUsd'],
      };
    }

    it.concurrent('refuse calls also after totals are read again, and after a restart; reports show the spend', async () => {
      const calls = await open();
      const { manage } = calls;
      await manage('/organization/new', { organization_id: 'acme', organization_alias: 'acme', max_budget: 3 });
      await manage('/team/new', { team_id: 'team', max_budget: 1 });
      await manage('/team/new', { team_id: 'windowed', max_budget: 1, budget_duration: '30d' });
      await manage('/team/new', { team_id: 'club' });
      await manage('/team/new', { team_id: 'of-acme', organization_id: 'acme' });
      for (const user_id of ['bob', 'cem'])
        // oxlint-disable-next-line no-await-in-loop -- two rows
        await manage('/user/new', { user_id, auto_create_key: false, ...(user_id === 'bob' ? { max_budget: 1 } : {}) });
      const member = { role: 'user', user_id: 'cem' };
      await manage('/team/member_add', { team_id: 'club', member, max_budget_in_team: 1 });
      const statuses: Record<string, readonly number[]> = {};
      const refused: string[] = [];
      for (const [name, claims, admitted] of OWNERS) {
        const key = await token(claims);
        const found: number[] = [];
        for (let nth = 0; nth < admitted; nth += 1) found.push(await statusOf(calls, key));
        statuses[name] = found;
        refused.push(key);
      }
      expect(statuses).toEqual(
        Object.fromEntries(OWNERS.map(([name, , admitted]) => [name, Array.from({ length: admitted }, () => 200)])),
      );
      const refusals = () => Promise.all(refused.map((key) => statusOf(calls, key)));
      const all422 = refused.map(() => 422);
      expect(await refusals()).toEqual(all422);
      for (let round = 0; round < 2; round += 1) {
        await wait(REREAD_MS);
        expect(await refusals()).toEqual(all422);
      }
      await calls.restart();
      expect(await refusals()).toEqual(all422);
      expect(await info(calls, '/team/info?team_id=team', 'team_info', 'spend')).toBe(2);
      expect(await info(calls, '/user/info?user_id=bob', 'user_info', 'spend')).toBe(1);
      const memberships = (await info(calls, '/team/info?team_id=club', 'team_memberships')) as readonly Json[];
      expect(memberships.find(({ user_id }) => user_id === 'cem')?.['spend']).toBe(1);
      expect(await info(calls, '/organization/info?organization_id=acme', 'spend')).toBe(3);
      expect(await graphSpend(calls)).toEqual({ team: '2', user: '1' });
    });

    it.concurrent.each([
      { claims: { sub: 'eva', teams: ['short'] }, path: '/team/new', owner: { team_id: 'short' }, cost: '2.0' },
      { claims: { sub: 'fay' }, path: '/user/new', owner: { user_id: 'fay', auto_create_key: false }, cost: '1.0' },
    ])('admit calls again in the next window: $path', async ({ claims, path, owner, cost }) => {
      const calls = await open();
      await calls.manage(path, { ...owner, max_budget: 1, budget_duration: '2s' });
      const key = await token(claims);
      for (let round = 1; round <= 3; round += 1) {
        await vi.waitFor(async () => {
          const { status, body } = await calls.chat(key);
          expect([status, JSON.stringify(body)]).toEqual([422, expect.stringContaining(`Current cost: ${cost}`)]);
        }, POLLING);
        await vi.waitFor(async () => expect(await statusOf(calls, key)).toBe(200), { ...POLLING, interval: 200 });
      }
    });
  });
});
