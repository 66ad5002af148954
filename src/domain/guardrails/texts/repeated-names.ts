const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const SPACE = 0x20;

/** Position of the quote that ends the string that begins at `start`. */
function closingQuote(bytes: Buffer, start: number): number {
  let at = start + 1;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at;
}

/** Position of the first byte from `start` on that is not white space. */
function afterSpace(bytes: Buffer, start: number): number {
  let at = start;
  while (at < bytes.length && (bytes[at] ?? 0) <= SPACE) at += 1;
  return at;
}

/**
 * A name that an object at `fromLevel` or deeper has twice; null where there is none. Level 1 is the outermost object
 * or list. JSON.parse reads the last of the two values, but another reader of the same bytes may read the first. The
 * text must be valid JSON.
 */
export function repeatedName(json: Uint8Array, fromLevel: number): string | null {
  const bytes = Buffer.from(json.buffer, json.byteOffset, json.byteLength);
  // Names in each open object, the innermost last; null stands for an open array.
  const openObjects: (Set<string> | null)[] = [];
  let at = 0;
  while (at < bytes.length) {
    const byte = bytes[at];
    if (byte === OPEN_BRACE) openObjects.push(new Set());
    else if (byte === OPEN_BRACKET) openObjects.push(null);
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) openObjects.pop();
    if (byte !== QUOTE) {
      at += 1;
      continue;
    }
    const start = at;
    at = closingQuote(bytes, start) + 1;
    const isName = bytes[afterSpace(bytes, at)] === COLON;
    if (!isName || openObjects.length < fromLevel) continue;
    const name = JSON.parse(bytes.toString('utf8', start, at)) as string;
    const names = openObjects.at(-1);
    if (names?.has(name) === true) return name;
    names?.add(name);
  }
  return null;
}
