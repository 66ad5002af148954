import { cursorState, cursorText } from '../cursor-text.ts';
import { InvalidInput } from '../errors.ts';
import type { ChangePosition } from './history.ts';

/** The key of a change, which is a hash. */
const KEY = /^[0-9a-f]{64}$/;

/** The cursor that continues after this position: opaque, URL-safe. */
export const changeCursorAt = ({ atMs, number, key }: ChangePosition): string => cursorText([atMs, number, key]);

/** The position in a cursor. Throws InvalidInput for a malformed cursor. */
export function readChangeCursor(cursor: string): ChangePosition {
  const [atMs, number, key, ...more] = cursorState(cursor);
  if (more.length > 0 || !Number.isSafeInteger(atMs) || !Number.isSafeInteger(number)) throw invalidCursor();
  // The number is compared with a 32-bit column. `| 0` changes every number that does not fit into 32 bits.
  if (Number(number) !== (Number(number) | 0) || typeof key !== 'string' || !KEY.test(key)) throw invalidCursor();
  return { atMs: Number(atMs), number: Number(number), key };
}

const invalidCursor = (): InvalidInput => new InvalidInput('Invalid cursor.');
