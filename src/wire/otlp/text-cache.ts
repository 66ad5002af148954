import type { ProtoCursor } from './protobuf.ts';

/** Longest interned text, in bytes. */
const MAX_TEXT_BYTES = 64;
/** A power of two, because a bit mask selects the slot. */
const SLOTS = 4_096;
/** A word is four bytes. */
const SLOT_WORDS = MAX_TEXT_BYTES / 4;

/**
 * Interned short texts. Attribute keys repeat in every span, and values such as model, provider and agent names often
 * do. The lookup hashes and compares one word at a time. The cache has a fixed size, so that clients cannot make it
 * grow: a new text replaces the text in its slot.
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
  const lastWord = after - 4;
  // A multiplicative hash: the factor is a prime near 2^32 divided by the golden ratio.
  let hash = length ^ view.getInt32(lastWord);
  for (let word = at; word < lastWord; word += 4) hash = Math.imul(hash ^ view.getInt32(word), 0x9e37_79b1);
  const slot = (hash ^ (hash >>> 15)) & (SLOTS - 1);
  const slotStart = slot * SLOT_WORDS;
  // The first word of a slot is the last word of its text.
  if (lengths[slot] === length && words[slotStart] === view.getInt32(lastWord)) {
    let cached = slotStart + 1;
    let word = at;
    while (word < lastWord && words[cached] === view.getInt32(word)) {
      cached += 1;
      word += 4;
    }
    const isEqual = word >= lastWord;
    if (isEqual) return texts[slot] ?? '';
  }
  const text = bytes.utf8Slice(at, after);
  texts[slot] = text;
  lengths[slot] = length;
  words[slotStart] = view.getInt32(lastWord);
  for (let cached = slotStart + 1, word = at; word < lastWord; cached += 1, word += 4)
    words[cached] = view.getInt32(word);
  return text;
}
