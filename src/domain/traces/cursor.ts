import { InvalidInput } from '../errors.ts';
import type { TraceSummary, TraceWindow } from './trace.ts';

const MS = 1_000_000n;
/** Refs of a list are printable text without spaces. Other text is no cursor of this server. */
const REF = /^[\x21-\x7e]{1,256}$/;

/**
 * The cursor after this row of this window: opaque, URL-safe. The window is frozen inside, so
 * that paging through "the last 24 hours" does not drift while the clock moves on.
 */
export function cursorAfter(window: Pick<TraceWindow, 'startMs' | 'endMs'>, row: TraceSummary): string {
  const state = [window.startMs, window.endMs, Number(row.startNs / MS), row.traceRef];
  return new TextEncoder().encode(JSON.stringify(state)).toBase64({ alphabet: 'base64url', omitPadding: true });
}

/** The window and position of a cursor. Throws InvalidInput for a malformed cursor. */
export function readCursor(cursor: string): TraceWindow {
  const state = parseState(cursor);
  if (!Array.isArray(state) || state.length !== 4) throw invalidCursor();
  const [startMs, endMs, rowStartMs, traceRef] = state as readonly unknown[];
  if (!Number.isSafeInteger(startMs) || !Number.isSafeInteger(endMs) || !Number.isSafeInteger(rowStartMs))
    throw invalidCursor();
  if (typeof traceRef !== 'string' || !REF.test(traceRef)) throw invalidCursor();
  return {
    startMs: Number(startMs),
    endMs: Number(endMs),
    after: { startMs: Number(rowStartMs), traceRef },
  };
}

function parseState(cursor: string): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(Uint8Array.fromBase64(cursor, { alphabet: 'base64url' })));
  } catch (cause) {
    throw invalidCursor(cause);
  }
}

const invalidCursor = (cause?: unknown): InvalidInput => new InvalidInput('Invalid cursor.', [], { cause });
