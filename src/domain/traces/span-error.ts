import { cursorState, cursorText } from '../cursor-text.ts';
import { Conflict, InvalidInput } from '../errors.ts';

/** A part of the error text of a span. */
export interface SpanErrorPage {
  readonly message: string;
  /** Length of the whole text, in characters. */
  readonly totalCharacters: number;
  /** Cursor of the next part; null for the last part. */
  readonly nextCursor: string | null;
}

/** Characters of one part. */
const PAGE_CHARACTERS = 16_384;

/**
 * The part after a cursor; the first part without one. Throws InvalidInput for an invalid cursor, and Conflict when the
 * text has another length now.
 */
export function spanErrorPage(error: string, cursor: string | null): SpanErrorPage {
  const characters = Array.from(error);
  const totalCharacters = characters.length;
  const from = cursor === null ? 0 : placeIn(cursor, totalCharacters);
  const end = from + PAGE_CHARACTERS;
  return {
    message: characters.slice(from, end).join(''),
    totalCharacters,
    nextCursor: end < totalCharacters ? cursorText([end, totalCharacters]) : null,
  };
}

function placeIn(cursor: string, total: number): number {
  const [place, countedTotal, ...more] = cursorState(cursor);
  const isInText = Number.isSafeInteger(place) && Number(place) >= 1 && Number(place) < Number(countedTotal);
  if (!isInText || more.length > 0) throw new InvalidInput('Invalid cursor.');
  if (countedTotal !== total)
    throw new Conflict('The span has changed since this cursor was given. Read it from its start.');
  return Number(place);
}
