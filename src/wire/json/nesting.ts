/** Maximum nesting depth of a JSON body. Bounds the recursion over a hostile body. */
export const MAX_NESTING = 500;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/** Whether JSON text nests arrays and objects deeper than the limit. Does not validate the text. */
export function nestsTooDeep(json: Uint8Array, limit = MAX_NESTING): boolean {
  const bytes = Buffer.from(json.buffer, json.byteOffset, json.byteLength);
  let depth = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      at = closingQuote(bytes, at + 1);
      if (at === -1) return false;
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      depth += 1;
      if (depth > limit) return true;
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) depth -= 1;
  }
  return false;
}

/** Offset of the quote that closes the string with its first character at `from`. -1 when it is not closed. */
function closingQuote(bytes: Buffer, from: number): number {
  for (let start = from; ;) {
    const quote = bytes.indexOf(QUOTE, start);
    if (quote === -1) return -1;
    // The quote closes the string after an even number of backslashes.
    let before = quote - 1;
    while (before >= start && bytes[before] === BACKSLASH) before -= 1;
    if ((quote - before) % 2 === 1) return quote;
    start = quote + 1;
  }
}
