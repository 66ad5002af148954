/** Lines of a TOML document that belong to one statement. */
export interface Statement {
  /** `pair` is a key with a value, `header` starts a table, `other` is a blank line or a comment. */
  readonly kind: 'header' | 'other' | 'pair';
  /** Path of the key or table, without blanks and quotes; empty for `other`. */
  readonly path: string;
  readonly lines: readonly string[];
}

/** State between two lines: an open multi-line string, and the depth of open lists and inline tables. */
interface Open {
  readonly quote: '"""' | "'''" | null;
  readonly depth: number;
}

const CLOSED: Open = { quote: null, depth: 0 };

/** End of a string that starts at an index: the index after it, or the open quote of a multi-line string. */
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

/** Index after the end of a multi-line string; null where it stays open. */
function multiLineEnd(line: string, from: number, quote: string): number | null {
  for (let index = from; index < line.length; index += 1) {
    if (line[index] === '\\' && quote === '"""') index += 1;
    else if (line.startsWith(quote, index)) {
      let end = index + quote.length;
      // Up to two quotes may stand before the closing ones.
      while (line[end] === quote[0] && end < index + 5) end += 1;
      return end;
    }
  }
  return null;
}

/** State after a line. */
function stateAfter(line: string, before: Open): Open {
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

/** Parts of a dotted key: bare, or in quotes, in which a dot is a character. */
const KEY_PART = /"[^"]*"|'[^']*'|[^\s."']+/g;

const plainPath = (text: string): string =>
  (text.match(KEY_PART) ?? []).map((part) => part.replace(/^(["'])(.*)\1$/, '$2')).join('.');

function kindOf(line: string): Pick<Statement, 'kind' | 'path'> {
  const header = /^\s*\[{1,2}([^\]]*)\]/.exec(line)?.[1];
  if (header !== undefined) return { kind: 'header', path: plainPath(header) };
  const key = /^\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=/.exec(line)?.[1];
  return key === undefined ? { kind: 'other', path: '' } : { kind: 'pair', path: plainPath(key) };
}

/** Statements of a document, in their order. Their lines together are the document. */
export function statementsOf(text: string): readonly Statement[] {
  const statements: { kind: Statement['kind']; path: string; lines: string[] }[] = [];
  let open = CLOSED;
  for (const line of text.split('\n')) {
    const isContinued = open.quote !== null || open.depth > 0;
    if (isContinued) statements.at(-1)?.lines.push(line);
    else statements.push({ ...kindOf(line), lines: [line] });
    open = statements.at(-1)?.kind === 'other' ? CLOSED : stateAfter(line, open);
  }
  return statements;
}

export const textOfStatements = (statements: readonly Statement[]): string =>
  statements.flatMap(({ lines }) => lines).join('\n');
