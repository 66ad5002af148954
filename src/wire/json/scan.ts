import {
  CAPITAL_E,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  CR,
  LF,
  MINUS,
  NINE,
  OPEN_BRACE,
  OPEN_BRACKET,
  PLUS,
  POINT,
  QUOTE,
  SMALL_E,
  SMALL_F,
  SMALL_N,
  SMALL_T,
  SPACE,
  TAB,
  ZERO,
} from './bytes.ts';
import { MAX_NESTING } from './nesting.ts';
import { STRING_END } from './string-end.ts';

/** One member of the outermost object of validated JSON text. All positions are byte offsets. */
export interface ScannedMember {
  /** Offset of the key's opening quote. */
  readonly start: number;
  /** Offset after the key's closing quote. */
  readonly keyEnd: number;
  readonly valueStart: number;
  /** Offset after the value's last byte. */
  readonly end: number;
  /** Whether the value is an array that contains only objects. True for an empty array. */
  readonly allObjects: boolean;
}

/** Maximum bytes that are scanned. The memory of string-end.wat has 65 pages of 64 KiB for them. */
export const MAX_SCANNED_BYTES = 4 * 1024 * 1024;
/** Maximum number of members of the outermost object. JSON.parse is faster for objects with more. */
const MAX_MEMBERS = 64;

type Scan = (json: Uint8Array) => readonly ScannedMember[] | null;
let scan: Scan | null = null;

/**
 * Validates JSON text and returns the members of its outermost object, in order, repeated keys included. Accepts no
 * text that JSON.parse rejects. Null for text that is not a valid object. Also null for text that must be parsed with
 * JSON.parse instead: more than `MAX_SCANNED_BYTES`, more than `MAX_NESTING` levels, or too many members.
 */
export function scanObject(json: Uint8Array): readonly ScannedMember[] | null {
  if (json.length > MAX_SCANNED_BYTES) return null;
  // Compiled at first use: a process without large bodies does not need the module.
  scan ??= createScan();
  return scan(json);
}

/** The part of WebAssembly that is used here. Node's types do not declare it. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: unknown };
};

interface StringEnd {
  readonly memory: { readonly buffer: ArrayBuffer };
  /** Offset after the closing quote of the string whose first character is at `at`. INVALID for an invalid string. */
  stringEnd(at: number): number;
}

const INVALID = -1;

/** Creates a parser of the JSON grammar. Each `after…` function returns the offset after its token, or INVALID. */
function createScan(): Scan {
  const module = new WebAssembly.Module(Buffer.from(STRING_END, 'base64'));
  const { memory, stringEnd } = new WebAssembly.Instance(module).exports as StringEnd;
  const text = new Uint8Array(memory.buffer);
  let members: ScannedMember[] = [];
  /** Whether the most recent array among the members of the outermost object contains only objects. */
  let allObjects = false;

  function afterSpace(from: number): number {
    for (let at = from; ; at += 1) {
      const byte = text[at] ?? 0;
      if (byte > SPACE || (byte !== SPACE && byte !== LF && byte !== CR && byte !== TAB)) return at;
    }
  }

  /** `depth` is the number of open arrays and objects around the value. */
  function afterValue(at: number, depth: number): number {
    switch (text[at] ?? 0) {
      case QUOTE:
        return stringEnd(at + 1);
      case OPEN_BRACE:
        return depth === MAX_NESTING ? INVALID : afterObject(at, depth + 1);
      case OPEN_BRACKET:
        return depth === MAX_NESTING ? INVALID : afterArray(at, depth + 1);
      case SMALL_T:
        return afterWord(at, 'true');
      case SMALL_F:
        return afterWord(at, 'false');
      case SMALL_N:
        return afterWord(at, 'null');
      default:
        return afterNumber(at);
    }
  }

  function afterObject(from: number, depth: number): number {
    let at = afterSpace(from + 1);
    if (text[at] === CLOSE_BRACE) return at + 1;
    for (;;) {
      if (text[at] !== QUOTE) return INVALID;
      const start = at;
      const keyEnd = stringEnd(at + 1);
      if (keyEnd === INVALID) return INVALID;
      at = afterSpace(keyEnd);
      if (text[at] !== COLON) return INVALID;
      const valueStart = afterSpace(at + 1);
      const end = afterValue(valueStart, depth);
      if (end === INVALID) return INVALID;
      const isOutermost = depth === 1;
      if (isOutermost) {
        if (members.length === MAX_MEMBERS) return INVALID;
        members.push({ start, keyEnd, valueStart, end, allObjects: text[valueStart] === OPEN_BRACKET && allObjects });
      }
      at = afterSpace(end);
      if (text[at] === CLOSE_BRACE) return at + 1;
      if (text[at] !== COMMA) return INVALID;
      at = afterSpace(at + 1);
    }
  }

  function afterArray(from: number, depth: number): number {
    const isMemberOfOutermost = depth === 2;
    if (isMemberOfOutermost) allObjects = true;
    let at = afterSpace(from + 1);
    if (text[at] === CLOSE_BRACKET) return at + 1;
    for (;;) {
      if (isMemberOfOutermost && text[at] !== OPEN_BRACE) allObjects = false;
      const end = afterValue(at, depth);
      if (end === INVALID) return INVALID;
      at = afterSpace(end);
      if (text[at] === CLOSE_BRACKET) return at + 1;
      if (text[at] !== COMMA) return INVALID;
      at = afterSpace(at + 1);
    }
  }

  function afterWord(from: number, word: string): number {
    for (let at = 0; at < word.length; at += 1) if (text[from + at] !== word.charCodeAt(at)) return INVALID;
    return from + word.length;
  }

  function afterNumber(from: number): number {
    const integerStart = text[from] === MINUS ? from + 1 : from;
    // No digit may follow a leading zero.
    let at = text[integerStart] === ZERO ? integerStart + 1 : afterDigits(integerStart);
    if (at !== INVALID && text[at] === POINT) at = afterDigits(at + 1);
    const hasExponent = at !== INVALID && (text[at] === SMALL_E || text[at] === CAPITAL_E);
    if (!hasExponent) return at;
    const sign = text[at + 1];
    return afterDigits(sign === PLUS || sign === MINUS ? at + 2 : at + 1);
  }

  /** Requires at least one digit. */
  function afterDigits(from: number): number {
    let at = from;
    while ((text[at] ?? 0) >= ZERO && (text[at] ?? 0) <= NINE) at += 1;
    return at === from ? INVALID : at;
  }

  return (json) => {
    text.set(json);
    // The zero byte ends every token, so bytes of an earlier, longer text have no effect.
    text[json.length] = 0;
    members = [];
    const from = afterSpace(0);
    if (text[from] !== OPEN_BRACE) return null;
    const end = afterObject(from, 1);
    return end !== INVALID && afterSpace(end) === json.length ? members : null;
  };
}
