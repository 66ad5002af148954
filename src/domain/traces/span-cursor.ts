import { cursorState, cursorText } from '../cursor-text.ts';
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

/** The cursor after a span. It contains the number of spans of the trace. */
export const spanCursorAt = ({ startNs, spanId }: SpanPosition, spanCount: number): string =>
  cursorText([spanCount, String(startNs), spanId]);

/**
 * The position of the span before a cursor. Throws InvalidInput for a malformed cursor. Throws Conflict when the trace
 * has another number of spans now, because pages would repeat or skip spans.
 */
export function readSpanCursor(cursor: string, spanCount: number): SpanPosition {
  const { spanCount: counted, ...position } = stateOf(cursor);
  if (counted !== spanCount)
    throw new Conflict('The trace has changed since this cursor was given. Read it from its start.');
  return position;
}

/** Whether a span is after a position. */
export const isAfterPosition = (span: SpanPosition, position: SpanPosition): boolean =>
  span.startNs === position.startNs ? span.spanId > position.spanId : span.startNs > position.startNs;

function stateOf(cursor: string): SpanPosition & { readonly spanCount: number } {
  const state = cursorState(cursor);
  const [spanCount, startNs, spanId] = state;
  const isValid =
    state.length === 3 &&
    Number.isSafeInteger(spanCount) &&
    DIGITS.test(String(startNs)) &&
    SPAN_ID.test(String(spanId));
  if (!isValid || BigInt(String(startNs)) > MAX_NS) throw new InvalidInput('Invalid cursor.');
  return { spanCount: Number(spanCount), startNs: BigInt(String(startNs)), spanId: String(spanId) };
}
