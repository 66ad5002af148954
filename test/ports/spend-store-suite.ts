import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { InvalidInput } from '../../src/domain/errors.ts';
import { usdFrom, usdText, ZERO_USD } from '../../src/domain/money.ts';
import type { SpendRow, SpendStore } from '../../src/domain/spend/spend-row.ts';
import type { Engine, ScratchDatabase } from './engines.ts';
import { START_MS, aSpendRow, picos, spanId, traceId } from './samples.ts';

const keyOf = (row: SpendRow): string => `${row.traceId}:${row.spanId}`;
const byId = (rows: readonly SpendRow[]): readonly SpendRow[] =>
  rows.toSorted((left, right) => (left.id < right.id ? -1 : 1));

/** Contract of every SpendStore. */
export function spendStoreSuite(engine: Engine): void {
  describe.skipIf(engine.skipReason !== null)(`SpendStore on ${engine.name}`, () => {
    let scratch: ScratchDatabase;
    let spend: SpendStore;
    beforeAll(async () => {
      scratch = await engine.create();
      spend = (await scratch.open()).spend;
    });
    afterEach(() => scratch.clear());
    afterAll(() => scratch.remove());

    it('returns a row as it was appended', async () => {
      const row = aSpendRow({ error: { code: '429', message: 'it\'s "late" ? \\ \u{1F600}' }, status: 'failure' });
      await spend.append([row]);
      expect(await spend.findBySpans([keyOf(row)])).toEqual([row]);
    });

    it('stores unknown values as null', async () => {
      const row = aSpendRow({
        responseId: null,
        teamId: null,
        userId: null,
        usage: null,
        cost: null,
        firstByteAt: null,
      });
      await spend.append([row]);
      expect(await spend.findBySpans([keyOf(row)])).toEqual([row]);
      expect(await spend.totalOf(row.keyHash)).toBe(ZERO_USD);
    });

    it('distinguishes zero and null, and keeps the largest values exact', async () => {
      const maxTokens = Number.MAX_SAFE_INTEGER;
      const noUsage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
      const maxUsage = {
        inputTokens: maxTokens,
        outputTokens: maxTokens,
        cacheReadTokens: maxTokens,
        cacheWriteTokens: maxTokens,
        reasoningTokens: maxTokens,
      };
      const rows = [
        aSpendRow({ id: 'least', usage: noUsage, cost: ZERO_USD, startedAt: new Date(0), endedAt: new Date(0) }),
        aSpendRow({ id: 'most', keyHash: 'b'.repeat(64), usage: maxUsage, cost: picos(2n ** 63n - 1n) }),
      ];
      await spend.append(rows);
      expect(byId(await spend.findBySpans([keyOf(rows[0] as SpendRow)]))).toEqual(rows);
      expect(await spend.totalOf('b'.repeat(64))).toBe(2n ** 63n - 1n);
    });

    it('adds as decimals do: 0.1 and 0.2 make 0.3', async () => {
      const costs = [0.1, 0.2].map((amount) => usdFrom(amount) ?? ZERO_USD);
      await spend.append(costs.map((cost, position) => aSpendRow({ id: `call-${position}`, cost })));
      expect(usdText(await spend.totalOf(aSpendRow().keyHash))).toBe('0.3');
    });

    it('keeps totals exact beyond the range of a double', async () => {
      const base = 2n ** 53n;
      await spend.append([aSpendRow({ id: 'base', cost: picos(base) })]);
      for (const id of ['one', 'two', 'three']) await spend.append([aSpendRow({ id, cost: picos(1n) })]);
      await spend.append([aSpendRow({ id: 'four', cost: picos(1n) }), aSpendRow({ id: 'five', cost: picos(1n) })]);
      expect(await spend.totalOf(aSpendRow().keyHash)).toBe(base + 5n);
    });

    it('counts each key separately', async () => {
      await spend.append([
        aSpendRow({ id: '1', keyHash: 'x', cost: picos(1n) }),
        aSpendRow({ id: '2', keyHash: 'y', cost: picos(20n) }),
        aSpendRow({ id: '3', keyHash: 'x', cost: picos(300n) }),
      ]);
      expect(await Promise.all(['x', 'y', 'z'].map((hash) => spend.totalOf(hash)))).toEqual([301n, 20n, 0n]);
    });

    it('reads the totals of many keys with one read, without keys that have no spend', async () => {
      await spend.append([
        aSpendRow({ id: '1', keyHash: 'x', cost: picos(1n) }),
        aSpendRow({ id: '2', keyHash: "y'\\", cost: picos(2n ** 53n + 1n) }),
        aSpendRow({ id: '3', keyHash: 'x', cost: picos(300n) }),
        aSpendRow({ id: '4', keyHash: 'not asked for', cost: picos(5n) }),
      ]);
      const many = Array.from({ length: 500 }, (_, number) => `none-${number}`);
      expect(await spend.totalsOf(['x', "y'\\", ...many])).toEqual(
        new Map([
          ['x', 301n],
          ["y'\\", 2n ** 53n + 1n],
        ]),
      );
      expect(await spend.totalsOf([])).toEqual(new Map());
    });

    it('keeps a row whose id is stored, and counts it once', async () => {
      const row = aSpendRow({ cost: picos(7n) });
      await spend.append([row, aSpendRow({ cost: picos(1_000n), model: 'other' })]);
      await spend.append([
        aSpendRow({ cost: picos(1_000n), model: 'other' }),
        aSpendRow({ id: 'new', cost: picos(1n) }),
      ]);
      expect(byId(await spend.findBySpans([keyOf(row)]))).toEqual([row, aSpendRow({ id: 'new', cost: picos(1n) })]);
      expect(await spend.totalOf(row.keyHash)).toBe(8n);
    });

    it('appends all rows or none', async () => {
      const broken = aSpendRow({ id: 'broken', endedAt: new Date(Number.NaN) });
      await expect(spend.append([aSpendRow(), broken])).rejects.toThrow(/null/i);
      await expect(spend.append([aSpendRow(), aSpendRow({ id: 'vast', cost: picos(2n ** 63n) })])).rejects.toThrow(
        InvalidInput,
      );
      expect(await spend.findBySpans([keyOf(broken)])).toEqual([]);
      expect(await spend.totalOf(broken.keyHash)).toBe(ZERO_USD);
    });

    it('finds the rows of exactly the requested spans', async () => {
      const rows = [1, 2, 3].flatMap((trace) =>
        [1, 2].map((span) => aSpendRow({ id: `${trace}-${span}`, traceId: traceId(trace), spanId: spanId(span) })),
      );
      await spend.append(rows);
      const wanted = rows.filter(({ id }) => id === '1-2' || id === '2-1');
      expect(byId(await spend.findBySpans([...wanted.map(keyOf), `${traceId(9)}:${spanId(1)}`]))).toEqual(wanted);
    });

    it('finds and appends nothing for empty lists', async () => {
      await spend.append([]);
      expect(await spend.findBySpans([])).toEqual([]);
    });

    it('adds up exactly when two processes append the same rows concurrently', async () => {
      const secondStore = (await scratch.open()).spend;
      const calls = Array.from({ length: 40 }, (_, position) => [
        aSpendRow({ id: `x-${position}`, keyHash: 'x', cost: picos(3n) }),
        aSpendRow({ id: `y-${position}`, keyHash: 'y', cost: picos(5n) }),
      ]);
      await Promise.all(calls.flatMap((rows) => [spend.append(rows), secondStore.append(rows.toReversed())]));
      expect(await Promise.all(['x', 'y'].map((hash) => secondStore.totalOf(hash)))).toEqual([120n, 200n]);
    });

    it('finds calls in traces that the gateway began in a time window, by response id and call id', async () => {
      /** A trace id as the gateway makes it: its first 12 hexadecimal digits are the time in ms. */
      const gatewayTraceId = (ms: number, digit: string): string =>
        ms.toString(16).padStart(12, '0') + digit.repeat(20);
      const startMs = START_MS;
      const rows = [
        aSpendRow({ id: 'a', traceId: gatewayTraceId(startMs, '0'), responseId: 'r-1', callId: 'c-1' }),
        aSpendRow({ id: 'b', traceId: gatewayTraceId(startMs + 10, 'f'), responseId: 'r-2', callId: 'c-2' }),
        aSpendRow({ id: 'late', traceId: gatewayTraceId(startMs + 11, '0'), responseId: 'r-1', callId: 'c-3' }),
        aSpendRow({ id: 'early', traceId: gatewayTraceId(startMs - 1, 'f'), responseId: 'r-1', callId: 'c-4' }),
        aSpendRow({ id: 'unnamed', traceId: gatewayTraceId(startMs, '1'), responseId: null, callId: 'c-5' }),
      ];
      await spend.append(rows);
      const idsOf = async (...sought: Parameters<SpendStore['findElsewhere']>[0]) =>
        (await spend.findElsewhere(sought)).map(({ id }) => id).toSorted();
      const window = { fromMs: startMs, toMs: startMs + 10 };
      expect(await idsOf({ responseId: 'r-1', callId: null, ...window })).toEqual(['a']);
      expect(await idsOf({ responseId: null, callId: 'c-2', ...window })).toEqual(['b']);
      // Every id is searched in every period: `late` has an id of the first search, and the period of the second.
      expect(
        await idsOf(
          { responseId: 'r-1', callId: 'c-5', ...window },
          { responseId: 'r-2', callId: 'c-2', fromMs: startMs + 5, toMs: startMs + 20 },
        ),
      ).toEqual(['a', 'b', 'late', 'unnamed']);
      expect(await idsOf({ responseId: 'r-9', callId: 'c-9', fromMs: -5, toMs: startMs + 99 })).toEqual([]);
      expect(await idsOf()).toEqual([]);
      const [found] = await spend.findElsewhere([{ responseId: 'r-1', callId: null, ...window }]);
      expect(found).toEqual(rows[0]);
    });

    it('has the start of the newest call', async () => {
      expect(await spend.newestStart()).toBeNull();
      const starts = [START_MS + 5, START_MS + 9, START_MS];
      await spend.append(starts.map((ms) => aSpendRow({ id: `call-${ms}`, startedAt: new Date(ms) })));
      expect(await spend.newestStart()).toEqual(new Date(START_MS + 9));
    });

    it('removes the error texts of the rows of one key in a trace, and no other values', async () => {
      const error = { code: 'UPSTREAM_FAILED', message: 'you said: secret' };
      const cleared = aSpendRow({ error });
      const others = aSpendRow({ id: 'call-2', keyHash: 'b'.repeat(64), error });
      const elsewhere = aSpendRow({ id: 'call-3', traceId: traceId(2), error });
      await spend.append([cleared, others, elsewhere]);
      await spend.removeErrorTexts([cleared]);
      await spend.removeErrorTexts([]);
      expect(byId(await spend.findBySpans([keyOf(cleared), keyOf(elsewhere)]))).toEqual([
        { ...cleared, error: { code: 'UPSTREAM_FAILED', message: '' } },
        others,
        elsewhere,
      ]);
    });

    it('removes the oldest rows before a time, up to a number, and keeps the totals', async () => {
      const rows = [3, 1, 2, 4].map((number) =>
        aSpendRow({
          id: `call-${number}`,
          traceId: traceId(number),
          spanId: spanId(number),
          startedAt: new Date(START_MS + number),
          cost: picos(10n),
        }),
      );
      await spend.append(rows);
      const remainingIds = async (): Promise<readonly string[]> =>
        byId(await spend.findBySpans(rows.map(keyOf))).map(({ id }) => id);
      expect([await spend.removeStartedBefore(START_MS + 4, 2), await remainingIds()]).toEqual([
        2,
        ['call-3', 'call-4'],
      ]);
      expect([await spend.removeStartedBefore(START_MS + 4, 2), await remainingIds()]).toEqual([1, ['call-4']]);
      expect([await spend.removeStartedBefore(START_MS + 4, 2), await remainingIds()]).toEqual([0, ['call-4']]);
      expect(await spend.totalOf(rows[0]?.keyHash ?? '')).toBe(picos(40n));
    });

    it('stores the replacement character for text that a column cannot hold', async () => {
      await spend.append([aSpendRow({ callId: 'a\0b\uD800', error: { code: '\0', message: 'x\0' } })]);
      const [row] = await spend.findBySpans([keyOf(aSpendRow())]);
      expect([row?.callId, row?.error]).toEqual(['a\u{FFFD}b\u{FFFD}', { code: '\u{FFFD}', message: 'x\u{FFFD}' }]);
    });
  });
}
