import { Conflict, InvalidInput } from '../errors.ts';

/** Position of a span in its trace: start, then id. */
export interface SpanPosition {
  /** Unix nanoseconds. */
  readonly startNs: bigint;
  readonly spanId: string;
}

const DIGITS = /^\d{1,19}$/;
/** Latest possible start of a span. */
const MAX_NS = 2n ** 63n - 1n;
const SPAN_ID = /^[0-9a-f]{1,64}$/;

/** The cursor after a span of a trace with a number of spans. */
export const spanCursorAt = ({ startNs, spanId }: SpanPosition, spanCount: number): string =>
  new TextEncoder()
    .encode(JSON.stringify([spanCount, String(startNs), spanId]))
    .toBase64({ alphabet: 'base64url', omitPadding: true });

/**
 * The span before a cursor. Throws InvalidInput for a malformed cursor, and Conflict when the trace has changed since, because spans
 * would be repeated or skipped.
 */
export function readSpanCursor(cursor: string, spanCount: number): SpanPosition {
  const { spanCount: counted, ...position } = stateOf(cursor);
  if (counted !== spanCount)
    throw new Conflict('The trace has changed since this cursor was given. Read it from its start.');
  return position;
}

/** Whether a span is after a position. */
export const isBehind = (span: SpanPosition, position: SpanPosition): boolean =>
  span.startNs === position.startNs ? span.spanId > position.spanId : span.startNs > position.startNs;

function stateOf(cursor: string): SpanPosition & { readonly spanCount: number } {
  let state: unknown = null;
  try {
    state = JSON.parse(new TextDecoder().decode(Uint8Array.fromBase64(cursor, { alphabet: 'base64url' })));
  } catch (cause) {
    throw new InvalidInput('Invalid cursor.', [], { cause });
  }
  if (!Array.isArray(state) || state.length !== 3) throw new InvalidInput('Invalid cursor.');
  const [spanCount, startNs, spanId] = state as readonly unknown[];
  const known = Number.isSafeInteger(spanCount) && DIGITS.test(String(startNs)) && SPAN_ID.test(String(spanId));
  if (!known || BigInt(String(startNs)) > MAX_NS) throw new InvalidInput('Invalid cursor.');
  return { spanCount: Number(spanCount), startNs: BigInt(String(startNs)), spanId: String(spanId) };
}
