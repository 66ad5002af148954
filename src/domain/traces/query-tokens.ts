import { InvalidInput } from '../errors.ts';

/** The words of a text. */
export const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** Keywords that may precede a parenthesis. */
export const BEFORE_PARENTHESIS = words(`
  select from where and or not in as on over by having when then else case exists any all some union intersect except join
  filter using between like ilike is distinct within group limit offset materialized numeric decimal varchar
`);

/** White space, or one number, word, quoted name, text or sign. */
const TOKEN = /\s+|(\d[\w.]*)|([a-z_]\w*)|"((?:[^"]|"")*)"|'(?:[^']|'')*'|(::|[-+*/%<>=!|(),.])/gi;

export const refusal = (why: string): InvalidInput => new InvalidInput(`Invalid trace query: ${why}`);

/**
 * One token of a query. A `name` is a quoted name, here without its quotes; a `text` has its quotes. Words and names
 * are in lower case.
 */
export interface Token {
  readonly kind: 'number' | 'word' | 'name' | 'text' | 'sign';
  readonly value: string;
  /** Index of its first character in the query. */
  readonly at: number;
}

/** The tokens of a query. Throws InvalidInput for a character that no token has. */
export function tokensOf(sql: string): readonly Token[] {
  const tokens: Token[] = [];
  let end = 0;
  for (const match of sql.matchAll(TOKEN)) {
    if (match.index !== end) break;
    const [whole, number, word, name, sign] = match;
    end = match.index + whole.length;
    const at = match.index;
    if (number !== undefined) tokens.push({ kind: 'number', value: number, at });
    else if (word !== undefined) tokens.push({ kind: 'word', value: word.toLowerCase(), at });
    else if (name !== undefined) tokens.push({ kind: 'name', value: name.replaceAll('""', '"').toLowerCase(), at });
    else if (sign !== undefined) tokens.push({ kind: 'sign', value: sign, at });
    else if (whole.startsWith("'")) tokens.push({ kind: 'text', value: whole, at });
  }
  if (end < sql.length) throw refusal(`the character at ${end + 1} is not supported.`);
  return tokens;
}

export const isSign = (token: Token | undefined, value: string): boolean =>
  token?.kind === 'sign' && token.value === value;
