import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SpanPosition } from '../../src/domain/traces/span-cursor.ts';
import type { TraceStore } from '../../src/domain/traces/store.ts';
import { growSummary } from '../../src/domain/traces/trace.ts';
import { traceRefOf } from '../../src/persistence/traces/trace-ref.ts';
import type { Engine, ScratchDatabase } from './engines.ts';
import { aSpan, headOf, LONE_KEY, nsAt, picos, spanId, START_MS, TEAM_KEY, traceId } from './samples.ts';

const TRACE = { traceId: traceId(1), traceRef: traceRefOf(TEAM_KEY, traceId(1)) };

/** Contract of every TraceStore about pages of a trace. */
export function traceStorePagesSuite(engine: Engine): void {
  describe.skipIf(engine.skipReason !== null)(`TraceStore on ${engine.name}: pages of spans`, () => {
    let scratch: ScratchDatabase;
    let traces: TraceStore;
    beforeAll(async () => {
      scratch = await engine.create();
      traces = (await scratch.open()).traces;
    });
    afterAll(() => scratch.remove());

    it('returns the spans of a trace in pages, ordered by start and id', async () => {
      const spans = [
        aSpan({ spanId: spanId(3), startNs: nsAt(START_MS) + 1n }),
        aSpan({ spanId: spanId(2), startNs: nsAt(START_MS) + 1n }),
        aSpan({ spanId: spanId(9), startNs: 999n }),
        aSpan({ spanId: spanId(1), startNs: 2n ** 63n - 2n, endNs: 2n ** 63n - 1n }),
        aSpan({ traceId: traceId(2), spanId: spanId(4) }),
      ];
      await traces.ingest([{ owner: TEAM_KEY, spans }]);
      await traces.ingest([{ owner: LONE_KEY, spans: [aSpan({ spanId: spanId(5) })] }]);
      const page = async (after: SpanPosition | null, limit: number): Promise<readonly string[]> =>
        (await traces.listSpanPage(TRACE, after, limit)).map((head) => head.spanId);
      expect(await page(null, 2)).toEqual([spanId(9), spanId(2)]);
      expect(await page({ startNs: nsAt(START_MS) + 1n, spanId: spanId(2) }, 1)).toEqual([spanId(3)]);
      expect(await page({ startNs: nsAt(START_MS) + 1n, spanId: spanId(2) }, 9)).toEqual([spanId(3), spanId(1)]);
      expect(await page({ startNs: 2n ** 63n - 2n, spanId: spanId(1) }, 9)).toEqual([]);
      expect(await traces.listSpanPage({ traceId: traceId(1), traceRef: 'UNKNOWN' }, null, 9)).toEqual([]);
      // A position before all spans.
      const [first] = await traces.listSpanPage(TRACE, { startNs: 0n, spanId: 'f' }, 1);
      expect(first).toEqual(headOf(aSpan({ spanId: spanId(9), startNs: 999n })));
    });

    it('returns every text and number as it was stored, in the list, the pages and the summary of a trace', async () => {
      const unusualTexts = [
        '',
        '"',
        '\\',
        '[1,"a"]',
        "it's",
        'line\nline\t\u2028\u007f',
        'ünï 語 🚀',
        'null',
        '\u0001\u001f',
        '1e400',
      ];
      const maxValue = 2n ** 63n - 1n;
      const spans = unusualTexts.map((text, index) =>
        aSpan({
          traceId: traceId(7),
          spanId: spanId(index + 1),
          parentSpanId: index === 0 ? null : spanId(1),
          name: text,
          agent: text,
          service: text,
          model: text,
          provider: text,
          framework: text,
          error: index % 2 === 0 ? null : text,
          requestId: index % 2 === 0 ? text : null,
          inputPreview: text,
          startNs: BigInt(index),
          endNs: maxValue - BigInt(index),
          inputTokens: index === 3 ? Number.MAX_SAFE_INTEGER : 0,
          cost: index === 1 ? picos(maxValue) : null,
          gateway: index === 1,
        }),
      );
      await traces.ingest([{ owner: TEAM_KEY, spans }]);
      const heads = spans.map(headOf);
      const trace = { traceId: traceId(7), traceRef: traceRefOf(TEAM_KEY, traceId(7)) };
      expect((await traces.listSpans([trace])).get(trace.traceRef)).toEqual(heads);
      expect(await traces.listSpanPage(trace, null, 100)).toEqual(heads);
      expect(await traces.findSummaries({ kind: 'all' }, traceId(7), null)).toEqual([
        growSummary(null, { ...trace, owner: TEAM_KEY }, heads),
      ]);
    });
  });
}
