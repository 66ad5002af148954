import { BACKSLASH, CLOSE_BRACE, CLOSE_BRACKET, OPEN_BRACE, OPEN_BRACKET, QUOTE } from './bytes.ts';
/** Maximum nesting depth of a JSON body. Limits the recursion over a hostile body. */
export const MAX_NESTING = 500;

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

/** Offset of the quote that closes a string. `from` is the offset after its opening quote. -1 for an open string. */
function closingQuote(bytes: Buffer, from: number): number {
  let start = from;
  for (;;) {
    const quote = bytes.indexOf(QUOTE, start);
    if (quote === -1) return -1;
    // A quote after an odd number of backslashes is escaped.
    let before = quote - 1;
    while (before >= start && bytes[before] === BACKSLASH) before -= 1;
    const backslashes = quote - 1 - before;
    if (backslashes % 2 === 0) return quote;
    start = quote + 1;
  }
}
