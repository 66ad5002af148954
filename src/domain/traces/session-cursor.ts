import { cursorState, cursorText } from '../cursor-text.ts';
import { InvalidInput } from '../errors.ts';
import { filtersOfText, textOfFilters } from './search-cursor.ts';
import type { SessionActivity, SessionSearch } from './sessions.ts';
import type { TraceFilters } from './trace-search.ts';

/** The cursor after this session. It contains the whole search. */
export const sessionCursorAfter = ({ startMs, endMs, filters }: SessionSearch, row: SessionActivity): string =>
  cursorText([startMs, endMs, textOfFilters(filters), row.lastStartMs, row.sessionId]);

const invalid = (): InvalidInput => new InvalidInput('Invalid cursor.');

/** The search of a cursor. Throws InvalidInput for an invalid cursor, and for a cursor with other filters. */
export function readSessionCursor(cursor: string, wanted: TraceFilters | null): SessionSearch {
  const [startMs, endMs, text, lastStartMs, sessionId, ...more] = cursorState(cursor);
  if (more.length > 0 || ![startMs, endMs, lastStartMs].every(Number.isSafeInteger) || typeof sessionId !== 'string')
    throw invalid();
  const filters = filtersOfText(text);
  if (wanted !== null && textOfFilters(wanted) !== textOfFilters(filters))
    throw new InvalidInput('The cursor belongs to another search.');
  return {
    startMs: Number(startMs),
    endMs: Number(endMs),
    filters,
    after: { lastStartMs: Number(lastStartMs), sessionId },
  };
}
