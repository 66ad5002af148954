/** A pattern that Python's `re` refuses; the message is Python's, position included. */
export class PythonFault extends Error {
  constructor(text: string, position?: number) {
    super(position === undefined ? text : `${text} at position ${position}`);
    this.name = 'PythonFault';
  }
}

/** State of the parser. Positions count characters, as Python's do. */
export interface PatternReader {
  readonly chars: readonly string[];
  at: number;
  /** Number of groups that were opened so far. */
  groups: number;
  /** Numbers of the groups that were closed. */
  readonly closed: Set<number>;
  readonly names: Map<string, number>;
  /** Whether a matching part was parsed. Global flags after it are a fault. */
  hasBegun: boolean;
  /** Global flags that were read so far, without flags that the engine (RE2) does not have. */
  globalFlags: string;
  /** The first construct that Python supports, but not an engine with run time linear in the text. */
  unsupported: string | null;
}

/** Records a construct that needs a backtracking engine. Parsing continues, to report Python's own errors first. */
export function noteUnsupported(reader: PatternReader, what: string, position: number): void {
  reader.unsupported ??= `unsupported: ${what} at position ${position}`;
}

/** Escapes one literal character for the engine. The result is valid within and outside of square brackets. */
export function literal(char: string): string {
  return /^[\p{L}\p{N}_ ]$/u.test(char) ? char : `\\x{${(char.codePointAt(0) ?? 0).toString(16)}}`;
}

const fromCode = (code: number): string => String.fromCodePoint(code);

/** A part that matches one character, a class of characters, a position between characters, or the text of a group. */
export type Part =
  | { readonly kind: 'char'; readonly char: string }
  | { readonly kind: 'class' | 'place' | 'reference'; readonly code: string };

const PLACES: Readonly<Record<string, string>> = { A: '\\A', Z: '\\z', b: '\\b', B: '\\B' };
const CONTROLS: Readonly<Record<string, string>> = {
  a: '\x07',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
};
const HEX_LENGTHS: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };
const isOctal = (char: string | undefined): boolean => char !== undefined && char >= '0' && char <= '7';
const isDigit = (char: string | undefined): boolean => char !== undefined && char >= '0' && char <= '9';

/** Reads further characters, up to `max`, while `passes` is true for them. */
function takeWhile(reader: PatternReader, passes: (char: string | undefined) => boolean, max: number): string {
  const start = reader.at;
  while (reader.at - start < max && passes(reader.chars[reader.at])) reader.at += 1;
  return reader.chars.slice(start, reader.at).join('');
}

/** Reads an escape; `reader` is at the backslash. `inSet`: within square brackets. */
export function readEscape(reader: PatternReader, inSet: boolean): Part {
  const start = reader.at;
  const char = reader.chars[start + 1];
  if (char === undefined) throw new PythonFault('bad escape (end of pattern)', start);
  reader.at += 2;
  if ('dDsSwW'.includes(char)) return { kind: 'class', code: `\\${char}` };
  if (inSet && char === 'b') return { kind: 'char', char: '\b' };
  const place = inSet ? undefined : PLACES[char];
  if (place !== undefined) return { kind: 'place', code: place };
  const control = CONTROLS[char];
  if (control !== undefined) return { kind: 'char', char: control };
  const hexLength = HEX_LENGTHS[char];
  if (hexLength !== undefined) return { kind: 'char', char: readHex(reader, start, hexLength) };
  if (char === 'N') {
    noteUnsupported(reader, 'character by name', start);
    return { kind: 'char', char };
  }
  if (isDigit(char)) return readDigits(reader, start, char, inSet);
  if (/^[a-zA-Z]$/.test(char)) throw new PythonFault(`bad escape \\${char}`, start);
  return { kind: 'char', char };
}

function readHex(reader: PatternReader, start: number, length: number): string {
  const digits = takeWhile(reader, (char) => char !== undefined && /^[0-9a-fA-F]$/.test(char), length);
  const written = reader.chars.slice(start, reader.at).join('');
  if (digits.length < length) throw new PythonFault(`incomplete escape ${written}`, start);
  const code = Number.parseInt(digits, 16);
  if (code > 0x10ffff) throw new PythonFault(`bad escape ${written}`, start);
  return fromCode(code);
}

/** A character by its octal number, or a reference to a group. */
function readDigits(reader: PatternReader, start: number, first: string, inSet: boolean): Part {
  const octal = first + takeWhile(reader, isOctal, 2);
  const code = Number.parseInt(octal, 8);
  const isOctalEscape = first === '0' || (isOctal(first) && (inSet || octal.length === 3));
  if (isOctalEscape) {
    if (code > 0o377) throw new PythonFault(`octal escape value \\${octal} outside of range 0-0o377`, start);
    return { kind: 'char', char: fromCode(code) };
  }
  if (inSet) throw new PythonFault(`bad escape \\${first}`, start);
  // Read the digits again, as the decimal number of a group.
  reader.at = start + 2;
  const number = Number(first + takeWhile(reader, isDigit, 1));
  if (number > reader.groups) throw new PythonFault(`invalid group reference ${number}`, start + 1);
  if (!reader.closed.has(number)) throw new PythonFault('cannot refer to an open group', start);
  noteUnsupported(reader, 'back reference', start);
  return { kind: 'reference', code: '' };
}

const codeIn = (part: Part): string => (part.kind === 'char' ? literal(part.char) : part.code);

/** Reads a set of characters; `reader` is after its opening bracket. */
export function readSet(reader: PatternReader): string {
  const start = reader.at - 1;
  const { chars } = reader;
  const member = (): Part => {
    const char = chars[reader.at];
    if (char === undefined) throw new PythonFault('unterminated character set', start);
    if (char === '\\') return readEscape(reader, true);
    reader.at += 1;
    return { kind: 'char', char };
  };
  let code = '[';
  if (chars[reader.at] === '^') {
    code += '^';
    reader.at += 1;
  }
  // A closing bracket in the first place is a member.
  for (let isFirst = true; isFirst || chars[reader.at] !== ']'; isFirst = false) {
    const from = reader.at;
    const low = member();
    code += codeIn(low);
    if (chars[reader.at] !== '-') continue;
    reader.at += 1;
    if (chars[reader.at] === ']') {
      code += literal('-');
      continue;
    }
    const high = member();
    if (low.kind !== 'char' || high.kind !== 'char' || low.char > high.char)
      throw new PythonFault(`bad character range ${chars.slice(from, reader.at).join('')}`, from);
    code += `-${literal(high.char)}`;
  }
  reader.at += 1;
  return `${code}]`;
}
