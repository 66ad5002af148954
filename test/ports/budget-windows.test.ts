import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { budgetWindowOf } from '../../src/domain/budgets/budget-window.ts';
import type { Stores } from '../../src/persistence/stores.ts';
import { createCallRecords } from '../../src/recording/call-records.ts';
import { createLog } from '../../src/runtime/telemetry/log.ts';
import { ENGINES, type ScratchDatabase } from './engines.ts';
import { aSpan, aSpendRow, picos, spanId, traceId } from './samples.ts';

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
        watched: () => false,
        changed: async () => {},
        log: createLog('silent'),
      });
    }
    const record = (records: ReturnType<typeof recorder>, nths: readonly number[]): void => {
      for (const spend of rowsOf(nths)) {
        const { traceId: trace, spanId: span, cost } = spend;
        records.record({ spend, span: aSpan({ traceId: trace, spanId: span, gateway: true, cost }) });
      }
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
      while (stores.calls.backlog() > 0) await stores.calls.unfold();
      expect(await totals()).toEqual(expected);
    });

    it('counts the calls of a segment once when the segment is committed twice', async () => {
      const [first, second] = [recorder(), recorder()];
      record(first, [1, 2, 3]);
      await first.flush();
      record(second, [1, 2, 3]);
      await second.flush();
      while (stores.calls.backlog() > 0) await stores.calls.unfold();
      expect(await totals()).toEqual(expected);
    });

    it('is removed when the window ended days ago', async () => {
      const fresh = await scratch.open();
      const old = budgetWindowOf({ scope: 'provider', ids: ['a'], duration: '1d' }, new Date('2020-01-01T00:00:00Z'));
      await fresh.spend.append([aSpendRow({ id: 'old', cost: picos(5n), windows: [old, model] })]);
      expect(await fresh.spend.totalsOfOwners('window', [old.name, model.name])).toEqual(new Map([[model.name, 5n]]));
    });
  });
