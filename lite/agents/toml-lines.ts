/** One statement of a TOML document, with all its lines. */
export interface Statement {
  /** `pair` is a key with a value, `header` starts a table, `other` is a blank line or a comment. */
  readonly kind: 'header' | 'other' | 'pair';
  /** Path of the key or table, without blanks and quotes; empty for `other`. */
  readonly path: string;
  readonly lines: readonly string[];
}

/** What is open at the end of a line: a multi-line string, and nested lists and inline tables. */
interface LineState {
  readonly quote: '"""' | "'''" | null;
  readonly depth: number;
}

const COMPLETE: LineState = { quote: null, depth: 0 };

const LONGEST_QUOTE_RUN = 5;

/** Index after a string that starts at `at`. For a multi-line string without an end in this line: its quote. */
function stringEnd(line: string, at: number): number | '"""' | "'''" {
  const triple = line.slice(at, at + 3);
  if (triple === '"""' || triple === "'''") return multiLineEnd(line, at + 3, triple) ?? triple;
  const quote = line[at];
  for (let index = at + 1; index < line.length; index += 1) {
    if (line[index] === '\\' && quote === '"') index += 1;
    else if (line[index] === quote) return index + 1;
  }
  return line.length;
}

/** Index after the end of a multi-line string; null where the line does not end the string. */
function multiLineEnd(line: string, from: number, quote: string): number | null {
  for (let index = from; index < line.length; index += 1) {
    if (line[index] === '\\' && quote === '"""') index += 1;
    else if (line.startsWith(quote, index)) {
      let end = index + quote.length;
      // The text may end with up to two quotes, directly before the three closing quotes.
      while (line[end] === quote[0] && end < index + LONGEST_QUOTE_RUN) end += 1;
      return end;
    }
  }
  return null;
}

function stateAfter(line: string, before: LineState): LineState {
  let { depth } = before;
  let index = 0;
  if (before.quote !== null) {
    const end = multiLineEnd(line, 0, before.quote);
    if (end === null) return before;
    index = end;
  }
  while (index < line.length) {
    const char = line[index] ?? '';
    if (char === '#') break;
    if (char === '"' || char === "'") {
      const end = stringEnd(line, index);
      if (typeof end === 'string') return { quote: end, depth };
      index = end;
      continue;
    }
    if (char === '[' || char === '{') depth += 1;
    if (char === ']' || char === '}') depth -= 1;
    index += 1;
  }
  return { quote: null, depth: Math.max(0, depth) };
}

/** Matches one part of a dotted key: a bare word, or a quoted text, which may have dots. */
const KEY_PART = /"[^"]*"|'[^']*'|[^\s."']+/g;

const plainPath = (text: string): string =>
  (text.match(KEY_PART) ?? []).map((part) => part.replace(/^(["'])(.*)\1$/, '$2')).join('.');

function kindOf(line: string): Pick<Statement, 'kind' | 'path'> {
  const header = /^\s*\[{1,2}([^\]]*)\]/.exec(line)?.[1];
  if (header !== undefined) return { kind: 'header', path: plainPath(header) };
  const key = /^\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=/.exec(line)?.[1];
  return key === undefined ? { kind: 'other', path: '' } : { kind: 'pair', path: plainPath(key) };
}

/** Splits a document into statements. Their joined lines are the document again. */
export function statementsOf(text: string): readonly Statement[] {
  const statements: { kind: Statement['kind']; path: string; lines: string[] }[] = [];
  let open = COMPLETE;
  for (const line of text.split('\n')) {
    const isContinued = open.quote !== null || open.depth > 0;
    if (isContinued) statements.at(-1)?.lines.push(line);
    else statements.push({ ...kindOf(line), lines: [line] });
    open = statements.at(-1)?.kind === 'other' ? COMPLETE : stateAfter(line, open);
  }
  return statements;
}

export const textOfStatements = (statements: readonly Statement[]): string =>
  statements.flatMap(({ lines }) => lines).join('\n');
