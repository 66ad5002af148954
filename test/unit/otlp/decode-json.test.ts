import { describe, expect, it } from 'vitest';
import { InvalidInput, TooLarge } from '../../../src/domain/errors.ts';
import { decodeExport } from '../../../src/wire/otlp/decode.ts';
import { DEFAULT_OTLP_LIMITS } from '../../../src/domain/traces/otlp-limits.ts';
import { asOtlpJson, randomExport, seeded } from '../../support/random-export.ts';

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const SPAN_ID = 'b7ad6b7169203331';

const aSpan = (overrides: Record<string, unknown> = {}) => ({
  traceId: TRACE_ID,
  spanId: SPAN_ID,
  startTimeUnixNano: '1',
  endTimeUnixNano: '2',
  ...overrides,
});
const exportOf = (...spans: unknown[]): string => JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] });
const decode = (body: string | Uint8Array, overrides: Partial<typeof DEFAULT_OTLP_LIMITS> = {}) =>
  decodeExport(typeof body === 'string' ? Buffer.from(body) : body, 'application/json', {
    ...DEFAULT_OTLP_LIMITS,
    ...overrides,
  });
const attributeOf = (value: unknown): unknown =>
  decode(exportOf(aSpan({ attributes: [{ key: 'a', value }] })))[0]?.attributes['a'];

describe('the JSON decoder', () => {
  it('reads the expected spans of any request', () => {
    const draw = seeded(20_261_011);
    for (let round = 0; round < 200; round++) {
      const { request, spans } = randomExport(draw);
      expect(decode(asOtlpJson(request))).toEqual(spans);
    }
  });

  it.each([
    ['hex', TRACE_ID, SPAN_ID],
    ['upper-case hex', TRACE_ID.toUpperCase(), SPAN_ID.toUpperCase()],
    ['base64', Uint8Array.fromHex(TRACE_ID).toBase64(), Uint8Array.fromHex(SPAN_ID).toBase64()],
    [
      'URL-safe base64',
      Uint8Array.fromHex(TRACE_ID).toBase64({ alphabet: 'base64url', omitPadding: true }),
      Uint8Array.fromHex(SPAN_ID).toBase64({ alphabet: 'base64url', omitPadding: true }),
    ],
  ])('reads ids in %s', (_form, traceId, spanId) => {
    expect(decode(exportOf(aSpan({ traceId, spanId, parentSpanId: spanId })))[0]).toMatchObject({
      traceId: TRACE_ID,
      spanId: SPAN_ID,
      parentSpanId: SPAN_ID,
    });
  });

  it.each([
    [2, 1],
    ['SPAN_KIND_SERVER', 'STATUS_CODE_OK'],
    ['2', '1'],
  ])('reads enums as %j', (kind, code) => {
    expect(decode(exportOf(aSpan({ kind, status: { code } })))[0]).toMatchObject({ kind: 'SERVER', status: 'ok' });
  });

  it('reads unknown enums as unspecified and unset, and absent members as empty', () => {
    const unknown = aSpan({ kind: 'SPAN_KIND_NEW', status: { code: true } });
    expect(decode(exportOf(unknown))[0]).toMatchObject({ kind: 'UNSPECIFIED', status: 'unset' });
    expect(decode(exportOf(aSpan({ name: null, attributes: null, events: null, status: null })))).toEqual([
      {
        traceId: TRACE_ID,
        spanId: SPAN_ID,
        parentSpanId: null,
        name: '',
        kind: 'UNSPECIFIED',
        startNs: 1n,
        endNs: 2n,
        status: 'unset',
        statusMessage: '',
        attributes: {},
        events: [],
        links: [],
        resource: { attributes: {} },
        instrumentationScope: { name: '', version: '', attributes: {} },
      },
    ]);
  });

  it('reads 64-bit integers as numbers without losing a digit', () => {
    const body = exportOf(aSpan({ startTimeUnixNano: '#', endTimeUnixNano: '#' })).replaceAll(
      '"#"',
      '1760000000123456789',
    );
    expect(decode(body)[0]).toMatchObject({ startNs: 1_760_000_000_123_456_789n, endNs: 1_760_000_000_123_456_789n });
  });
});

describe('attribute values in JSON', () => {
  it.each([
    [{ stringValue: 's' }, 's'],
    [{ boolValue: false }, false],
    [{ intValue: '5' }, 5],
    [{ intValue: 5 }, 5],
    [{ intValue: '-9007199254740993' }, -9_007_199_254_740_993n],
    [{ doubleValue: 0.5 }, 0.5],
    [{ doubleValue: '-Infinity' }, Number.NEGATIVE_INFINITY],
    [{ doubleValue: 'NaN' }, Number.NaN],
    [{ doubleValue: '1e3' }, 1_000],
    [{ bytesValue: 'AQI=' }, Uint8Array.of(1, 2)],
    [{ arrayValue: { values: [{ intValue: 1 }, {}] } }, [1, null]],
    [{ arrayValue: {} }, []],
    [{ kvlistValue: { values: [{ key: 'k', value: { boolValue: true } }] } }, { k: true }],
    [{}, null],
    [null, null],
  ])('are read: %j', (sent, read) => {
    expect(attributeOf(sent)).toEqual(read);
  });

  it.each([
    [{ intValue: 'many' }, 'many'],
    [{ intValue: '' }, ''],
    [{ doubleValue: 'high' }, 'high'],
    [{ doubleValue: 'constructor' }, 'constructor'],
    [{ doubleValue: '' }, ''],
    [{ boolValue: 'yes' }, 'yes'],
    [{ bytesValue: '%%%' }, '%%%'],
    ['bare text', 'bare text'],
    [
      [1, 'two'],
      [1, 'two'],
    ],
    [{ newValue: { deep: 1 } }, { newValue: { deep: 1 } }],
  ])('are kept unchanged where they are unexpected, and the span is accepted: %j', (sent, read) => {
    expect(attributeOf(sent)).toEqual(read);
  });

  it('have keys of any name, and invalid attributes are omitted', () => {
    const attributes = JSON.stringify([{ key: '__proto__', value: { intValue: 1 } }, 7, { value: { intValue: 2 } }]);
    const [span] = decode(exportOf(aSpan({ attributes: '#' })).replace('"#"', attributes));
    expect(Object.entries(span?.attributes ?? {})).toEqual([
      ['__proto__', 1],
      ['', 2],
    ]);
  });
});

describe('the JSON decoder refuses', () => {
  it.each([
    ['incomplete JSON', '{"resourceSpans":'],
    ['a list', '[]'],
    ['a string', '"spans"'],
    ['an empty body', ''],
    ['spans that are not a list', '{"resourceSpans":{}}'],
    ['a span that is not an object', exportOf(7)],
    ['a name that is not a text', exportOf(aSpan({ name: 7 }))],
    ['attributes that are not a list', exportOf(aSpan({ attributes: {} }))],
    ['a time that is not a number', exportOf(aSpan({ startTimeUnixNano: 'now' }))],
    ['a time with a fraction', exportOf(aSpan({ startTimeUnixNano: 0.5 }))],
    ['an id that is neither hex nor base64', exportOf(aSpan({ traceId: '!'.repeat(32) }))],
    ['an id of zeros', exportOf(aSpan({ traceId: '0'.repeat(32) }))],
    ['a number for an id', exportOf(aSpan({ spanId: 7 }))],
  ])('%s', (_what, body) => {
    expect(() => decode(body)).toThrow(InvalidInput);
  });

  it('bytes that are not UTF-8', () => {
    expect(() => decode(Uint8Array.of(0x22, 0xff, 0x22))).toThrow(InvalidInput);
  });
});

describe('the limits of an export in JSON', () => {
  it('allow 65,536 keys and values', () => {
    // The object, its keys and lists are 5; the others are numbers.
    const body = (numbers: number) => `{"resourceSpans":[],"x":[${Array(numbers).fill(1).join(',')}]}`;
    expect(decode(body(65_536 - 5))).toEqual([]);
    expect(() => decode(body(65_536 - 4))).toThrow(TooLarge);
  });

  it('allow ordinary spans, also with the span id as the last member', () => {
    const attributes = Array.from({ length: 128 }, (_, index) => ({ key: `k${index}`, value: { stringValue: 'v' } }));
    const { spanId, ...members } = aSpan({ attributes });
    const body = exportOf(...Array.from({ length: 512 }, () => ({ ...members, spanId })));
    expect(decode(body)).toHaveLength(512);
  });

  it('allow 1/64 more keys and values for each span, up to the limit of spans', () => {
    const span = '{"spanId":""}';
    const body = (spans: number, numbers: number) =>
      `[[${Array(spans).fill(span).join(',')}],[${Array(numbers).fill(1).join(',')}]]`;
    // Three nodes for the lists and three for each span. The body is not an export, but its nodes are counted first.
    const allowedNumbers = (spans: number) => 640 + 10 * spans - 3 - 3 * spans;
    const limits = { nodes: 640, spans: 4 };
    expect(() => decode(body(3, allowedNumbers(3)), limits)).toThrow(InvalidInput);
    expect(() => decode(body(3, allowedNumbers(3) + 1), limits)).toThrow(TooLarge);
    expect(() => decode(body(5, allowedNumbers(5)), limits)).toThrow(TooLarge);
  });

  it('count keys and values between any white space, and not inside strings', () => {
    const body = ' { "a\\"[{,:" :\t[ "\\\\" ,\r\n-1.5e3 , true , null , "x[]{}" ] } ';
    expect(decode(body, { nodes: 8 })).toEqual([]);
    expect(() => decode(body, { nodes: 7 })).toThrow(TooLarge);
    const longTexts = `{"${'[\\"'.repeat(500)}":"${'\\\\'.repeat(500)}"}`;
    expect(decode(longTexts, { nodes: 3 })).toEqual([]);
    expect(() => decode(longTexts, { nodes: 2 })).toThrow(TooLarge);
  });

  it('allow 32 levels of nesting, and refuse a text of a million levels', () => {
    const deep = (levels: number) => `{"x":${'['.repeat(levels)}${']'.repeat(levels)}}`;
    expect(decode(deep(31))).toEqual([]);
    expect(() => decode(deep(32))).toThrow(TooLarge);
    expect(() => decode('['.repeat(1_000_000))).toThrow(TooLarge);
  });

  it('apply to spans, attributes, events, links and decoded bytes', () => {
    const link = { traceId: TRACE_ID, spanId: SPAN_ID };
    const body = exportOf(
      aSpan({ attributes: [{ key: 'a', value: { stringValue: 'üü' } }], events: [{}], links: [link] }),
    );
    // Resource, instrumentation scope, span, event and link at 128 each; key and value at their bytes and 16 each.
    const exact = { spans: 1, attributes: 1, events: 1, links: 1, decodedBytes: 5 * 128 + 17 + 20 };
    expect(decode(body, exact)).toHaveLength(1);
    for (const [name, limit] of Object.entries(exact))
      expect(() => decode(body, { ...exact, [name]: limit - 1 })).toThrow(TooLarge);
  });
});
