/** Counts distinct keywords in a text. */
export interface KeywordFinder {
  /** Distinct keywords that a text contains, in lower case. */
  in(text: string): ReadonlySet<string>;
}

const NO_WORDS: ReadonlySet<string> = new Set();
/** Letters of languages that are written without spaces. Next to them, a keyword needs no boundary. */
const UNSPACED = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}`;
const BEFORE = String.raw`(?<![[\p{L}\p{N}_]--[${UNSPACED}]])`;
const AFTER = String.raw`(?![[\p{L}\p{N}_]--[${UNSPACED}]])`;

/** Characters that are syntax in a pattern with the flag `v`. */
const escaped = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);

/**
 * Finds whole words and phrases, ignoring case. Longer keywords match before shorter ones that they contain. The time
 * is linear in the text: keywords are plain texts.
 */
export function keywordFinder(keywords: readonly string[]): KeywordFinder {
  const sorted = [...new Set(keywords.map((one) => one.trim().toLowerCase()))]
    .filter((one) => one !== '')
    .toSorted((one, other) => other.length - one.length);
  if (sorted.length === 0) return { in: () => NO_WORDS };
  const pattern = new RegExp(`${BEFORE}(?:${sorted.map(escaped).join('|')})${AFTER}`, 'giv');
  return {
    in: (text) => new Set(Array.from(text.matchAll(pattern), ([word]) => word.toLowerCase())),
  };
}
