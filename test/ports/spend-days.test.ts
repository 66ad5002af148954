import { Migrator } from '@mikro-orm/migrations';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ZERO_USD } from '../../src/domain/money.ts';
import type { SpendField, SpendFilter, SpendGroup, SpendGrouping } from '../../src/domain/spend/spend-reports.ts';
import type { SpendRow } from '../../src/domain/spend/spend-row.ts';
import type { Stores } from '../../src/persistence/stores.ts';
import { randomFrom } from '../support/random.ts';
import { ENGINES, type ScratchDatabase } from './engines.ts';
import { A_CALL, aSpan, aSpendRow, nsAt, picos, spanId, traceId } from './samples.ts';

const HOUR = 3_600_000;
const START_OF_CALLS_MS = Date.UTC(2026, 0, 1);
/** Returns a random integer below its argument. */
const randomBelow = randomFrom(20_261_123);
const pick = <Value>(values: readonly Value[]): Value => values[randomBelow(values.length)] as Value;
const randomSubset = <Value>(values: readonly Value[]): readonly Value[] => values.filter(() => randomBelow(2) === 0);

const VALUES = {
  key: ['a'.repeat(64), 'b'.repeat(64)],
  user: ['u1', 'u2'],
  team: ['t1', 't2'],
  endUser: ['e1', 'e2'],
  tag: ['x', 'y', 'User-Agent: curl'],
  model: ['openai/gpt', 'mistral/small'],
  modelGroup: ['fast', 'slow'],
  provider: ['openai', 'mistral'],
  callType: ['acompletion', 'aembedding'],
} as const;
const FIELDS = Object.keys(VALUES) as (keyof typeof VALUES)[];

function randomRow(number: number): SpendRow {
  const startedAt = new Date(START_OF_CALLS_MS + randomBelow(240) * HOUR + randomBelow(HOUR));
  const [provider = '', model = ''] = pick(VALUES.model).split('/');
  return aSpendRow({
    id: `call-${number}`,
    callId: `call-${number}`,
    traceId: traceId(number + 1),
    spanId: spanId(number + 1),
    keyHash: pick(VALUES.key),
    userId: pick([...VALUES.user, null]),
    teamId: pick([...VALUES.team, null]),
    endUser: pick([...VALUES.endUser, null]),
    tags: pick([[], randomSubset(VALUES.tag), ['User-Agent: curl']]),
    provider,
    model,
    modelGroup: pick(VALUES.modelGroup),
    callType: pick(VALUES.callType),
    status: pick(['success', 'failure']),
    usage: pick([
      null,
      {
        inputTokens: randomBelow(1_000),
        outputTokens: randomBelow(1_000),
        cacheReadTokens: randomBelow(9),
        cacheWriteTokens: randomBelow(9),
        reasoningTokens: 0,
      },
    ]),
    cost: pick([null, picos(BigInt(randomBelow(1_000_000)) * 1_000_003n)]),
    startedAt,
    endedAt: new Date(startedAt.getTime() + randomBelow(5_000)),
    firstByteAt: null,
    error: null,
  });
}

function randomGrouping(): SpendGrouping {
  const valuesFor = (fields: readonly SpendField[]) =>
    Object.fromEntries(fields.map((field) => [field, [pick(VALUES[field as keyof typeof VALUES])]]));
  const time = (hours: number): Date =>
    new Date(START_OF_CALLS_MS + hours * HOUR + (randomBelow(2) === 0 ? 0 : randomBelow(HOUR)));
  const filter: SpendFilter = {
    from: pick([null, time(randomBelow(100))]),
    to: pick([null, time(150 + randomBelow(90))]),
    any: randomBelow(2) === 0 ? {} : valuesFor([pick(FIELDS)]),
    none: randomBelow(3) === 0 ? valuesFor([pick(FIELDS)]) : {},
    some: randomBelow(3) === 0 ? [pick(FIELDS)] : [],
    visibleTo: pick([null, null, { keyHash: VALUES.key[0], userId: 'u1', teamIds: ['t2'] }]),
  };
  const bucket = pick([
    undefined,
    { ms: HOUR, offsetMs: 0 },
    { ms: 24 * HOUR, offsetMs: 0 },
    { ms: 48 * HOUR, offsetMs: 0 },
    { ms: 24 * HOUR, offsetMs: 5 * HOUR },
    { ms: 24 * HOUR, offsetMs: 5.5 * HOUR },
  ]);
  return { filter, by: randomSubset(FIELDS).slice(0, 3), limit: 10_000, ...(bucket === undefined ? {} : { bucket }) };
}

/** Groups as texts in a fixed order, to compare them. */
const inOrder = (groups: readonly SpendGroup[]): readonly string[] =>
  groups
    .map((group) => JSON.stringify(group, (_name, value: unknown) => (typeof value === 'bigint' ? `${value}` : value)))
    .toSorted();

for (const engine of ENGINES)
  describe.skipIf(engine.skipReason !== null)(`sums of calls by day on ${engine.name}`, () => {
    let scratch: ScratchDatabase;
    let stores: Stores;
    beforeAll(async () => {
      scratch = await engine.create();
      stores = await scratch.open();
    });
    afterAll(() => scratch.remove());

    /** Adds a filter that matches every call and forces a read of the calls instead of the sums. */
    const overCalls = ({ filter, ...grouping }: SpendGrouping): SpendGrouping => ({
      ...grouping,
      filter: { ...filter, minCost: ZERO_USD },
    });

    /** Random groupings whose sums differ from those of the calls. Most groupings must select at least one call. */
    async function differing(rounds: number): Promise<readonly SpendGrouping[]> {
      const found: SpendGrouping[] = [];
      let nonEmptyGroupings = 0;
      for (let round = 0; round < rounds; round += 1) {
        const grouping = randomGrouping();
        const sums = inOrder(await stores.spendReports.groups(grouping));
        const calls = inOrder(await stores.spendReports.groups(overCalls(grouping)));
        if (calls.length > 0) nonEmptyGroupings += 1;
        if (JSON.stringify(sums) !== JSON.stringify(calls)) found.push(grouping);
      }
      expect(nonEmptyGroupings).toBeGreaterThan(rounds / 2);
      return found;
    }

    it('equal the sums of the calls, for random calls and groupings', async () => {
      const rows = Array.from({ length: 300 }, (_, number) => randomRow(number));
      const span = (row: SpendRow) =>
        aSpan({
          ...A_CALL.span,
          traceId: row.traceId,
          spanId: row.spanId,
          parentSpanId: null,
          startNs: nsAt(row.startedAt.getTime()),
          endNs: nsAt(row.endedAt.getTime()),
          requestId: row.responseId,
          cost: row.cost,
          inputTokens: row.usage?.inputTokens ?? 0,
          outputTokens: row.usage?.outputTokens ?? 0,
        });
      // Calls are stored by both stores and two processes, some of them twice.
      await stores.spend.append(rows.slice(0, 60));
      const logged = rows.slice(60).map((spend) => stores.calls.encode({ spend, span: span(spend) }));
      const secondProcess = await scratch.open();
      await Promise.all([
        stores.calls.append(logged.slice(0, 120)),
        secondProcess.calls.append(logged.slice(120)),
        secondProcess.spend.append(rows.slice(30, 60)),
      ]);
      const spentBy = (isOf: (row: SpendRow) => boolean): bigint =>
        rows.filter(isOf).reduce((sum, { cost }) => sum + (cost ?? 0n), 0n);
      const totals = async () => [
        await stores.spend.totalsOfOwners('tag', ['x', 'unknown']),
        await stores.spend.totalsOfOwners('end_user', ['e1']),
      ];
      const expected = [
        new Map([['x', spentBy(({ tags }) => tags.includes('x'))]]),
        new Map([['e1', spentBy(({ endUser }) => endUser === 'e1')]]),
      ];
      // Totals come first from the log, then from the sums.
      expect(stores.calls.backlog()).toBeGreaterThan(0);
      expect(await totals()).toEqual(expected);
      expect(await differing(150)).toEqual([]);
      expect(await totals()).toEqual(expected);
      // A repeated commit adds nothing.
      await stores.calls.append(logged.slice(0, 10));
      expect(await differing(20)).toEqual([]);
      expect(await totals()).toEqual(expected);
    });

    it('are filled from the stored calls by the migration', async () => {
      const { orm } = await scratch.openBare();
      // The migration after this one creates the sums.
      await new Migrator(orm.em).down({ to: 'Migration20261123120100_audit_log' });
      await new Migrator(orm.em).up();
      expect(await differing(40)).toEqual([]);
    });

    it('are read by reports', async () => {
      const { orm } = await scratch.openBare();
      await orm.em.fork().execute('delete from spend_day');
      const grouping = { filter: { from: null, to: null, any: {}, visibleTo: null }, by: ['key'], limit: 10 } as const;
      expect(await stores.spendReports.groups(grouping)).toEqual([]);
      // The sums have no session, so that this report reads the calls.
      expect(await stores.spendReports.groups({ ...grouping, by: ['session'] })).not.toEqual([]);
    });
  });
