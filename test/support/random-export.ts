import type { AttributeValue, RawSpan } from '../../src/domain/traces/span.ts';

/** Seeded random integers below a bound. The same seed gives the same sequence. */
export function seeded(seed: number): (below: number) => number {
  // Xorshift. Its state must not be zero.
  let state = seed >>> 0 || 1;
  return (below) => {
    state ^= state << 13;
    state >>>= 0;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state % below;
  };
}

type Draw = (below: number) => number;
interface KeyValue {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

const TEXTS = [
  '',
  'plain',
  'gen_ai.request.model',
  'grüße 🌍 and more',
  'line\nbreak "quoted" \\ back',
  'x'.repeat(300),
];
const INTEGERS = ['0', '1', '-1', '4294967296', '-9007199254740993', '9223372036854775807', '-9223372036854775808'];
const KINDS = ['UNSPECIFIED', 'INTERNAL', 'SERVER', 'CLIENT', 'PRODUCER', 'CONSUMER'] as const;
const STATUSES = ['unset', 'ok', 'error'] as const;

const pick = <Item>(draw: Draw, items: readonly Item[]): Item => items[draw(items.length)] as Item;
/** Random bytes except zero, because an id of zeros is invalid. */
const bytes = (draw: Draw, count: number): Uint8Array => Uint8Array.from({ length: count }, () => draw(255) + 1);
const times = <Item>(count: number, make: (index: number) => Item): Item[] =>
  Array.from({ length: count }, (_, index) => make(index));

/** Random OTLP `AnyValue` as it is sent, and the expected decoded value. */
function anyValue(draw: Draw, depth: number): readonly [Record<string, unknown>, AttributeValue] {
  // Lists and objects (6 and 7) only above depth 0. 5 is a text, too.
  switch (draw(depth > 0 ? 8 : 6)) {
    case 0: {
      const integer = pick(draw, INTEGERS);
      return [{ intValue: integer }, Number.isSafeInteger(Number(integer)) ? Number(integer) : BigInt(integer)];
    }
    case 1:
      return [{ boolValue: true }, true];
    case 2: {
      const double = (draw(2_000_000) - 1_000_000) / 64;
      return [{ doubleValue: double }, double];
    }
    case 3: {
      const value = bytes(draw, draw(20));
      return [{ bytesValue: value }, value];
    }
    case 4:
      return [{}, null];
    case 6: {
      const items = times(draw(4), () => anyValue(draw, depth - 1));
      return [{ arrayValue: { values: items.map(([sent]) => sent) } }, items.map(([, read]) => read)];
    }
    case 7: {
      const { sent, read } = attributes(draw, draw(4), depth - 1);
      return [{ kvlistValue: { values: sent } }, read];
    }
    default: {
      const text = pick(draw, TEXTS);
      return [{ stringValue: text }, text];
    }
  }
}

function attributes(draw: Draw, count: number, depth = 2): { sent: KeyValue[]; read: Record<string, AttributeValue> } {
  const sent: KeyValue[] = [];
  const read: Record<string, AttributeValue> = {};
  for (let index = 0; index < count; index++) {
    const key = `${pick(draw, ['gen_ai.a', 'http.b', 'schlüssel', 'k'.repeat(80)])}.${index}`;
    const [value, expected] = anyValue(draw, depth);
    sent.push({ key, value });
    read[key] = expected;
  }
  return { sent, read };
}

function span(draw: Draw, shared: Pick<RawSpan, 'resource' | 'instrumentationScope'>) {
  const traceId = bytes(draw, 16);
  const spanId = bytes(draw, 8);
  const parent = draw(2) === 0 ? null : bytes(draw, 8);
  const startNs = 1_760_000_000_000_000_000n + BigInt(draw(1_000_000_000));
  const endNs = startNs + BigInt(draw(1_000_000_000));
  const spanAttributes = attributes(draw, draw(6));
  const kind = draw(KINDS.length);
  const status = draw(STATUSES.length);
  const name = pick(draw, TEXTS);
  const message = pick(draw, TEXTS);
  const events = times(draw(3), () => ({ name: pick(draw, TEXTS), timeNs: startNs, ...attributes(draw, draw(3)) }));
  const links = times(draw(3), () => ({ traceId: bytes(draw, 16), spanId: bytes(draw, 8), ...attributes(draw, 1) }));
  const expected: RawSpan = {
    traceId: traceId.toHex(),
    spanId: spanId.toHex(),
    parentSpanId: parent?.toHex() ?? null,
    name,
    kind: KINDS[kind] ?? 'UNSPECIFIED',
    startNs,
    endNs,
    status: STATUSES[status] ?? 'unset',
    statusMessage: message,
    attributes: spanAttributes.read,
    events: events.map((event) => ({ name: event.name, timeNs: event.timeNs, attributes: event.read })),
    links: links.map((link) => ({
      traceId: link.traceId.toHex(),
      spanId: link.spanId.toHex(),
      attributes: link.read,
    })),
    ...shared,
  };
  const sent = {
    traceId,
    spanId,
    ...(parent === null ? {} : { parentSpanId: parent }),
    traceState: 'vendor=1',
    name,
    kind,
    startTimeUnixNano: String(startNs),
    endTimeUnixNano: String(endNs),
    attributes: spanAttributes.sent,
    droppedAttributesCount: draw(3),
    events: events.map((event) => ({
      timeUnixNano: String(event.timeNs),
      name: event.name,
      attributes: event.sent,
      droppedAttributesCount: 1,
    })),
    links: links.map((link) => ({
      traceId: link.traceId,
      spanId: link.spanId,
      traceState: 'a=b',
      attributes: link.sent,
      flags: 257,
    })),
    status: { code: status, message },
    flags: 257,
  };
  return { sent, expected };
}

/** Random OTLP export as the object that `encodeExport` of `otlp-oracle.ts` takes, and the expected decoded spans. */
export function randomExport(draw: Draw): { request: Record<string, unknown>; spans: readonly RawSpan[] } {
  const spans: RawSpan[] = [];
  const resourceSpans = times(1 + draw(2), () => {
    const resource = attributes(draw, draw(4));
    const scopeSpans = times(1 + draw(2), () => {
      const scope = attributes(draw, draw(2));
      const instrumentationScope = { name: pick(draw, TEXTS), version: '1.2.3', attributes: scope.read };
      const pairs = times(draw(4), () => span(draw, { resource: { attributes: resource.read }, instrumentationScope }));
      spans.push(...pairs.map(({ expected }) => expected));
      return {
        scope: { name: instrumentationScope.name, version: '1.2.3', attributes: scope.sent },
        spans: pairs.map(({ sent }) => sent),
        schemaUrl: 'https://example.test/schema',
      };
    });
    return { resource: { attributes: resource.sent, droppedAttributesCount: 2 }, scopeSpans };
  });
  return { request: { resourceSpans }, spans };
}

/** Converts the request to OTLP/JSON: ids in hex, other bytes in base64. */
export function asOtlpJson(request: unknown): string {
  return JSON.stringify(request, (name, value: unknown) => {
    if (!(value instanceof Uint8Array)) return value;
    return name.endsWith('Id') ? value.toHex() : value.toBase64();
  });
}
