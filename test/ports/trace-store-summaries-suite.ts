import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Span } from '../../src/domain/traces/span.ts';
import type { TraceStore } from '../../src/domain/traces/store.ts';
import { NO_LABELS } from '../../src/domain/traces/trace-labels.ts';
import type { TraceWindow } from '../../src/domain/traces/trace.ts';
import { traceRefOf } from '../../src/persistence/traces/trace-ref.ts';
import { permutationsOf } from '../support/permutations.ts';
import type { Engine, ScratchDatabase } from './engines.ts';
import { ALL, aSpan, nsAt, picos, spanId, START_MS, TEAM_KEY, traceId } from './samples.ts';

const EVER: TraceWindow = { startMs: 0, endMs: Number.MAX_SAFE_INTEGER, after: null };

/** Contract of every TraceStore about calls, estimates, previews and labels in summaries of traces. */
export function traceStoreSummariesSuite(engine: Engine): void {
  describe.skipIf(engine.skipReason !== null)(`TraceStore on ${engine.name}: summaries of traces`, () => {
    let scratch: ScratchDatabase;
    let traces: TraceStore;
    beforeAll(async () => {
      scratch = await engine.create();
      traces = (await scratch.open()).traces;
    });
    afterEach(() => scratch.clear());
    afterAll(() => scratch.remove());
    const ingest = (...spans: readonly Span[]) => traces.ingest([{ owner: TEAM_KEY, spans }]);
    const storedCounts = async (number: number): Promise<unknown> => {
      const [summary] = await traces.findSummaries(ALL, traceId(number), null);
      const { spend, pricedCalls, estimate, estimatedCalls, llmCalls, gatewayCalls, inputTokens } = summary ?? {};
      return { spend, pricedCalls, estimate, estimatedCalls, llmCalls, gatewayCalls, inputTokens };
    };

    /** Expected counts: calls, calls of the gateway, and input tokens, of which each sample span has 3. */
    const countsOf = (llmCalls: number, gatewayCalls: number) => ({
      llmCalls,
      gatewayCalls,
      inputTokens: llmCalls * 3,
    });

    /** An agent with two calls: spans 2 and 3 are one call, with its cost; span 4 is a call with an estimate. */
    const callSpans = (number: number): readonly Span[] => {
      const ids = { traceId: traceId(number) };
      return [
        aSpan({ ...ids, spanId: spanId(1), type: 'agent', model: null }),
        aSpan({ ...ids, spanId: spanId(2), parentSpanId: spanId(1), estimate: picos(5n) }),
        aSpan({ ...ids, spanId: spanId(3), parentSpanId: spanId(2), gateway: true, cost: picos(2n ** 60n) }),
        aSpan({ ...ids, spanId: spanId(4), parentSpanId: spanId(1), estimate: picos(7n), requestId: 'r' }),
      ];
    };

    it('finds no trace for ids and references that no store accepts', async () => {
      for (const text of ['a\0b', '\ud800']) {
        expect(await traces.findSummaries(ALL, text, null)).toEqual([]);
        expect(await traces.findSummaries(ALL, traceId(1), text)).toEqual([]);
      }
    });

    it('finds a trace whose stored id has a replacement character', async () => {
      await traces.ingest([{ owner: TEAM_KEY, spans: [aSpan({ traceId: 'a\u{FFFD}b' })] }]);
      expect((await traces.findSummaries(ALL, 'a\0b', null)).map((summary) => summary.traceId)).toEqual(['a\u{FFFD}b']);
    });

    it('counts each call once, in any order of its spans, and resends change nothing', async () => {
      const expected = { ...countsOf(2, 1), spend: 2n ** 60n + 7n, pricedCalls: 2, estimate: 7n, estimatedCalls: 1 };
      for (const [number, order] of permutationsOf(callSpans(1)).entries()) {
        const spans = order.map((span) => ({ ...span, traceId: traceId(number + 1) }));
        let lastSummaries: unknown;
        for (const span of spans) lastSummaries = await ingest(span);
        expect(lastSummaries).toMatchObject([expected]);
        expect(await ingest(...spans)).toEqual([]);
        expect(await storedCounts(number + 1)).toEqual(expected);
      }
    });

    it('counts each call once when its spans arrive concurrently', async () => {
      await Promise.all(callSpans(1).map((span) => ingest(span)));
      const expected = { spend: 2n ** 60n + 7n, pricedCalls: 2, estimate: 7n, estimatedCalls: 1 };
      expect(await storedCounts(1)).toEqual({ ...countsOf(2, 1), ...expected });
    });

    it('removes an estimate when the gateway reports the call without a price', async () => {
      await ingest(aSpan({ estimate: picos(5n) }));
      expect(await storedCounts(1)).toEqual({
        ...countsOf(1, 0),
        spend: 5n,
        pricedCalls: 1,
        estimate: 5n,
        estimatedCalls: 1,
      });
      await ingest(aSpan({ spanId: spanId(2), parentSpanId: spanId(1), gateway: true }));
      expect(await storedCounts(1)).toEqual({
        ...countsOf(1, 1),
        spend: null,
        pricedCalls: 0,
        estimate: null,
        estimatedCalls: 0,
      });
    });

    it('limits the sums of a trace to the largest amount, and refuses none of its spans', async () => {
      const maxAmount = 2n ** 63n - 1n;
      const costSpan = (number: number, fields: Partial<Span>): Span =>
        aSpan({ spanId: spanId(number), parentSpanId: spanId(9), ...fields });
      const spans = [
        costSpan(1, { estimate: picos(2n ** 62n) }),
        costSpan(2, { estimate: picos(2n ** 62n), requestId: 'r-2' }),
        costSpan(3, { estimate: picos(7n) }),
        costSpan(4, { cost: picos(2n ** 63n - 1n), gateway: true }),
      ];
      await ingest(...spans);
      const expected = { spend: maxAmount, pricedCalls: 4, estimate: maxAmount, estimatedCalls: 3 };
      expect(await storedCounts(1)).toMatchObject(expected);
      for (const span of spans) await ingest({ ...span, traceId: traceId(2) });
      expect(await storedCounts(2)).toMatchObject(expected);
    });

    it('shows the preview of the earliest call, in every order, unless the root has its own', async () => {
      const inputSpan = (number: number, ms: number, inputPreview: string): Span =>
        aSpan({ spanId: spanId(number), parentSpanId: spanId(1), startNs: nsAt(START_MS + ms), inputPreview });
      const root = aSpan({ type: 'chain', inputPreview: '' });
      for (const [number, order] of permutationsOf([
        root,
        inputSpan(2, 2, 'late'),
        inputSpan(3, 1, 'early'),
      ]).entries()) {
        const spans = order.map((span) => ({ ...span, traceId: traceId(number + 1) }));
        let lastSummaries: unknown;
        for (const span of spans) lastSummaries = await ingest(span);
        const earlyPreview = { inputPreview: 'early', previewNs: nsAt(START_MS + 1), spanCount: 3 };
        expect(lastSummaries).toMatchObject([earlyPreview]);
        expect(await ingest(...spans)).toEqual([]);
        expect(await traces.findSummaries(ALL, traceId(number + 1), null)).toMatchObject([earlyPreview]);
      }
      const ids = { traceId: traceId(9) };
      await ingest({ ...inputSpan(2, 1, 'call'), ...ids });
      await ingest(aSpan({ ...ids, type: 'chain', inputPreview: 'root' }));
      await ingest({ ...inputSpan(3, 0, 'earlier'), ...ids });
      const [withRootPreview] = await traces.findSummaries(ALL, traceId(9), null);
      expect([withRootPreview?.inputPreview, withRootPreview?.previewNs]).toEqual(['root', null]);
    });

    it('shows no preview of redacted or removed calls, but the preview of later calls', async () => {
      const call = aSpan({ spanId: spanId(2), parentSpanId: spanId(1), inputPreview: 'a secret' });
      const later = aSpan({
        spanId: spanId(3),
        parentSpanId: spanId(1),
        inputPreview: 'later',
        startNs: nsAt(START_MS + 9),
      });
      const key = { traceId: traceId(1), traceRef: traceRefOf(TEAM_KEY, traceId(1)) };
      await ingest(aSpan({ type: 'chain', inputPreview: '' }), call);
      const previews = async (): Promise<unknown> =>
        (await traces.findSummaries(ALL, traceId(1), null)).map(({ inputPreview, previewNs }) => [
          inputPreview,
          previewNs,
        ]);
      expect(await previews()).toEqual([['a secret', nsAt(START_MS)]]);
      await traces.redact([key], new Date(START_MS));
      expect(await previews()).toEqual([['', null]]);
      expect(await ingest(call)).toEqual([]);
      expect(await previews()).toEqual([['', null]]);
      await ingest(later);
      expect(await previews()).toEqual([['later', nsAt(START_MS + 9)]]);
      await traces.remove([key]);
      await ingest(later);
      expect(await previews()).toEqual([['later', nsAt(START_MS + 9)]]);
    });

    it('takes labels from the root, otherwise from other spans, in any order of arrival', async () => {
      const call = aSpan({
        spanId: spanId(2),
        parentSpanId: spanId(1),
        labels: { sessionId: 'of-call', userId: 'ann', tags: ['b', 'no\0text'] },
      });
      const root = aSpan({ labels: { sessionId: 'of-root', userId: null, tags: ['a'] } });
      // `rootLabels` 1: of the session and the user, the root states only the session.
      const labels = { sessionId: 'of-root', userId: 'ann', tags: ['a', 'b', 'no\u{FFFD}text'], rootLabels: 1 };
      for (const [number, spans] of [
        [call, root],
        [root, call],
      ].entries()) {
        for (const span of spans) await ingest({ ...span, traceId: traceId(number) });
        expect(await traces.findSummaries(ALL, traceId(number), null)).toMatchObject([labels]);
      }
      const key = { traceId: traceId(1), traceRef: traceRefOf(TEAM_KEY, traceId(1)) };
      expect(await traces.redact([key], new Date(START_MS))).toMatchObject([NO_LABELS]);
    });

    it('lists the frameworks of the spans and the source of the run', async () => {
      const source = { type: 'github', url: 'https://example.com/1', title: 'Fix it', user: 'ann' } as const;
      await ingest(aSpan({ spanId: spanId(2), parentSpanId: spanId(1), framework: 'openai' }));
      await ingest(aSpan({ framework: 'langchain', source }), aSpan({ spanId: spanId(3), framework: '' }));
      const [summary] = await traces.listSummaries(ALL, EVER, 10);
      expect([summary?.frameworks, summary?.source, summary?.redactedAt]).toEqual([
        ['langchain', 'openai'],
        source,
        null,
      ]);
    });
  });
}
