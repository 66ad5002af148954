import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Span } from '../../src/domain/traces/span.ts';
import type { TraceStore } from '../../src/domain/traces/store.ts';
import { growSummary } from '../../src/domain/traces/trace.ts';
import { traceRefOf } from '../../src/persistence/traces/trace-ref.ts';
import { permutationsOf } from '../support/permutations.ts';
import { randomFrom } from '../support/random.ts';
import type { Engine, ScratchDatabase } from './engines.ts';
import { ALL, aSpan, headOf, nsAt, picos, spanId, START_MS, TEAM_KEY, traceId } from './samples.ts';

/** Numbers of random traces: fewer on ClickHouse, because its commits are slow. */
const TRACE_COUNT = 150;
const TRACE_COUNT_ON_CLICKHOUSE = 10;
const MAX_SPANS = 16;
/** Types of spans. A type that is listed more often is more frequent. */
const TYPES_WITHOUT_LLM = ['embedding', 'embedding', 'chain', 'agent'] as const;
const TYPES = ['llm', 'llm', 'llm', 'llm', 'llm', 'llm', 'chain', 'agent', 'tool', 'embedding'] as const;
const STATUSES = ['ok', 'error', 'unset'] as const;
const SOURCES = [
  null,
  { type: 'github', url: 'https://example.com/1', title: 'Fix it', user: 'ann' },
  { type: 'custom', url: 'https://example.com/2', title: '', user: null },
] as const;
type Random = ReturnType<typeof randomFrom>;

/**
 * Random spans of a trace with all kinds of relations: parent cycles, missing parents, shared request ids, equal start
 * times, and several roots or none.
 */
function randomSpans(number: number, random: Random): readonly Span[] {
  const count = 2 + random(MAX_SPANS - 1);
  const types = random(5) === 0 ? TYPES_WITHOUT_LLM : TYPES;
  /** One of the words. A space at the end adds the empty text. */
  const oneOf = (words: string): string => words.split(' ')[random(words.split(' ').length)] ?? '';
  return Array.from({ length: count }, (_, index) => {
    const type = types[random(types.length)] ?? 'llm';
    const gateway = random(5) === 0;
    const startNs = nsAt(START_MS) + BigInt(random(6));
    return aSpan({
      traceId: traceId(number),
      spanId: spanId(index + 1),
      parentSpanId: random(6) === 0 ? null : spanId(random(count + 3) + 1),
      type,
      gateway,
      cost: gateway && random(3) > 0 ? picos(BigInt(1 + random(1_000))) : null,
      estimate:
        !gateway && (type === 'llm' || type === 'embedding') && random(2) === 0
          ? picos(BigInt(1 + random(1_000)))
          : null,
      requestId: random(3) === 0 ? null : `r-${random(3)}`,
      inputTokens: random(10),
      outputTokens: random(10),
      startNs,
      endNs: startNs + BigInt(random(6)),
      name: oneOf('run call '),
      service: oneOf('web worker '),
      inputPreview: oneOf('one two three '),
      status: STATUSES[random(STATUSES.length)] ?? 'unset',
      source: SOURCES[random(SOURCES.length)] ?? null,
      agent: oneOf('triage writer '),
      framework: oneOf('langchain openai '),
      model: oneOf('demo other '),
    });
  });
}

function shuffled<Item>(items: readonly Item[], random: Random): readonly Item[] {
  const remaining = [...items];
  return items.flatMap(() => remaining.splice(random(remaining.length), 1));
}

/** Splits spans into exports in random order. Some exports repeat earlier spans. */
function exportsOf(spans: readonly Span[], random: Random): readonly (readonly Span[])[] {
  const remaining = [...shuffled(spans, random)];
  const sent: Span[] = [];
  const exports: (readonly Span[])[] = [];
  while (remaining.length > 0) {
    const fresh = remaining.splice(0, 1 + random(4));
    exports.push([...fresh, ...sent.filter(() => random(6) === 0)]);
    sent.push(...fresh);
  }
  return exports;
}

/** Summary of the spans as one export. */
function summaryOf(spans: readonly Span[]) {
  const [first] = spans;
  const id = first?.traceId ?? '';
  const identity = { traceId: id, traceRef: traceRefOf(TEAM_KEY, id), owner: TEAM_KEY };
  return growSummary(null, identity, spans.map(headOf));
}

/**
 * Contract of every TraceStore about traces that arrive in several exports. A trace has notes from `notesFrom` spans.
 * Null means that it never has notes.
 */
export function traceStorePiecesSuite(engine: Engine, notesFrom: number | null): void {
  const notes = notesFrom === null ? 'without notes' : `with notes from ${notesFrom} spans`;
  describe.skipIf(engine.skipReason !== null)(
    `TraceStore on ${engine.name}, ${notes}: traces that arrive in several exports`,
    () => {
      let scratch: ScratchDatabase;
      let traces: TraceStore;
      beforeAll(async () => {
        scratch = await engine.create();
        traces = (await scratch.open({ notesFrom })).traces;
      });
      afterEach(() => scratch.clear());
      afterAll(() => scratch.remove());
      const traceCount = engine.name === 'clickhouse' ? TRACE_COUNT_ON_CLICKHOUSE : TRACE_COUNT;
      const ingest = (spans: readonly Span[]) => traces.ingest([{ owner: TEAM_KEY, spans }]);

      it('have the same summary after each export as after one export of all spans so far', async () => {
        const random = randomFrom(38);
        for (let number = 1; number <= traceCount; number += 1) {
          const spansById = new Map<string, Span>();
          for (const spans of exportsOf(randomSpans(number, random), random)) {
            for (const span of spans) spansById.set(span.spanId, span);
            await ingest(spans);
            const [summary] = await traces.findSummaries(ALL, traceId(number), null);
            expect(summary, `trace ${number}, ${spansById.size} spans`).toEqual(summaryOf([...spansById.values()]));
          }
        }
      });

      it('have the same summary after an export closes a cycle of parents around their last call', async () => {
        const parents = [3, 1, 2] as const;
        const spans = parents.map((parent, index) =>
          aSpan({
            spanId: spanId(index + 1),
            parentSpanId: spanId(parent),
            type: index === 2 ? 'chain' : 'llm',
            inputTokens: 10 ** index,
            outputTokens: 2 * 10 ** index,
          }),
        );
        for (const span of spans) await ingest([span]);
        const [summary] = await traces.findSummaries(ALL, traceId(1), null);
        expect(summary).toEqual(summaryOf(spans));
        expect([summary?.llmCalls, summary?.inputTokens, summary?.outputTokens]).toEqual([0, 111, 222]);
      });

      it('have the same summary when their exports are concurrent with those of other traces', async () => {
        const random = randomFrom(39);
        const spansOfTraces = Array.from({ length: traceCount }, (_, index) => randomSpans(index + 1, random));
        await Promise.all(
          shuffled(
            spansOfTraces.flatMap((spans) => exportsOf(spans, random)),
            random,
          ).map(ingest),
        );
        for (const [index, spans] of spansOfTraces.entries()) {
          const [summary] = await traces.findSummaries(ALL, traceId(index + 1), null);
          expect(summary, `trace ${index + 1}`).toEqual(summaryOf(spans));
        }
      });

      it('have the same summary when two processes receive their exports concurrently', async () => {
        // The processes differ: notes are on in one of them, and off in the other one.
        const secondStore = (await scratch.open({ notesFrom: notesFrom === null ? 0 : null })).traces;
        const random = randomFrom(40);
        for (let number = 1; number <= traceCount; number += 1) {
          const spans = randomSpans(number, random);
          const exports = [...exportsOf(spans, random)];
          while (exports.length > 0) {
            const [first = [], second = []] = exports.splice(0, 2);
            await Promise.all([ingest(first), secondStore.ingest([{ owner: TEAM_KEY, spans: second }])]);
          }
          const [summary] = await traces.findSummaries(ALL, traceId(number), null);
          expect(summary, `trace ${number}`).toEqual(summaryOf(spans));
        }
      });

      it('have the same summary when several reports of the gateway concern one call', async () => {
        const call = aSpan({ spanId: spanId(1), estimate: picos(5n), requestId: 'r-1' });
        const childReport = aSpan({ spanId: spanId(2), parentSpanId: spanId(1), gateway: true, requestId: 'r-2' });
        const reportById = aSpan({ spanId: spanId(3), gateway: true, requestId: 'r-1' });
        // An unrelated call with a very long request id.
        const other = aSpan({ spanId: spanId(4), requestId: 'x'.repeat(100_000) });
        const listedSpans: Span[] = [];
        for (const span of [call, other, childReport, reportById]) {
          listedSpans.push(span);
          const [grown] = await ingest([span]);
          expect(grown).toEqual(summaryOf(listedSpans));
        }
      });

      it('have the same summary in any order of their spans', async () => {
        const noTokens = { inputTokens: 0, outputTokens: 0 };
        const call = aSpan({ spanId: spanId(2), parentSpanId: spanId(1), requestId: 'r-1', ...noTokens });
        const cases = [
          // The outer span repeats the tokens of a call that the gateway made. The gateway called twice.
          [
            aSpan({ spanId: spanId(1) }),
            call,
            aSpan({ spanId: spanId(3), gateway: true, requestId: 'r-1' }),
            aSpan({ spanId: spanId(4), parentSpanId: spanId(2), gateway: true }),
          ],
          // A cycle of two calls and a step.
          [
            aSpan({ spanId: spanId(1), parentSpanId: spanId(3) }),
            call,
            aSpan({ spanId: spanId(3), parentSpanId: spanId(2), type: 'chain' }),
          ],
        ];
        for (const [order, spans] of cases.flatMap(permutationsOf).entries()) {
          const sent: Span[] = [];
          for (const span of spans) {
            sent.push({ ...span, traceId: traceId(order + 1) });
            const [grown] = await ingest(sent.slice(-1));
            expect(grown, `order ${order}, ${sent.length} spans`).toEqual(summaryOf(sent));
          }
        }
      });

      it('count spans that are sent again after the removal of the trace', async () => {
        const ids = { traceId: traceId(1) };
        const outer = aSpan({ ...ids, spanId: spanId(1), estimate: picos(5n) });
        const inner = aSpan({ ...ids, spanId: spanId(2), parentSpanId: spanId(1), gateway: true, cost: picos(9n) });
        await ingest([inner]);
        await ingest([outer]);
        const [before] = await traces.findSummaries(ALL, traceId(1), null);
        expect(before).toEqual(summaryOf([outer, inner]));
        expect(await traces.remove([{ traceId: traceId(1), traceRef: traceRefOf(TEAM_KEY, traceId(1)) }])).toBe(1);
        await ingest([aSpan({ ...ids, spanId: spanId(3), type: 'tool' })]);
        await ingest([outer]);
        const [after] = await traces.findSummaries(ALL, traceId(1), null);
        // The estimate of `outer`, without the removed `inner`.
        expect(after?.spend).toBe(5n);
      });
    },
  );
}
