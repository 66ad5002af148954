import { describe, expect, it } from 'vitest';
import { InvalidInput, TooLarge } from '../../../src/domain/errors.ts';
import { decodeExport } from '../../../src/wire/otlp/decode.ts';
import { DEFAULT_OTLP_LIMITS } from '../../../src/domain/traces/otlp-limits.ts';
import type { RawSpan } from '../../../src/domain/traces/span.ts';
import { encodeExport } from '../../support/otlp-oracle.ts';
import { randomExport, seeded } from '../../support/random-export.ts';

const TRACE_ID = Uint8Array.fromHex('0af7651916cd43dd8448eb211c80319c');
const SPAN_ID = Uint8Array.fromHex('b7ad6b7169203331');
const MAX_INT64 = '9223372036854775807';

const aSpan = (overrides: Record<string, unknown> = {}) => ({
  traceId: TRACE_ID,
  spanId: SPAN_ID,
  startTimeUnixNano: '1',
  endTimeUnixNano: '2',
  ...overrides,
});
const exportOf = (...spans: unknown[]): Uint8Array => encodeExport({ resourceSpans: [{ scopeSpans: [{ spans }] }] });
const decode = (body: Uint8Array, overrides: Partial<typeof DEFAULT_OTLP_LIMITS> = {}) =>
  decodeExport(body, 'application/x-protobuf', { ...DEFAULT_OTLP_LIMITS, ...overrides });
const attributesOf = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ key: `k${index}`, value: { boolValue: true } }));
const nested = (depth: number): unknown => (depth === 0 ? {} : { arrayValue: { values: [nested(depth - 1)] } });

describe('the protobuf decoder', () => {
  it('reads the output of another encoder, for any request', () => {
    const draw = seeded(20_261_010);
    for (let round = 0; round < 300; round++) {
      const { request, spans } = randomExport(draw);
      expect(decode(encodeExport(request))).toEqual(spans);
    }
  });

  it('reads an empty request as no spans', () => {
    expect(decode(new Uint8Array(0))).toEqual([]);
  });

  it('shares one resource and scope between their spans, and reads a resource that follows its spans', () => {
    const spans = { spans: [aSpan(), aSpan({ spanId: Uint8Array.fromHex('b7ad6b7169203332') })] };
    const [first, second] = decode(encodeExport({ resourceSpans: [{ resource: {}, scopeSpans: [spans] }] }));
    expect(first?.resource).toBe(second?.resource);
    expect(first?.instrumentationScope).toBe(second?.instrumentationScope);
    // resource_spans { scope_spans { spans {} }, resource {} }: fields in another order.
    const scopeSpans = encodeExport({ resourceSpans: [{ scopeSpans: [{ spans: [aSpan()] }] }] }).subarray(2);
    const resource = Uint8Array.of(0x0a, 0x09, 0x0a, 0x07, 0x0a, 0x01, 0x61, 0x12, 0x02, 0x10, 0x01);
    const [late] = decode(Uint8Array.of(0x0a, scopeSpans.length + resource.length, ...scopeSpans, ...resource));
    expect(late?.resource).toEqual({ attributes: { a: true } });
  });

  it('keeps attributes of any name and replaces bytes that are not UTF-8', () => {
    const [span] = decode(exportOf(aSpan({ attributes: [{ key: '__proto__', value: { stringValue: 'odd' } }] })));
    expect(Object.entries(span?.attributes ?? {})).toEqual([['__proto__', 'odd']]);
    const body = exportOf(aSpan({ name: '??' }));
    body.set([0xff], body.lastIndexOf(0x3f));
    expect(decode(body)[0]?.name).toBe('?\ufffd');
  });

  it('skips unknown fields and known ones of another wire type', () => {
    const span = exportOf(aSpan());
    // The unknown fields 15 and 96 precede the span. Field 1 follows it as a number.
    expect(decode(Uint8Array.of(0x78, 0x05, 0x82, 0x06, 0x01, 0x61, ...span, 0x08, 0x01))).toHaveLength(1);
  });

  it('reads unknown kinds and statuses as unspecified and unset', () => {
    expect(decode(exportOf(aSpan({ kind: 9, status: { code: 7 } })))[0]).toMatchObject({
      kind: 'UNSPECIFIED',
      status: 'unset',
    });
  });
});

describe('the check of spans', () => {
  const invalid: readonly (readonly [string, Record<string, unknown>])[] = [
    ['a trace id of 15 bytes', { traceId: TRACE_ID.subarray(1) }],
    ['a trace id of zeros', { traceId: new Uint8Array(16) }],
    ['no trace id', { traceId: new Uint8Array(0) }],
    ['a span id of 9 bytes', { spanId: new Uint8Array(9).fill(1) }],
    ['a span id of zeros', { spanId: new Uint8Array(8) }],
    ['a parent id of 7 bytes', { parentSpanId: new Uint8Array(7).fill(1) }],
    ['a parent id of zeros', { parentSpanId: new Uint8Array(8) }],
    ['a start past 2^63-1', { startTimeUnixNano: '9223372036854775808', endTimeUnixNano: '9223372036854775808' }],
    ['an end before its start', { startTimeUnixNano: '3', endTimeUnixNano: '2' }],
    ['a link without a span id', { links: [{ traceId: TRACE_ID }] }],
    ['a link to a trace of zeros', { links: [{ traceId: new Uint8Array(16), spanId: SPAN_ID }] }],
  ];
  it.each(invalid)('refuses the whole export for %s', (_what, overrides) => {
    expect(() => decode(exportOf(aSpan(), aSpan(overrides)))).toThrow(InvalidInput);
    expect(() => decode(exportOf(aSpan(), aSpan(overrides)))).toThrow(/^Span 1 of the export is invalid: /);
  });

  it('accepts a span at the limits: no duration, the last nanosecond', () => {
    expect(decode(exportOf(aSpan({ startTimeUnixNano: MAX_INT64, endTimeUnixNano: MAX_INT64 })))).toHaveLength(1);
  });

  it('clamps an event time out of range instead of refusing its span', () => {
    const body = exportOf(aSpan({ events: [{ timeUnixNano: '18446744073709551615', name: 'e' }] }));
    expect(decode(body)[0]?.events).toEqual([{ name: 'e', timeNs: 2n ** 63n - 1n, attributes: {} }]);
  });
});

describe('the limits of an export in protobuf', () => {
  const limits = DEFAULT_OTLP_LIMITS;
  it.each<readonly [string, (attributes: unknown) => Uint8Array, (span: RawSpan) => object | undefined]>([
    ['span', (attributes) => exportOf(aSpan({ attributes })), (span) => span.attributes],
    ['event', (attributes) => exportOf(aSpan({ events: [{ attributes }] })), ({ events }) => events[0]?.attributes],
    [
      'link',
      (attributes) => exportOf(aSpan({ links: [{ traceId: TRACE_ID, spanId: SPAN_ID, attributes }] })),
      ({ links }) => links[0]?.attributes,
    ],
    [
      'resource',
      (attributes) =>
        encodeExport({ resourceSpans: [{ resource: { attributes }, scopeSpans: [{ spans: [aSpan()] }] }] }),
      ({ resource }) => resource.attributes,
    ],
    [
      'instrumentation scope',
      (attributes) => encodeExport({ resourceSpans: [{ scopeSpans: [{ scope: { attributes }, spans: [aSpan()] }] }] }),
      ({ instrumentationScope }) => instrumentationScope.attributes,
    ],
  ])('allow 256 attributes per %s', (_what, body, attributesIn) => {
    const [span] = decode(body(attributesOf(256)));
    expect(Object.keys((span && attributesIn(span)) ?? {})).toHaveLength(256);
    expect(() => decode(body(attributesOf(257)))).toThrow(TooLarge);
  });

  it('allow 256 events and 256 links per span', () => {
    const link = { traceId: TRACE_ID, spanId: SPAN_ID };
    const lists = (count: number) => ({
      events: Array.from({ length: count }, () => ({ name: 'e' })),
      links: Array.from({ length: count }, () => link),
    });
    expect(decode(exportOf(aSpan(lists(256))))[0]).toMatchObject({ events: { length: 256 }, links: { length: 256 } });
    expect(() => decode(exportOf(aSpan({ ...lists(257), links: [] })))).toThrow(TooLarge);
    expect(() => decode(exportOf(aSpan({ ...lists(257), events: [] })))).toThrow(TooLarge);
  });

  it('allow 4,096 spans', () => {
    const spans = Array.from({ length: 4_096 }, () => aSpan());
    expect(decode(exportOf(...spans))).toHaveLength(4_096);
    expect(() => decode(exportOf(...spans, aSpan()))).toThrow(TooLarge);
  });

  it('allow 65,536 fields', () => {
    // One unknown field is a tag and a value of one byte each.
    const fields = (count: number) =>
      Uint8Array.from({ length: count * 2 }, (_, index) => (index % 2 === 0 ? 0x78 : 1));
    expect(decode(fields(limits.nodes))).toEqual([]);
    expect(() => decode(fields(limits.nodes + 1))).toThrow(TooLarge);
  });

  it('allow the fields of ordinary spans', () => {
    const attributes = Array.from({ length: 128 }, (_, index) => ({ key: `k${index}`, value: { stringValue: 'v' } }));
    const spans = Array.from({ length: 512 }, () => aSpan({ attributes }));
    expect(decode(exportOf(...spans))).toHaveLength(512);
  });

  it('allow 1,024 more fields for each span', () => {
    const listed = (count: number) => ({
      arrayValue: { values: Array.from({ length: count }, () => ({ boolValue: true })) },
    });
    const body = (count: number) => exportOf(aSpan({ name: 'n', attributes: [{ key: 'k', value: listed(count) }] }));
    // Twelve fields besides the list: three messages, five fields of the span, and the attribute with key, value and
    // list. Each value of the list has two fields.
    const mostValues = (limits.nodes + limits.nodes / 64 - 12) / 2;
    expect(decode(body(mostValues))).toHaveLength(1);
    expect(() => decode(body(mostValues + 1))).toThrow(TooLarge);
  });

  it('allow 32 levels of nesting', () => {
    // Request, ResourceSpans, ScopeSpans, Span, KeyValue and AnyValue are six; every array adds two.
    const deep = (levels: number) => exportOf(aSpan({ attributes: [{ key: 'a', value: nested(levels) }] }));
    expect(decode(deep(13))).toHaveLength(1);
    expect(() => decode(deep(14))).toThrow(TooLarge);
    expect(() => decode(deep(30))).toThrow(TooLarge);
  });

  it('apply to the memory of the decoded body', () => {
    const body = exportOf(aSpan({ name: 'x'.repeat(1_000) }));
    // Resource, instrumentation scope and span at 128 each, the name at its length and 16.
    expect(decode(body, { decodedBytes: 3 * 128 + 1_016 })).toHaveLength(1);
    expect(() => decode(body, { decodedBytes: 3 * 128 + 1_015 })).toThrow(TooLarge);
  });
});

describe('bodies that are not an export', () => {
  const broken: readonly (readonly [string, readonly number[]])[] = [
    ['a length past the end', [0x0a, 0x05, 0x0a]],
    ['a tag without its value', [0x0a]],
    ['a varint without its end', [0x0a, 0x80]],
    ['a varint of eleven bytes', [0x78, ...Array<number>(10).fill(0xff), 0x01]],
    ['field number zero', [0x02, 0x00]],
    ['a group', [0x0b, 0x0c]],
    ['a fixed64 cut short', [0x79, 1, 2, 3]],
    ['a fixed32 cut short', [0x7d, 1]],
    ['JSON', [...Buffer.from('{"resourceSpans":[]}')]],
  ];
  it.each(broken)('are refused: %s', (_what, bytes) => {
    expect(() => decode(Uint8Array.from(bytes))).toThrow(InvalidInput);
  });
});

it('media types are compared without case and parameters, and unknown ones are refused', () => {
  const body = exportOf(aSpan());
  for (const type of [undefined, 'application/x-protobuf', 'Application/Protobuf; v=1'])
    expect(decodeExport(body, type)).toHaveLength(1);
  expect(decodeExport(Buffer.from('{}'), 'APPLICATION/JSON; charset=utf-8')).toEqual([]);
  expect(() => decodeExport(body, 'text/plain')).toThrow(InvalidInput);
  expect(() => decodeExport(body, '')).toThrow(InvalidInput);
});
