import { cursorState, cursorText } from '../cursor-text.ts';
import { InvalidInput } from '../errors.ts';
import type { ChangePosition } from './history.ts';

/** The key of a change, which is a hash. */
const KEY = /^[0-9a-f]{64}$/;

/** The cursor that continues after this position: opaque, URL-safe. */
export const changeCursorAt = ({ atMs, number, key }: ChangePosition): string => cursorText([atMs, number, key]);

const isInteger = (value: unknown): value is number => Number.isSafeInteger(value);

/** Whether a number fits into a 32-bit column. */
const isInt32 = (value: number): boolean => value >= -(2 ** 31) && value < 2 ** 31;

/** The position in a cursor. Throws InvalidInput for a malformed cursor. */
export function readChangeCursor(cursor: string): ChangePosition {
  const [atMs, number, key, ...more] = cursorState(cursor);
  if (more.length > 0 || !isInteger(atMs) || !isInteger(number) || !isInt32(number)) throw invalidCursor();
  if (typeof key !== 'string' || !KEY.test(key)) throw invalidCursor();
  return { atMs, number, key };
}

const invalidCursor = (): InvalidInput => new InvalidInput('Invalid cursor.');
