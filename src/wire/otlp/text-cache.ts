import type { ProtoCursor } from './protobuf.ts';

/** Longest text that is shared, in bytes. */
const LONGEST = 64;
const SLOTS = 4_096;
const SLOT_WORDS = LONGEST / 4;

/**
 * Attribute keys repeat in every span, and short values nearly so: names of models, providers, agents. Their text is made
 * once and found again by its bytes, four at a time. Fixed size: a text takes its slot over from whichever had it
 * before, so strangers' texts cannot make it grow.
 */
const texts: string[] = Array.from({ length: SLOTS }, () => '');
const lengths = new Uint8Array(SLOTS);
const words = new Int32Array(SLOTS * SLOT_WORDS);

/** The text up to `after`, shared between all of the same bytes where it is short. */
export function readShared(cursor: ProtoCursor, after: number): string {
  const { bytes, view, at } = cursor;
  const length = after - at;
  cursor.at = after;
  if (length < 4 || length > LONGEST) return length === 0 ? '' : bytes.utf8Slice(at, after);
  // The last word may overlap the one before, so that every byte is in one.
  const last = after - 4;
  let hash = length ^ view.getInt32(last);
  for (let place = at; place < last; place += 4) hash = Math.imul(hash ^ view.getInt32(place), 0x9e37_79b1);
  const slot = (hash ^ (hash >>> 15)) & (SLOTS - 1);
  const from = slot * SLOT_WORDS;
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
