/** Longest integer, in digits, that is read from text: the default limit of Python. */
const MAX_DIGITS = 4300;

const SPACE_AROUND = /^\p{White_Space}+|\p{White_Space}+$/gu;
const WHOLE = /^([+-]?)(\d[\d_]*)(?:\.0+)?$/;
const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

/**
 * Reads an integer as the reference service does. It accepts surrounding spaces, a sign, leading zeros, single
 * underscores between digits, and a fraction of zeros. It refuses exponents and digits of other scripts. The fault is
 * `too long` only for plain digits after an optional minus. Other text with too many digits is `malformed`.
 */
export function integerFrom(text: string): { readonly value: bigint } | { readonly fault: 'malformed' | 'too long' } {
  if (/^-?\d+$/.test(text) && text.replace(/^-/, '').length > MAX_DIGITS) return { fault: 'too long' };
  const match = WHOLE.exec(text.replace(SPACE_AROUND, ''));
  if (!match) return { fault: 'malformed' };
  const [, sign, wholePart = ''] = match;
  // Leading zeros, and the underscores among them, are removed if a digit follows.
  const digits = wholePart.replace(/^0[0_]*(?=[0-9])/, '');
  if (digits.endsWith('_') || digits.includes('__')) return { fault: 'malformed' };
  const plain = digits.replaceAll('_', '');
  if (plain.length > MAX_DIGITS) return { fault: 'malformed' };
  const magnitude = BigInt(plain);
  return { value: sign === '-' ? -magnitude : magnitude };
}

/** A finite decimal in text, exponent allowed; null for other text. */
export function decimalFrom(text: string): number | null {
  const trimmed = text.replace(SPACE_AROUND, '');
  if (!DECIMAL.test(trimmed)) return null;
  const value = Number(trimmed);
  return Number.isFinite(value) ? value : null;
}

const TRUE_WORDS = new Set(['1', 't', 'y', 'on', 'yes', 'true']);
const FALSE_WORDS = new Set(['0', 'f', 'n', 'no', 'off', 'false']);

const LONGEST_WORD = 'false'.length;

/** Reads a flag as the reference service does, in any letter case; null for other text. */
export function flagFrom(text: string): boolean | null {
  const word = text.length > LONGEST_WORD ? '' : text.toLowerCase();
  if (TRUE_WORDS.has(word)) return true;
  return FALSE_WORDS.has(word) ? false : null;
}
