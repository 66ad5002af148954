import { InvalidInput } from '../errors.ts';

/** Bounds of a key that a caller chooses, in characters. */
const MOST = 256;
const LEAST = 20;
/** Different characters after `sk-`, so that `sk-aaaaaaaaaaaaaaaaa` is refused. */
const LEAST_DIFFERENT = 8;
const FORM = /^sk-[\x21-\x7e]+$/;
/** Characters of a key that its name shows at most; never more than a quarter of the key. */
const SHOWN = 4;

/** Refuses a chosen key that is malformed or easy to guess. The message never repeats the key. */
export function assertOwnKey(key: string): void {
  if (!FORM.test(key) || key.length > MOST)
    throw new InvalidInput(
      `Invalid key format. A key begins with 'sk-', followed by at most ${MOST - 3} letters, digits or signs.`,
    );
  if (key.length < LEAST || new Set(key.slice(3)).size < LEAST_DIFFERENT)
    throw new InvalidInput(
      `The key is too easy to guess. A key of your own has at least ${LEAST} characters, and at least ${LEAST_DIFFERENT} different ones after 'sk-'.`,
    );
}

/** `sk-...` and the last characters of a key: at most four, and at most a quarter of the key. */
export function keyName(key: string): string {
  const shown = Math.min(SHOWN, Math.floor(key.length / 4));
  // `slice(-0)` would give the whole key.
  return shown === 0 ? 'sk-...' : `sk-...${key.slice(-shown)}`;
}
