import { describe, expect, it } from 'vitest';
import { assembleTrace } from '../../../src/domain/traces/assemble-trace.ts';
import { packedOfText, packedText } from '../../../src/domain/traces/packed-text.ts';
import { spanRows } from '../../../src/domain/traces/span-rows.ts';
import type { SpanHead } from '../../../src/domain/traces/span.ts';
import { growSummary, tallyOf, type TraceSummary } from '../../../src/domain/traces/trace.ts';
import { aSpan, headOf, nsAt, spanId, START_MS, TEAM_KEY, traceId } from '../../ports/samples.ts';
import { permutationsOf } from '../../support/permutations.ts';

const IDENTITY = { traceId: traceId(1), traceRef: 'R', owner: TEAM_KEY };
const ROOT = spanId(1);
/** Sort key of a root that does not name the trace. It sorts before all calls. */
const rootAt = (ms: number): bigint => nsAt(START_MS + ms) - 2n ** 63n;

/**
 * Span of this number. It begins `ms` after the start of the trace. Number 1 is the root, the others are its children.
 */
const head = (number: number, ms: number, overrides: Partial<SpanHead> = {}): SpanHead =>
  headOf(
    aSpan({
      spanId: spanId(number),
      parentSpanId: number === 1 ? null : ROOT,
      startNs: nsAt(START_MS + ms),
      endNs: nsAt(START_MS + 1_000),
      type: 'llm',
      inputPreview: '',
      ...overrides,
    }),
  );
/** A root without a preview. */
const server = head(1, 0, { type: 'chain', name: 'POST /ask' });
const spanWithPreview = (number: number, ms: number, inputPreview: string, type: SpanHead['type'] = 'llm'): SpanHead =>
  head(number, ms, { type, inputPreview });
const rootWithPreview = (number: number, ms: number, inputPreview: string): SpanHead =>
  head(number, ms, { type: 'chain', inputPreview, parentSpanId: null });

const grownBy = (batches: readonly (readonly SpanHead[])[]): TraceSummary | null =>
  batches.reduce<TraceSummary | null>((grown, batch) => growSummary(grown, IDENTITY, batch), null);
const previewOf = (summary: TraceSummary | null) => summary && [summary.inputPreview, summary.previewNs];

describe('the preview of a trace', () => {
  // The last value is `previewNs`, or a number of ms after the start. It is null for the preview of the earliest root,
  // and without a preview.
  it.each<[string, readonly SpanHead[], string, number | bigint | null]>([
    ['that of its root', [spanWithPreview(1, 0, 'root'), spanWithPreview(2, 1, 'call')], 'root', null],
    [
      'that of the root, also when other spans began before it',
      [spanWithPreview(1, 9, 'root', 'chain'), spanWithPreview(2, 1, 'call')],
      'root',
      null,
    ],
    ['that of a call where the root has none', [server, spanWithPreview(2, 1, 'call')], 'call', 1],
    ['that of an agent', [server, spanWithPreview(2, 2, 'call'), spanWithPreview(3, 1, 'agent', 'agent')], 'agent', 1],
    [
      'that of the earliest call that has one',
      [server, spanWithPreview(2, 1, ''), spanWithPreview(3, 3, 'late'), spanWithPreview(4, 2, 'early')],
      'early',
      2,
    ],
    ['never that of a tool', [server, spanWithPreview(2, 1, 'tool', 'tool'), spanWithPreview(3, 2, 'call')], 'call', 2],
    [
      'the first by text of two spans with equal start',
      [server, spanWithPreview(2, 1, 'b'), spanWithPreview(3, 1, 'a')],
      'a',
      1,
    ],
    [
      'that of the earliest present span while the root is missing',
      [spanWithPreview(2, 2, 'late'), spanWithPreview(3, 1, 'early')],
      'early',
      1,
    ],
    [
      'empty where no span has one',
      [server, spanWithPreview(2, 1, ''), spanWithPreview(3, 1, 'tool', 'tool')],
      '',
      null,
    ],
    [
      'that of the earliest of several roots',
      [spanWithPreview(1, 2, 'root'), rootWithPreview(2, 1, 'first'), rootWithPreview(3, 3, 'last')],
      'first',
      null,
    ],
    [
      'that of a root, also when a call began earlier',
      [server, spanWithPreview(2, 1, 'call'), rootWithPreview(3, 9, 'late')],
      'late',
      rootAt(9),
    ],
    [
      'that of the earliest root that has one',
      [server, rootWithPreview(2, 9, 'late'), rootWithPreview(3, 8, 'early')],
      'early',
      rootAt(8),
    ],
  ])('is %s, for any order and batches of its spans', (_which, spans, preview, ms) => {
    const expected = [preview, typeof ms === 'number' ? nsAt(START_MS + ms) : ms];
    expect(previewOf(grownBy([spans]))).toEqual(expected);
    for (const order of permutationsOf(spans)) {
      expect(previewOf(grownBy(order.map((span) => [span])))).toEqual(expected);
      expect(previewOf(grownBy([order.slice(0, 1), order.slice(1)]))).toEqual(expected);
    }
  });

  it('in an assembled trace is that of its summary, or without a root the first preview of any span', () => {
    const read = (spans: readonly SpanHead[]) => {
      const summary = growSummary(null, IDENTITY, spans);
      return assembleTrace([summary], new Map([['R', spans]]))?.summary.inputPreview;
    };
    expect(read([server, spanWithPreview(2, 1, 'call')])).toBe('call');
    expect(read([spanWithPreview(2, 1, ''), spanWithPreview(3, 2, 'call')])).toBe('call');
    expect(read([spanWithPreview(2, 1, 'tool', 'tool'), spanWithPreview(3, 2, 'call')])).toBe('tool');
  });

  it('is found in the spans of all owners where a trace has several', () => {
    const [spansOfR, spansOfS] = [[server], [spanWithPreview(2, 1, 'call')]];
    const [left, right] = [
      growSummary(null, IDENTITY, spansOfR),
      growSummary(null, { ...IDENTITY, traceRef: 'S' }, spansOfS),
    ];
    const trace = assembleTrace(
      [left, right],
      new Map([
        ['R', spansOfR],
        ['S', spansOfS],
      ]),
    );
    expect(trace?.summary).toMatchObject({ name: 'POST /ask', inputPreview: 'call' });
  });

  it('is the same in the packed text that a thread returns', () => {
    const spans = [server, spanWithPreview(2, 1, 'call')];
    const packed = {
      traces: [
        {
          traceId: traceId(1),
          tally: tallyOf(spans),
          spanIds: spans.map((span) => span.spanId),
          rows: spanRows(spans.map((span, index) => ({ head: span, payload: { kind: 'body', at: index } }))),
          callAncestors: [],
        },
      ],
      calls: [],
    };
    const [trace] = packedOfText(packedText(packed)).traces;
    expect(trace?.tally).toEqual(tallyOf(spans));
    expect(trace?.tally.preview).toEqual({ inputPreview: 'call', previewNs: nsAt(START_MS + 1) });
  });
});
