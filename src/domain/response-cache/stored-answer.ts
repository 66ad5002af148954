import type { Exchange, Outcome } from '../chat/chat.ts';
import type { Endpoint } from '../inference/endpoint.ts';
import { isJsonObject } from '../json-object.ts';

/** An answer in the cache. Its bytes are in the dialect of the call that stored it. */
export interface StoredAnswer {
  /** Unix ms. */
  readonly storedAtMs: number;
  readonly streaming: boolean;
  readonly contentType: string | null;
  /** Request members that the dialect of the upstream cannot express, and that were left out. */
  readonly dropped: readonly string[];
  readonly outcome: StoredOutcome;
  readonly body: Uint8Array;
}

type StoredOutcome = Pick<Outcome, 'responseId' | 'responseModel' | 'finishReason' | 'usage' | 'text'>;

/** Version of the encoding. An entry with another version counts as a miss. */
const VERSION = 1;
const LINE_END = 0x0a;

/** Encodes an answer: a line of JSON with all other members, then the bytes of `body`. */
export function encodeAnswer({ body, ...head }: StoredAnswer): Uint8Array {
  const line = new TextEncoder().encode(`${JSON.stringify({ version: VERSION, ...head })}\n`);
  const encoded = new Uint8Array(line.length + body.length);
  encoded.set(line);
  encoded.set(body, line.length);
  return encoded;
}

/** Decodes the result of `encodeAnswer`. Null for other bytes. */
export function decodeAnswer(bytes: Uint8Array): StoredAnswer | null {
  const end = bytes.indexOf(LINE_END);
  if (end < 0) return null;
  const head = parsedOrNull(new TextDecoder().decode(bytes.subarray(0, end)));
  if (!isJsonObject(head) || head['version'] !== VERSION || !isJsonObject(head['outcome'])) return null;
  const { version: _version, ...facts } = head;
  return { ...(facts as unknown as Omit<StoredAnswer, 'body'>), body: bytes.subarray(end + 1) };
}

function parsedOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** The part of an outcome that is stored. */
export const storedOutcomeOf = ({ responseId, responseModel, finishReason, usage, text }: Outcome): StoredOutcome => ({
  responseId,
  responseModel,
  finishReason,
  usage,
  text,
});

/** Whether an ended answer may be stored: it is complete, and has no failure and no measured quantity. */
export function isStorableAnswer(
  { status }: Pick<Exchange, 'status'>,
  outcome: Outcome,
  { dialect }: Endpoint,
): boolean {
  if (status !== 200 || outcome.failure !== null || outcome.measured !== undefined) return false;
  // Without a finish reason, a conversation was cut off or still runs in the background.
  return dialect === null || outcome.finishReason !== null;
}
