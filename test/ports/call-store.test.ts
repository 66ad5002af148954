import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { CallRecord } from '../../src/domain/calls/call-record.ts';
import { InvalidInput } from '../../src/domain/errors.ts';
import type { SpendRow } from '../../src/domain/spend/spend-row.ts';
import type { Span } from '../../src/domain/traces/span.ts';
import type { Stores } from '../../src/persistence/stores.ts';
import { createWriteBehind } from '../../src/runtime/write-behind.ts';
import { ENGINES, type ScratchDatabase } from './engines.ts';
import { aSpan, aSpendRow, picos, spanId, TEAM_KEY, traceId } from './samples.ts';

/** A call with a trace of its own, by number. */
function aCall(number: number, spend: Partial<SpendRow> = {}, span: Partial<Span> = {}): CallRecord {
  const ids = { traceId: traceId(number), spanId: spanId(number) };
  const cost = picos(7n);
  return {
    spend: aSpendRow({ id: `call-${number}`, callId: `c-${number}`, cost, ...TEAM_KEY, ...ids, ...spend }),
    span: aSpan({ gateway: true, cost, ...ids, ...span }),
  };
}

const ODD = 'a "quoted" \\ text, \u{1F600}, \u0001 and\nlines';
const WINDOW = { startMs: 0, endMs: Number.MAX_SAFE_INTEGER, after: null };
const unexpected = (): never => {
  throw new Error('unexpected');
};

for (const engine of ENGINES)
  describe.skipIf(engine.missing !== null)(`CallStore on ${engine.name}`, () => {
    let scratch: ScratchDatabase;
    let stores: Stores;
    beforeAll(async () => {
      scratch = await engine.create();
      stores = await scratch.open();
    });
    afterEach(() => scratch.clear());
    afterAll(() => scratch.remove());

    const append = async (...calls: readonly CallRecord[]) =>
      (await stores.calls.append(calls.map((call) => stores.calls.keep(call))))();

    async function stored({ spend, span }: CallRecord) {
      const [summary] = await stores.traces.findSummaries({ kind: 'all' }, span.traceId, null);
      return {
        spend: await stores.spend.findBySpans([`${spend.traceId}:${spend.spanId}`]),
        span: summary === undefined ? null : await stores.traces.findSpan([summary], span.spanId),
        summary,
      };
    }

    it('gives both back as they were, and tells the summary as it is stored', async () => {
      const call = aCall(
        1,
        { callId: ODD, modelGroup: ODD, error: { code: '500', message: ODD }, status: 'failure' },
        {
          name: ODD,
          input: ODD,
          output: ODD,
          attributes: { [ODD]: ODD },
          error: ODD,
          status: 'error',
          inputPreview: ODD,
        },
      );
      const plain = aCall(2, { usage: null, cost: null, teamId: null }, { cost: null, type: 'embedding', model: null });
      const changed = await append(call, plain);
      const [one, other] = [await stored(call), await stored(plain)];
      expect([one.spend, one.span]).toEqual([[call.spend], call.span]);
      expect([other.spend, other.span]).toEqual([[plain.spend], plain.span]);
      expect(changed).toEqual([one.summary, other.summary]);
      expect(one.summary).toMatchObject({ owner: TEAM_KEY, spanCount: 1, errorCount: 1, spend: 7n, name: ODD });
      expect(other.summary?.owner.teamId).toBe('');
    });

    it('leaves alone what is stored, also beside what is new, and charges a key once', async () => {
      const [first, second] = [aCall(1), aCall(2)];
      await append(first);
      const again = { ...first, span: { ...first.span, name: 'another' } };
      const changed = await append(again, second);
      expect(changed.map((summary) => summary.traceId)).toEqual([traceId(2)]);
      expect((await stored(first)).span).toEqual(first.span);
      expect((await stored(second)).span).toEqual(second.span);
      expect(await stores.spend.totalOf(TEAM_KEY.keyHash)).toBe(14n);
    });

    it('adds a call to the trace it hangs in', async () => {
      const owner = TEAM_KEY;
      await stores.traces.ingest([
        { owner, spans: [aSpan({ name: 'agent', type: 'agent', inputTokens: 0, outputTokens: 0 })] },
      ]);
      const child = aCall(1, { spanId: spanId(2) }, { spanId: spanId(2), parentSpanId: spanId(1) });
      const changed = await append(child, aCall(3));
      expect(changed.map(({ traceId: id, spanCount }) => [id, spanCount])).toEqual([
        [traceId(3), 1],
        [traceId(1), 2],
      ]);
      const { summary, span, spend } = await stored(child);
      expect([summary?.name, summary?.spanCount, span, spend]).toEqual(['agent', 2, child.span, [child.spend]]);
    });

    it('stores a batch whole or not at all, and the sound ones of it in parts', async () => {
      const unsound = aCall(2, {}, { inputTokens: Number.NaN });
      await expect(append(aCall(1), unsound)).rejects.toThrow();
      expect(await stored(aCall(1))).toEqual({ spend: [], span: null, summary: undefined });

      const refused: string[] = [];
      const records = createWriteBehind({
        commit: async (calls: readonly ReturnType<typeof stores.calls.keep>[]) =>
          void (await stores.calls.append(calls)),
        faultOf: () => 'either',
        failed: unexpected,
        dropped: unexpected,
        refused: ({ callId }) => refused.push(callId),
      });
      for (let number = 1; number <= 40; number += 1)
        records.push(stores.calls.keep(number === 22 ? aCall(22, {}, { inputTokens: Number.NaN }) : aCall(number)));
      await records.flush();
      expect(refused).toEqual(['c-22']);
      const traces = await stores.traces.listSummaries({ kind: 'all' }, WINDOW, 100);
      expect(traces.map(({ spanCount, inputTokens }) => [spanCount, inputTokens])).toEqual(
        Array.from({ length: 39 }, () => [1, 3]),
      );
      expect(await stores.spend.totalOf(TEAM_KEY.keyHash)).toBe(39n * 7n);
    });

    it('refuses at once what no store holds', () => {
      expect(() => stores.calls.keep(aCall(1, { cost: picos(2n ** 70n) }))).toThrow(InvalidInput);
      expect(() => stores.calls.keep(aCall(1, {}, { startNs: -1n }))).toThrow(InvalidInput);
    });
  });
