import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encodeOtlpError } from '../../../src/wire/otlp/answer.ts';
import { encodeExport } from '../../support/otlp-oracle.ts';
import { protobufField } from '../../support/protobuf-field.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import {
  statusAndBody,
  statusTypeAndBody,
  as,
  makeKey,
  otlpExport,
  otlpSpan,
  send,
  sendBytes,
  START_MS,
  TRACE_ID,
} from './trace-client.ts';

const PROTOBUF = { 'content-type': 'application/x-protobuf' };
const JSON_TYPE = { 'content-type': 'application/json' };
const GZIP = { 'content-encoding': 'gzip' };
const TOO_DEEP = 'The export is nested too deeply.';
const TOO_MANY_SPANS = 'The export has too many spans.';

const asProtobuf = (message: string): string => Buffer.from(encodeOtlpError(message).body).toString();
const protobufSpan = {
  traceId: Uint8Array.fromHex(TRACE_ID),
  spanId: Uint8Array.fromHex('b7ad6b7169203331'),
  startTimeUnixNano: String(BigInt(START_MS) * 1_000_000n),
  endTimeUnixNano: String(BigInt(START_MS) * 1_000_000n),
};

const exportedSpan = (span: Record<string, unknown>): Uint8Array =>
  encodeExport({ resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] });

/** Export with these encoded spans: `resourceSpans { scopeSpans { … } }`. */
const exportOf = (spans: Uint8Array): Uint8Array => protobufField(0x0a, protobufField(0x12, spans));

function manySpans(count: number): Uint8Array {
  // Without the two bytes of `resourceSpans` and the two bytes of `scopeSpans` before the span.
  const span = exportedSpan(protobufSpan).subarray(4);
  return exportOf(Buffer.concat(Array.from({ length: count }, () => span)));
}

/** Export of one span with an attribute of nested lists, deeper than `encodeExport` supports. */
function deepSpan(levels: number): Uint8Array {
  // Protobuf tags: 0x2a is `arrayValue`, 0x0a is `values`, 0x4a is `attributes`, 0x12 is `value` or `spans`.
  let value: Uint8Array = new Uint8Array(0);
  for (let level = 0; level < levels; level++) value = protobufField(0x2a, protobufField(0x0a, value));
  const attribute = protobufField(0x4a, protobufField(0x12, value));
  // Without the two bytes each of `resourceSpans`, `scopeSpans` and `spans` before the fields of the span.
  return exportOf(protobufField(0x12, Buffer.concat([exportedSpan(protobufSpan).subarray(6), attribute])));
}

const nestedLists = (levels: number): unknown =>
  levels === 0 ? {} : { arrayValue: { values: [nestedLists(levels - 1)] } };

describe('a refused export', () => {
  let app: TestApp;
  let key: string;
  beforeAll(async () => {
    app = await startApp();
    key = await makeKey(app);
  });
  afterAll(() => app.stop());
  /** Answer to an export, and the stored traces of the key. */
  async function answerAndTraces(answer: Promise<readonly unknown[]>): Promise<readonly unknown[]> {
    const answerParts = await answer;
    const everything = await app.call('GET', '/v1/traces?start_ms=0&end_ms=9000000000000', undefined, as(key));
    const { data }: { readonly data: readonly unknown[] } = await everything.json();
    return [...answerParts, data];
  }

  it('traces.ingest 413: attributes nested 300 levels deep, in both encodings', async () => {
    expect(
      await answerAndTraces(statusTypeAndBody(sendBytes(app, deepSpan(300), { ...PROTOBUF, ...as(key) }))),
    ).toEqual([413, 'application/x-protobuf', asProtobuf(TOO_DEEP), []]);
    const json = otlpExport(otlpSpan('1', 0, 1, {}, { attributes: [{ key: 'k', value: nestedLists(300) }] }));
    expect(await answerAndTraces(statusAndBody(send(app, json, as(key))))).toEqual([413, { message: TOO_DEEP }, []]);
  });

  it('traces.ingest 413: 300,000 and a million spans in small compressed bodies', async () => {
    // The inflated body is below the size limit.
    const body = manySpans(300_000);
    expect(body.length).toBeLessThan(16_777_216);
    expect(
      await answerAndTraces(statusTypeAndBody(sendBytes(app, gzipSync(body), { ...PROTOBUF, ...GZIP, ...as(key) }))),
    ).toEqual([413, 'application/x-protobuf', asProtobuf(TOO_MANY_SPANS), []]);
    const million = gzipSync(manySpans(1_000_000));
    expect(
      await answerAndTraces(statusTypeAndBody(sendBytes(app, million, { ...PROTOBUF, ...GZIP, ...as(key) }))),
    ).toEqual([413, 'application/x-protobuf', asProtobuf('The body is larger than 16777216 bytes once inflated.'), []]);
  });

  it('traces.ingest 413: a gzip bomb that declares a small size', async () => {
    // Two gzip members: the length at the end is that of the last member.
    const bomb = Buffer.concat([gzipSync(new Uint8Array(17_000_000)), gzipSync(new Uint8Array(1))]);
    expect(await answerAndTraces(statusAndBody(sendBytes(app, bomb, { ...JSON_TYPE, ...GZIP, ...as(key) })))).toEqual([
      413,
      { message: 'The body is larger than 16777216 bytes once inflated.' },
      [],
    ]);
  });

  it('traces.ingest 413: more keys and values than the limit of a body', async () => {
    const body = `{"resourceSpans":[],"x":[${Array(70_000).fill(1).join(',')}]}`;
    expect(await answerAndTraces(statusAndBody(send(app, body, as(key))))).toEqual([
      413,
      { message: 'The export has too many fields.' },
      [],
    ]);
  });

  it.each([
    ['a zero trace id', { traceId: new Uint8Array(16) }, 'trace_id must be 16 bytes, not all zero'],
    ['a long span id', { spanId: new Uint8Array(9).fill(1) }, 'span_id must be 8 bytes, not all zero'],
    ['reversed times', { endTimeUnixNano: '1' }, 'end time must not be before start time'],
    [
      'a link with an invalid id',
      { links: [{ traceId: new Uint8Array(16), spanId: new Uint8Array(8).fill(1) }] },
      'a link has an invalid trace_id or span_id',
    ],
  ])('traces.ingest 400: %s, in protobuf', async (_what, overrides, fault) => {
    // The message counts spans from 0.
    const spans = [protobufSpan, { ...protobufSpan, ...overrides }];
    const body = encodeExport({ resourceSpans: [{ scopeSpans: [{ spans }] }] });
    expect(await answerAndTraces(statusTypeAndBody(sendBytes(app, body, { ...PROTOBUF, ...as(key) })))).toEqual([
      400,
      'application/x-protobuf',
      asProtobuf(`Span 1 of the export is invalid: ${fault}.`),
      [],
    ]);
  });

  it.each([
    ['a zero trace id', { traceId: '0'.repeat(32) }, 'trace_id must be 16 bytes, not all zero'],
    ['a zero parent', { parentSpanId: '0'.repeat(16) }, 'parent_span_id must be empty or 8 bytes, not all zero'],
    ['a short span id', { spanId: '1'.repeat(14) }, 'span_id must be 8 bytes, not all zero'],
    ['reversed times', { endTimeUnixNano: '1' }, 'end time must not be before start time'],
    [
      'a link with an invalid id',
      { links: [{ traceId: '1'.repeat(32), spanId: '0'.repeat(16) }] },
      'a link has an invalid trace_id or span_id',
    ],
    [
      'a time past 2^63',
      { endTimeUnixNano: '9223372036854775808' },
      'start and end times must be nanoseconds between 0 and 2^63-1',
    ],
  ])('traces.ingest 400: %s', async (_what, overrides, fault) => {
    // The message counts spans from 0.
    const spans = [otlpSpan('1', 0, 1), otlpSpan('2', 0, 1, {}, overrides)];
    expect(await answerAndTraces(statusAndBody(send(app, otlpExport(...spans), as(key))))).toEqual([
      400,
      { message: `Span 1 of the export is invalid: ${fault}.` },
      [],
    ]);
  });
});

it('traces.ingest 200: an attribute of more than 64 KiB is truncated to its first 64 KiB', async () => {
  const app = await startApp();
  try {
    const text = 'ä'.repeat(40_000);
    expect((await send(app, otlpExport(otlpSpan('1', 0, 1, { big: text, 'input.value': text })))).status).toBe(200);
    const path = `/v1/traces/${TRACE_ID}/spans/${'1'.repeat(16)}`;
    const span: unknown = await (await app.call('GET', path)).json();
    // `input.value` is the input only of OpenInference spans.
    // Each `ä` has two bytes.
    const truncated = `${'ä'.repeat(32_768)}…[truncated 14464 bytes]`;
    expect(span).toMatchObject({ attributes: { big: truncated, 'input.value': truncated }, input: '' });
  } finally {
    await app.stop();
  }
});

it('traces.ingest 413: every limit is a setting', async () => {
  const app = await startApp({
    env: {
      OTLP_MAX_BODY_BYTES: '2000',
      OTLP_MAX_DECODE_DEPTH: '14',
      OTLP_MAX_DECODE_NODES: '128',
      OTLP_MAX_SPANS: '2',
      OTLP_MAX_ATTRIBUTES: '2',
      OTLP_MAX_EVENTS: '1',
      OTLP_MAX_LINKS: '1',
      OTLP_MAX_DECODED_SPAN_BYTES: '1500',
      OTLP_MAX_ATTRIBUTE_VALUE_BYTES: '8',
    },
  });
  const answerTo = async (body: unknown): Promise<unknown> => {
    const [status, answer] = await statusAndBody(send(app, body));
    return [status, answer];
  };
  const tooMany = (kind: string) => [413, { message: `A span, resource or scope of the export has too many ${kind}.` }];
  const link = { traceId: '1'.repeat(32), spanId: '2'.repeat(16) };
  try {
    expect(await answerTo(otlpExport(otlpSpan('1', 0, 1, { k: '0123456789' })))).toEqual([200, {}]);
    const path = `/v1/traces/${TRACE_ID}/spans/${'1'.repeat(16)}`;
    expect(await (await app.call('GET', path)).json()).toMatchObject({
      attributes: { k: '01234567…[truncated 2 bytes]' },
    });
    expect(await answerTo(otlpExport(otlpSpan('2', 0, 1, { a: 1, b: 2, c: 3 })))).toEqual(tooMany('attributes'));
    expect(await answerTo(otlpExport(otlpSpan('2', 0, 1, {}, { events: [{}, {}] })))).toEqual(tooMany('events'));
    expect(await answerTo(otlpExport(otlpSpan('2', 0, 1, {}, { links: [link, link] })))).toEqual(tooMany('links'));
    const spans = ['2', '3', '4'].map((digit) => otlpSpan(digit, 0, 1));
    expect(await answerTo(otlpExport(...spans))).toEqual([413, { message: TOO_MANY_SPANS }]);
    expect(await answerTo(otlpExport(otlpSpan('2', 0, 1, { k: 'x'.repeat(1_200) })))).toEqual([
      413,
      { message: 'The export is too large once decoded.' },
    ]);
    expect(await answerTo({ x: Array(140).fill(1) })).toEqual([413, { message: 'The export has too many fields.' }]);
    const nested = otlpSpan('2', 0, 1, {}, { attributes: [{ key: 'k', value: nestedLists(3) }] });
    expect(await answerTo(otlpExport(nested))).toEqual([413, { message: TOO_DEEP }]);
    const [status] = await statusTypeAndBody(sendBytes(app, new Uint8Array(2_001), PROTOBUF));
    expect(status).toBe(413);
  } finally {
    await app.stop();
  }
});
