import { BEFORE_PARENTHESIS, isSign, refusal, type Token, words } from './query-tokens.ts';

/*
 * Checks that no value of a query can grow exponentially with the length of its text. PostgreSQL has no limit of memory
 * for one query, so a short query could use all memory of its server.
 */

/** Maximum number of `||`. Each one can double a value of an inner query. */
const MAX_CONCATENATIONS = 10;

/** Words that end a FROM clause at the same depth. */
const AFTER_FROM = words('where group having order limit offset fetch union intersect except select');
/** Words of a FROM clause that name no table. */
const OF_FROM = words('from join left right inner outer full cross natural as on using lateral only');
/** A list in parentheses after one of these words is not a row. */
const BEFORE_LIST = words('in using by on over numeric decimal varchar');
/** Words before the first column of a query. */
const BEFORE_COLUMN = words('select distinct all');

/** Words after a whole key of ORDER BY or GROUP BY. */
const AFTER_SORT_KEY = words('asc desc nulls limit offset having order');

/** An open parenthesis, or the query itself. */
interface Frame {
  /** Index of its opening token; -1 for the query. */
  readonly openAt: number;
  /** Whether it has the arguments of a function. */
  readonly isCall: boolean;
  clause: 'from' | 'on' | 'other';
  /** Indexes of its commas among the tokens. */
  readonly commas: number[];
}

const isName = (token: Token | undefined): boolean => token?.kind === 'word' || token?.kind === 'name';
const isOneOf = (token: Token | undefined, some: ReadonlySet<string>): boolean =>
  token?.kind === 'word' && some.has(token.value);
const isWord = (token: Token | undefined, value: string): boolean => token?.kind === 'word' && token.value === value;
const beginsQuery = (token: Token | undefined): boolean => isWord(token, 'select') || isWord(token, 'with');
const rowRefusal = () => refusal('rows as values are not supported.');

function frameOf(tokens: readonly Token[], at: number, outer: Frame): Frame {
  const [before, next] = [tokens[at - 1], tokens[at + 1]];
  const isCall = before?.kind === 'word' && !BEFORE_PARENTHESIS.has(before.value);
  const isJoin = outer.clause === 'from' && !isCall && !isWord(before, 'using') && !beginsQuery(next);
  return { openAt: at, isCall, clause: isJoin ? 'from' : 'other', commas: [] };
}

/**
 * Calls `visit` with each token except parentheses, its index and its frame. Calls `close` with each frame and the
 * index of its closing parenthesis.
 */
function walk(
  tokens: readonly Token[],
  visit: (at: number, token: Token, frame: Frame) => void,
  close: (frame: Frame, at: number) => void,
): void {
  let frame: Frame = { openAt: -1, isCall: false, clause: 'other', commas: [] };
  const outer: Frame[] = [];
  for (const [at, token] of tokens.entries()) {
    if (isSign(token, '(')) {
      outer.push(frame);
      frame = frameOf(tokens, at, frame);
    } else if (isSign(token, ')')) {
      close(frame, at);
      frame = outer.pop() ?? frame;
    } else {
      if (isSign(token, ',')) frame.commas.push(at);
      frame.clause = clauseAfter(tokens, at, frame);
      visit(at, token, frame);
    }
  }
}

function clauseAfter(tokens: readonly Token[], at: number, { clause, isCall }: Frame): Frame['clause'] {
  const [before, token] = [tokens[at - 1], tokens[at]];
  if (isOneOf(token, AFTER_FROM)) return 'other';
  // A comma after the condition of a join is followed by the next table.
  if (isWord(token, 'join') || (isSign(token, ',') && clause === 'on')) return 'from';
  if (isWord(token, 'on') && clause === 'from') return 'on';
  // Not the `from` of `extract(day from ...)` and of `is distinct from`.
  const isComparison = isWord(before, 'distinct') && (isWord(tokens[at - 2], 'is') || isWord(tokens[at - 2], 'not'));
  return isWord(token, 'from') && !isCall && !isComparison ? 'from' : clause;
}

/**
 * Throws InvalidInput for more than `MAX_CONCATENATIONS` times `||`. Also throws it for a `replace` whose result may be
 * longer than its argument, and for a `to_char` with a computed format.
 */
export function assertBoundedValues(tokens: readonly Token[]): void {
  // Each `||` is two tokens.
  const bars = tokens.filter((token) => isSign(token, '|')).length;
  if (bars > MAX_CONCATENATIONS * 2) throw refusal(`it has more than ${MAX_CONCATENATIONS} times ||.`);
  walk(
    tokens,
    () => undefined,
    ({ openAt, commas }, closeAt) => {
      const name = tokens[openAt - 1];
      const ends = [...commas.slice(1), closeAt];
      // Arguments from the second on. Null for an argument that is not one literal text.
      const texts = commas.map((comma, index) => {
        const isOneToken = ends[index] === comma + 2;
        return isOneToken ? textOf(tokens[comma + 1]) : null;
      });
      if (isWord(name, 'replace')) assertReplacement(texts);
      if (isWord(name, 'to_char') && texts[0] === null) throw refusal('the format of to_char must be a text.');
    },
  );
}

const textOf = (token: Token | undefined): string | null =>
  token?.kind === 'text' ? token.value.slice(1, -1).replaceAll("''", "'") : null;

function assertReplacement([from = null, to = null]: readonly (string | null)[]): void {
  if (from === null || to === null || to.length > from.length)
    throw refusal('replace needs two texts, and the second must not be longer than the first.');
}

/**
 * Throws InvalidInput for a whole row as a value: its text has the texts of all columns. A row is a list in
 * parentheses, `name.*` outside of a list of columns, and the name of a table or subquery.
 */
export function assertNoRows(tokens: readonly Token[]): void {
  const relations = new Set<string>();
  /** Indexes of names that are no values. */
  const nonValues = new Set<number>();
  /** Indexes of the closing parentheses of function calls. */
  const callEnds = new Set<number>();
  walk(
    tokens,
    (at, token, { clause, isCall, openAt }) => {
      if (isSign(token, '*') && isSign(tokens[at - 1], '.')) assertListed(tokens, at, isCall);
      const isTable = clause === 'from' && !isOneOf(token, OF_FROM) && !isSign(tokens[at + 1], '(');
      if ((openAt === -1 || beginsQuery(tokens[openAt + 1])) && isSortKey(tokens, at)) nonValues.add(at);
      if (!isName(token) || (!isTable && !isExpressionName(tokens, at))) return;
      nonValues.add(at);
      const beforeAlias = isWord(tokens[at - 1], 'as') ? at - 2 : at - 1;
      // The alias of a function may be the name of its only column, which is a value.
      if (!callEnds.has(beforeAlias)) relations.add(token.value);
    },
    (frame, at) => {
      if (frame.isCall) callEnds.add(at);
      else assertNoList(tokens, frame, at);
    },
  );
  for (const [at, token] of tokens.entries())
    if (isName(token) && relations.has(token.value) && !nonValues.has(at) && isValue(tokens, at))
      throw refusal(`${token.value} is the name of a table here. Name the column or the table differently.`);
}

/** Whether a name is that of a common table expression. */
function isExpressionName(tokens: readonly Token[], at: number): boolean {
  // At most four tokens follow the name: `as not materialized (`.
  const next = tokens.slice(at + 1, at + 5).filter((token) => !isWord(token, 'not') && !isWord(token, 'materialized'));
  return isWord(next[0], 'as') && isSign(next[1], '(');
}

/** Throws InvalidInput for a list in parentheses that is a row, except before `in` and `not in`. */
function assertNoList(tokens: readonly Token[], { openAt, commas }: Frame, closeAt: number): void {
  if (commas.length === 0 || beginsQuery(tokens[openAt + 1]) || isOneOf(tokens[openAt - 1], BEFORE_LIST)) return;
  const nextAt = isWord(tokens[closeAt + 1], 'not') ? closeAt + 2 : closeAt + 1;
  if (!isWord(tokens[nextAt], 'in')) throw rowRefusal();
}

/** Throws InvalidInput unless `name.*`, whose `*` is at `at`, is a column of a list of columns. */
function assertListed(tokens: readonly Token[], at: number, isCall: boolean): void {
  const [before, next] = [tokens[at - 3], tokens[at + 1]];
  const isFirst = isOneOf(before, BEFORE_COLUMN) || isSign(before, ',');
  const isLast = next === undefined || isSign(next, ',') || isSign(next, ')') || isWord(next, 'from');
  if (isCall || !isFirst || !isLast) throw rowRefusal();
}

/** Whether a name alone is the first key of ORDER BY or GROUP BY, where it may be the name of a column. */
function isSortKey(tokens: readonly Token[], at: number): boolean {
  const next = tokens[at + 1];
  const isAlone = next === undefined || isSign(next, ',') || isSign(next, ')') || isOneOf(next, AFTER_SORT_KEY);
  return isWord(tokens[at - 1], 'by') && isAlone;
}

/** Whether a name may be a value: not qualified, no qualifier, no function, and not an alias after `as`. */
function isValue(tokens: readonly Token[], at: number): boolean {
  const [before, next] = [tokens[at - 1], tokens[at + 1]];
  if (isSign(before, '.') || isSign(next, '.') || isSign(next, '(')) return false;
  return !isWord(before, 'as');
}
