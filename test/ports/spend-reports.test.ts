import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { SpendFilter, SpendGrouping, SpendPage } from '../../src/domain/spend/spend-reports.ts';
import type { SpendRow } from '../../src/domain/spend/spend-row.ts';
import type { Stores } from '../../src/persistence/stores.ts';
import { ENGINES, type ScratchDatabase } from './engines.ts';
import { memberId } from '../../src/domain/admission/counters.ts';
import { newTeam } from '../../src/domain/teams/team.ts';
import { aKey, aSpendRow, picos, spanId, traceId } from './samples.ts';

const DAY = 86_400_000;
const DAY_1 = Date.UTC(2026, 0, 1);
const ALL: SpendFilter = { from: null, to: null, any: {}, visibleTo: null };
/** A cost near the limit of a column of 64 bits. */
const LARGE_COST = 2n ** 62n;
const NO_USAGE = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };

/** A spend row by number. It starts `number` ms after the start of the first day. */
const aRow = (number: number, fields: Partial<SpendRow> = {}): SpendRow => {
  const startedAt = fields.startedAt ?? new Date(DAY_1 + number);
  return aSpendRow({
    id: `call-${number}`,
    callId: `call-${number}`,
    responseId: `answer-${number}`,
    traceId: traceId(number),
    spanId: spanId(number),
    cost: picos(1_000n),
    endedAt: new Date(startedAt.getTime() + 10),
    ...fields,
    startedAt,
  });
};

for (const engine of ENGINES)
  describe.skipIf(engine.skipReason !== null)(`SpendReports on ${engine.name}`, () => {
    let scratch: ScratchDatabase;
    let stores: Stores;
    beforeAll(async () => {
      scratch = await engine.create();
      stores = await scratch.open();
    });
    afterEach(() => scratch.clear());
    afterAll(() => scratch.remove());

    const idsOf = async (
      filter: Partial<SpendFilter>,
      page: Partial<Parameters<Stores['spendReports']['rows']>[0]> = {},
    ) =>
      (
        await stores.spendReports.rows({
          filter: { ...ALL, ...filter },
          sort: 'startTime',
          descending: false,
          limit: 100,
          from: 0,
          ...page,
        })
      ).map(({ id }) => id);
    const groupsOf = (grouping: Partial<SpendGrouping>) =>
      stores.spendReports.groups({ filter: ALL, by: [], limit: 100, ...grouping });

    it('finds rows by each field of a call, by time, cost and id', async () => {
      const fullRow = aRow(2, {
        keyHash: 'b'.repeat(64),
        userId: 'user-b',
        teamId: 'team-b',
        endUser: 'customer',
        sessionId: 'session',
        tags: ['one', 'two'],
        modelGroup: 'group',
        model: 'gpt',
        provider: 'openai',
        deploymentId: 'deployment',
        callType: 'aembedding',
        status: 'failure',
        error: { code: 'UPSTREAM_FAILED', message: 'failed' },
        cost: picos(5_000n),
      });
      await stores.spend.append([aRow(1), fullRow, aRow(3)]);
      const values = {
        key: 'b'.repeat(64),
        user: 'user-b',
        team: 'team-b',
        endUser: 'customer',
        session: 'session',
        tag: 'two',
        model: 'openai/gpt',
        modelGroup: 'group',
        provider: 'openai',
        deployment: 'deployment',
        callType: 'aembedding',
        status: 'failure',
        errorCode: 'UPSTREAM_FAILED',
      } as const;
      for (const [field, value] of Object.entries(values)) {
        const found = await idsOf({ any: { [field]: ['absent', value] } });
        const others = await idsOf({ any: {}, none: { [field]: [value] } });
        expect([field, found, others]).toEqual([field, ['call-2'], ['call-1', 'call-3']]);
      }
      expect(await idsOf({ any: { model: ['gpt'] } })).toEqual(['call-2']);
      expect(await idsOf({ from: fullRow.startedAt, to: new Date(DAY_1 + 3) })).toEqual(['call-2']);
      expect(await idsOf({ minCost: picos(1_001n) })).toEqual(['call-2']);
      expect(await idsOf({ maxCost: picos(4_999n) })).toEqual(['call-1', 'call-3']);
      for (const requestId of ['answer-2', 'call-2']) expect(await idsOf({ requestId })).toEqual(['call-2']);
    });

    it('finds calls by session, and calls without a session by their trace', async () => {
      const trace = traceId(1);
      const rows = [aRow(1), aRow(2, { traceId: trace }), aRow(3, { sessionId: 'one' }), aRow(4, { sessionId: trace })];
      await stores.spend.append([...rows, aRow(5, { traceId: trace, sessionId: 'two' })]);
      expect(await idsOf({ sessionId: trace })).toEqual(['call-1', 'call-2', 'call-4']);
      expect(await idsOf({ sessionId: 'one' })).toEqual(['call-3']);
      expect(await idsOf({ sessionId: traceId(3) })).toEqual([]);
      const grouping = { filter: { ...ALL, from: new Date(DAY_1), to: new Date(DAY_1 + DAY), sessionId: trace } };
      expect((await groupsOf(grouping)).map(({ calls }) => calls)).toEqual([3]);
    });

    it('shows only the calls of a key or its user', async () => {
      const [ownHash, otherHash] = ['a'.repeat(64), 'b'.repeat(64)];
      await stores.spend.append([
        aRow(1, { keyHash: ownHash, userId: null }),
        aRow(2, { keyHash: otherHash, userId: 'user-a' }),
        aRow(3, { keyHash: otherHash, userId: 'user-b' }),
      ]);
      expect(await idsOf({ visibleTo: { keyHash: ownHash, userId: null } })).toEqual(['call-1']);
      expect(await idsOf({ visibleTo: { keyHash: ownHash, userId: 'user-a' } })).toEqual(['call-1', 'call-2']);
    });

    it('pages in both directions, by offset and by the row before', async () => {
      const startedAt = new Date(DAY_1);
      const rows = [1, 2, 3, 4].map((number) => aRow(number, { startedAt, cost: picos(BigInt(10 - number)) }));
      await stores.spend.append(rows);
      expect(await idsOf({}, { from: 1, limit: 2 })).toEqual(['call-2', 'call-3']);
      expect(await idsOf({}, { from: rows[1] as SpendRow, limit: 2 })).toEqual(['call-3', 'call-4']);
      expect(await idsOf({}, { from: rows[1] as SpendRow, descending: true })).toEqual(['call-1']);
      expect(await idsOf({}, { sort: 'spend', descending: true })).toEqual(['call-1', 'call-2', 'call-3', 'call-4']);
      expect(await stores.spendReports.count(ALL, 3)).toBe(3);
      expect(await stores.spendReports.count(ALL, 9)).toBe(4);
    });

    it.each(['spend', 'total_tokens'] as const)(
      'pages by %s after a row, rows of equal rank by start',
      async (sort) => {
        const tokens = (inputTokens: number) => ({ ...NO_USAGE, inputTokens });
        await stores.spend.append([
          aRow(1, { cost: picos(LARGE_COST), usage: tokens(2_000_000_000) }),
          aRow(2, { cost: picos(9n), usage: tokens(9) }),
          aRow(3, { cost: picos(10n), usage: tokens(10) }),
          aRow(4, { cost: picos(9n), usage: tokens(9) }),
          aRow(5, { cost: null, usage: null }),
          aRow(6, { cost: picos(-3n), usage: tokens(0) }),
        ]);
        for (const descending of [false, true]) {
          const all = await idsOf({}, { sort, descending });
          // Without a cost or usage, the rank is zero.
          const expected = sort === 'spend' ? [6, 5, 2, 4, 3, 1] : [5, 6, 2, 4, 3, 1];
          expect(all).toEqual((descending ? expected.toReversed() : expected).map((number) => `call-${number}`));
          const paged: string[] = [];
          for (let from: SpendPage['from'] = 0; ;) {
            const rows: readonly SpendRow[] = await stores.spendReports.rows({
              filter: ALL,
              sort,
              descending,
              limit: 2,
              from,
            });
            paged.push(...rows.map(({ id }) => id));
            const last = rows.at(-1);
            if (last === undefined) break;
            from = { ...last, rank: sort === 'spend' ? (last.cost ?? 0n) : BigInt(last.usage?.inputTokens ?? 0) };
          }
          expect(paged).toEqual(all);
        }
        const strange = {
          startedAt: new Date(DAY_1),
          traceId: '\0',
          spanId: '\uD800',
          id: "' or 1=1",
          rank: 2n ** 62n,
        };
        // `strange` has the cost of call 1 and starts before that call. No call has as many tokens.
        expect(await idsOf({}, { sort, from: strange })).toEqual(sort === 'spend' ? ['call-1'] : []);
      },
    );

    it('adds up exactly, and groups calls without a value under null', async () => {
      await stores.spend.append([
        aRow(1, { cost: picos(LARGE_COST), endUser: 'x' }),
        aRow(2, { cost: picos(1n), endUser: 'x', status: 'failure', error: { code: 'E', message: '' } }),
        aRow(3, { cost: null, usage: null }),
      ]);
      // Each call takes 10 ms. Calls 1 and 2 have the usage of `aSpendRow`.
      const groups = await groupsOf({ by: ['endUser'] });
      expect(groups).toEqual([
        {
          values: { endUser: 'x' },
          startMs: null,
          calls: 2,
          failures: 1,
          inputTokens: 20,
          outputTokens: 40,
          cacheReadTokens: 6,
          cacheWriteTokens: 4,
          cost: LARGE_COST + 1n,
          successMs: 10,
          lastMs: DAY_1 + 12,
        },
        expect.objectContaining({ values: { endUser: null }, calls: 1, inputTokens: 0, cost: 0n }),
      ]);
    });

    it('groups by day of a time zone', async () => {
      await stores.spend.append([
        aRow(1, { startedAt: new Date(DAY_1 + DAY - 1) }),
        aRow(2, { startedAt: new Date(DAY_1 + DAY) }),
      ]);
      const daysOf = async (offsetMs: number) =>
        new Set((await groupsOf({ bucket: { ms: DAY, offsetMs } })).map(({ startMs }) => startMs));
      expect(await daysOf(0)).toEqual(new Set([DAY_1, DAY_1 + DAY]));
      // With this offset a day begins at 01:00 UTC, so both calls are on one day.
      expect(await daysOf(-3_600_000)).toEqual(new Set([DAY_1 + 3_600_000]));
    });

    it('groups by each tag of a call, and only by the requested tags', async () => {
      await stores.spend.append([aRow(1, { tags: ['a', 'b'] }), aRow(2, { tags: ['b'] }), aRow(3)]);
      const tagsOf = async (any: SpendFilter['any']) =>
        (await groupsOf({ filter: { ...ALL, any }, by: ['tag'] })).map(({ values, calls }) => [values.tag, calls]);
      expect(await tagsOf({})).toEqual([
        ['b', 2],
        ['a', 1],
      ]);
      expect(await tagsOf({ tag: ['a'] })).toEqual([['a', 1]]);
    });

    it('groups by the organization of the team, else of the key, and by the agent of the key', async () => {
      const change = { now: new Date(DAY_1), by: 'admin' };
      await stores.teams.add(
        newTeam({ organizationId: 'org-1' }, { ...change, id: 'team-1' }),
        newTeam({}, { ...change, id: 'team-2' }),
      );
      await stores.keys.add(aKey({ hash: 'd'.repeat(64), settings: { agentId: 'agent-1' } }));
      await stores.keys.add(aKey({ hash: 'f'.repeat(64), alias: 'second', settings: { organizationId: 'org-2' } }));
      await stores.spend.append([
        aRow(1, { teamId: 'team-1' }),
        aRow(2, { teamId: 'team-2', keyHash: 'd'.repeat(64), cost: picos(500n) }),
        aRow(3, { teamId: 'gone', cost: picos(1n) }),
        aRow(4, { teamId: null, keyHash: 'f'.repeat(64), cost: picos(2_000n) }),
        aRow(5, { teamId: 'team-1', keyHash: 'f'.repeat(64), cost: picos(1n) }),
      ]);
      const callsBy = async (grouping: Partial<SpendGrouping>) =>
        (await groupsOf(grouping)).map(({ values, calls }) => [...Object.values(values), calls]);
      // The highest cost is first.
      expect(await callsBy({ by: ['organization'] })).toEqual([
        ['org-2', 1],
        ['org-1', 2],
        [null, 2],
      ]);
      expect(await callsBy({ by: ['agent'], filter: { ...ALL, some: ['agent'] } })).toEqual([['agent-1', 1]]);
      expect(await idsOf({ any: { organization: ['org-1'] } })).toEqual(['call-1', 'call-5']);
      expect(await idsOf({ none: { organization: ['org-1'] } })).toEqual(['call-2', 'call-3', 'call-4']);
      expect(await idsOf({ some: ['organization'] })).toEqual(['call-1', 'call-4', 'call-5']);
    });

    it('finds the calls of the current keys of an owner, by whole days and parts of days', async () => {
      const change = { now: new Date(DAY_1), by: 'admin' };
      await stores.teams.add(newTeam({ organizationId: 'org-1' }, { ...change, id: 'team-1' }));
      const [ofTeam, ofBoth, alone] = ['d', 'e', 'f'].map((digit) => digit.repeat(64)) as [string, string, string];
      await stores.keys.add(aKey({ hash: ofTeam, alias: 'one', teamId: 'team-1', userId: 'user-1' }));
      await stores.keys.add(aKey({ hash: ofBoth, alias: 'two', teamId: 'team-1', settings: { projectId: 'p' } }));
      await stores.keys.add(aKey({ hash: alone, alias: 'three', teamId: null, settings: { organizationId: 'org-1' } }));
      await stores.spend.append([
        aRow(1, { keyHash: ofTeam, teamId: 'another team before' }),
        aRow(2, { keyHash: ofBoth, startedAt: new Date(DAY_1 + DAY) }),
        aRow(3, { keyHash: alone, startedAt: new Date(DAY_1 + DAY + 5) }),
        aRow(4, { keyHash: '0'.repeat(64), teamId: 'team-1', userId: 'user-1' }),
      ]);
      const owners: readonly NonNullable<SpendFilter['ownedBy']>[] = [
        { kind: 'team', id: 'team-1' },
        { kind: 'user', id: 'user-1' },
        { kind: 'member', id: memberId('team-1', 'user-1') },
        { kind: 'project', id: 'p' },
        { kind: 'organization', id: 'org-1' },
        { kind: 'organization', id: 'org-2' },
      ];
      // For each owner: its calls, and the number of those before call 3.
      const found = await Promise.all(
        owners.map(async (ownedBy) => [
          await idsOf({ ownedBy }),
          (await groupsOf({ filter: { ...ALL, to: new Date(DAY_1 + DAY + 5), ownedBy } })).map(({ calls }) => calls),
        ]),
      );
      expect(found).toEqual([
        [['call-1', 'call-2'], [2]],
        [['call-1'], [1]],
        [['call-1'], [1]],
        [['call-2'], [1]],
        [['call-1', 'call-2', 'call-3'], [2]],
        [[], [0]],
      ]);
    });

    it('finds rows that have a value, and rows of teams that the reader may see', async () => {
      await stores.spend.append([
        aRow(1, { tags: ['a'], teamId: 'team-1', userId: 'user-1', keyHash: 'd'.repeat(64) }),
        aRow(2, { endUser: 'customer', teamId: 'team-2', userId: 'user-2', keyHash: 'e'.repeat(64) }),
        aRow(3, { teamId: null, userId: null, keyHash: 'f'.repeat(64) }),
      ]);
      expect([
        await idsOf({ some: ['tag'] }),
        await idsOf({ some: ['endUser'] }),
        await idsOf({ some: ['team'] }),
      ]).toEqual([['call-1'], ['call-2'], ['call-1', 'call-2']]);
      const visibleTo = { keyHash: 'f'.repeat(64), userId: 'user-2', teamIds: ['team-1'] };
      expect(await idsOf({ visibleTo })).toEqual(['call-1', 'call-2', 'call-3']);
      expect(await idsOf({ visibleTo: { ...visibleTo, userId: null, teamIds: [] } })).toEqual(['call-3']);
    });

    it('keeps the groups of the highest cost', async () => {
      await stores.spend.append([aRow(1, { model: 'cheap' }), aRow(2, { model: 'expensive', cost: picos(9_999n) })]);
      const groups = await groupsOf({ by: ['model'], limit: 1 });
      expect(groups.map(({ values }) => values.model)).toEqual(['demo/expensive']);
    });
  });
