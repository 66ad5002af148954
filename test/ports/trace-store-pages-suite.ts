import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SpanPosition } from '../../src/domain/traces/span-cursor.ts';
import type { TraceStore } from '../../src/domain/traces/store.ts';
import { traceRefOf } from '../../src/persistence/trace-ref.ts';
import type { Engine, ScratchDatabase } from './engines.ts';
import { aSpan, headOf, LONE_KEY, nsAt, spanId, START_MS, TEAM_KEY, traceId } from './samples.ts';

const TRACE = { traceId: traceId(1), traceRef: traceRefOf(TEAM_KEY, traceId(1)) };

/** What every TraceStore promises of a trace that is read page by page. */
export function traceStorePagesSuite(engine: Engine): void {
  describe.skipIf(engine.missing !== null)(`TraceStore on ${engine.name}: pages of spans`, () => {
    let scratch: ScratchDatabase;
    let traces: TraceStore;
    beforeAll(async () => {
      scratch = await engine.create();
      traces = (await scratch.open()).traces;
    });
    afterAll(() => scratch.remove());

    it('gives the spans of a trace page by page, by start then id', async () => {
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
      const [first] = await traces.listSpanPage(TRACE, { startNs: 0n, spanId: 'f' }, 1);
      expect(first).toEqual(headOf(aSpan({ spanId: spanId(9), startNs: 999n })));
    });
  });
}
