/** The place in a trace that a caller says it is at. */
export interface TraceContext {
  /** 32 lower-case hex digits. */
  readonly traceId: string;
  /** 16 lower-case hex digits: the parent of what happens next. */
  readonly spanId: string;
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/;

/** Reads a W3C `traceparent` header; null when there is none or it is not valid, as the standard asks. */
export function parseTraceparent(header: string | undefined): TraceContext | null {
  const match = TRACEPARENT.exec(header?.trim() ?? '');
  if (!match) return null;
  const [, version, traceId = '', spanId = '', more] = match;
  // Later versions may append fields; version 00 may not, and ff is reserved.
  if (version === 'ff' || (version === '00' && more !== undefined)) return null;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return null;
  return { traceId, spanId };
}
