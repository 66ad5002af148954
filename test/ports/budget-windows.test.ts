import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { budgetWindowOf } from '../../src/domain/budgets/budget-window.ts';
import type { CallRecord } from '../../src/domain/calls/call-record.ts';
import type { Tables } from '../../src/persistence/database/tables.ts';
import type { Stores } from '../../src/persistence/stores.ts';
import { createCallRecords } from '../../src/recording/call-records.ts';
import { createLog } from '../../src/runtime/telemetry/log.ts';
import { ENGINES, type ScratchDatabase } from './engines.ts';
import { aSpan, aSpendRow, picos, spanId, START_MS, traceId } from './samples.ts';

/** The current time, because windows that ended more than two days ago are removed. */
const NOW = new Date();
/** The id of this window has characters that a column cannot hold. */
const provider = budgetWindowOf({ scope: 'provider', ids: ['open\0ai\ud800'], duration: '1d' }, NOW);
const model = budgetWindowOf({ scope: 'model_per_key', ids: ['hash', 'gpt'], duration: null }, NOW);

/** Calls by number. Call n costs 10^n picodollars, so that a sum shows its calls. Call 1 has no window of the model. */
const rowsOf = (nths: readonly number[]) =>
  nths.map((nth) =>
    aSpendRow({
      id: `call-${nth}`,
      traceId: traceId(nth),
      spanId: spanId(nth),
      cost: picos(10n ** BigInt(nth)),
      windows: nth === 1 ? [provider] : [provider, model],
    }),
  );

/** Statements after which no segment of the call log can be deleted, as when the process is killed before. */
const REFUSED_DELETION = {
  sqlite: [`create trigger keep before delete on call_segment begin select raise(abort, 'no deletion'); end`],
  postgresql: [
    `create or replace function refuse() returns trigger language plpgsql as $$ begin raise 'no deletion'; end $$`,
    'create trigger keep before delete on call_segment for each row execute function refuse()',
  ],
};

for (const engine of ENGINES)
  describe.skipIf(engine.skipReason !== null)(`spend of budget windows on ${engine.name}`, () => {
    let scratch: ScratchDatabase;
    let stores: Stores;
    beforeAll(async () => {
      scratch = await engine.create();
      stores = await scratch.open();
    });
    afterEach(() => scratch.clear());
    afterAll(() => scratch.remove());

    const totals = () => stores.spend.totalsOfOwners('window', [provider.name, model.name, 'unknown']);

    it('is the sum of the calls that name the window, each once', async () => {
      await stores.spend.append(rowsOf([1, 2]));
      await stores.spend.append(rowsOf([2, 3]));
      expect(await totals()).toEqual(
        new Map([
          [provider.name, 1_110n],
          [model.name, 1_100n],
        ]),
      );
    });

    function recorder() {
      return createCallRecords({
        stores: [stores.calls],
        hasSubscribers: () => false,
        changed: async () => {},
        log: createLog('silent'),
      });
    }
    /** Span and spend row have the same facts, so that the call log takes the calls. */
    const callsOf = (nths: readonly number[]): readonly CallRecord[] =>
      rowsOf(nths).map((row) => {
        const spend = { ...row, endedAt: new Date(START_MS + 5) };
        const { traceId: trace, spanId: span, cost, responseId: requestId, usage } = spend;
        const { inputTokens = 0, outputTokens = 0 } = usage ?? {};
        const facts = { traceId: trace, spanId: span, gateway: true, cost, requestId, inputTokens, outputTokens };
        return { spend, span: aSpan(facts) };
      });
    const record = (records: ReturnType<typeof recorder>, nths: readonly number[]): void => {
      for (const call of callsOf(nths)) records.record(call);
    };
    const expected = new Map([
      [provider.name, 1_110n],
      [model.name, 1_100n],
    ]);

    it('includes committed calls before and after they are unfolded into rows', async () => {
      const records = recorder();
      record(records, [1, 2, 3]);
      await records.flush();
      expect(await totals()).toEqual(expected);
      await unfoldAll();
      expect(await totals()).toEqual(expected);
    });

    it('counts the calls of a segment once when the segment is committed twice', async () => {
      const [first, second] = [recorder(), recorder()];
      record(first, [1, 2, 3]);
      await first.flush();
      record(second, [1, 2, 3]);
      await second.flush();
      await unfoldAll();
      expect(await totals()).toEqual(expected);
    });

    it('counts each call once when a commit is repeated, in parts and with later calls', async () => {
      const queued = callsOf([1, 2, 3]).map((call) => stores.calls.encode(call));
      for (const count of [2, 1, 3]) {
        // As when the answer of the database to a commit is lost.
        // oxlint-disable-next-line no-await-in-loop -- one commit after another
        await stores.calls.append(queued.slice(0, count));
        // oxlint-disable-next-line no-await-in-loop -- as above
        await unfoldAll();
      }
      expect(await totals()).toEqual(expected);
      expect(await stores.spend.totalOf(aSpendRow().keyHash)).toBe(1_110n);
    });

    it('counts a batch once when another process records it again, beside a new call', async () => {
      const [call] = callsOf([2]);
      const batch = callsOf([3]).map(({ spend, span }): CallRecord => {
        const windows = [provider, model].map((window) => ({ ...window, amount: 1_000n }));
        return { spend: { ...spend, windows }, span };
      });
      const [first, second] = [recorder(), recorder()];
      for (const callRecord of batch) first.record(callRecord);
      await first.flush();
      await unfoldAll();
      for (const callRecord of [...batch, ...(call ? [call] : [])]) second.record(callRecord);
      await second.flush();
      await unfoldAll();
      const totalsOfBoth = new Map([
        [provider.name, 1_100n],
        [model.name, 1_100n],
      ]);
      expect(await totals()).toEqual(totalsOfBoth);
      expect(await stores.spend.totalOf(aSpendRow().keyHash)).toBe(1_100n);
    });

    const unfoldAll = async (): Promise<void> => {
      while (stores.calls.backlog() > 0) await stores.calls.unfold();
    };
    /** Commits a segment that cannot be unfolded whole, because a client has sent a span to the trace of call 1. */
    async function commitFaultySegment(): Promise<void> {
      const { keyHash, teamId } = aSpendRow();
      const inside = aSpan({ traceId: traceId(1), spanId: spanId(9), parentSpanId: spanId(1), type: 'tool' });
      await stores.traces.ingest([{ owner: { keyHash, teamId }, spans: [inside] }]);
      // Not through a recorder, which unfolds the segment after its commit.
      await stores.calls.append(callsOf([1, 2, 3]).map((call) => stores.calls.encode(call)));
      expect(stores.calls.backlog()).toBe(3);
    }

    it('includes each call of a faulty segment once when the deletion of the segment fails at first', async () => {
      const bare = await scratch.openBare();
      const db = bare.orm.em.fork().getKysely<Tables>();
      await commitFaultySegment();
      for (const statement of bare.flavour === 'sqlite' ? REFUSED_DELETION.sqlite : REFUSED_DELETION.postgresql)
        await sql.raw(statement).execute(db);
      try {
        await expect(stores.calls.unfold()).rejects.toThrow('no deletion');
        expect(await totals()).toEqual(expected);
        expect(await stores.spend.totalOf(aSpendRow().keyHash)).toBe(1_110n);
      } finally {
        await sql.raw(`drop trigger keep${bare.flavour === 'sqlite' ? '' : ' on call_segment'}`).execute(db);
      }
      await unfoldAll();
      expect(await totals()).toEqual(expected);
      expect(await stores.spend.totalOf(aSpendRow().keyHash)).toBe(1_110n);
    });

    it('includes each call of a faulty segment once when two processes unfold it', async () => {
      const secondProcess = await scratch.open();
      await commitFaultySegment();
      await Promise.all([stores.calls.unfold(), secondProcess.calls.unfold()]);
      await unfoldAll();
      expect(await totals()).toEqual(expected);
      expect(await stores.spend.totalOf(aSpendRow().keyHash)).toBe(1_110n);
    });

    it('is removed when the window ended days ago', async () => {
      // A store removes ended windows with its first amounts, and then at most once an hour.
      const fresh = await scratch.open();
      const old = budgetWindowOf({ scope: 'provider', ids: ['a'], duration: '1d' }, new Date('2020-01-01T00:00:00Z'));
      await fresh.spend.append([aSpendRow({ id: 'old', cost: picos(5n), windows: [old, model] })]);
      expect(await fresh.spend.totalsOfOwners('window', [old.name, model.name])).toEqual(new Map([[model.name, 5n]]));
    });
  });
