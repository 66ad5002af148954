/** Trace and parent span of a request, from its `traceparent` header. */
export interface TraceContext {
  /** 32 lower-case hex digits. */
  readonly traceId: string;
  /** 16 lower-case hex digits: the parent of the spans of this request. */
  readonly spanId: string;
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/;

/** Reads a W3C `traceparent` header; null for a missing or invalid one, as the standard requires. */
export function parseTraceparent(header: string | undefined): TraceContext | null {
  const match = TRACEPARENT.exec(header?.trim() ?? '');
  if (!match) return null;
  const [, version, traceId = '', spanId = '', more] = match;
  // Later versions may append fields; version 00 may not, and ff is invalid.
  if (version === 'ff' || (version === '00' && more !== undefined)) return null;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return null;
  return { traceId, spanId };
}
