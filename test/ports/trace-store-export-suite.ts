import { gunzipSync, gzipSync, zstdDecompressSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Owner } from '../../src/domain/caller.ts';
import type { PackedExport, SentExport } from '../../src/domain/traces/packed.ts';
import type { Span } from '../../src/domain/traces/span.ts';
import type { TraceStore } from '../../src/domain/traces/store.ts';
import type { TraceSummary, TraceWindow } from '../../src/domain/traces/trace.ts';
import { traceRefOf } from '../../src/persistence/traces/trace-ref.ts';
import { packExport } from '../../src/ingest/pack-export.ts';
import { DEFAULT_OTLP_LIMITS } from '../../src/domain/traces/otlp-limits.ts';
import { decodeExport } from '../../src/wire/otlp/decode.ts';
import { protobufOf } from '../support/otlp-oracle.ts';
import { readSpans } from '../support/read-spans.ts';
import { aTracePacker } from '../support/trace-packer.ts';
import type { Engine, ScratchDatabase } from './engines.ts';
import { ALL, OTHER_TEAM_KEY, START_MS, TEAM_KEY, aSpan, headOf, spanId, traceId } from './samples.ts';

const EVER: TraceWindow = { startMs: 0, endMs: Number.MAX_SAFE_INTEGER, after: null };

interface ExportedSpan {
  readonly trace: number;
  readonly span: number;
  readonly says?: string;
  /** Start in ms after the first span. */
  readonly at?: number;
}

const attribute = (key: string, stringValue: string) => ({ key, value: { stringValue } });

const aJsonExport = (spans: readonly ExportedSpan[]): unknown => ({
  resourceSpans: [
    {
      resource: { attributes: [attribute('service.name', 'sender'), attribute('litellm.team_id', 'a lie')] },
      scopeSpans: [
        {
          scope: { name: 'suite' },
          spans: spans.map(({ trace, span, says = `${trace}-${span}`, at = 0 }) => ({
            traceId: traceId(trace),
            spanId: spanId(span),
            name: `span ${span}`,
            startTimeUnixNano: `${START_MS + at}000000`,
            endTimeUnixNano: `${START_MS + at + 5}000000`,
            attributes: [
              attribute('gen_ai.operation.name', 'chat'),
              attribute('gen_ai.prompt', `asked ${says}`),
              attribute('gen_ai.completion', `told ${says}`),
              { key: 'wide', value: { intValue: '9007199254740993' } },
            ],
          })),
        },
      ],
    },
  ],
});

/** Encodings of a sent body. */
const KINDS = {
  'gzipped protobuf': (spans: readonly ExportedSpan[]): SentExport => ({
    bytes: gzipSync(protobufOf(aJsonExport(spans))),
    contentType: 'application/x-protobuf',
    contentEncoding: 'gzip',
  }),
  'plain protobuf': (spans: readonly ExportedSpan[]): SentExport => ({
    bytes: protobufOf(aJsonExport(spans)),
    contentType: 'application/x-protobuf',
    contentEncoding: undefined,
  }),
  'plain JSON': (spans: readonly ExportedSpan[]): SentExport => ({
    bytes: Buffer.from(JSON.stringify(aJsonExport(spans))),
    contentType: 'application/json',
    contentEncoding: undefined,
  }),
} as const;

const packed = (sentExport: SentExport): PackedExport => packExport(sentExport, DEFAULT_OTLP_LIMITS);

/** Expected spans of a sent export. */
const spansIn = ({ bytes, contentType, contentEncoding }: SentExport, owner: Owner): readonly Span[] =>
  readSpans(decodeExport(contentEncoding === 'gzip' ? gunzipSync(bytes) : bytes, contentType), owner);

const keyOf = (trace: number, owner: Owner = TEAM_KEY) => ({
  traceId: traceId(trace),
  traceRef: traceRefOf(owner, traceId(trace)),
});

/** Contract of every TraceStore about exports. Their payloads stay in the stored bodies. */
export function traceStoreExportSuite(engine: Engine): void {
  describe.skipIf(engine.skipReason !== null)(`TraceStore on ${engine.name}: exports`, () => {
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

    const ingestSent = (sentExport: SentExport, owner: Owner = TEAM_KEY): Promise<readonly TraceSummary[]> =>
      traces.ingestExport(owner, packed(sentExport));
    /** Number of spans that refer to each stored body, and its text. */
    async function storedBodies() {
      return (await scratch.storedBodies()).map(({ heldBy, compression, bytes }) => ({
        heldBy,
        text: (compression === 'gzip' ? gunzipSync(bytes) : zstdDecompressSync(bytes)).toString('latin1'),
      }));
    }
    const heldBy = async (): Promise<readonly number[]> => (await storedBodies()).map((body) => body.heldBy);

    describe.each(Object.entries(KINDS))('as %s', (_kind, sentAs) => {
      it('returns every span of an export complete, with its owner', async () => {
        const sentExport = sentAs([
          { trace: 1, span: 1 },
          { trace: 2, span: 1 },
          { trace: 1, span: 2, says: 'something \u{1F600}' },
        ]);
        const summaries = await ingestSent(sentExport, OTHER_TEAM_KEY);
        expect(summaries.map(({ spanCount, service }) => [spanCount, service])).toEqual([
          [2, 'sender'],
          [1, 'sender'],
        ]);
        for (const span of spansIn(sentExport, OTHER_TEAM_KEY)) {
          const key = keyOf(span.traceId === traceId(1) ? 1 : 2, OTHER_TEAM_KEY);
          expect(await traces.findSpan([key], span.spanId)).toEqual(span);
          expect((await traces.listSpans([key])).get(key.traceRef)).toContainEqual(headOf(span));
        }
        const firstTrace = keyOf(1, OTHER_TEAM_KEY);
        const added = aSpan({ traceId: traceId(1), spanId: spanId(7), input: 'later' });
        await traces.ingest([{ owner: OTHER_TEAM_KEY, spans: [added] }]);
        const [first, , second] = spansIn(sentExport, OTHER_TEAM_KEY);
        const ids = [spanId(2), spanId(9), spanId(7), spanId(1)];
        expect(await traces.findSpans(firstTrace, ids)).toEqual([second, added, first]);
        expect(await traces.findSpans(firstTrace, [])).toEqual([]);
        expect(await traces.findSpans(keyOf(1), [spanId(1)])).toEqual([]);
        // The team of the owner replaces the team that the sender claims.
        expect((await traces.findSpan([keyOf(1, OTHER_TEAM_KEY)], spanId(1)))?.resourceAttributes).toEqual({
          'service.name': 'sender',
          'litellm.team_id': 'team-b',
        });
        expect(await heldBy()).toEqual([3]);
      });

      it('removes a trace from a body that other traces share, and leaves the others complete', async () => {
        const sentExport = sentAs([
          { trace: 1, span: 1, says: 'first-secret' },
          { trace: 2, span: 1, at: 1 },
          { trace: 1, span: 2, says: 'second-secret' },
          { trace: 2, span: 2, at: 1 },
        ]);
        await ingestSent(sentExport);
        expect(await traces.removeStartedBefore(START_MS + 1, 10)).toBe(1);
        expect(await traces.findSummaries(ALL, traceId(1), null)).toEqual([]);
        expect(await traces.findSpan([keyOf(1)], spanId(1))).toBeNull();
        const [body] = await storedBodies();
        expect(body?.heldBy).toBe(2);
        expect(body?.text).not.toContain('secret');
        const others = spansIn(sentExport, TEAM_KEY).filter((span) => span.traceId === traceId(2));
        for (const span of others) expect(await traces.findSpan([keyOf(2)], span.spanId)).toEqual(span);
        expect(await traces.removeStartedBefore(START_MS + 2, 10)).toBe(1);
        expect(await heldBy()).toEqual([]);
      });
    });

    const sentAs = KINDS['gzipped protobuf'];

    it('stores no second body of a resend, and only the new spans of a partial resend', async () => {
      const first = sentAs([
        { trace: 1, span: 1 },
        { trace: 1, span: 2 },
      ]);
      const [before] = await ingestSent(first);
      expect(await ingestSent(first)).toEqual([]);
      expect(await heldBy()).toEqual([2]);
      const more = sentAs([
        { trace: 1, span: 2, says: 'changed' },
        { trace: 1, span: 3 },
      ]);
      const [grown] = await ingestSent(more);
      expect([before?.spanCount, grown?.spanCount]).toEqual([2, 3]);
      expect(await heldBy()).toEqual([2, 1]);
      expect((await traces.findSpan([keyOf(1)], spanId(2)))?.input).toBe('asked 1-2');
      expect((await traces.findSpan([keyOf(1)], spanId(3)))?.input).toBe('asked 1-3');
    });

    it('stores the first version of a span that an export contains twice', async () => {
      const [summary] = await ingestSent(
        sentAs([
          { trace: 1, span: 1, says: 'first' },
          { trace: 1, span: 1, says: 'second' },
        ]),
      );
      expect(summary?.spanCount).toBe(1);
      expect((await traces.findSpan([keyOf(1)], spanId(1)))?.input).toBe('asked first');
      expect(await heldBy()).toEqual([1]);
    });

    it('counts a span once when concurrent exports contain it', async () => {
      const exports = Array.from({ length: 6 }, (_, number) =>
        ingestSent(
          sentAs([
            { trace: 1, span: 1, says: `of ${number}` },
            { trace: 1, span: 10 + number },
          ]),
        ),
      );
      await Promise.all(exports);
      const [summary] = await traces.findSummaries(ALL, traceId(1), null);
      expect(summary?.spanCount).toBe(7);
      // One of the six exports has stored the common span.
      expect((await heldBy()).toSorted((left, right) => left - right)).toEqual([1, 1, 1, 1, 1, 2]);
      for (let number = 0; number < 6; number += 1)
        expect((await traces.findSpan([keyOf(1)], spanId(10 + number)))?.input).toBe(`asked 1-${10 + number}`);
    });

    it('stores a body for each export of a shared commit, and none for an export without new spans', async () => {
      const numbers = Array.from({ length: 40 }, (_, index) => index + 1);
      const known = numbers.filter((trace) => trace % 3 === 0);
      for (const trace of known) await ingestSent(sentAs([{ trace, span: 1 }]));
      await Promise.all(numbers.map((trace) => ingestSent(sentAs([{ trace, span: 1 }]))));
      expect(await heldBy()).toEqual(numbers.map(() => 1));
      for (const trace of numbers)
        expect((await traces.findSpan([keyOf(trace)], spanId(1)))?.input).toBe(`asked ${trace}-1`);
    });

    it('keeps spans of an export and spans without an export in one trace', async () => {
      const separate = aSpan({ spanId: spanId(9), parentSpanId: spanId(1), input: 'without an export' });
      await traces.ingest([{ owner: TEAM_KEY, spans: [separate] }]);
      const [summary] = await ingestSent(sentAs([{ trace: 1, span: 1 }]));
      expect([summary?.spanCount, summary?.name]).toEqual([2, 'span 1']);
      expect(await traces.findSpan([keyOf(1)], spanId(9))).toEqual(separate);
      expect((await traces.findSpan([keyOf(1)], spanId(1)))?.output).toBe('told 1-1');
      expect(await traces.removeStartedBefore(START_MS + 1, 10)).toBe(1);
      expect(await heldBy()).toEqual([]);
    });

    it('deletes the oldest traces before a time first, up to the limit, and no newer trace', async () => {
      for (const trace of [3, 1, 5, 2, 4]) await ingestSent(sentAs([{ trace, span: 1, at: trace }]));
      const remainingIds = async (): Promise<readonly string[]> =>
        (await traces.listSummaries(ALL, EVER, 10)).map((summary) => summary.traceId);
      expect(await traces.removeStartedBefore(START_MS + 4, 2)).toBe(2);
      expect(await remainingIds()).toEqual([traceId(5), traceId(4), traceId(3)]);
      expect(await traces.removeStartedBefore(START_MS + 4, 2)).toBe(1);
      expect(await traces.removeStartedBefore(START_MS + 4, 2)).toBe(0);
      expect(await remainingIds()).toEqual([traceId(5), traceId(4)]);
      expect(await heldBy()).toEqual([1, 1]);
    });

    it('creates a trace again from spans that arrive after its removal', async () => {
      await ingestSent(sentAs([{ trace: 1, span: 1 }]));
      await traces.removeStartedBefore(START_MS + 1, 10);
      const [summary] = await ingestSent(sentAs([{ trace: 1, span: 1 }]));
      expect(summary?.spanCount).toBe(1);
      expect((await traces.findSpan([keyOf(1)], spanId(1)))?.input).toBe('asked 1-1');
    });

    it('counts the bytes of waiting bodies', async () => {
      // Numbers that gzip compresses little.
      const large = sentAs([
        { trace: 1, span: 1, says: Array.from({ length: 9_000 }, (_, index) => index * 7919).join() },
      ]);
      const limited = (await scratch.open({ bodies, ingestLimit: { rows: 1_000, bytes: large.bytes.length } })).traces;
      const waiting = limited.ingestExport(TEAM_KEY, packed(large));
      await expect(limited.ingestExport(TEAM_KEY, packed(sentAs([{ trace: 2, span: 1 }])))).rejects.toThrow(
        'Too much is waiting to be stored.',
      );
      expect((await waiting).length).toBe(1);
    });
  });
}
