import { cursorState, cursorText } from '../cursor-text.ts';
import { InvalidInput } from '../errors.ts';
import type { TraceSummary, TraceWindow } from './trace.ts';

const NS_PER_MS = 1_000_000n;
/** Trace refs are 1 to 256 printable ASCII characters without spaces. A cursor with another ref is invalid. */
export const TRACE_REF = /^[\x21-\x7e]{1,256}$/;

/**
 * The cursor after this row of this window: opaque, URL-safe. It contains the window, so that all pages of "the last 24
 * hours" have the same window.
 */
export const cursorAfter = (window: Pick<TraceWindow, 'startMs' | 'endMs'>, row: TraceSummary): string =>
  cursorText([window.startMs, window.endMs, Number(row.startNs / NS_PER_MS), row.traceRef]);

/** The window and position of a cursor. Throws InvalidInput for a malformed cursor. */
export function readCursor(cursor: string): TraceWindow {
  const [startMs, endMs, rowStartMs, traceRef, ...more] = cursorState(cursor);
  if (more.length > 0 || ![startMs, endMs, rowStartMs].every(Number.isSafeInteger)) throw invalidCursor();
  if (typeof traceRef !== 'string' || !TRACE_REF.test(traceRef)) throw invalidCursor();
  return {
    startMs: Number(startMs),
    endMs: Number(endMs),
    after: { startMs: Number(rowStartMs), traceRef },
  };
}

const invalidCursor = (): InvalidInput => new InvalidInput('Invalid cursor.');
