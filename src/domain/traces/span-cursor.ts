import { Conflict, InvalidInput } from '../errors.ts';

/** The cursor behind so many spans of a trace that has this many. */
export const spanCursorAt = (behind: number, spanCount: number): string =>
  new TextEncoder().encode(JSON.stringify([spanCount, behind])).toBase64({ alphabet: 'base64url', omitPadding: true });

/**
 * How many spans stand before a cursor. Throws InvalidInput when it is none of ours, and Conflict when the trace has
 * changed since: its spans would be repeated or skipped.
 */
export function readSpanCursor(cursor: string, spanCount: number): number {
  const [then, behind] = stateOf(cursor);
  if (then !== spanCount)
    throw new Conflict('The trace has changed since this cursor was given. Read it from its start.');
  if (behind < 1 || behind > spanCount) throw new InvalidInput('Invalid cursor.');
  return behind;
}

function stateOf(cursor: string): readonly [number, number] {
  let state: unknown = null;
  try {
    state = JSON.parse(new TextDecoder().decode(Uint8Array.fromBase64(cursor, { alphabet: 'base64url' })));
  } catch (cause) {
    throw new InvalidInput('Invalid cursor.', [], { cause });
  }
  if (!Array.isArray(state) || state.length !== 2 || !state.every(Number.isSafeInteger))
    throw new InvalidInput('Invalid cursor.');
  return state as unknown as readonly [number, number];
}
