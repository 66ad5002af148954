import type { ProtoCursor } from './protobuf.ts';

/** Longest interned text, in bytes. */
const MAX_TEXT_BYTES = 64;
const SLOTS = 4_096;
const SLOT_WORDS = MAX_TEXT_BYTES / 4;

/**
 * Interned short texts. Attribute keys repeat in every span, and values such as model, provider and agent names often
 * do. The lookup hashes and compares four bytes at a time. The cache has a fixed size: a new text replaces the one in
 * its slot, so that clients cannot make it grow.
 */
const texts: string[] = Array.from({ length: SLOTS }, () => '');
const lengths = new Uint8Array(SLOTS);
const words = new Int32Array(SLOTS * SLOT_WORDS);

/** Reads the text up to `after`. Texts of 4 to 64 bytes are interned. */
export function readInterned(cursor: ProtoCursor, after: number): string {
  const { bytes, view, at } = cursor;
  const length = after - at;
  cursor.at = after;
  if (length < 4 || length > MAX_TEXT_BYTES) return length === 0 ? '' : bytes.utf8Slice(at, after);
  // The last word may overlap the one before it, so that every byte is compared.
  const last = after - 4;
  // A multiplicative hash: the factor is a prime near 2^32 divided by the golden ratio.
  let hash = length ^ view.getInt32(last);
  for (let place = at; place < last; place += 4) hash = Math.imul(hash ^ view.getInt32(place), 0x9e37_79b1);
  const slot = (hash ^ (hash >>> 15)) & (SLOTS - 1);
  const from = slot * SLOT_WORDS;
  // The first word of a slot is the last word of its text.
  if (lengths[slot] === length && words[from] === view.getInt32(last)) {
    let word = from + 1;
    let place = at;
    while (place < last && words[word] === view.getInt32(place)) {
      word += 1;
      place += 4;
    }
    if (place >= last) return texts[slot] ?? '';
  }
  const text = bytes.utf8Slice(at, after);
  texts[slot] = text;
  lengths[slot] = length;
  words[from] = view.getInt32(last);
  for (let word = from + 1, place = at; place < last; word += 1, place += 4) words[word] = view.getInt32(place);
  return text;
}
