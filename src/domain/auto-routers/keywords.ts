/** Finds a fixed set of keywords in texts. */
export interface KeywordFinder {
  /** The keywords that a text contains, each once and in lower case. */
  find(text: string): ReadonlySet<string>;
}

const NO_WORDS: ReadonlySet<string> = new Set();
/** Letters of languages that are written without spaces. Next to such a letter, a keyword needs no word boundary. */
const UNSPACED = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}`;
/** Letters, digits and `_`, without those of `UNSPACED`. Next to them, a keyword is only a part of a word. */
const WORD_CHARACTER = String.raw`[[\p{L}\p{N}_]--[${UNSPACED}]]`;

/** Escapes characters that are syntax in a pattern with the flag `v`. */
const escaped = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);

/**
 * Creates a finder of whole words and phrases that ignores case. Where two keywords match at a place, the longer one is
 * found. The time is linear in the length of the text.
 */
export function keywordFinder(keywords: readonly string[]): KeywordFinder {
  const sorted = [...new Set(keywords.map((keyword) => keyword.trim().toLowerCase()))]
    .filter((keyword) => keyword !== '')
    .toSorted((left, right) => right.length - left.length);
  if (sorted.length === 0) return { find: () => NO_WORDS };
  const alternatives = sorted.map(escaped).join('|');
  const pattern = new RegExp(`(?<!${WORD_CHARACTER})(?:${alternatives})(?!${WORD_CHARACTER})`, 'giv');
  return {
    find: (text) => new Set(Array.from(text.matchAll(pattern), ([word]) => word.toLowerCase())),
  };
}
