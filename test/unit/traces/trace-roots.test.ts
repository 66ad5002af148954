import { describe, expect, it } from 'vitest';
import { packedOfText, packedText } from '../../../src/domain/traces/packed-text.ts';
import { spanRows } from '../../../src/domain/traces/span-rows.ts';
import type { SpanHead } from '../../../src/domain/traces/span.ts';
import { growSummary, tallyOf, type TraceSummary } from '../../../src/domain/traces/trace.ts';
import { aSpan, headOf, nsAt, spanId, START_MS, TEAM_KEY, traceId } from '../../ports/samples.ts';
import { permutationsOf } from '../../support/permutations.ts';

const IDENTITY = { traceId: traceId(1), traceRef: 'R', owner: TEAM_KEY };
const GITHUB = { type: 'github', url: 'https://example.com/1', title: 'Fix it', user: 'ann' } as const;

/** A span with a number in its id and name. It begins `ms` after the start of the trace. */
const head = (number: number, ms: number, overrides: Partial<SpanHead> = {}): SpanHead =>
  headOf(
    aSpan({
      spanId: spanId(number),
      startNs: nsAt(START_MS + ms),
      endNs: nsAt(START_MS + 1_000),
      type: 'chain',
      name: `run ${number}`,
      service: `service ${number}`,
      inputPreview: `said ${number}`,
      ...overrides,
    }),
  );
/** A child of span 1. */
const childOfFirst = (number: number, ms: number, overrides: Partial<SpanHead> = {}): SpanHead =>
  head(number, ms, { parentSpanId: spanId(1), ...overrides });

const grownBy = (batches: readonly (readonly SpanHead[])[]): TraceSummary | null =>
  batches.reduce<TraceSummary | null>((grown, batch) => growSummary(grown, IDENTITY, batch), null);

/** All divisions of these spans into batches, in all orders. */
const waysToSend = (spans: readonly SpanHead[]): readonly (readonly (readonly SpanHead[])[])[] =>
  permutationsOf(spans).flatMap((order) =>
    Array.from({ length: 2 ** (spans.length - 1) }, (_, cuts) => {
      const pieces: SpanHead[][] = [[]];
      // Each bit of `cuts` says whether a new batch begins between two spans.
      for (const [index, span] of order.entries()) {
        if (index > 0 && (cuts >> (index - 1)) % 2 === 1) pieces.push([]);
        pieces.at(-1)?.push(span);
      }
      return pieces;
    }),
  );

describe('the root of a trace', () => {
  it.each<[string, readonly SpanHead[], Partial<TraceSummary>]>([
    [
      'the earliest of several, with its values and nulls',
      [
        head(1, 5, { status: 'error', source: GITHUB }),
        head(2, 1, { status: 'unset', inputPreview: '' }),
        head(3, 9, { inputPreview: 'late' }),
        childOfFirst(4, 0),
      ],
      { name: 'run 2', service: 'service 2', status: 'unset', source: null, rootNs: nsAt(START_MS + 1) },
    ],
    [
      'the earliest, with its own source',
      [head(1, 1, { source: GITHUB }), head(2, 5, { source: { ...GITHUB, type: 'custom' } }), head(3, 9)],
      { name: 'run 1', source: GITHUB },
    ],
    [
      'the earliest, also without a name and a service',
      [head(1, 1, { name: '', service: '', status: 'error' }), head(2, 2), childOfFirst(3, 0), childOfFirst(4, 3)],
      { name: '', service: '', status: 'error', inputPreview: 'said 1' },
    ],
    [
      'the first by name of several with equal start',
      [head(1, 1, { name: 'b' }), head(2, 1, { name: 'a' }), head(3, 1, { name: 'a', service: 'web' })],
      { name: 'a', service: 'service 2', inputPreview: 'said 1' },
    ],
    [
      'the one with a source of otherwise equal ones',
      [head(1, 1, { source: GITHUB }), head(2, 1, { name: 'run 1', service: 'service 1' }), childOfFirst(3, 1)],
      { name: 'run 1', source: GITHUB },
    ],
    [
      'null without a root, with the service of the earliest span',
      [childOfFirst(2, 2), childOfFirst(3, 1), childOfFirst(4, 1, { service: '' }), childOfFirst(5, 1)],
      { name: '', status: 'unset', source: null, rootNs: null, service: 'service 3', inputPreview: '' },
    ],
  ])('is %s, for any order and batches of its spans', (_which, spans, expected) => {
    const fromOneBatch = grownBy([spans]);
    expect(fromOneBatch).toMatchObject(expected);
    for (const pieces of waysToSend(spans)) expect(grownBy(pieces)).toEqual(fromOneBatch);
  });

  it('keeps the name of a trace that was stored without the start of its root, unless a root before its first span arrives', () => {
    const stored = grownBy([[head(1, 5), childOfFirst(2, 3)]]);
    if (stored === null) throw new Error('Spans must give a summary.');
    const before: TraceSummary = { ...stored, rootNs: null };
    const later = growSummary(before, IDENTITY, [head(3, 4)]);
    expect([later.name, later.service, later.inputPreview]).toEqual(['run 1', 'service 1', 'said 1']);
    const earlier = growSummary(later, IDENTITY, [head(4, 2)]);
    expect([earlier.name, earlier.service, earlier.inputPreview]).toEqual(['run 4', 'service 4', 'said 4']);
  });

  it('is the same in the packed text that a thread returns', () => {
    const spans = [head(1, 5), head(2, 1, { source: GITHUB, inputPreview: '' })];
    const rows = spanRows(spans.map((span, index) => ({ head: span, payload: { kind: 'body', at: index } })));
    const spanIds = spans.map((span) => span.spanId);
    const trace = { traceId: traceId(1), tally: tallyOf(spans), spanIds, rows, callAncestors: [] };
    const [restored] = packedOfText(packedText({ traces: [trace], calls: [] })).traces;
    expect(restored?.tally).toEqual(tallyOf(spans));
    expect(restored?.tally.root).toEqual({
      name: 'run 2',
      service: 'service 2',
      status: 'ok',
      source: GITHUB,
      rootNs: nsAt(START_MS + 1),
    });
  });
});
