type Draw = (below: number) => number;

/** Bytes that often cause decoder errors, as a length, tag or count. */
const ODD_BYTES = [0x00, 0x01, 0x7f, 0x80, 0xff, 0x0a, 0x12, 0x22, 0x2c, 0x5b, 0x5c, 0x7b, 0x7d];
/** Byte sequences that have a meaning in the mutated formats. */
const PIECES = [
  '"spanId"',
  '[[[[[[',
  '{"a":',
  'null',
  '-1',
  '1e999',
  '18446744073709551616',
  '\\ud800',
  '\u0000',
  '"__proto__"',
].map((text) => Buffer.from(text));

const MAX_CHANGES = 4;
/** Number of mutation choices. Six of them insert or remove bytes. The others change one byte in place. */
const WAYS = 20;

/**
 * Applies one to four random mutations: flips, truncation, deletion, insertion, repetition, or bytes of the input
 * `other`. Most mutations are small, so that many results still decode, to wrong values.
 */
export function mutated(input: Uint8Array, draw: Draw, other: Uint8Array): Uint8Array {
  let bytes: Uint8Array = input;
  // At least half of all results have one mutation.
  for (let change = draw(2) * draw(MAX_CHANGES); change >= 0; change--) {
    const at = draw(bytes.length + 1);
    const [before, after] = [bytes.subarray(0, at), bytes.subarray(at)];
    const size = 1 + draw(16);
    switch (draw(WAYS)) {
      case 0:
      case 8:
        bytes = Buffer.concat([before, Uint8Array.of(draw(256)), after.subarray(1)]);
        break;
      case 1:
      case 9:
        bytes = Buffer.concat([before, Uint8Array.of(ODD_BYTES[draw(ODD_BYTES.length)] ?? 0), after.subarray(1)]);
        break;
      case 2:
        bytes = before;
        break;
      case 3:
        bytes = Buffer.concat([before, after.subarray(size)]);
        break;
      case 4:
        bytes = Buffer.concat([before, Uint8Array.from({ length: size }, () => draw(256)), after]);
        break;
      case 5:
        bytes = Buffer.concat([before, PIECES[draw(PIECES.length)] ?? before, after]);
        break;
      case 6:
        bytes = Buffer.concat([before, after.subarray(0, size * 8), after]);
        break;
      case 7: {
        const from = draw(other.length + 1);
        bytes = Buffer.concat([before, other.subarray(from, from + size * 8), after]);
        break;
      }
      default: {
        // Flips one bit, which keeps most of the structure.
        const copy = Buffer.from(bytes);
        const place = Math.min(at, copy.length - 1);
        if (place >= 0) copy[place] = (copy[place] ?? 0) ^ (1 << draw(8));
        bytes = copy;
      }
    }
  }
  return bytes;
}
