import { Migrator } from '@mikro-orm/migrations';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PackedExport } from '../../src/domain/traces/packed.ts';
import { SPAN_ROW_MEMBERS } from '../../src/domain/traces/span-rows.ts';
import { DEFAULT_OTLP_LIMITS } from '../../src/domain/traces/otlp-limits.ts';
import type { Stores } from '../../src/persistence/stores.ts';
import { traceRefOf } from '../../src/persistence/traces/trace-ref.ts';
import { packExport } from '../../src/ingest/pack-export.ts';
import { aTracePacker } from '../support/trace-packer.ts';
import { ENGINES, type ScratchDatabase } from './engines.ts';
import { aSpan, START_MS, spanId, TEAM_KEY, traceId } from './samples.ts';

/** The migration before the one that adds span blocks. */
const PREVIOUS_MIGRATION = 'Migration20261121110000_gateway_calls';

/** Spans of a trace by number. */
interface SpanNumbers {
  readonly trace: number;
  readonly spans: readonly number[];
}

const numbersFrom = (first: number, count: number): readonly number[] =>
  Array.from({ length: count }, (_, index) => first + index);
const textOf = (trace: number, span: number): string => `says \u{1F600} ö ${trace}.${span}!`;

/** A sent span. */
interface SentSpan {
  readonly trace: number;
  readonly span: number;
  readonly attributes: readonly object[];
}

function anExportOf(sent: readonly SentSpan[]): PackedExport {
  const spans = sent.map(({ trace, span, attributes }) => ({
    traceId: traceId(trace),
    spanId: spanId(span),
    name: textOf(trace, span),
    startTimeUnixNano: `${START_MS + span}000001`,
    endTimeUnixNano: `${START_MS + span}000002`,
    attributes,
  }));
  const bytes = Buffer.from(JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] }));
  return packExport({ bytes, contentType: 'application/json', contentEncoding: undefined }, DEFAULT_OTLP_LIMITS);
}

const anExport = (...exports: readonly SpanNumbers[]): PackedExport =>
  anExportOf(
    exports.flatMap(({ trace, spans }) =>
      spans.map((span) => ({
        trace,
        span,
        attributes: [{ key: 'gen_ai.prompt', value: { stringValue: textOf(trace, span) } }],
      })),
    ),
  );

const keyOf = (trace: number) => ({ traceId: traceId(trace), traceRef: traceRefOf(TEAM_KEY, traceId(trace)) });

it('the order of the columns of a block changes only with a migration of the blocks', () => {
  const first = ['spanId', 'parentSpanId', 'name', 'kind', 'type', 'agent', 'service', 'startNs', 'endNs', 'status'];
  const next = ['error', 'model', 'inputTokens', 'outputTokens', 'inputPreview', 'requestId', 'cost', 'bodyAt'];
  const last = ['payload', 'provider', 'framework', 'callId', 'gateway', 'source', 'estimate'];
  expect(SPAN_ROW_MEMBERS).toEqual([...first, ...next, ...last]);
});

for (const engine of ENGINES)
  describe.skipIf(engine.skipReason !== null)(`the first spans of traces, on ${engine.name}`, () => {
    let scratch: ScratchDatabase;
    let stores: Stores;
    beforeEach(async () => {
      scratch = await engine.create();
      stores = await scratch.open({ bodies: aTracePacker() });
    });
    afterEach(() => scratch.remove());

    const store = (...exports: readonly SpanNumbers[]) => stores.traces.ingestExport(TEAM_KEY, anExport(...exports));

    /** Numbers of rows in `span`, and in `sheet_trace`, which has one row for each trace with a span block. */
    async function counts(): Promise<readonly number[]> {
      const { orm } = await scratch.openBare();
      const db = orm.em.fork().getKysely<never>();
      const { rows } = await sql<{ spans: number | string; traces: number | string }>`
        select (select count(*) from span) as spans, (select count(*) from sheet_trace) as traces`.execute(db);
      return rows.flatMap(({ spans, traces }) => [Number(spans), Number(traces)]);
    }

    /** Name and input of each span of a trace. */
    async function storedSpans(
      trace: number,
    ): Promise<readonly (readonly [name: string, input: string | undefined])[]> {
      const heads = (await stores.traces.listSpans([keyOf(trace)])).get(keyOf(trace).traceRef) ?? [];
      return Promise.all(
        heads.map(async ({ name, spanId: id }) => {
          const span = await stores.traces.findSpan([keyOf(trace)], id);
          return [name, span?.input] as const;
        }),
      );
    }

    const expectedSpans = (trace: number, spans: readonly number[]) =>
      spans.map((span) => [textOf(trace, span), textOf(trace, span)] as const);

    it('become rows when a trace gets notes on its calls, and are removed completely with the trace', async () => {
      await store({ trace: 1, spans: [1, 2] }, { trace: 2, spans: [3] });
      const before = await storedSpans(1);
      const call = { traceId: traceId(1), name: 'late' };
      const late = [7, 8, 9].map((number) => aSpan({ ...call, spanId: spanId(number), gateway: number === 8 }));
      for (const span of late.slice(0, 2)) await stores.traces.ingest([{ owner: TEAM_KEY, spans: [span] }]);
      // The two late spans. The calls of a small trace are counted without rows.
      expect(await counts()).toEqual([2, 2]);
      const { traces } = await scratch.open({ notesFrom: 0 });
      for (const span of late.slice(2)) await traces.ingest([{ owner: TEAM_KEY, spans: [span] }]);
      // The two spans of the block, and the three late ones.
      expect(await counts()).toEqual([5, 2]);
      expect((await storedSpans(1)).filter(([name]) => name !== 'late')).toEqual(before);
      expect(await stores.traces.ingestExport(TEAM_KEY, anExport({ trace: 1, spans: [1, 2] }))).toEqual([]);
      expect(await scratch.allContent()).toContain(textOf(1, 1));
      expect(await stores.traces.remove([keyOf(1)])).toBe(1);
      expect(await scratch.allContent()).not.toContain(textOf(1, 1));
      expect(await counts()).toEqual([0, 1]);
      expect(await storedSpans(2)).toEqual([[textOf(2, 3), textOf(2, 3)]]);
    });

    it('count once with a later span of the same call, and stay in their block', async () => {
      const aCall = (span: number): SentSpan => ({
        trace: 1,
        span,
        attributes: [
          { key: 'gen_ai.operation.name', value: { stringValue: 'chat' } },
          { key: 'gen_ai.response.id', value: { stringValue: `answer-${span}` } },
          { key: 'gen_ai.usage.input_tokens', value: { intValue: span } },
          { key: 'gen_ai.usage.output_tokens', value: { intValue: 10 * span } },
        ],
      });
      const [first] = await stores.traces.ingestExport(TEAM_KEY, anExportOf([aCall(1), aCall(2)]));
      expect(first).toMatchObject({ llmCalls: 2, gatewayCalls: 0, inputTokens: 3, outputTokens: 30 });
      const answer = { requestId: 'answer-1', inputTokens: 100, outputTokens: 200 };
      const call = aSpan({ traceId: traceId(1), spanId: spanId(3), parentSpanId: null, gateway: true, ...answer });
      const [grown] = await stores.traces.ingest([{ owner: TEAM_KEY, spans: [call] }]);
      expect(grown).toMatchObject({ llmCalls: 2, gatewayCalls: 1, inputTokens: 102, outputTokens: 220 });
      expect(await counts()).toEqual([1, 1]);
    });

    it('are stored as a block, and read like later spans', async () => {
      await store({ trace: 1, spans: [1, 3] }, { trace: 2, spans: [1] });
      expect(await counts()).toEqual([0, 2]);
      await store({ trace: 1, spans: [2, 4] }, { trace: 3, spans: [9] });
      expect(await counts()).toEqual([2, 3]);
      expect(await storedSpans(1)).toEqual(expectedSpans(1, [1, 2, 3, 4]));
      expect(await storedSpans(2)).toEqual(expectedSpans(2, [1]));
      expect(await storedSpans(3)).toEqual(expectedSpans(3, [9]));
      const firstPage = await stores.traces.listSpanPage(keyOf(1), null, 3);
      expect(firstPage.map(({ name }) => name)).toEqual([1, 2, 3].map((span) => textOf(1, span)));
      const last = firstPage.at(-1);
      const nextPage = await stores.traces.listSpanPage(keyOf(1), last ?? null, 3);
      expect(nextPage.map(({ name }) => name)).toEqual([textOf(1, 4)]);
    });

    it('are stored once by a second process, with the rest of their export', async () => {
      await store({ trace: 1, spans: [1, 2] });
      const secondProcess = await scratch.open({ bodies: aTracePacker() });
      const again = anExport({ trace: 2, spans: [1] }, { trace: 1, spans: [2, 3] }, { trace: 3, spans: [1, 2] });
      const summaries = await secondProcess.traces.ingestExport(TEAM_KEY, again);
      expect(summaries.map(({ traceId: id, spanCount }) => [id, spanCount])).toEqual([
        [traceId(2), 1],
        [traceId(1), 3],
        [traceId(3), 2],
      ]);
      expect(await secondProcess.traces.ingestExport(TEAM_KEY, again)).toEqual([]);
      expect(await counts()).toEqual([1, 3]);
      expect([await storedSpans(1), await storedSpans(2), await storedSpans(3)]).toEqual([
        expectedSpans(1, [1, 2, 3]),
        expectedSpans(2, [1]),
        expectedSpans(3, [1, 2]),
      ]);
    });

    it('stay with their trace under concurrent exports, some of them sent twice', async () => {
      const exports = Array.from({ length: 23 }, (_, index) => ({
        trace: 1 + (index % 20),
        spans: numbersFrom(1, 1 + (index % 20)),
      }));
      for (const batch of [exports.slice(0, 3), exports.slice(3)])
        await Promise.all(batch.map((spanNumbers) => store(spanNumbers)));
      for (const { trace, spans } of exports) expect(await storedSpans(trace)).toEqual(expectedSpans(trace, spans));
      expect(await counts()).toEqual([0, 20]);
      // Trace n has n spans, and all of them refer to the body of their export.
      expect((await scratch.storedBodies()).map(({ heldBy }) => heldBy).toSorted((a, b) => a - b)).toEqual(
        numbersFrom(1, 20),
      );
    });

    it('are not stored again when they are sent again, alone or with more spans', async () => {
      await store({ trace: 1, spans: [1, 2] });
      await store({ trace: 1, spans: [2, 1] });
      const [grown] = await store({ trace: 1, spans: [1, 2, 3] });
      expect([grown?.spanCount, await counts(), await storedSpans(1)]).toEqual([
        3,
        [1, 1],
        expectedSpans(1, [1, 2, 3]),
      ]);
    });

    it('become rows where they arrive in a second export of one commit', async () => {
      await Promise.all([store({ trace: 1, spans: [1] }), store({ trace: 1, spans: [1, 2] })]);
      expect([await counts(), await storedSpans(1)]).toEqual([[1, 1], expectedSpans(1, [1, 2])]);
    });

    it('become rows when a trace begins with more than a hundred spans', async () => {
      await store({ trace: 1, spans: numbersFrom(1, 100) }, { trace: 2, spans: numbersFrom(1, 101) });
      expect([await counts(), await storedSpans(1)]).toEqual([[101, 1], expectedSpans(1, numbersFrom(1, 100))]);
      expect(await storedSpans(2)).toEqual(expectedSpans(2, numbersFrom(1, 101)));
    });

    it('are deleted with their trace, and other traces are not deleted', async () => {
      await store({ trace: 1, spans: [1, 2] }, { trace: 2, spans: [1] }, { trace: 3, spans: [1, 2] });
      await stores.traces.remove([keyOf(2)]);
      expect([await counts(), await storedSpans(2)]).toEqual([[0, 2], []]);
      expect((await scratch.allContent()).includes(textOf(2, 1))).toBe(false);
      expect([await storedSpans(1), await storedSpans(3)]).toEqual([
        expectedSpans(1, [1, 2]),
        expectedSpans(3, [1, 2]),
      ]);
      await stores.traces.remove([keyOf(1), keyOf(3)]);
      expect([await counts(), await scratch.storedBodies()]).toEqual([[0, 0], []]);
    });

    it('become rows and keep their structure after redaction', async () => {
      await store({ trace: 1, spans: [1, 2] }, { trace: 2, spans: [1] });
      await stores.traces.redact([keyOf(1)], new Date(START_MS));
      expect(await counts()).toEqual([2, 1]);
      expect(await storedSpans(1)).toEqual([1, 2].map((span) => [textOf(1, span), '']));
      expect(await storedSpans(2)).toEqual(expectedSpans(2, [1]));
    });

    it('become rows in the migration down, and are read from these rows', async () => {
      await store({ trace: 1, spans: [1, 2] }, { trace: 2, spans: [1] });
      const before = [
        await stores.traces.listSpans([keyOf(1), keyOf(2)]),
        await stores.traces.findSpan([keyOf(1)], spanId(2)),
      ];
      const migrator = new Migrator((await scratch.openBare()).orm.em);
      await migrator.down({ to: PREVIOUS_MIGRATION });
      await migrator.up();
      expect(await counts()).toEqual([3, 0]);
      expect([
        await stores.traces.listSpans([keyOf(1), keyOf(2)]),
        await stores.traces.findSpan([keyOf(1)], spanId(2)),
      ]).toEqual(before);
    });
  });
