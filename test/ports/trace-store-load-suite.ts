import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Owner } from '../../src/domain/caller.ts';
import { Unavailable } from '../../src/domain/errors.ts';
import type { Span } from '../../src/domain/traces/span.ts';
import type { TraceStore } from '../../src/domain/traces/store.ts';
import type { TraceSummary, TraceWindow } from '../../src/domain/traces/trace.ts';
import { traceRefOf } from '../../src/persistence/traces/trace-ref.ts';
import type { Engine, ScratchDatabase } from './engines.ts';
import { ALL, LONE_KEY, TEAM_KEY, aSpan, spanId, spansOf, traceId } from './samples.ts';

const EVER: TraceWindow = { startMs: 0, endMs: Number.MAX_SAFE_INTEGER, after: null };
const REF = traceRefOf(TEAM_KEY, traceId(1));
const TRACE = { traceId: traceId(1), traceRef: REF };

/** Span with an invalid count. It passes all checks of the store and fails in the database. */
const POISONED = aSpan({ spanId: spanId(666), inputTokens: Number.NaN });

/** Contract of every TraceStore about concurrent callers. */
export function traceStoreLoadSuite(engine: Engine): void {
  describe.skipIf(engine.skipReason !== null)(`TraceStore on ${engine.name}: concurrent callers`, () => {
    let scratch: ScratchDatabase;
    let traces: TraceStore;
    const ingest = (owner: Owner, ...spans: readonly Span[]): Promise<readonly TraceSummary[]> =>
      traces.ingest([{ owner, spans }]);
    beforeAll(async () => {
      scratch = await engine.create();
      traces = (await scratch.open()).traces;
    });
    afterEach(() => scratch.clear());
    afterAll(() => scratch.remove());

    it('stores nothing of an empty list', async () => {
      expect(await traces.ingest([])).toEqual([]);
      expect(await ingest(TEAM_KEY)).toEqual([]);
    });

    it('accepts more spans at once than fit into one statement', async () => {
      const many = spansOf(1_201, { input: 'x'.repeat(2_000) });
      const [summary] = await ingest(TEAM_KEY, ...many);
      // Each span has 3 input tokens.
      expect([summary?.spanCount, summary?.inputTokens]).toEqual([1_201, 3_603]);
      expect((await traces.listSpans([TRACE])).get(REF)?.length).toBe(1_201);
    });

    it('fails only the export that cannot be stored, and stores nothing of it', async () => {
      const settled = await Promise.allSettled([
        ingest(TEAM_KEY, aSpan()),
        ingest(TEAM_KEY, aSpan({ spanId: spanId(2) }), POISONED),
        ingest(TEAM_KEY, aSpan({ spanId: spanId(3) })),
        ingest(LONE_KEY, aSpan()),
      ]);
      expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
      const found = await traces.listSpans([TRACE]);
      expect(found.get(REF)?.map((head) => head.spanId)).toEqual([spanId(1), spanId(3)]);
      const counts = (await traces.listSummaries(ALL, EVER, 10)).map(
        ({ owner, spanCount }) => [owner, spanCount] as const,
      );
      expect(new Map(counts)).toEqual(
        new Map([
          [TEAM_KEY, 2],
          [LONE_KEY, 1],
        ]),
      );
    });

    it('throws Unavailable when the queue is full, and stores all accepted exports', async () => {
      const limited = (await scratch.open({ ingestLimit: { rows: 10, bytes: 1 << 20 } })).traces;
      const release = await scratch.holdWriters();
      const ingestTrace = (trace: number): Promise<readonly TraceSummary[]> =>
        limited.ingest([{ owner: TEAM_KEY, spans: spansOf(4, { traceId: traceId(trace) }) }]);
      const accepted = [ingestTrace(1), ingestTrace(2)];
      // Twelve spans would wait, and the limit is ten.
      await expect(ingestTrace(3)).rejects.toThrow(Unavailable);
      await release();
      expect((await Promise.all(accepted)).flat().map(({ spanCount }) => spanCount)).toEqual([4, 4]);
      // The queue has capacity again.
      expect((await ingestTrace(3)).length).toBe(1);
      expect((await traces.listSummaries(ALL, EVER, 10)).length).toBe(3);
    });

    it('limits waiting bytes as well as spans, but accepts a large export when the queue is empty', async () => {
      const limited = (await scratch.open({ ingestLimit: { rows: 1_000, bytes: 5_000 } })).traces;
      const large = limited.ingest([{ owner: TEAM_KEY, spans: [aSpan({ input: 'x'.repeat(10_000) })] }]);
      await expect(limited.ingest([{ owner: LONE_KEY, spans: [aSpan()] }])).rejects.toThrow(Unavailable);
      expect((await large).length).toBe(1);
    });

    it('reads while a writer locks the database', async () => {
      await ingest(TEAM_KEY, aSpan());
      const release = await scratch.holdWriters();
      expect((await traces.listSummaries(ALL, EVER, 10)).length).toBe(1);
      await release();
    });

    it('counts exactly when two processes store the same traces concurrently', async () => {
      const secondStore = (await scratch.open()).traces;
      const rounds = 12;
      for (let round = 0; round < rounds; round += 1) {
        // Every third round has new traces. Both processes store one common span of each trace, in a different order.
        const number = Math.floor(round / 3);
        const part = (first: number): readonly Span[] =>
          [1, 2].flatMap((trace) =>
            [first, first + 1].map((span) =>
              aSpan({ traceId: traceId(number * 10 + trace), spanId: spanId((round % 3) * 3 + span) }),
            ),
          );
        await Promise.all([
          ingest(TEAM_KEY, ...part(1)),
          secondStore.ingest([{ owner: TEAM_KEY, spans: part(2).toReversed() }]),
        ]);
      }
      const found = await traces.listSummaries(ALL, EVER, 100);
      const spans = await traces.listSpans(found);
      // Each trace has three spans from each of three rounds.
      const expected = Array.from({ length: (rounds / 3) * 2 }, () => 9);
      expect(found.map(({ spanCount }) => spanCount)).toEqual(expected);
      expect(found.map(({ inputTokens }) => inputTokens / 3)).toEqual(expected);
      expect([...spans.values()].map(({ length }) => length)).toEqual(expected);
    });

    it('stores waiting exports before its database closes, and refuses later ones', async () => {
      const closing = await scratch.open();
      const accepted = spansOf(50).map((span) => closing.traces.ingest([{ owner: TEAM_KEY, spans: [span] }]));
      await closing.close();
      expect((await Promise.all(accepted)).length).toBe(50);
      await expect(closing.traces.ingest([{ owner: TEAM_KEY, spans: [aSpan()] }])).rejects.toThrow(Unavailable);
      expect((await traces.listSpans([TRACE])).get(REF)?.length).toBe(50);
    });
  });
}
