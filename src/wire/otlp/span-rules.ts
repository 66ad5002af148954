import { type AttributeValue, SPAN_KINDS, type SpanKind, type SpanStatus } from '../../domain/traces/span.ts';
import { InvalidInput } from '../../domain/errors.ts';

/** Sets an attribute. Safe for every key, `__proto__` included. A later value replaces an earlier one. */
export function setAttribute(into: Record<string, AttributeValue>, key: string, value: AttributeValue): void {
  if (key !== '__proto__') {
    into[key] = value;
    return;
  }
  // Assignment to `__proto__` would change the prototype.
  Object.defineProperty(into, key, { value, enumerable: true, configurable: true, writable: true });
}

const MAX_NS = 2n ** 63n - 1n;
const NO_TRACE_ID = '0'.repeat(32);
const NO_SPAN_ID = '0'.repeat(16);
const STATUSES: readonly SpanStatus[] = ['unset', 'ok', 'error'];

/** Ids and times of a span. An invalid one rejects the whole export. */
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
export const eventTime = (timeNs: bigint): bigint => (timeNs > MAX_NS ? MAX_NS : timeNs < 0n ? 0n : timeNs);

/** Span kind of an OTLP number. `UNSPECIFIED` for unknown numbers. */
export const spanKindOf = (value: number): SpanKind => SPAN_KINDS[value] ?? 'UNSPECIFIED';

/** Status of an OTLP number. `unset` for unknown numbers. */
export const spanStatusOf = (value: number): SpanStatus => STATUSES[value] ?? 'unset';

const isTraceId = (id: string): boolean => id.length === 32 && id !== NO_TRACE_ID;
const isSpanId = (id: string): boolean => id.length === 16 && id !== NO_SPAN_ID;
