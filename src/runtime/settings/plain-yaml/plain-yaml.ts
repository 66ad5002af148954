import type { JsonObject } from '../../../domain/json-object.ts';
import type { Path } from '../config-references.ts';

/** The value of a text, and the lines of its keys and items. */
export interface PlainDocument {
  readonly value: JsonObject;
  /** Line of the key or item at a path; of the nearest enclosing one when it is missing. */
  lineOf(path: Path): number;
}

/** A value with the line of its key or item. */
interface ValueWithLine {
  readonly line: number;
  readonly value: unknown;
  /** Members by key, or items by index; null for a scalar. */
  readonly inner: ReadonlyMap<string | number, ValueWithLine> | null;
}

interface Line {
  readonly indent: number;
  readonly text: string;
  readonly number: number;
}

/** A text outside the subset. The YAML library reads it. */
class NotPlain extends Error {}

const MAX_DEPTH = 40;
/** Characters outside printable ASCII and line feeds. */
const UNUSUAL = /[^\n\x20-\x7e]/;
/** A key, and the value on its line. */
const KEY = /^([A-Za-z_][\w.-]{0,200}):(?: +(.*))?$/;
/** First characters with a special meaning in YAML. */
const INDICATOR = /^[-?:,[\]{}#&*!|>'"%@`]/;
const NUMBER = /^(?:-?(?:0|[1-9]\d{0,14})|-?(?:0|[1-9]\d{0,14})\.\d{1,15})$/;
/** Plain scalars that are not texts, in all spellings of the core schema. */
const RESOLVED =
  /^(?:~|null|true|false|[-+]?\d+|0o[0-7]+|0x[\da-f]+|[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:e[-+]?\d+)?|[-+]?\.inf|\.nan)$/i;
const WORDS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['true', true],
  ['false', false],
  ['null', null],
]);

/**
 * Reads the subset of YAML that most configuration files have: block maps and lists of plain or simply quoted scalars
 * on one line each. Faster than the library (README.md). Null for any other text, also for an invalid one: the library
 * reads it, or reports the fault.
 */
export function readPlainYaml(text: string): PlainDocument | null {
  try {
    const root = UNUSUAL.test(text) ? null : rootOf(text);
    if (root === null) return null;
    return { value: root.value as JsonObject, lineOf: (path) => lineIn(root, path) };
  } catch (error) {
    if (error instanceof NotPlain) return null;
    throw error;
  }
}

function lineIn(root: ValueWithLine, path: Path): number {
  let node = root;
  for (const step of path) {
    const found = node.inner?.get(step) ?? node.inner?.get(Number(step));
    if (found === undefined) break;
    node = found;
  }
  return node.line;
}

function linesOf(text: string): readonly Line[] {
  const lines: Line[] = [];
  let number = 0;
  for (const raw of text.split('\n')) {
    number += 1;
    const content = raw.trimEnd();
    const trimmed = content.trimStart();
    if (trimmed === '' || trimmed.startsWith('#')) continue;
    lines.push({ indent: content.length - trimmed.length, text: trimmed, number });
  }
  return lines;
}

function rootOf(text: string): ValueWithLine | null {
  const lines = linesOf(text);
  const [first] = lines;
  if (first === undefined || first.indent !== 0 || !KEY.test(first.text)) return null;
  const reader = createReader(lines);
  const inner = reader.map(0, 0);
  return reader.isDone() ? { line: 1, ...inner } : null;
}

type Collection = Pick<ValueWithLine, 'value' | 'inner'>;

function createReader(lines: readonly Line[]) {
  let at = 0;
  /** The rest of a line after `- `, as a separate line. */
  let pending: Line | null = null;
  const peek = (): Line | undefined => pending ?? lines[at];
  const advance = (): void => {
    pending = null;
    at += 1;
  };
  const isItem = ({ text }: Line): boolean => text.startsWith('- ') || text === '-';

  /** The value of a key: on its line, or the block below it. */
  function valueAfter(rest: string, indent: number, depth: number): Collection {
    const next = peek();
    if (rest !== '') {
      // A deeper line would continue the scalar.
      if (next !== undefined && next.indent > indent) throw new NotPlain();
      return { value: scalar(rest), inner: null };
    }
    if (next === undefined) return { value: null, inner: null };
    // A list may have the same indentation as its key.
    if (isItem(next) && next.indent >= indent) return list(next.indent, depth + 1);
    if (next.indent <= indent) return { value: null, inner: null };
    return map(next.indent, depth + 1);
  }

  function map(indent: number, depth: number): Collection {
    if (depth > MAX_DEPTH) throw new NotPlain();
    const value: Record<string, unknown> = {};
    const inner = new Map<string, ValueWithLine>();
    for (let line = peek(); line !== undefined && line.indent >= indent; line = peek()) {
      const [, key = '', rest = ''] = KEY.exec(line.text) ?? [];
      const isPlainKey = key !== '' && key !== '__proto__' && !RESOLVED.test(key);
      if (line.indent > indent || !isPlainKey || inner.has(key)) throw new NotPlain();
      advance();
      const read = valueAfter(rest, indent, depth);
      value[key] = read.value;
      inner.set(key, { line: line.number, ...read });
    }
    return { value, inner };
  }

  function list(indent: number, depth: number): Collection {
    if (depth > MAX_DEPTH) throw new NotPlain();
    const value: unknown[] = [];
    const inner = new Map<number, ValueWithLine>();
    for (let line = peek(); line !== undefined && line.indent === indent && isItem(line); line = peek()) {
      const rest = line.text.slice(1).trimStart();
      if (rest === '' || pending !== null) throw new NotPlain();
      const number = line.number;
      let read: Collection;
      if (KEY.test(rest)) {
        const innerIndent = indent + line.text.length - rest.length;
        pending = { indent: innerIndent, text: rest, number };
        read = map(innerIndent, depth + 1);
      } else {
        advance();
        const next = peek();
        if (next !== undefined && next.indent > indent) throw new NotPlain();
        read = { value: scalar(rest), inner: null };
      }
      inner.set(value.length, { line: number, ...read });
      value.push(read.value);
    }
    const next = peek();
    if (next !== undefined && next.indent > indent) throw new NotPlain();
    return { value, inner };
  }

  return { map, isDone: (): boolean => peek() === undefined };
}

function scalar(text: string): unknown {
  const quoted = /^(?:"([^"\\]*)"|'([^']*)')$/.exec(text);
  if (quoted !== null) return quoted[1] ?? quoted[2];
  if (text === '[]') return [];
  if (text === '{}') return {};
  if (WORDS.has(text)) return WORDS.get(text);
  if (NUMBER.test(text) && text !== '-0') return Number(text);
  const isOther = RESOLVED.test(text) || INDICATOR.test(text);
  if (isOther || text.includes(': ') || text.includes(' #') || text.endsWith(':')) throw new NotPlain();
  return text;
}
