import { literal, noteUnsupported, type PatternReader, PythonFault, readEscape, readSet } from './pattern-parts.ts';

/** The smallest repetition count that is too large for Python. */
const TOO_MANY_REPEATS = 4_294_967_295n;

/** Distance from the start of a named group to its name, which error positions refer to. */
const NAME_OFFSET = '(?P<'.length;

/** The part before a repetition operator. */
type Before = 'nothing' | 'something' | 'repetition';

/**
 * Translates a pattern in the syntax of Python's `re` for the engine (RE2), with non-capturing groups and escaped
 * characters. `fault` is Python's error message, or names the unsupported construct.
 */
export function translatePattern(source: string): { readonly code: string } | { readonly fault: string } {
  const reader: PatternReader = {
    chars: Array.from(source),
    at: 0,
    groups: 0,
    closed: new Set(),
    names: new Map(),
    hasBegun: false,
    globalFlags: '',
    unsupported: null,
  };
  try {
    const code = readAlternatives(reader);
    if (reader.at < reader.chars.length) throw new PythonFault('unbalanced parenthesis', reader.at);
    if (reader.unsupported !== null) return { fault: reader.unsupported };
    return { code: reader.globalFlags === '' ? code : `(?${reader.globalFlags})${code}` };
  } catch (error) {
    if (error instanceof PythonFault) return { fault: error.message };
    throw error;
  }
}

/** Reads up to the end or to a closing parenthesis, which is not consumed. */
function readAlternatives(reader: PatternReader): string {
  let code = '';
  let before: Before = 'nothing';
  for (;;) {
    const char = reader.chars[reader.at];
    if (char === undefined || char === ')') return code;
    if (char !== '(') reader.hasBegun = true;
    const repetition = '*+?{'.includes(char) ? readRepetition(reader, before) : null;
    if (repetition !== null) {
      code += repetition;
      before = 'repetition';
      continue;
    }
    if (char === '\\') {
      const part = readEscape(reader, false);
      code += part.kind === 'char' ? literal(part.char) : part.code;
      before = part.kind === 'place' ? 'nothing' : 'something';
      continue;
    }
    reader.at += 1;
    if (char === '(') {
      const group = readGroup(reader);
      code += group ?? '';
      if (group !== null) before = 'something';
    } else if (char === '[') {
      code += readSet(reader);
      before = 'something';
    } else if ('|^$'.includes(char)) {
      code += char;
      before = 'nothing';
    } else {
      code += char === '.' ? char : literal(char);
      before = 'something';
    }
  }
}

/** Reads a repetition operator; null for a literal brace. */
function readRepetition(reader: PatternReader, before: Before): string | null {
  const start = reader.at;
  const char = reader.chars[start] ?? '';
  let code = char;
  let end = start + 1;
  if (char === '{') {
    const match = /^\{(\d*)(?:(,)(\d*))?\}/.exec(reader.chars.slice(start).join(''));
    if (!match || match[0] === '{}') return null;
    const [written, low = '', comma, high = ''] = match;
    if ([low, high].some((digits) => BigInt(digits) >= TOO_MANY_REPEATS))
      throw new PythonFault('the repetition number is too large');
    if (high !== '' && BigInt(high) < BigInt(low))
      throw new PythonFault('min repeat greater than max repeat', start + 1);
    code = comma === undefined ? `{${low}}` : `{${low || '0'},${high}}`;
    end = start + written.length;
  }
  if (before === 'nothing') throw new PythonFault('nothing to repeat', start);
  if (before === 'repetition') throw new PythonFault('multiple repeat', start);
  reader.at = end;
  const suffix = reader.chars[end];
  const isPossessive = suffix === '+';
  if (isPossessive) noteUnsupported(reader, 'possessive quantifier', start);
  if (!isPossessive && suffix !== '?') return code;
  reader.at += 1;
  return `${code}?`;
}

/** Reads a group after its opening parenthesis. Null for comments and global flags, which cannot be repeated. */
function readGroup(reader: PatternReader): string | null {
  const start = reader.at - 1;
  const opening = reader.chars[reader.at] === '?' ? readExtension(reader, start) : capture(reader, null, start);
  if (opening === null) return null;
  if (opening === 'reference') return '';
  reader.hasBegun = true;
  const content = readAlternatives(reader);
  if (reader.chars[reader.at] !== ')') throw new PythonFault('missing ), unterminated subpattern', start);
  reader.at += 1;
  if (opening.number !== null) reader.closed.add(opening.number);
  return `(?${opening.flags}:${content})`;
}

/** Start of a group: its number, null for a group that does not capture, and its inline flags. */
interface Opening {
  readonly number: number | null;
  readonly flags: string;
}

function capture(reader: PatternReader, name: string | null, start: number): Opening {
  reader.groups += 1;
  const number = reader.groups;
  if (name === null) return { number, flags: '' };
  const other = reader.names.get(name);
  if (other !== undefined) {
    const text = `redefinition of group name '${name}' as group ${number}; was group ${other}`;
    throw new PythonFault(text, start + NAME_OFFSET);
  }
  reader.names.set(name, number);
  return { number, flags: '' };
}

const PLAIN: Opening = { number: null, flags: '' };

/** Reads a `(?` group; `reader` is at the question mark. `reference` for `(?P=name)`, null for comments and flags. */
function readExtension(reader: PatternReader, start: number): Opening | 'reference' | null {
  reader.at += 1;
  const char = take(reader);
  if (char === 'P') return readNamed(reader, start);
  if (char === ':') return PLAIN;
  if (char === '#') return skipComment(reader, start);
  if (char === '=' || char === '!') return unsupported(reader, 'look-around', start);
  if (char === '>') return unsupported(reader, 'atomic group', start);
  if (char === '<') {
    const next = take(reader);
    if (next !== '=' && next !== '!') throw new PythonFault(`unknown extension ?<${next}`, start + 1);
    return unsupported(reader, 'look-around', start);
  }
  if (char === '(') {
    readUntil(reader, ')', 'group name');
    return unsupported(reader, 'condition', start);
  }
  if (char === '-' || isFlag(char)) return readFlags(reader, char, start);
  throw new PythonFault(`unknown extension ?${char}`, start + 1);
}

function take(reader: PatternReader): string {
  const char = reader.chars[reader.at];
  if (char === undefined) throw new PythonFault('unexpected end of pattern', reader.chars.length);
  reader.at += 1;
  // Python reads a backslash and the next character as one.
  return char === '\\' ? char + (reader.chars[reader.at] ?? '') : char;
}

function unsupported(reader: PatternReader, what: string, start: number): Opening {
  noteUnsupported(reader, what, start);
  return PLAIN;
}

function skipComment(reader: PatternReader, start: number): null {
  const end = reader.chars.indexOf(')', reader.at);
  if (end === -1) throw new PythonFault('missing ), unterminated comment', start);
  reader.at = end + 1;
  return null;
}

/** Reads a name up to its end mark, which is consumed. */
function readUntil(reader: PatternReader, mark: string, what: string): string {
  const start = reader.at;
  const end = reader.chars.indexOf(mark, start);
  const name = reader.chars.slice(start, end === -1 ? undefined : end).join('');
  if (name === '') throw new PythonFault(`missing ${what}`, start);
  if (end === -1) throw new PythonFault(`missing ${mark}, unterminated name`, start);
  reader.at = end + 1;
  return name;
}

/** Reads `(?P<name>` or `(?P=name)`. */
function readNamed(reader: PatternReader, start: number): Opening | 'reference' {
  const char = take(reader);
  if (char !== '<' && char !== '=') throw new PythonFault(`unknown extension ?P${char}`, start + 1);
  const name = readUntil(reader, char === '<' ? '>' : ')', 'group name');
  if (!/^[\p{L}_][\p{L}\p{N}_]*$/u.test(name))
    throw new PythonFault(`bad character in group name '${name}'`, start + NAME_OFFSET);
  if (char === '<') return capture(reader, name, start);
  const number = reader.names.get(name);
  if (number === undefined) throw new PythonFault(`unknown group name '${name}'`, start + NAME_OFFSET);
  if (!reader.closed.has(number)) throw new PythonFault('cannot refer to an open group', start + NAME_OFFSET);
  noteUnsupported(reader, 'back reference', start);
  return 'reference';
}

/** Reads global flags, which end with a parenthesis, or the flags of a group, which end with a colon. */
function readFlags(reader: PatternReader, first: string, start: number): Opening | null {
  reader.at -= first.length;
  const on = readLetters(reader, faultOfFlagOn);
  const turnsOff = reader.chars[reader.at] === '-';
  if (turnsOff) reader.at += 1;
  const off = turnsOff ? readLetters(reader, faultOfFlagOff) : '';
  const end = reader.chars[reader.at];
  // Global flags cannot be turned off.
  const isEndValid = end === ':' || (end === ')' && !turnsOff);
  if (!isEndValid) throw flagFault(reader, turnsOff, off);
  reader.at += 1;
  if (Array.from(on).some((flag) => off.includes(flag)))
    throw new PythonFault('bad inline flags: flag turned on and off', reader.at - 1);
  if (on.includes('x')) noteUnsupported(reader, 'verbose pattern', start);
  const known = (flags: string): string => [...new Set(flags)].filter((flag) => 'ims'.includes(flag)).join('');
  const turnedOff = known(off);
  const flags = known(on) + (turnedOff === '' ? '' : `-${turnedOff}`);
  if (end === ':') return { number: null, flags };
  if (reader.hasBegun) throw new PythonFault('global flags not at the start of the expression', start);
  reader.globalFlags += known(on);
  return null;
}

const isFlag = (char: string | undefined): boolean => char !== undefined && 'aiLmsux'.includes(char);

/** Why Python refuses a flag after the flags `before`; null when it is allowed. */
type FlagFault = (flag: string, before: string) => string | null;

function faultOfFlagOn(flag: string, before: string): string | null {
  if (flag === 'L') return "cannot use 'L' flag with a str pattern";
  const hasBoth = (flag === 'a' && before.includes('u')) || (flag === 'u' && before.includes('a'));
  return hasBoth ? "flags 'a', 'u' and 'L' are incompatible" : null;
}

const faultOfFlagOff = (flag: string): string | null =>
  'auL'.includes(flag) ? "cannot turn off flags 'a', 'u' and 'L'" : null;

function readLetters(reader: PatternReader, faultOf: FlagFault): string {
  let letters = '';
  for (;;) {
    const letter = reader.chars[reader.at];
    if (letter === undefined || !isFlag(letter)) return letters;
    reader.at += 1;
    const fault = faultOf(letter, letters);
    if (fault !== null) throw new PythonFault(`bad inline flags: ${fault}`, reader.at);
    letters += letter;
  }
}

function flagFault(reader: PatternReader, turnsOff: boolean, off: string): PythonFault {
  const char = reader.chars[reader.at];
  if (char !== undefined && /^\p{L}$/u.test(char)) return new PythonFault('unknown flag', reader.at);
  if (turnsOff && off === '') return new PythonFault('missing flag', reader.at);
  return new PythonFault(turnsOff ? 'missing :' : 'missing -, : or )', reader.at);
}
