import { Conflict, InvalidInput } from '../errors.ts';

/** A part of what a span says went wrong. */
export interface SpanErrorPage {
  readonly message: string;
  /** Of the whole, in characters, never halves of one. */
  readonly totalCharacters: number;
  /** Where the part ended; null when it was the last. */
  readonly nextCursor: string | null;
}

/** Characters of one part. */
const PAGE_CHARACTERS = 16_384;

/** The part behind a cursor, the first without one. Throws InvalidInput, and Conflict when the text is another by now. */
export function spanErrorPage(error: string, cursor: string | null): SpanErrorPage {
  const characters = Array.from(error);
  const totalCharacters = characters.length;
  const from = cursor === null ? 0 : placeIn(cursor, totalCharacters);
  const end = from + PAGE_CHARACTERS;
  return {
    message: characters.slice(from, end).join(''),
    totalCharacters,
    nextCursor: end < totalCharacters ? cursorAt(end, totalCharacters) : null,
  };
}

const cursorAt = (place: number, total: number): string =>
  new TextEncoder().encode(JSON.stringify([place, total])).toBase64({ alphabet: 'base64url', omitPadding: true });

function placeIn(cursor: string, total: number): number {
  let state: unknown = null;
  try {
    state = JSON.parse(new TextDecoder().decode(Uint8Array.fromBase64(cursor, { alphabet: 'base64url' })));
  } catch (cause) {
    throw new InvalidInput('Invalid cursor.', [], { cause });
  }
  if (!Array.isArray(state) || state.length !== 2) throw new InvalidInput('Invalid cursor.');
  const [place, of] = state as readonly unknown[];
  if (!Number.isSafeInteger(place) || Number(place) < 1 || Number(place) >= Number(of))
    throw new InvalidInput('Invalid cursor.');
  if (of !== total) throw new Conflict('The span has changed since this cursor was given. Read it from its start.');
  return Number(place);
}
