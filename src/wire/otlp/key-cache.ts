import type { ProtoCursor } from './protobuf.ts';

const SLOTS = 2_048;
const LONGEST = 64;

/**
 * Attribute keys repeat in every span, so their text is made once and found again by its bytes. Fixed size:
 * a key takes its slot over from whichever had it before, so strangers' keys cannot make it grow.
 */
const slots: ({ readonly bytes: Uint8Array; readonly text: string } | undefined)[] = Array.from({ length: SLOTS });

/** The text up to `after`, shared between all keys of the same bytes. */
export function readKey(cursor: ProtoCursor, after: number): string {
  const { bytes, at } = cursor;
  const length = after - at;
  cursor.at = after;
  if (length > LONGEST) return bytes.utf8Slice(at, after);
  let hash = length;
  for (let place = at; place < after; place++) hash = (Math.imul(hash, 31) + (bytes[place] ?? 0)) | 0;
  const slot = (hash ^ (hash >>> 11)) & (SLOTS - 1);
  const known = slots[slot];
  if (known !== undefined && isAt(bytes, at, known.bytes, length)) return known.text;
  const text = bytes.utf8Slice(at, after);
  slots[slot] = { bytes: new Uint8Array(bytes.subarray(at, after)), text };
  return text;
}

function isAt(bytes: Uint8Array, at: number, wanted: Uint8Array, length: number): boolean {
  if (wanted.length !== length) return false;
  for (let place = 0; place < length; place++) if (bytes[at + place] !== wanted[place]) return false;
  return true;
}
