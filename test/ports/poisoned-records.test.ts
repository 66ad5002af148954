import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SpendRow } from '../../src/domain/spend/spend-row.ts';
import type { Stores } from '../../src/persistence/stores.ts';
import { createWriteBehind } from '../../src/runtime/tasks/write-behind.ts';
import { ENGINES, type ScratchDatabase } from './engines.ts';
import { LONE_KEY, aSpan, aSpendRow, picos, spanId, traceId } from './samples.ts';

const unexpected = (): never => {
  throw new Error('unexpected');
};

const rowOf = (number: number, fields: Partial<SpendRow> = {}): SpendRow =>
  aSpendRow({ id: `call-${number}`, traceId: traceId(number), cost: picos(1n), ...fields });

for (const engine of ENGINES)
  describe.skipIf(engine.skipReason !== null)(`records that ${engine.name} refuses`, () => {
    let scratch: ScratchDatabase;
    let stores: Stores;
    beforeAll(async () => {
      scratch = await engine.create();
      stores = await scratch.open();
    });
    afterAll(() => scratch.remove());

    it('are reported, and every other call of their batch is stored once, with spend and trace', async () => {
      const refused: string[] = [];
      const records = createWriteBehind<SpendRow>({
        async commit(rows) {
          await stores.spend.append(rows);
          await stores.traces.ingest(
            rows.map((row) => ({
              owner: LONE_KEY,
              // An invalid count passes the spend store and fails in the trace store.
              spans: [aSpan({ traceId: row.traceId, inputTokens: row.callId === 'later' ? Number.NaN : 1 })],
              startsNewTraces: true,
            })),
          );
        },
        // The cause may be a record or the store.
        faultOf: () => 'either',
        failed: unexpected,
        dropped: unexpected,
        refused: ({ id }) => refused.push(id),
      });
      for (let number = 1; number <= 20; number += 1) records.push(rowOf(number));
      records.push(rowOf(21, { endedAt: new Date(Number.NaN) }));
      records.push(rowOf(22, { callId: 'later' }));
      for (let number = 23; number <= 40; number += 1) records.push(rowOf(number));
      await records.flush();

      expect(refused).toEqual(['call-21', 'call-22']);
      const keys = Array.from({ length: 40 }, (_, position) => `${traceId(position + 1)}:${spanId(1)}`);
      const soundCalls = keys.length - 2;
      // The spend store keeps call 22, which only the trace store refuses.
      expect((await stores.spend.findBySpans(keys)).length).toBe(soundCalls + 1);
      expect(await stores.spend.totalOf(aSpendRow().keyHash)).toBe(BigInt(soundCalls + 1));
      const window = { startMs: 0, endMs: Number.MAX_SAFE_INTEGER, after: null };
      const traces = await stores.traces.listSummaries({ kind: 'all' }, window, 100);
      expect(traces.map(({ spanCount, inputTokens }) => [spanCount, inputTokens])).toEqual(
        Array.from({ length: soundCalls }, () => [1, 1]),
      );
    });
  });
