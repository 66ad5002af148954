import { InvalidInput } from '../errors.ts';
import type { ChangePosition } from './history.ts';

const KEY = /^[0-9a-f]{64}$/;

/** The cursor that continues after this position: opaque, URL-safe. */
export function changeCursorAt({ atMs, number, key }: ChangePosition): string {
  const state = JSON.stringify([atMs, number, key]);
  return new TextEncoder().encode(state).toBase64({ alphabet: 'base64url', omitPadding: true });
}

/** The position in a cursor. Throws InvalidInput for a malformed cursor. */
export function readChangeCursor(cursor: string): ChangePosition {
  const state = parseState(cursor);
  if (!Array.isArray(state) || state.length !== 3) throw invalidCursor();
  const [atMs, number, key] = state as readonly unknown[];
  if (!Number.isSafeInteger(atMs) || !Number.isSafeInteger(number)) throw invalidCursor();
  // The number is compared with a column of 32 bits.
  if (Number(number) !== (Number(number) | 0) || typeof key !== 'string' || !KEY.test(key)) throw invalidCursor();
  return { atMs: Number(atMs), number: Number(number), key };
}

function parseState(cursor: string): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(Uint8Array.fromBase64(cursor, { alphabet: 'base64url' })));
  } catch (cause) {
    throw invalidCursor(cause);
  }
}

const invalidCursor = (cause?: unknown): InvalidInput => new InvalidInput('Invalid cursor.', [], { cause });
