import protobuf from 'protobufjs';

const repeated = (type: string, id: number) => ({ rule: 'repeated', type, id });
const field = (type: string, id: number) => ({ type, id });

/** The trace messages of opentelemetry-proto, for protobufjs as an independent encoder and decoder. */
const DESCRIPTOR = {
  nested: {
    AnyValue: {
      oneofs: {
        value: {
          oneof: ['stringValue', 'boolValue', 'intValue', 'doubleValue', 'arrayValue', 'kvlistValue', 'bytesValue'],
        },
      },
      fields: {
        stringValue: field('string', 1),
        boolValue: field('bool', 2),
        intValue: field('int64', 3),
        doubleValue: field('double', 4),
        arrayValue: field('ArrayValue', 5),
        kvlistValue: field('KeyValueList', 6),
        bytesValue: field('bytes', 7),
      },
    },
    ArrayValue: { fields: { values: repeated('AnyValue', 1) } },
    KeyValueList: { fields: { values: repeated('KeyValue', 1) } },
    KeyValue: { fields: { key: field('string', 1), value: field('AnyValue', 2) } },
    Resource: { fields: { attributes: repeated('KeyValue', 1), droppedAttributesCount: field('uint32', 2) } },
    Scope: {
      fields: { name: field('string', 1), version: field('string', 2), attributes: repeated('KeyValue', 3) },
    },
    Event: {
      fields: {
        timeUnixNano: field('fixed64', 1),
        name: field('string', 2),
        attributes: repeated('KeyValue', 3),
        droppedAttributesCount: field('uint32', 4),
      },
    },
    Link: {
      fields: {
        traceId: field('bytes', 1),
        spanId: field('bytes', 2),
        traceState: field('string', 3),
        attributes: repeated('KeyValue', 4),
        flags: field('fixed32', 6),
      },
    },
    Status: { fields: { message: field('string', 2), code: field('int32', 3) } },
    Span: {
      fields: {
        traceId: field('bytes', 1),
        spanId: field('bytes', 2),
        traceState: field('string', 3),
        parentSpanId: field('bytes', 4),
        name: field('string', 5),
        kind: field('int32', 6),
        startTimeUnixNano: field('fixed64', 7),
        endTimeUnixNano: field('fixed64', 8),
        attributes: repeated('KeyValue', 9),
        droppedAttributesCount: field('uint32', 10),
        events: repeated('Event', 11),
        links: repeated('Link', 13),
        status: field('Status', 15),
        flags: field('fixed32', 16),
      },
    },
    ScopeSpans: {
      fields: { scope: field('Scope', 1), spans: repeated('Span', 2), schemaUrl: field('string', 3) },
    },
    ResourceSpans: {
      fields: { resource: field('Resource', 1), scopeSpans: repeated('ScopeSpans', 2), schemaUrl: field('string', 3) },
    },
    Request: { fields: { resourceSpans: repeated('ResourceSpans', 1) } },
  },
};

const requestType = protobuf.Root.fromJSON(DESCRIPTOR).lookupType('Request');

/** Encodes an export in protobuf. Takes objects of protobufjs: bytes as Uint8Array, 64-bit integers as strings. */
export function encodeExport(request: Readonly<Record<string, unknown>>): Uint8Array {
  return requestType.encode(requestType.fromObject({ ...request })).finish();
}

/** Decodes and encodes an export with protobufjs. Null if it is invalid. */
export function rewritten(body: Uint8Array): Uint8Array | null {
  try {
    return requestType.encode(requestType.decode(body)).finish();
  } catch {
    return null;
  }
}

/** Converts an OTLP/JSON export to protobuf. */
export function protobufOf(json: unknown): Uint8Array {
  const withBytes = JSON.parse(JSON.stringify(json), (key, value: unknown) =>
    /^(trace|span|parentSpan)Id$/.test(key) && typeof value === 'string' ? Uint8Array.fromHex(value) : value,
  ) as Record<string, unknown>;
  return encodeExport(withBytes);
}

/**
 * Converts a protobuf export to OTLP/JSON: ids in hex, 64-bit integers as strings. Other bytes become arrays of
 * numbers, not base64.
 */
export function exportObject(body: Uint8Array): unknown {
  const object = requestType.toObject(requestType.decode(body), { longs: String, bytes: Array });
  return JSON.parse(JSON.stringify(object, (key, value: unknown) => (key.endsWith('Id') ? hexOf(value) : value)));
}

const hexOf = (value: unknown): unknown => (Array.isArray(value) ? Uint8Array.from(value as number[]).toHex() : value);
