import { InvalidInput, TooLarge } from '../../domain/errors.ts';
import type { OtlpLimits } from '../../domain/traces/otlp-limits.ts';
import {
  type AttributeValue,
  SPAN_KINDS,
  SPAN_STATUSES,
  type SpanKind,
  type SpanStatus,
} from '../../domain/traces/span.ts';

const UNLIMITED = Number.MAX_SAFE_INTEGER;
/** No limits, for stored bodies. Limits are checked when an export is accepted. */
export const NO_LIMITS: OtlpLimits = {
  bodyBytes: UNLIMITED,
  depth: UNLIMITED,
  nodes: UNLIMITED,
  spans: UNLIMITED,
  attributes: UNLIMITED,
  events: UNLIMITED,
  links: UNLIMITED,
  decodedBytes: UNLIMITED,
  valueBytes: UNLIMITED,
};

/** Remaining limits of one export. Decoding charges each value to them. */
export interface Allowance {
  readonly limits: OtlpLimits;
  /** Remaining fields (protobuf), or keys and values (JSON). */
  nodes: number;
  spans: number;
  decodedBytes: number;
}

/** Memory of one decoded value besides its content, in bytes. */
const VALUE_BYTES = 16;
/** Memory of one decoded resource, scope, span, event or link without its values, in bytes. */
const MESSAGE_BYTES = 128;
/**
 * Each span adds 1/64 of the node limit. With the default limit, this is enough for 128 attributes in JSON, the default
 * maximum of SDKs.
 */
const NODE_LIMIT_DIVISOR = 64;

/** Full allowance for one export. */
export function allowanceOf(limits: OtlpLimits): Allowance {
  return { limits, nodes: limits.nodes, spans: limits.spans, decodedBytes: limits.decodedBytes };
}

/** Charges one node. Throws TooLarge. */
export function spendNode(allowance: Allowance): void {
  allowance.nodes--;
  assertNodes(allowance);
}

/** Throws TooLarge when the export has too many nodes. */
export function assertNodes({ nodes, limits }: Allowance): void {
  if (nodes < 0) throw new TooLarge('The export has too many fields.', limits.nodes);
}

/** Adds the nodes that these spans allow. Counts at most as many spans as the span limit. */
export function grantNodesOfSpans(allowance: Allowance, spans = 1): void {
  const { limits } = allowance;
  allowance.nodes += Math.min(spans, limits.spans) * Math.floor(limits.nodes / NODE_LIMIT_DIVISOR);
}

/** Charges one value of this many bytes. Throws TooLarge. */
export function spendValue(allowance: Allowance, bytes: number): void {
  allowance.decodedBytes -= bytes + VALUE_BYTES;
  if (allowance.decodedBytes < 0) throw tooLargeDecoded(allowance);
}

/** Charges one resource, instrumentation scope, span, event or link. Throws TooLarge. */
export function spendMessage(allowance: Allowance): void {
  allowance.decodedBytes -= MESSAGE_BYTES;
  if (allowance.decodedBytes < 0) throw tooLargeDecoded(allowance);
}

/** Charges one span. Throws TooLarge. */
export function spendSpan(allowance: Allowance): void {
  allowance.spans--;
  if (allowance.spans < 0) throw new TooLarge('The export has too many spans.', allowance.limits.spans);
  spendMessage(allowance);
}

/** Throws TooLarge when the nesting is too deep. */
export function assertDepth(allowance: Allowance, depth: number): void {
  if (depth > allowance.limits.depth) throw new TooLarge('The export is nested too deeply.', allowance.limits.depth);
}

/** Throws TooLarge when a list of this kind is too long. */
export function assertCount(count: number, limit: number, kind: 'attributes' | 'events' | 'links'): void {
  if (count > limit) throw new TooLarge(`A span, resource or scope of the export has too many ${kind}.`, limit);
}

const tooLargeDecoded = ({ limits }: Allowance): TooLarge =>
  new TooLarge('The export is too large once decoded.', limits.decodedBytes);

/** Error for a body that is not an ExportTraceServiceRequest in its encoding. `why` completes the message. */
export function undecodable(why: string, cause?: unknown): InvalidInput {
  return new InvalidInput(`The export could not be decoded: ${why}.`, [], { cause });
}

/** Sets an attribute. Safe for every key, `__proto__` included. A later value replaces an earlier one. */
export function setAttribute(target: Record<string, AttributeValue>, key: string, value: AttributeValue): void {
  if (key !== '__proto__') {
    target[key] = value;
    return;
  }
  // Assignment to `__proto__` would change the prototype.
  Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
}

const MAX_NS = 2n ** 63n - 1n;
const NO_TRACE_ID = '0'.repeat(32);
const NO_SPAN_ID = '0'.repeat(16);

/** Ids and times of a span. An invalid value rejects the whole export. */
export interface SpanIdentity {
  /** Lower-case hex of the received bytes. Its length is not validated yet. */
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for a root span. */
  readonly parentSpanId: string;
  readonly startNs: bigint;
  readonly endNs: bigint;
}

/** Throws InvalidInput for a span without valid ids and times. `index` is its position in the export, from 0. */
export function assertSpan({ traceId, spanId, parentSpanId, startNs, endNs }: SpanIdentity, index: number): void {
  if (!isTraceId(traceId)) throw invalidSpan(index, 'trace_id must be 16 bytes, not all zero');
  if (!isSpanId(spanId)) throw invalidSpan(index, 'span_id must be 8 bytes, not all zero');
  if (parentSpanId !== '' && !isSpanId(parentSpanId))
    throw invalidSpan(index, 'parent_span_id must be empty or 8 bytes, not all zero');
  if (startNs > MAX_NS || endNs > MAX_NS || startNs < 0n || endNs < 0n)
    throw invalidSpan(index, 'start and end times must be nanoseconds between 0 and 2^63-1');
  if (endNs < startNs) throw invalidSpan(index, 'end time must not be before start time');
}

/** Throws InvalidInput for a link with invalid ids. `index` is the position of its span, from 0. */
export function assertLink(traceId: string, spanId: string, index: number): void {
  if (!isTraceId(traceId) || !isSpanId(spanId)) throw invalidSpan(index, 'a link has an invalid trace_id or span_id');
}

function invalidSpan(index: number, fault: string): InvalidInput {
  return new InvalidInput(`Span ${index} of the export is invalid: ${fault}.`);
}

/** Event time, clamped to the valid range. An invalid event time does not reject the export. */
export function eventTime(timeNs: bigint): bigint {
  if (timeNs > MAX_NS) return MAX_NS;
  return timeNs < 0n ? 0n : timeNs;
}

/** Span kind of an OTLP number. `UNSPECIFIED` for unknown numbers. */
export const spanKindOf = (value: number): SpanKind => SPAN_KINDS[value] ?? 'UNSPECIFIED';

/** Status of an OTLP number. `unset` for unknown numbers. */
export const spanStatusOf = (value: number): SpanStatus => SPAN_STATUSES[value] ?? 'unset';

const isTraceId = (id: string): boolean => id.length === 32 && id !== NO_TRACE_ID;
const isSpanId = (id: string): boolean => id.length === 16 && id !== NO_SPAN_ID;
