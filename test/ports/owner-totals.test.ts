import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { memberId, spendCounter } from '../../src/domain/admission/counters.ts';
import { newTeam } from '../../src/domain/teams/team.ts';
import type { CountedKind, SpendRow } from '../../src/domain/spend/spend-row.ts';
import type { Stores } from '../../src/persistence/stores.ts';
import { createCallRecords } from '../../src/recording/call-records.ts';
import { createStoredSpend } from '../../src/runtime/admission/stored-spend.ts';
import { createLog } from '../../src/runtime/telemetry/log.ts';
import { ENGINES, type ScratchDatabase } from './engines.ts';
import { aKey, aSpan, aSpendRow, picos, spanId, START_MS, traceId } from './samples.ts';

const HOUR = 3_600_000;
const DAY_ONE = Date.UTC(2026, 0, 1);

const hash = (nth: number): string => String(nth).repeat(64);
/** Ids with separators, as callers may choose them. */
const [TEAM, OTHER_TEAM, USER] = ['a:b', 'a', 'b","c'];

for (const engine of ENGINES)
  describe.skipIf(engine.skipReason !== null)(`spend of owners on ${engine.name}`, () => {
    let scratch: ScratchDatabase;
    let stores: Stores;
    beforeAll(async () => {
      scratch = await engine.create();
      stores = await scratch.open();
    });
    afterEach(() => scratch.clear());
    afterAll(() => scratch.remove());

    async function addKeys(): Promise<void> {
      const about = { now: new Date(START_MS), by: 'admin' };
      await stores.teams.add(
        newTeam({ organizationId: 'org' }, { ...about, id: TEAM }),
        newTeam({ organizationId: 'org' }, { ...about, id: OTHER_TEAM }),
      );
      const add = (nth: number, teamId: string | null, userId: string | null, isDeleted = false) =>
        stores.keys.add(
          aKey({
            hash: hash(nth),
            secretHash: hash(nth),
            alias: null,
            teamId,
            userId,
            deletedAt: isDeleted ? new Date(START_MS) : null,
          }),
        );
      await add(1, TEAM, USER);
      await add(2, TEAM, null, true);
      await add(3, OTHER_TEAM, USER);
      await add(4, null, USER);
    }

    it('is the sum over the keys of the owner, also deleted ones', async () => {
      await addKeys();
      // The call of key n costs 10ⁿ picodollars: each digit of a sum shows one key.
      await stores.spend.append(
        [1, 2, 3, 4].map((nth) =>
          aSpendRow({ id: `call-${nth}`, keyHash: hash(nth), cost: picos(10n ** BigInt(nth)) }),
        ),
      );
      const { spend } = stores;
      expect(await spend.totalsOfOwners('team', [TEAM, OTHER_TEAM, 'unknown'])).toEqual(
        new Map([
          [TEAM, 110n],
          [OTHER_TEAM, 1_000n],
        ]),
      );
      expect(await spend.totalsOfOwners('user', [USER])).toEqual(new Map([[USER, 11_010n]]));
      const [member, otherMember] = [memberId(TEAM, USER), memberId(OTHER_TEAM, USER)];
      expect(await spend.totalsOfOwners('member', [member, otherMember, memberId(USER, TEAM)])).toEqual(
        new Map([
          [member, 10n],
          [otherMember, 1_000n],
        ]),
      );
      expect(await spend.totalsOfOwners('organization', ['org', TEAM])).toEqual(new Map([['org', 1_110n]]));
    });

    /** Stores one call in each hour of three days, with different keys and labels. */
    async function addCalls(): Promise<readonly SpendRow[]> {
      const rows = Array.from({ length: 72 }, (_, hour) =>
        aSpendRow({
          id: `call-${hour}`,
          traceId: traceId(hour + 1),
          spanId: spanId(hour + 1),
          keyHash: hash(1 + (hour % 4)),
          endUser: hour % 3 === 0 ? 'e:1' : null,
          tags: hour % 5 === 0 ? ['x', 'y'] : [],
          cost: hour % 7 === 0 ? null : picos(2n ** BigInt(hour % 60)),
          startedAt: new Date(DAY_ONE + hour * HOUR),
          endedAt: new Date(DAY_ONE + hour * HOUR + 1),
        }),
      );
      await stores.spend.append(rows);
      return rows;
    }

    it('since the start of a window is exact for every kind and start', async () => {
      await addKeys();
      const rows = await addCalls();
      const keysOf: Readonly<Record<string, readonly number[]>> = { [TEAM]: [1, 2], [OTHER_TEAM]: [3] };
      /** Whether a row counts for a key, an owner or a label. */
      const isOf = (kind: CountedKind, id: string, row: SpendRow): boolean => {
        const nth = Number(row.keyHash[0]);
        switch (kind) {
          case 'key':
            return row.keyHash === id;
          case 'team':
            return keysOf[id]?.includes(nth) === true;
          case 'user':
            return [1, 3, 4].includes(nth);
          case 'member':
            return id === memberId(TEAM, USER) ? nth === 1 : nth === 3;
          case 'organization':
            return nth < 4;
          case 'tag':
            return row.tags.includes(id);
          case 'end_user':
            return row.endUser === id;
          case 'project':
            return false;
        }
      };
      const KINDS: readonly (readonly [CountedKind, readonly string[]])[] = [
        ['key', [hash(1), hash(2)]],
        ['team', [TEAM, OTHER_TEAM]],
        ['user', [USER]],
        ['member', [memberId(TEAM, USER), memberId(OTHER_TEAM, USER)]],
        ['organization', ['org']],
        ['tag', ['x', 'y']],
        ['end_user', ['e:1']],
        ['project', ['none']],
      ];
      // Whole days, whole hours, and times within an hour: before, within and after the calls.
      const froms = [-24, 0, 5, 23.5, 24, 25.25, 48, 70.99, 71, 72, 96].map(
        (hours) => new Date(DAY_ONE + hours * HOUR),
      );
      for (const [kind, ids] of KINDS)
        for (const [nth, from] of froms.entries()) {
          // Ids of one read have different windows.
          const starts = ids.map((id, index) => ({ id, from: froms[(nth + index * 3) % froms.length] ?? from }));
          const expected = starts.flatMap(({ id, from: since }): readonly (readonly [string, bigint])[] => {
            const ownRows = rows.filter((row) => row.startedAt >= since && isOf(kind, id, row));
            return ownRows.length === 0 ? [] : [[id, ownRows.reduce((sum, { cost }) => sum + (cost ?? 0n), 0n)]];
          });
          expect([kind, nth, await stores.spend.totalsSince(kind, starts)]).toEqual([kind, nth, new Map(expected)]);
        }
    });

    it('since the start of a window includes calls that are not unfolded yet', async () => {
      await addKeys();
      const loggedCalls = Array.from({ length: 60 }, (_, index) => {
        const ids = { traceId: traceId(index + 1), spanId: spanId(index + 1) };
        const cost = picos(7n);
        const startedAt = new Date(DAY_ONE + index - 10);
        const spend = aSpendRow({ id: `call-${index}`, keyHash: hash(1), cost, startedAt, ...ids });
        return stores.calls.encode({ spend, span: aSpan({ gateway: true, cost, ...ids }) });
      });
      await stores.calls.append(loggedCalls);
      // 50 of the 60 calls start in the window, and cost 7 picodollars each.
      expect(await stores.spend.totalsSince('team', [{ id: TEAM, from: new Date(DAY_ONE) }])).toEqual(
        new Map([[TEAM, 350n]]),
      );
    });

    it('counts each call once, before and after its unfolding', async () => {
      await addKeys();
      const records = createCallRecords({
        stores: [stores.calls],
        hasSubscribers: () => false,
        changed: async () => {},
        log: createLog('silent'),
      });
      for (const nth of [1, 2, 3, 4]) {
        const ids = { traceId: traceId(nth), spanId: spanId(nth) };
        const cost = picos(10n ** BigInt(nth));
        const spend = aSpendRow({ id: `call-${nth}`, keyHash: hash(nth), cost, ...ids });
        records.record({ spend, span: aSpan({ gateway: true, cost, ...ids }) });
      }
      await records.flush();
      const totals = createStoredSpend(stores.spend, records);
      const counters = [
        [spendCounter('key', hash(1)), 10n],
        [spendCounter('team', TEAM), 110n],
        [spendCounter('user', USER), 11_010n],
        [spendCounter('member', memberId(TEAM, USER)), 10n],
        [spendCounter('organization', 'org'), 1_110n],
      ] as const;
      const readTotals = () =>
        totals.read(
          counters.map(([name]) => name),
          0,
        );
      // The totals include the first four records.
      expect(await readTotals()).toEqual({ totals: new Map(counters), through: 4 });
      await stores.calls.unfold();
      expect((await readTotals()).totals).toEqual(new Map(counters));
    });
  });
