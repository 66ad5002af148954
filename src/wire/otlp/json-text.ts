import { type Allowance, assertDepth, assertNodes, grantNodesOfSpans, spendNode, undecodable } from './span-rules.ts';

/** JSON object with unvalidated members. */
export interface JsonObject {
  readonly [name: string]: unknown;
}

/** A double represents every integer with up to this many digits. */
const MAX_EXACT_DIGITS = 15;
/** 64-bit integers have at most 20 digits. Longer numbers are not converted, to bound the cost. */
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
 * the limit of nodes. Spans are counted by `spanId` keys, those of links included. Such a key may follow other members.
 * The nodes for the maximum number of spans are therefore granted first and corrected at the end. Returns whether the
 * text has numbers that may need a bigint.
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
      case 0x22: // "
        spendNode(allowance);
        if (isSpanId(body, at)) spanIds++;
        at = endOfString(body, at + 1);
        break;
      case 0x7b: // {
      case 0x5b: // [
        spendNode(allowance);
        assertDepth(allowance, ++depth);
        at++;
        break;
      case 0x7d: // }
      case 0x5d: // ]
        depth--;
        at++;
        break;
      case 0x2c: // ,
      case 0x3a: // :
      case 0x20:
      case 0x09:
      case 0x0a:
      case 0x0d:
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

const SPAN_ID = Buffer.from('"spanId"');

function isSpanId(body: Buffer, at: number): boolean {
  for (let place = 0; place < SPAN_ID.length; place++) if (body[at + place] !== SPAN_ID[place]) return false;
  return true;
}

/** Bytes that are compared one by one before a native search. Most strings are shorter, and this is faster for them. */
const SHORT_STRING_BYTES = 32;

function endOfString(body: Buffer, from: number): number {
  let at = from;
  for (;;) {
    const shortEnd = Math.min(at + SHORT_STRING_BYTES, body.length);
    while (at < shortEnd) {
      const byte = body[at];
      if (byte === 0x22) return at + 1;
      at += byte === 0x5c ? 2 : 1;
    }
    if (at >= body.length) return body.length;
    const quote = body.indexOf(0x22, at);
    if (quote === -1) return body.length;
    // The quote closes the string after an even number of backslashes.
    let backslashes = 0;
    while (quote - backslashes > at && body[quote - backslashes - 1] === 0x5c) backslashes++;
    if (backslashes % 2 === 0) return quote + 1;
    at = quote + 1;
  }
}

function endOfLiteral(body: Buffer, from: number): number {
  let at = from + 1;
  while (at < body.length) {
    const byte = body[at] ?? 0;
    if (byte <= 0x20 || byte === 0x22 || byte === 0x2c || byte === 0x3a) return at;
    if (byte === 0x5b || byte === 0x5d || byte === 0x7b || byte === 0x7d) return at;
    at++;
  }
  return at;
}
