import { InvalidInput } from '../../domain/errors.ts';
import { SPAN_KINDS, type SpanKind, type SpanStatus } from '../../domain/traces/span.ts';

const MAX_NS = 2n ** 63n - 1n;
const NO_TRACE_ID = '0'.repeat(32);
const NO_SPAN_ID = '0'.repeat(16);
const STATUSES: readonly SpanStatus[] = ['unset', 'ok', 'error'];

/** The parts of a span that every encoding has to get right; one that is wrong refuses the whole export. */
export interface SpanIdentity {
  /** Lower-case hex of the bytes that were sent, whatever their number. */
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for a root. */
  readonly parentSpanId: string;
  readonly startNs: bigint;
  readonly endNs: bigint;
}

/** Refuses a span without valid ids and times. `index` is its place in the export, for the message. */
export function assertSpan({ traceId, spanId, parentSpanId, startNs, endNs }: SpanIdentity, index: number): void {
  if (!isTraceId(traceId)) throw invalidSpan(index, 'trace_id must be 16 bytes, not all zero');
  if (!isSpanId(spanId)) throw invalidSpan(index, 'span_id must be 8 bytes, not all zero');
  if (parentSpanId !== '' && !isSpanId(parentSpanId))
    throw invalidSpan(index, 'parent_span_id must be empty or 8 bytes, not all zero');
  if (startNs > MAX_NS || endNs > MAX_NS || startNs < 0n || endNs < 0n)
    throw invalidSpan(index, 'start and end times must be nanoseconds between 0 and 2^63-1');
  if (endNs < startNs) throw invalidSpan(index, 'end time must not be before start time');
}

/** Refuses a link whose ids are not valid. */
export function assertLink(traceId: string, spanId: string, index: number): void {
  if (!isTraceId(traceId) || !isSpanId(spanId)) throw invalidSpan(index, 'a link has an invalid trace_id or span_id');
}

function invalidSpan(index: number, fault: string): InvalidInput {
  return new InvalidInput(`Span ${index} of the export is invalid: ${fault}.`);
}

/** An event's time is not worth a span: one that cannot be kept is moved to the nearest that can. */
export const eventTime = (timeNs: bigint): bigint => (timeNs > MAX_NS ? MAX_NS : timeNs < 0n ? 0n : timeNs);

/** The kind of an OTLP number; numbers we do not know are unspecified. */
export const spanKindOf = (value: number): SpanKind => SPAN_KINDS[value] ?? 'UNSPECIFIED';

/** The status of an OTLP number; numbers we do not know are unset. */
export const spanStatusOf = (value: number): SpanStatus => STATUSES[value] ?? 'unset';

const isTraceId = (id: string): boolean => id.length === 32 && id !== NO_TRACE_ID;
const isSpanId = (id: string): boolean => id.length === 16 && id !== NO_SPAN_ID;
