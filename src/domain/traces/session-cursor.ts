import { InvalidInput } from '../errors.ts';
import { filtersOfText, textOfFilters } from './search-cursor.ts';
import type { SessionActivity, SessionSearch } from './sessions.ts';
import type { TraceFilters } from './trace-search.ts';

/** The cursor after this session. It contains the whole search. */
export function sessionCursorAfter({ startMs, endMs, filters }: SessionSearch, row: SessionActivity): string {
  const state = [startMs, endMs, textOfFilters(filters), row.lastStartMs, row.sessionId];
  return new TextEncoder().encode(JSON.stringify(state)).toBase64({ alphabet: 'base64url', omitPadding: true });
}

const invalid = (): InvalidInput => new InvalidInput('Invalid cursor.');

/** The search of a cursor. Throws InvalidInput for an invalid cursor, and for one of other filters. */
export function readSessionCursor(cursor: string, sought: TraceFilters | null): SessionSearch {
  const state = stateOf(cursor);
  if (!Array.isArray(state) || state.length !== 5) throw invalid();
  const [startMs, endMs, text, lastStartMs, sessionId] = state as readonly unknown[];
  if (![startMs, endMs, lastStartMs].every(Number.isSafeInteger) || typeof sessionId !== 'string') throw invalid();
  const filters = filtersOfText(text);
  if (sought !== null && textOfFilters(sought) !== textOfFilters(filters))
    throw new InvalidInput('The cursor belongs to another search.');
  return {
    startMs: Number(startMs),
    endMs: Number(endMs),
    filters,
    after: { lastStartMs: Number(lastStartMs), sessionId },
  };
}

function stateOf(cursor: string): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(Uint8Array.fromBase64(cursor, { alphabet: 'base64url' })));
  } catch {
    return null;
  }
}
