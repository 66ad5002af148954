import { describe, expect, it } from 'vitest';
import { storable } from '../../../src/domain/storable.ts';
import type { SpanHead } from '../../../src/domain/traces/span.ts';
import {
  type StoredSpan,
  rowsOfTraces,
  rowTexts,
  SPAN_ROW_MEMBERS,
  spanRows,
  spansOfRows,
  textOfRows,
  withEstimates,
} from '../../../src/domain/traces/span-rows.ts';
import { aSpan, headOf, picos, spanId, traceId } from '../../ports/samples.ts';
import { seeded } from '../../support/random-export.ts';

/** Parts of random texts: plain, escaped in JSON, not storable, with several bytes, with several UTF-16 units. */
const PIECES = [
  'plain',
  ' ',
  '"',
  '\\',
  '\\"',
  '\n',
  '\t',
  '\u0000',
  '\u001f',
  '\u007f',
  'é',
  '日本',
  '😀',
  '\ud83d',
  '\udc00',
  '\u2028',
];
/** Parts that look like the rows or values of the encoded form. */
const ENCODED_PIECES = ['],\n[', ',\n', 'null', '', '{"a":[1]}'];

const ALL_PIECES = [...PIECES, ...ENCODED_PIECES];

const below = seeded(7);
const aText = (): string => Array.from({ length: below(6) }, () => ALL_PIECES[below(ALL_PIECES.length)] ?? '').join('');
const orNull = <Value>(value: Value): Value | null => (below(3) === 0 ? null : value);

function aHead(number: number): SpanHead {
  return {
    ...headOf(aSpan({ spanId: spanId(number), parentSpanId: orNull(spanId(number + 1)) })),
    name: aText(),
    agent: aText(),
    service: aText(),
    error: orNull(aText()),
    model: orNull(aText()),
    provider: orNull(aText()),
    framework: aText(),
    inputTokens: below(2 ** 32),
    inputPreview: aText().repeat(below(60)),
    requestId: orNull(aText()),
    callId: orNull(aText()),
    gateway: below(2) === 0,
    cost: orNull(picos(BigInt(below(1e9)))),
    source: orNull({ type: 'github', url: 'https://example.test/"1"', title: aText(), user: orNull(aText()) }),
  };
}

const storedSpan = (number: number): StoredSpan => ({
  head: aHead(number),
  payload: below(2) === 0 ? { kind: 'body', at: number } : { kind: 'row', text: aText() },
});

/** The storable form of a span: characters that a store refuses are replaced. */
function asStored({ head, payload }: StoredSpan): StoredSpan {
  const texts = Object.entries(head).map(([name, value]) => [
    name,
    typeof value === 'string' ? storable(value) : value,
  ]);
  return {
    head: Object.fromEntries(texts),
    payload: payload.kind === 'row' ? { kind: 'row', text: storable(payload.text) } : payload,
  };
}

const TRACES = Array.from({ length: 60 }, (_, trace) =>
  Array.from({ length: below(9) }, (_span, index) => storedSpan(trace * 10 + index + 1)),
);

describe('rows of spans', () => {
  it('restore their spans, with any text', () => {
    for (const spans of TRACES) expect(spansOfRows(traceId(1), spanRows(spans))).toEqual(spans.map(asStored));
  });

  it('have one line for each span, and one value for each member', () => {
    for (const spans of TRACES) {
      const rows = rowTexts(spanRows(spans)).map((row) => JSON.parse(row) as readonly unknown[]);
      expect(rows.map(({ length }) => length)).toEqual(spans.map(() => SPAN_ROW_MEMBERS.length));
    }
  });

  it('have the same text for several traces together as for each alone', () => {
    const together = rowsOfTraces(TRACES);
    expect(together.map(({ rows }) => textOfRows(rows))).toEqual(TRACES.map((spans) => spanRows(spans)));
  });

  it('get an estimate at the end of each row', () => {
    for (const [place, { rows, estimateEnds }] of rowsOfTraces(TRACES).entries()) {
      const estimates = estimateEnds.map((estimateEnd, index) => ({
        estimateEnd,
        estimate: picos(BigInt(index) * 1_000n),
      }));
      const estimated = spansOfRows(traceId(1), withEstimates(rows, estimates));
      expect(estimated.map(({ head }) => head.estimate)).toEqual(estimates.map(({ estimate }) => estimate));
      expect(estimated.map(({ head }) => ({ ...head, estimate: null }))).toEqual(
        TRACES[place]?.map((span) => asStored(span).head),
      );
    }
  });

  it('have null for a count that is not a finite number', () => {
    const withoutCounts: StoredSpan = {
      head: { ...aHead(1), inputTokens: Number.NaN, outputTokens: Number.POSITIVE_INFINITY },
      payload: { kind: 'body', at: 0 },
    };
    const [row] = JSON.parse(textOfRows(spanRows([withoutCounts]))) as readonly (readonly unknown[])[];
    const [input, output] = [SPAN_ROW_MEMBERS.indexOf('inputTokens'), SPAN_ROW_MEMBERS.indexOf('outputTokens')];
    expect([row?.[input], row?.[output]]).toEqual([null, null]);
  });

  it('are correct with more distinct labels than the cache holds', () => {
    const spans = Array.from({ length: 3_000 }, (_, index): StoredSpan => {
      return { head: { ...aHead(index + 1), name: `step "${index}"` }, payload: { kind: 'body', at: index } };
    });
    expect(spansOfRows(traceId(1), spanRows(spans)).map(({ head }) => head.name)).toEqual(
      spans.map(({ head }) => head.name),
    );
  });
});
