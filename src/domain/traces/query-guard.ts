import { InvalidInput } from '../errors.ts';
import { QUERY_LIMITS } from './trace-query.ts';

/*
 * Check of a query before it is sent to a database: one SELECT without comments, whose functions are on a list. The connection is
 * also read-only, and restricts tables and rows.
 */

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** Functions without side effects. Except for `replace`, their results are not much larger than their arguments. */
const FUNCTIONS = words(`
  count sum avg min max total abs round ceil ceiling floor sqrt ln log log10 power pow sign mod greatest least
  length lower upper substr substring instr strpos replace trim ltrim rtrim left right split_part starts_with typeof
  coalesce ifnull nullif iif cast date time datetime julianday strftime unixepoch date_trunc date_part extract to_timestamp
  to_char age now json_extract json_array_length json_type json_valid json_each json_array_elements_text
  jsonb_array_elements_text jsonb_array_length row_number rank dense_rank percent_rank cume_dist ntile lag lead first_value
  last_value nth_value percentile_cont percentile_disc bool_and bool_or stddev stddev_pop stddev_samp variance
`);

/** Keywords that may precede a parenthesis. */
const BEFORE_PARENTHESIS = words(`
  select from where and or not in as on over by having when then else case exists any all some union intersect except join
  filter using between like ilike is distinct within group limit offset materialized numeric decimal varchar
`);

const REFUSED_WORDS = words(`
  into insert update delete merge create drop alter truncate attach detach pragma vacuum reindex analyze copy call do execute
  prepare deallocate lock grant revoke set reset show explain begin commit rollback savepoint release listen notify for table
  returning recursive tablesample current_user session_user current_role current_catalog current_schema user values window
`);
const REFUSED_FORM =
  /^(?:pg_|sqlite_|pragma_|information_schema$|reg(?:class|proc|procedure|oper|operator|type|role|namespace|config|dictionary|collation)$)/;

/** White space, or one number, word, quoted name, text or sign. */
const TOKEN = /\s+|(\d[\w.]*)|([a-z_]\w*)|"((?:[^"]|"")*)"|'(?:[^']|'')*'|(::|[-+*/%<>=!|(),.])/gi;

const refuse = (why: string): InvalidInput => new InvalidInput(`Invalid trace query: ${why}`);

interface Token {
  readonly kind: 'number' | 'word' | 'name' | 'text' | 'sign';
  readonly value: string;
  readonly at: number;
}

function tokensOf(sql: string): readonly Token[] {
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
  if (end < sql.length) throw refuse(`the character at ${end + 1} is not supported.`);
  return tokens;
}

const isSign = (token: Token | undefined, value: string): boolean => token?.kind === 'sign' && token.value === value;

/** Throws InvalidInput for a refused word, and for an unknown function. */
function assertWord({ kind, value }: Token, next: Token | undefined): void {
  const isCalled = isSign(next, '(');
  if (kind === 'name' && isCalled) throw refuse(`the function "${value}" is not available.`);
  if (kind === 'word' && REFUSED_WORDS.has(value)) throw refuse(`${value} is not available.`);
  if (REFUSED_FORM.test(value)) throw refuse(`${value} is not available.`);
  if (kind === 'word' && isCalled && !FUNCTIONS.has(value) && !BEFORE_PARENTHESIS.has(value))
    throw refuse(`the function ${value} is not available.`);
}

/** A query that passed, and its words and quoted names in lower case. */
export interface GuardedQuery {
  /** Without the final semicolon. */
  readonly sql: string;
  readonly names: ReadonlySet<string>;
}

/** Throws InvalidInput for a query that is not one plain SELECT. */
export function guardedQuery(sent: string): GuardedQuery {
  const sql = sent.trim().replace(/;$/, '').trimEnd();
  if (sql.length > QUERY_LIMITS.text) throw refuse(`it is longer than ${QUERY_LIMITS.text} characters.`);
  if (/--|\/\*/.test(sql.replaceAll(/'(?:[^']|'')*'/g, "''"))) throw refuse('comments are not supported.');
  const tokens = tokensOf(sql);
  const [first] = tokens;
  if (first?.kind !== 'word' || (first.value !== 'select' && first.value !== 'with'))
    throw refuse('it must begin with SELECT or WITH.');
  let depth = 0;
  const names = new Set<string>();
  for (const [at, token] of tokens.entries()) {
    const next = tokens[at + 1];
    if (isSign(token, '(')) depth += 1;
    if (isSign(token, ')')) depth -= 1;
    if (depth < 0) break;
    const isWord = token.kind === 'word' || token.kind === 'name';
    const isJoined = next !== undefined && next.at === token.at + token.value.length;
    // Prefixes such as E'...' change what a text means.
    if (token.kind === 'word' && isJoined && (next.kind === 'text' || next.kind === 'name'))
      throw refuse(`${token.value} before a quote is not supported.`);
    if (!isWord) continue;
    assertWord(token, next);
    names.add(token.value);
  }
  if (depth !== 0) throw refuse('its parentheses are not balanced.');
  return { sql, names };
}
