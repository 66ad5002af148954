const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const SPACE = 0x20;

/**
 * A name that an object at `fromLevel` or deeper has twice; null where there is none. Level 1 is the outermost object
 * or list. JSON.parse reads the last value, and another reader of the same bytes may read the first. The text must be
 * valid JSON.
 */
export function repeatedName(json: Uint8Array, fromLevel: number): string | null {
  const bytes = Buffer.from(json.buffer, json.byteOffset, json.byteLength);
  // Names of the open objects; null stands for an array.
  const openObjects: (Set<string> | null)[] = [];
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === OPEN_BRACE) openObjects.push(new Set());
    else if (byte === OPEN_BRACKET) openObjects.push(null);
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) openObjects.pop();
    if (byte !== QUOTE) continue;
    const from = at;
    for (at += 1; at < bytes.length && bytes[at] !== QUOTE; at += 1) if (bytes[at] === BACKSLASH) at += 1;
    // Skips white space. `?? COLON` ends the loop at the end of the text, where no name can be.
    let next = at + 1;
    while ((bytes[next] ?? COLON) <= SPACE) next += 1;
    if (bytes[next] !== COLON || openObjects.length < fromLevel) continue;
    const name = JSON.parse(bytes.toString('utf8', from, at + 1)) as string;
    const names = openObjects.at(-1);
    if (names?.has(name) === true) return name;
    names?.add(name);
  }
  return null;
}
