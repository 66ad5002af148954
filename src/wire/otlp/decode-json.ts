import { isJsonObject } from '../../domain/json-object.ts';
import type { OtlpLimits } from '../../domain/traces/otlp-limits.ts';
import { type Attributes, type AttributeValue, type RawSpan, SPAN_KINDS } from '../../domain/traces/span.ts';
import { type JsonObject, parseJson } from './json-text.ts';
import {
  type Allowance,
  allowanceOf,
  assertCount,
  assertLink,
  assertSpan,
  eventTime,
  setAttribute,
  spanKindOf,
  spanStatusOf,
  spendMessage,
  spendSpan,
  spendValue,
  undecodable,
} from './span-rules.ts';
import { nullIfEmpty } from '../../domain/optional-text.ts';
import { lookupTable } from '../json/fields.ts';

const STATUS_CODES = ['UNSET', 'OK', 'ERROR'];

/**
 * Decodes an ExportTraceServiceRequest in JSON and passes its spans to `visit` in order. Accepts the variants in use:
 * ids in hex or base64, enums by number or name, 64-bit integers as text or number. With `positions`, decodes only the
 * spans at these positions, from 0. Throws InvalidInput for an invalid request or span, and TooLarge above a limit.
 */
export function visitJson(
  body: Uint8Array,
  limits: OtlpLimits,
  visit: (span: RawSpan, position: number) => void,
  positions: ReadonlySet<number> | null = null,
): void {
  const allowance = allowanceOf(limits);
  const request = parseJson(body, allowance);
  if (!isJsonObject(request)) throw undecodable('it is not a JSON object');
  let position = 0;
  for (const resourceSpans of messagesOf(request['resourceSpans'], 'resourceSpans')) {
    spendMessage(allowance);
    const resource = {
      attributes: attributesOf(messageOf(resourceSpans['resource'], 'resource')['attributes'], allowance),
    };
    for (const scopeSpans of messagesOf(resourceSpans['scopeSpans'], 'scopeSpans')) {
      spendMessage(allowance);
      const scope = readInstrumentationScope(messageOf(scopeSpans['scope'], 'scope'), allowance);
      for (const span of messagesOf(scopeSpans['spans'], 'spans')) {
        if (positions === null || positions.has(position))
          visit(readSpan(span, position, resource, scope, allowance), position);
        position++;
      }
    }
  }
}

function readInstrumentationScope(scope: JsonObject, allowance: Allowance): RawSpan['instrumentationScope'] {
  return {
    name: textOf(scope['name'], 'scope.name', allowance),
    version: textOf(scope['version'], 'scope.version', allowance),
    attributes: attributesOf(scope['attributes'], allowance),
  };
}

function readSpan(
  span: JsonObject,
  index: number,
  resource: RawSpan['resource'],
  instrumentationScope: RawSpan['instrumentationScope'],
  allowance: Allowance,
): RawSpan {
  spendSpan(allowance);
  const identity = {
    traceId: idOf(span['traceId'], 16, 'traceId'),
    spanId: idOf(span['spanId'], 8, 'spanId'),
    parentSpanId: idOf(span['parentSpanId'], 8, 'parentSpanId'),
    startNs: nanosOf(span['startTimeUnixNano'], 'startTimeUnixNano'),
    endNs: nanosOf(span['endTimeUnixNano'], 'endTimeUnixNano'),
  };
  assertSpan(identity, index);
  const status = messageOf(span['status'], 'status');
  const events = messagesOf(span['events'], 'events');
  const links = messagesOf(span['links'], 'links');
  assertCount(events.length, allowance.limits.events, 'events');
  assertCount(links.length, allowance.limits.links, 'links');
  return {
    ...identity,
    parentSpanId: nullIfEmpty(identity.parentSpanId),
    name: textOf(span['name'], 'name', allowance),
    kind: spanKindOf(enumOf(span['kind'], 'SPAN_KIND_', SPAN_KINDS)),
    status: spanStatusOf(enumOf(status['code'], 'STATUS_CODE_', STATUS_CODES)),
    statusMessage: textOf(status['message'], 'status.message', allowance),
    attributes: attributesOf(span['attributes'], allowance),
    events: events.map((event) => readEvent(event, allowance)),
    links: links.map((link) => readLink(link, index, allowance)),
    resource,
    instrumentationScope,
  };
}

function readEvent(event: JsonObject, allowance: Allowance): RawSpan['events'][number] {
  spendMessage(allowance);
  return {
    name: textOf(event['name'], 'event.name', allowance),
    timeNs: eventTime(nanosOf(event['timeUnixNano'], 'timeUnixNano')),
    attributes: attributesOf(event['attributes'], allowance),
  };
}

function readLink(link: JsonObject, spanIndex: number, allowance: Allowance): RawSpan['links'][number] {
  spendMessage(allowance);
  const traceId = idOf(link['traceId'], 16, 'link.traceId');
  const spanId = idOf(link['spanId'], 8, 'link.spanId');
  assertLink(traceId, spanId, spanIndex);
  return { traceId, spanId, attributes: attributesOf(link['attributes'], allowance) };
}

const NO_ATTRIBUTES: Attributes = Object.freeze({});
const UNSIGNED = /^\d{1,20}$/;
const INTEGER = /^-?\d{1,19}$/;
const NON_FINITE = lookupTable<number>({
  NaN: Number.NaN,
  Infinity: Number.POSITIVE_INFINITY,
  '-Infinity': Number.NEGATIVE_INFINITY,
});

/** List of messages. Empty when absent. `name` is the member name in errors. Throws InvalidInput. */
function messagesOf(value: unknown, name: string): readonly JsonObject[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw undecodable(`${name} is not an array`);
  const items: readonly unknown[] = value;
  if (!items.every(isJsonObject)) throw undecodable(`${name} has an entry that is not an object`);
  return items;
}

/** One message. Empty when absent. Throws InvalidInput. */
function messageOf(value: unknown, name: string): JsonObject {
  if (value === undefined || value === null) return {};
  if (!isJsonObject(value)) throw undecodable(`${name} is not an object`);
  return value;
}

/** Text, charged to the allowance. Empty when absent. Throws InvalidInput and TooLarge. */
function textOf(value: unknown, name: string, allowance: Allowance): string {
  if (value === undefined || value === null) return '';
  if (typeof value !== 'string') throw undecodable(`${name} is not a string`);
  spendValue(allowance, Buffer.byteLength(value));
  return value;
}

/**
 * Id as lower-case hex. Empty when absent. Accepts hex (OTLP/JSON) and base64 (JSON mapping of protobuf). Any other
 * text becomes `INVALID_ID`. Throws InvalidInput when a present value is not a string.
 */
export function idOf(value: unknown, bytes: 8 | 16, name: string): string {
  if (value === undefined || value === null || value === '') return '';
  if (typeof value !== 'string') throw undecodable(`${name} is not a string`);
  if (value.length === bytes * 2 && /^[0-9a-fA-F]+$/.test(value)) return value.toLowerCase();
  return bytesOf(value)?.toHex() ?? INVALID_ID;
}

/** Id that `assertSpan` and `assertLink` reject. */
const INVALID_ID = '?';

/** Unix nanoseconds, from text or a number. 0 when absent. Throws InvalidInput. */
function nanosOf(value: unknown, name: string): bigint {
  if (value === undefined || value === null) return 0n;
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number' && Number.isInteger(value)) return BigInt(value);
  if (typeof value === 'string' && UNSIGNED.test(value)) return BigInt(value);
  throw undecodable(`${name} is not a number of nanoseconds`);
}

/** Number of an enum value, given as a number or as a name with this prefix. 0 when absent, -1 for an unknown name. */
function enumOf(value: unknown, prefix: string, names: readonly string[]): number {
  if (value === undefined || value === null) return 0;
  if (typeof value === 'number') return value;
  if (typeof value !== 'string') return -1;
  return UNSIGNED.test(value) ? Number(value) : names.indexOf(value.replace(prefix, ''));
}

/**
 * Attributes from a list. Skips entries that are not objects and keeps unexpected values, so that no span is lost.
 * Throws InvalidInput when the value is not a list, and TooLarge above a limit.
 */
function attributesOf(value: unknown, allowance: Allowance): Attributes {
  if (value === undefined || value === null) return NO_ATTRIBUTES;
  if (!Array.isArray(value)) throw undecodable('attributes is not an array');
  assertCount(value.length, allowance.limits.attributes, 'attributes');
  return keyValuesOf(value, allowance);
}

function keyValuesOf(entries: readonly unknown[], allowance: Allowance): Attributes {
  const attributes: Record<string, AttributeValue> = {};
  for (const entry of entries) {
    if (!isJsonObject(entry)) continue;
    const key = typeof entry['key'] === 'string' ? entry['key'] : '';
    spendValue(allowance, Buffer.byteLength(key));
    setAttribute(attributes, key, anyValueOf(entry['value'], allowance));
  }
  return attributes;
}

function anyValueOf(value: unknown, allowance: Allowance): AttributeValue {
  if (value === undefined || value === null) return null;
  if (!isJsonObject(value)) return receivedValue(value, allowance);
  const text = value['stringValue'];
  if (typeof text === 'string') {
    spendValue(allowance, Buffer.byteLength(text));
    return text;
  }
  spendValue(allowance, 0);
  if (value['boolValue'] !== undefined) return receivedValue(value['boolValue'], allowance);
  if (value['intValue'] !== undefined) return integerOf(value['intValue'], allowance);
  if (value['doubleValue'] !== undefined) return doubleOf(value['doubleValue'], allowance);
  if (isJsonObject(value['arrayValue'])) return listOf(value['arrayValue']).map((item) => anyValueOf(item, allowance));
  if (isJsonObject(value['kvlistValue'])) return keyValuesOf(listOf(value['kvlistValue']), allowance);
  const base64 = value['bytesValue'];
  if (typeof base64 === 'string') {
    spendValue(allowance, base64.length);
    return bytesOf(base64) ?? base64;
  }
  return Object.keys(value).length === 0 ? null : receivedValue(value, allowance);
}

const listOf = ({ values }: JsonObject): readonly unknown[] => (Array.isArray(values) ? values : []);

function integerOf(value: unknown, allowance: Allowance): AttributeValue {
  if (typeof value !== 'string' || !INTEGER.test(value)) return receivedValue(value, allowance);
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : BigInt(value);
}

function doubleOf(value: unknown, allowance: Allowance): AttributeValue {
  if (typeof value !== 'string') return receivedValue(value, allowance);
  const nonFinite = NON_FINITE[value];
  if (nonFinite !== undefined) return nonFinite;
  const number = Number(value);
  const isNumber = value.trim() !== '' && !Number.isNaN(number);
  return isNumber ? number : receivedValue(value, allowance);
}

/** A value as received, even if it does not match its declared type. Every JSON value is a valid attribute value. */
function receivedValue(value: unknown, allowance: Allowance): AttributeValue {
  if (typeof value === 'string') spendValue(allowance, Buffer.byteLength(value));
  return value as AttributeValue;
}

function bytesOf(base64: string): Uint8Array | null {
  try {
    return Uint8Array.fromBase64(base64, { alphabet: /[-_]/.test(base64) ? 'base64url' : 'base64' });
  } catch {
    return null;
  }
}
