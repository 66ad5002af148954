import { Migrator } from '@mikro-orm/migrations';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { memberId } from '../../src/domain/admission/counters.ts';
import type { KeyOwnerKind } from '../../src/domain/spend/spend-row.ts';
import { newTeam } from '../../src/domain/teams/team.ts';
import { ALL_USERS, newUser } from '../../src/domain/users/user.ts';
import type { Stores } from '../../src/persistence/stores.ts';
import type { Tables } from '../../src/persistence/database/tables.ts';
import { ENGINES, type ScratchDatabase } from './engines.ts';
import { aKey, aSpan, aSpendRow, picos, spanId, START_MS, traceId } from './samples.ts';

/** Last migration before the table of the keys of tokens. */
const BEFORE = 'Migration20261129124554_batch_user';
const ABOUT = { now: new Date(START_MS), by: 'admin' };
const hash = (nth: number): string => String(nth).repeat(64);

/** Keys of tokens. The call of key n costs 10ⁿ picodollars: each digit of a sum shows one key. */
const KEYS = [
  { hash: hash(1), teamId: 'team', userId: 'user', organizationId: null },
  { hash: hash(2), teamId: 'team', userId: null, organizationId: null },
  { hash: hash(3), teamId: null, userId: 'user', organizationId: null },
  { hash: hash(4), teamId: null, userId: 'other', organizationId: 'org' },
] as const;
const TOTALS: readonly (readonly [KeyOwnerKind, string, bigint])[] = [
  ['team', 'team', 100_110n],
  ['user', 'user', 101_010n],
  ['user', 'other', 10_000n],
  ['member', memberId('team', 'user'), 100_010n],
  ['organization', 'org', 110_110n],
];

const callOf = (nth: number) => {
  const { teamId = 'team', userId = 'user' } = KEYS[nth - 1] ?? {};
  const ids = { traceId: traceId(nth), spanId: spanId(nth) };
  return aSpendRow({ id: `call-${nth}`, keyHash: hash(nth), teamId, userId, cost: picos(10n ** BigInt(nth)), ...ids });
};

for (const engine of ENGINES)
  describe.skipIf(engine.skipReason !== null)(`keys of signed tokens on ${engine.name}`, () => {
    let scratch: ScratchDatabase;
    let stores: Stores;
    beforeEach(async () => {
      scratch = await engine.create();
      stores = await scratch.open();
      await stores.teams.add(newTeam({ organizationId: 'org' }, { ...ABOUT, id: 'team' }));
      // A virtual key of the same owners. Its call costs 10⁵ picodollars.
      await stores.keys.add(aKey({ hash: hash(5), secretHash: hash(5), teamId: 'team', userId: 'user' }));
    });
    afterEach(() => scratch.remove());

    async function expectTotals(): Promise<void> {
      for (const [kind, id, total] of TOTALS) {
        expect([kind, await stores.spend.totalsOfOwners(kind, [id])]).toEqual([kind, new Map([[id, total]])]);
        const from = new Date(START_MS - 10 * 86_400_000);
        expect([kind, await stores.spend.totalsSince(kind, [{ id, from }])]).toEqual([kind, new Map([[id, total]])]);
        const filter = { any: {}, from: null, to: null, visibleTo: null, ownedBy: { kind, id } };
        const [group] = await stores.spendReports.groups({ filter, by: [], limit: 1 });
        expect([kind, group?.cost]).toEqual([kind, total]);
      }
    }

    async function appendCalls(nths: readonly number[]): Promise<void> {
      const calls = nths.map((nth) => {
        const spend = callOf(nth);
        const { traceId: trace, spanId: span, cost } = spend;
        return stores.calls.encode({ spend, span: aSpan({ gateway: true, cost, traceId: trace, spanId: span }) });
      });
      await stores.calls.append(calls);
    }

    it('count in the spend of their owners, before and after calls are unfolded', async () => {
      await stores.tokenKeys.add(KEYS);
      // A key that is stored again stays as it is.
      await stores.tokenKeys.add([...KEYS, { ...KEYS[0], teamId: 'elsewhere' }].slice(1).toReversed());
      await stores.tokenKeys.add([]);
      await appendCalls([1, 2, 3, 4, 5]);
      for (const [kind, id, total] of TOTALS)
        expect(await stores.spend.totalsOfOwners(kind, [id])).toEqual(new Map([[id, total]]));
      await stores.calls.unfold();
      await expectTotals();
      expect((await stores.spend.totalsSince('key', [{ id: hash(1), from: new Date(0) }])).get(hash(1))).toBe(10n);
    });

    it('count in the spend that earlier owners left, as deleted keys do, before and after calls are unfolded', async () => {
      await stores.tokenKeys.add(KEYS);
      const deletedAt = new Date(START_MS);
      const ids = { hash: hash(6), secretHash: hash(6), alias: null };
      await stores.keys.add(aKey({ ...ids, teamId: 'team', userId: 'user', deletedAt }));
      await appendCalls([1, 2, 3, 4, 5, 6]);
      const { spend } = stores;
      const left = async () => [
        await spend.totalsOfEarlierOwners('team', ['team', 'none']),
        await spend.totalsOfEarlierOwners('user', ['user', 'other']),
        await spend.totalsOfEarlierOwners('member', [memberId('team', 'user'), memberId('user', 'team')]),
      ];
      const ofUsers = new Map([
        ['user', 1_001_010n],
        ['other', 10_000n],
      ]);
      const ofMembers = new Map([[memberId('team', 'user'), 1_000_010n]]);
      const expected = [new Map([['team', 1_000_110n]]), ofUsers, ofMembers];
      expect(await left()).toEqual(expected);
      await stores.calls.unfold();
      expect(await left()).toEqual(expected);
    });

    it('determine the organization of a call without a team, and the order of users by spend', async () => {
      await stores.tokenKeys.add(KEYS);
      await stores.spend.append([1, 2, 3, 4].map(callOf));
      const filter = { any: {}, from: null, to: null, visibleTo: null };
      const groups = await stores.spendReports.groups({ filter, by: ['organization'], limit: 9 });
      expect(groups.map(({ values, cost }) => [values['organization'], cost])).toEqual([
        ['org', 10_110n],
        [null, 1_000n],
      ]);
      for (const id of ['user', 'other', 'none']) await stores.users.add(newUser({}, { ...ABOUT, id }));
      const page = { filter: ALL_USERS, sort: 'spend', descending: true, limit: 9, from: 0 } as const;
      expect((await stores.users.list(page)).map(({ id }) => id)).toEqual(['other', 'user', 'none']);
    });

    it('of earlier calls are stored by the migration; calls before the start of a window stay before it', async () => {
      await stores.spend.append([1, 2, 3, 5].map(callOf));
      await stores.teams.add(newTeam({}, { ...ABOUT, id: 'unused' }));
      // 900,000 USD in 18 digits. The migration does not change an amount with more digits.
      const largeAmount = 900_000_000_000_000_000n;
      await stores.teams.change('team', (team) => ({ ...team, spentBefore: picos(largeAmount) }));
      await stores.teams.change('unused', (team) => ({ ...team, spentBefore: picos(7n) }));
      const { orm } = await scratch.openBare();
      await new Migrator(orm.em).down({ to: BEFORE });
      stores = await scratch.open();
      expect(await stores.spend.totalsOfOwners('team', ['team'])).toEqual(new Map([['team', 100_110n]]));
      expect(await stores.spend.totalsOfOwners('user', ['user'])).toEqual(new Map([['user', 101_010n]]));
      const teams = await stores.teams.findMany(['team', 'unused']);
      expect(new Map(teams.map(({ id, spentBefore }) => [id, spentBefore]))).toEqual(
        new Map([
          ['team', largeAmount + 110n],
          ['unused', 7n],
        ]),
      );
      const { rows } = await sql`select hash, team_id, user_id, organization_id from token_key order by hash`.execute(
        orm.em.fork().getKysely<Tables>(),
      );
      expect(rows).toEqual(
        KEYS.slice(0, 3).map(({ hash: key, teamId, userId }) => ({
          hash: key,
          team_id: teamId,
          user_id: userId,
          organization_id: null,
        })),
      );
    });

    it('that a rollback removes no longer count before the start of a window', async () => {
      await stores.tokenKeys.add(KEYS);
      await stores.spend.append([1, 2, 3, 5].map(callOf));
      await stores.teams.add(newTeam({}, { ...ABOUT, id: 'unused' }));
      await stores.teams.change('team', (team) => ({ ...team, spentBefore: picos(150n) }));
      await stores.teams.change('unused', (team) => ({ ...team, spentBefore: picos(7n) }));
      const { orm } = await scratch.openBare();
      await new Migrator(orm.em).down({ to: BEFORE });
      const { rows } = await sql`select id, spent_before from team order by id`.execute(
        orm.em.fork().getKysely<Tables>(),
      );
      expect(rows).toEqual([
        { id: 'team', spent_before: '40' },
        { id: 'unused', spent_before: '7' },
      ]);
    });
  });
