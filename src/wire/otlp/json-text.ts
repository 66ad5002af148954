import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  CR,
  LF,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  SPACE,
  TAB,
} from '../json/bytes.ts';
import { type Allowance, assertDepth, assertNodes, grantNodesOfSpans, spendNode, undecodable } from './span-rules.ts';

/** JSON object with unvalidated members. */
export interface JsonObject {
  readonly [name: string]: unknown;
}

/** A double represents every integer with up to this many digits exactly. */
const MAX_EXACT_DIGITS = 15;
/** 64-bit integers have at most 20 digits. Longer numbers are not converted to bigints, to limit the cost. */
const INTEGER = /^-?\d{1,20}$/;

/**
 * Parses a JSON body. Checks its number of keys and values and its depth before parsing. Integers beyond the safe range
 * of a double, with up to 20 digits, become bigints. Throws TooLarge above a limit and InvalidInput for invalid JSON.
 */
export function parseJson(body: Uint8Array, allowance: Allowance): unknown {
  const hasLongNumbers = chargeNodes(Buffer.from(body.buffer, body.byteOffset, body.byteLength), allowance);
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(body);
    return hasLongNumbers ? (JSON.parse(text, exactInteger) as unknown) : (JSON.parse(text) as unknown);
  } catch (cause) {
    throw undecodable('it is not valid JSON', cause);
  }
}

function exactInteger(_name: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  return context?.source !== undefined && INTEGER.test(context.source) ? BigInt(context.source) : value;
}

/**
 * Charges the keys and values (nodes) of JSON text to the allowance, without parsing or validating it. Each span raises
 * the limit of nodes. Spans are counted by `spanId` keys, those of links included. Their number is known only at the
 * end, so the nodes for the maximum number of spans are granted first and corrected then. Returns whether the text has
 * numbers that may need a bigint.
 */
function chargeNodes(body: Buffer, allowance: Allowance): boolean {
  const { spans } = allowance.limits;
  const nodesBefore = allowance.nodes;
  grantNodesOfSpans(allowance, spans);
  const granted = allowance.nodes - nodesBefore;
  let spanIds = 0;
  let at = 0;
  let depth = 0;
  let hasLongNumbers = false;
  while (at < body.length) {
    switch (body[at] ?? 0) {
      case QUOTE:
        spendNode(allowance);
        if (isSpanIdKey(body, at)) spanIds++;
        at = endOfString(body, at + 1);
        break;
      case OPEN_BRACE:
      case OPEN_BRACKET:
        spendNode(allowance);
        depth++;
        assertDepth(allowance, depth);
        at++;
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        depth--;
        at++;
        break;
      case COMMA:
      case COLON:
      case SPACE:
      case TAB:
      case LF:
      case CR:
        at++;
        break;
      default: {
        spendNode(allowance);
        const end = endOfLiteral(body, at);
        hasLongNumbers ||= end - at > MAX_EXACT_DIGITS;
        at = end;
      }
    }
  }
  allowance.nodes -= granted;
  grantNodesOfSpans(allowance, spanIds);
  assertNodes(allowance);
  return hasLongNumbers;
}

const SPAN_ID_KEY = Buffer.from('"spanId"');

function isSpanIdKey(body: Buffer, at: number): boolean {
  for (let index = 0; index < SPAN_ID_KEY.length; index++) if (body[at + index] !== SPAN_ID_KEY[index]) return false;
  return true;
}

/** Bytes that are compared one by one before the native search, whose call costs more than a short string. */
const SHORT_STRING_BYTES = 32;

function endOfString(body: Buffer, from: number): number {
  let at = from;
  for (;;) {
    const shortEnd = Math.min(at + SHORT_STRING_BYTES, body.length);
    while (at < shortEnd) {
      const byte = body[at];
      if (byte === QUOTE) return at + 1;
      at += byte === BACKSLASH ? 2 : 1;
    }
    if (at >= body.length) return body.length;
    const quote = body.indexOf(QUOTE, at);
    if (quote === -1) return body.length;
    // A quote after an odd number of backslashes is escaped.
    let backslashes = 0;
    while (quote - backslashes > at && body[quote - backslashes - 1] === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return quote + 1;
    at = quote + 1;
  }
}

/** Offset after a number, `true`, `false` or `null` that begins at `from`. */
function endOfLiteral(body: Buffer, from: number): number {
  let at = from + 1;
  while (at < body.length) {
    const byte = body[at] ?? 0;
    if (byte <= SPACE || byte === QUOTE || byte === COMMA || byte === COLON) return at;
    if (byte === OPEN_BRACKET || byte === CLOSE_BRACKET || byte === OPEN_BRACE || byte === CLOSE_BRACE) return at;
    at++;
  }
  return at;
}
