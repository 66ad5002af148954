import { assertBoundedValues } from './query-growth.ts';
import { BEFORE_PARENTHESIS, isSign, refusal, type Token, tokensOf, words } from './query-tokens.ts';
import { QUERY_LIMITS } from './trace-query.ts';

/*
 * Check of a query before it is sent to a database: one SELECT without comments, whose functions are on a list. The
 * connection is also read-only, and restricts tables and rows.
 */

/**
 * Functions without side effects. Their results are not much larger than their arguments; `query-growth.ts` restricts
 * some.
 */
const FUNCTIONS = words(`
  count sum avg min max total abs round ceil ceiling floor sqrt ln log log10 power pow sign mod greatest least
  length lower upper substr substring instr strpos replace trim ltrim rtrim left right split_part starts_with typeof
  coalesce ifnull nullif iif cast date time datetime julianday strftime unixepoch date_trunc date_part extract to_timestamp
  to_char age now json_extract json_array_length json_type json_valid json_each json_array_elements_text
  jsonb_array_elements_text jsonb_array_length row_number rank dense_rank percent_rank cume_dist ntile lag lead first_value
  last_value nth_value percentile_cont percentile_disc bool_and bool_or stddev stddev_pop stddev_samp variance
`);

const REFUSED_WORDS = words(`
  into insert update delete merge create drop alter truncate attach detach pragma vacuum reindex analyze copy call do execute
  prepare deallocate lock grant revoke set reset show explain begin commit rollback savepoint release listen notify for table
  returning recursive tablesample current_user session_user current_role current_catalog current_schema user values window
`);
const REFUSED_FORM =
  /^(?:pg_|sqlite_|pragma_|information_schema$|reg(?:class|proc|procedure|oper|operator|type|role|namespace|config|dictionary|collation)$)/;

/** Throws InvalidInput for a refused word or name, and for a quoted or unknown function. */
function assertWord({ kind, value }: Token, next: Token | undefined): void {
  const isCalled = isSign(next, '(');
  if (kind === 'name' && isCalled) throw refusal(`the function "${value}" is not available.`);
  if (kind === 'word' && REFUSED_WORDS.has(value)) throw refusal(`${value} is not available.`);
  if (REFUSED_FORM.test(value)) throw refusal(`${value} is not available.`);
  if (kind === 'word' && isCalled && !FUNCTIONS.has(value) && !BEFORE_PARENTHESIS.has(value))
    throw refusal(`the function ${value} is not available.`);
}

/** A query that passed the checks, and its words and quoted names in lower case. */
export interface GuardedQuery {
  /** Without the final semicolon. */
  readonly sql: string;
  readonly names: ReadonlySet<string>;
}

/** Throws InvalidInput for a query that is not one plain SELECT, is too long, or fails `assertBoundedValues`. */
export function guardedQuery(sent: string): GuardedQuery {
  const sql = sent.trim().replace(/;$/, '').trimEnd();
  if (sql.length > QUERY_LIMITS.text) throw refusal(`it is longer than ${QUERY_LIMITS.text} characters.`);
  if (/--|\/\*/.test(sql.replaceAll(/'(?:[^']|'')*'/g, "''"))) throw refusal('comments are not supported.');
  const tokens = tokensOf(sql);
  const [first] = tokens;
  if (first?.kind !== 'word' || (first.value !== 'select' && first.value !== 'with'))
    throw refusal('it must begin with SELECT or WITH.');
  let depth = 0;
  const names = new Set<string>();
  for (const [at, token] of tokens.entries()) {
    const next = tokens[at + 1];
    if (isSign(token, '(')) depth += 1;
    if (isSign(token, ')')) depth -= 1;
    if (depth < 0) break;
    const isWord = token.kind === 'word' || token.kind === 'name';
    const isAdjacent = next !== undefined && next.at === token.at + token.value.length;
    // Prefixes such as E'...' change what a text means.
    if (token.kind === 'word' && isAdjacent && (next.kind === 'text' || next.kind === 'name'))
      throw refusal(`${token.value} before a quote is not supported.`);
    if (!isWord) continue;
    assertWord(token, next);
    names.add(token.value);
  }
  if (depth !== 0) throw refusal('its parentheses are not balanced.');
  assertBoundedValues(tokens);
  return { sql, names };
}
