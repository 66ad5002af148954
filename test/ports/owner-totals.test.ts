import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { memberId, spendCounter } from '../../src/domain/admission/counters.ts';
import { newTeam } from '../../src/domain/teams/team.ts';
import type { Stores } from '../../src/persistence/stores.ts';
import { createCallRecords } from '../../src/recording/call-records.ts';
import { createStoredSpend } from '../../src/runtime/admission/stored-spend.ts';
import { createLog } from '../../src/runtime/telemetry/log.ts';
import { ENGINES, type ScratchDatabase } from './engines.ts';
import { aKey, aSpan, aSpendRow, picos, spanId, START_MS, traceId } from './samples.ts';

const hash = (nth: number): string => String(nth).repeat(64);
/** Ids with separators, as callers may choose them. */
const [TEAM, OTHER, USER] = ['a:b', 'a', 'b","c'];

for (const engine of ENGINES)
  describe.skipIf(engine.missing !== null)(`spend of owners on ${engine.name}`, () => {
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
        newTeam({ organizationId: 'org' }, { ...about, id: OTHER }),
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
      await add(3, OTHER, USER);
      await add(4, null, USER);
    }

    it('is the sum over their keys, deleted ones too', async () => {
      await addKeys();
      await stores.spend.append(
        [1, 2, 3, 4].map((nth) =>
          aSpendRow({ id: `call-${nth}`, keyHash: hash(nth), cost: picos(10n ** BigInt(nth)) }),
        ),
      );
      const { spend } = stores;
      expect(await spend.totalsOfOwners('team', [TEAM, OTHER, 'unknown'])).toEqual(
        new Map([
          [TEAM, 110n],
          [OTHER, 1_000n],
        ]),
      );
      expect(await spend.totalsOfOwners('user', [USER])).toEqual(new Map([[USER, 11_010n]]));
      const [member, other] = [memberId(TEAM, USER), memberId(OTHER, USER)];
      expect(await spend.totalsOfOwners('member', [member, other, memberId(USER, TEAM)])).toEqual(
        new Map([
          [member, 10n],
          [other, 1_000n],
        ]),
      );
      expect(await spend.totalsOfOwners('organization', ['org', TEAM])).toEqual(new Map([['org', 1_110n]]));
    });

    it('includes calls that are not unfolded yet, once', async () => {
      await addKeys();
      const records = createCallRecords({
        stores: [stores.calls],
        watched: () => false,
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
      const read = () =>
        totals.read(
          counters.map(([name]) => name),
          0,
        );
      expect(await read()).toEqual({ totals: new Map(counters), through: 4 });
      await stores.calls.unfold();
      expect((await read()).totals).toEqual(new Map(counters));
    });
  });
