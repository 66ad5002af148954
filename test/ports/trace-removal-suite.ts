import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { DEFAULT_OTLP_LIMITS } from '../../src/domain/traces/otlp-limits.ts';
import type { TraceKey, TraceStore } from '../../src/domain/traces/store.ts';
import { NO_LABELS } from '../../src/domain/traces/trace-labels.ts';
import { traceRefOf } from '../../src/persistence/traces/trace-ref.ts';
import { packExport } from '../../src/ingest/pack-export.ts';
import { aTracePacker } from '../support/trace-packer.ts';
import type { Engine, ScratchDatabase } from './engines.ts';
import { ALL, aSpan, OTHER_TEAM_KEY, picos, spanId, START_MS, TEAM_KEY, traceId } from './samples.ts';

const attribute = (key: string, stringValue: string) => ({ key, value: { stringValue } });

interface SpanText {
  readonly trace: number;
  readonly span: number;
  readonly says: string;
}

/** Packed JSON export. Each span has its text in the resource, status, attributes and event. */
const exportOf = (...spans: readonly SpanText[]) => {
  const bytes = Buffer.from(
    JSON.stringify({
      resourceSpans: spans.map(({ trace, span, says }) => ({
        resource: { attributes: [attribute('host', says)] },
        scopeSpans: [
          {
            scope: { name: 'suite' },
            spans: [
              {
                traceId: traceId(trace),
                spanId: spanId(span),
                name: 'chat',
                startTimeUnixNano: `${START_MS}000000`,
                endTimeUnixNano: `${START_MS + 5}000000`,
                status: { code: 2, message: says },
                attributes: [
                  attribute('gen_ai.operation.name', 'chat'),
                  attribute('gen_ai.prompt', says),
                  attribute('gen_ai.completion', says),
                  attribute('litellm.source.type', 'custom'),
                  attribute('litellm.source.url', 'https://example.com'),
                  attribute('litellm.source.title', says),
                ],
                events: [{ name: 'e', timeUnixNano: '1', attributes: [attribute('said', says)] }],
              },
            ],
          },
        ],
      })),
    }),
  );
  return packExport({ bytes, contentType: 'application/json', contentEncoding: undefined }, DEFAULT_OTLP_LIMITS);
};

const keyOf = (trace: number, owner = TEAM_KEY): TraceKey => ({
  traceId: traceId(trace),
  traceRef: traceRefOf(owner, traceId(trace)),
});

/** Contract of every TraceStore about removal and redaction. */
export function traceRemovalSuite(engine: Engine): void {
  describe.skipIf(engine.skipReason !== null)(`TraceStore on ${engine.name}: removal and redaction`, () => {
    let scratch: ScratchDatabase;
    let traces: TraceStore;
    const bodies = aTracePacker();
    beforeAll(async () => {
      scratch = await engine.create();
      traces = (await scratch.open({ bodies })).traces;
    });
    afterEach(() => scratch.clear());
    afterAll(async () => {
      await scratch.remove();
      await bodies.close();
    });

    const everything = (): Promise<string> => scratch.allContent();
    const heldBy = async (): Promise<readonly number[]> => (await scratch.storedBodies()).map((body) => body.heldBy);
    const secretSpan = aSpan({
      spanId: spanId(9),
      gateway: true,
      cost: picos(7n),
      input: 'secret',
      output: 'secret',
      inputPreview: 'secret',
      error: 'secret',
      attributes: { a: 'secret' },
      events: [{ name: 'e', timeNs: 1n, attributes: { a: 'secret' } }],
    });

    /** Stores trace 1 with secrets, in its own body and in bodies that it shares with other traces. */
    async function storeTraces(): Promise<void> {
      await traces.ingestExport(
        TEAM_KEY,
        exportOf(
          { trace: 1, span: 1, says: 'secret' },
          { trace: 2, span: 1, says: 'kept' },
          // Duplicate span: not stored as a span, but contained in the body.
          { trace: 1, span: 1, says: 'secret again' },
        ),
      );
      await traces.ingestExport(TEAM_KEY, exportOf({ trace: 1, span: 2, says: 'secret' }));
      // This export contains no new span of trace 1.
      await traces.ingestExport(
        TEAM_KEY,
        exportOf({ trace: 1, span: 2, says: 'secret resent' }, { trace: 3, span: 1, says: 'kept' }),
      );
      await traces.ingest([{ owner: TEAM_KEY, spans: [secretSpan] }]);
      await traces.ingestExport(OTHER_TEAM_KEY, exportOf({ trace: 1, span: 1, says: 'of others' }));
    }

    it('leaves nothing of a removed trace, and all other traces complete', async () => {
      await storeTraces();
      const before = await traces.findSpan([keyOf(2)], spanId(1));
      expect(await everything()).toContain('secret');
      expect(await traces.remove([keyOf(1), keyOf(8)])).toBe(1);
      const content = await everything();
      expect(content).not.toContain('secret');
      expect([content.includes('kept'), content.includes('of others')]).toEqual([true, true]);
      expect(await traces.findSpan([keyOf(2)], spanId(1))).toEqual(before);
      expect((await traces.findSpan([keyOf(3)], spanId(1)))?.input).toBe('kept');
      expect((await traces.findSummaries(ALL, traceId(1), null)).map(({ owner }) => owner)).toEqual([OTHER_TEAM_KEY]);
      expect((await traces.findSpan([keyOf(1, OTHER_TEAM_KEY)], spanId(1)))?.input).toBe('of others');
      expect(await traces.remove([keyOf(1)])).toBe(0);
      expect(await traces.remove([keyOf(2), keyOf(3), keyOf(1, OTHER_TEAM_KEY)])).toBe(3);
      expect(await heldBy()).toEqual([]);
    });

    it('removes the content of a trace, and leaves its structure', async () => {
      await storeTraces();
      const [summary] = await traces.findSummaries(ALL, traceId(1), keyOf(1).traceRef);
      const heads = (await traces.listSpans([keyOf(1)])).get(keyOf(1).traceRef);
      const redactedAt = new Date(START_MS);
      const redacted = { ...summary, inputPreview: '', source: null, redactedAt, ...NO_LABELS };
      expect(await traces.redact([keyOf(1), keyOf(8)], redactedAt)).toEqual([redacted]);
      expect(await traces.findSummaries(ALL, traceId(1), keyOf(1).traceRef)).toEqual([redacted]);
      const content = await everything();
      expect(content).not.toContain('secret');
      expect([content.includes('kept'), content.includes('of others')]).toEqual([true, true]);
      expect((await traces.listSpans([keyOf(1)])).get(keyOf(1).traceRef)).toEqual(
        heads?.map((head) => ({ ...head, inputPreview: '', error: null, source: null })),
      );
      const nothing = { input: '', output: '', attributes: {}, resourceAttributes: {}, events: [], links: [] };
      for (const span of [1, 2, 9]) expect(await traces.findSpan([keyOf(1)], spanId(span))).toMatchObject(nothing);
      expect((await traces.findSpan([keyOf(2)], spanId(1)))?.input).toBe('kept');
      // The bodies of traces 2 and 3, and of the trace of the other team.
      expect(await heldBy()).toEqual([1, 1, 1]);
    });

    it('ignores a resend of redacted spans, stores later spans, and removes the trace like any other', async () => {
      await storeTraces();
      await traces.redact([keyOf(1)], new Date(START_MS));
      expect(await traces.ingestExport(TEAM_KEY, exportOf({ trace: 1, span: 1, says: 'secret' }))).toEqual([]);
      expect(await everything()).not.toContain('secret');
      const [grown] = await traces.ingestExport(TEAM_KEY, exportOf({ trace: 1, span: 5, says: 'later' }));
      // Spans 1, 2, 5 and 9.
      expect([grown?.spanCount, grown?.redactedAt]).toEqual([4, new Date(START_MS)]);
      expect((await traces.findSpan([keyOf(1)], spanId(5)))?.input).toBe('later');
      expect(await traces.remove([keyOf(1)])).toBe(1);
      expect(await everything()).not.toContain('later');
    });

    it.each([
      ['a NUL', 'a\0b'],
      ['a lone surrogate', 'a\ud800b'],
    ])('stores, redacts and removes a trace whose ids have %s', async (_what, id) => {
      const [storedId, otherId] = ['a\u{FFFD}b', 'a\u{FFFD}c'];
      const key = { traceId: id, traceRef: traceRefOf(TEAM_KEY, storedId) };
      await traces.ingest([{ owner: TEAM_KEY, spans: [{ ...secretSpan, traceId: id, spanId: id }] }]);
      const [grown] = await traces.ingest([
        {
          owner: TEAM_KEY,
          spans: [id, otherId].map((one) => ({ ...secretSpan, traceId: id, spanId: one, requestId: id })),
        },
      ]);
      expect(grown).toMatchObject({ traceId: storedId, traceRef: key.traceRef, spanCount: 2 });
      expect((await traces.findSpan([key], id))?.spanId).toBe(storedId);
      expect((await traces.redact([key], new Date(START_MS))).map(({ traceId: redacted }) => redacted)).toEqual([
        storedId,
      ]);
      expect(await everything()).not.toContain('secret');
      expect(await traces.remove([key])).toBe(1);
      expect(await traces.remove([{ traceId: 'a', traceRef: id }])).toBe(0);
    });

    it('removes and redacts traces of one body concurrently', async () => {
      const several = [1, 2, 3, 4, 5].map((trace) => ({ trace, span: 1, says: `said-${trace}` }));
      await traces.ingestExport(TEAM_KEY, exportOf(...several));
      const secondStore = (await scratch.open({ bodies })).traces;
      const removed = await Promise.all([
        traces.remove([keyOf(1)]),
        secondStore.remove([keyOf(2)]),
        traces.redact([keyOf(3)], new Date(START_MS)),
        secondStore.remove([keyOf(4)]),
      ]);
      expect([removed[0], removed[1], removed[2].length, removed[3]]).toEqual([1, 1, 1, 1]);
      const content = await everything();
      expect([1, 2, 3, 4, 5].filter((trace) => content.includes(`said-${trace}`))).toEqual([5]);
      expect(await heldBy()).toEqual([1]);
      expect((await traces.findSpan([keyOf(5)], spanId(1)))?.input).toBe('said-5');
    });
  });
}
