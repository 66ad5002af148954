import { InvalidInput } from '../errors.ts';

/** Maximum and minimum length of a key that a caller chooses, in characters. */
const MAX_CHARACTERS = 256;
const MIN_CHARACTERS = 20;
/** Minimum number of distinct characters after `sk-`, so that `sk-aaaaaaaaaaaaaaaaa` is refused. */
const MIN_DISTINCT_CHARACTERS = 8;
const PREFIX = 'sk-';
const KEY_FORMAT = /^sk-[\x21-\x7e]+$/;
/** Maximum number of characters of a key that its name shows; never more than a quarter of the key. */
const MAX_SHOWN_CHARACTERS = 4;

/** Throws InvalidInput for a chosen key that is malformed or easy to guess. The message never repeats the key. */
export function assertChosenKey(key: string): void {
  if (!KEY_FORMAT.test(key) || key.length > MAX_CHARACTERS)
    throw new InvalidInput(
      `Invalid key format. A key begins with 'sk-', followed by at most ${MAX_CHARACTERS - PREFIX.length} letters, digits or signs.`,
    );
  if (key.length < MIN_CHARACTERS || new Set(key.slice(PREFIX.length)).size < MIN_DISTINCT_CHARACTERS)
    throw new InvalidInput(
      `The key is too easy to guess. A key of your own has at least ${MIN_CHARACTERS} characters, and at least ${MIN_DISTINCT_CHARACTERS} different ones after 'sk-'.`,
    );
}

/** `sk-...` and the last characters of a key: at most four, and at most a quarter of the key. */
export function keyName(key: string): string {
  const shown = Math.min(MAX_SHOWN_CHARACTERS, Math.floor(key.length / 4));
  // `slice(-0)` would give the whole key.
  return shown === 0 ? 'sk-...' : `sk-...${key.slice(-shown)}`;
}
