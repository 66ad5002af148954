import type { Exchange, Outcome } from '../chat/chat.ts';
import type { Endpoint } from '../inference/endpoint.ts';
import { isJsonObject } from '../json-object.ts';

/** An answer in the cache, with its bytes in the dialect of its caller. */
export interface StoredAnswer {
  /** Time at which it was stored, Unix ms. */
  readonly storedAtMs: number;
  readonly streaming: boolean;
  readonly contentType: string | null;
  readonly dropped: readonly string[];
  readonly outcome: StoredOutcome;
  readonly body: Uint8Array;
}

type StoredOutcome = Pick<Outcome, 'responseId' | 'responseModel' | 'finishReason' | 'usage' | 'text'>;

/** Version of the encoding. Entries of other versions are misses. */
const VERSION = 1;
const LINE_END = 0x0a;

/** Encodes an answer: one line of JSON, then its bytes. */
export function encodeAnswer({ body, ...head }: StoredAnswer): Uint8Array {
  const line = new TextEncoder().encode(`${JSON.stringify({ version: VERSION, ...head })}\n`);
  const encoded = new Uint8Array(line.length + body.length);
  encoded.set(line);
  encoded.set(body, line.length);
  return encoded;
}

/** The answer that `encodeAnswer` encoded; null for other bytes. */
export function decodeAnswer(bytes: Uint8Array): StoredAnswer | null {
  const end = bytes.indexOf(LINE_END);
  if (end < 0) return null;
  const head = parsed(new TextDecoder().decode(bytes.subarray(0, end)));
  if (!isJsonObject(head) || head['version'] !== VERSION || !isJsonObject(head['outcome'])) return null;
  const { version: _version, ...facts } = head;
  return { ...(facts as unknown as Omit<StoredAnswer, 'body'>), body: bytes.subarray(end + 1) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** The stored outcome of a complete answer. */
export const storedOutcomeOf = ({ responseId, responseModel, finishReason, usage, text }: Outcome): StoredOutcome => ({
  responseId,
  responseModel,
  finishReason,
  usage,
  text,
});

/** Whether an answer that has ended is complete and without a failure. */
export function isWholeAnswer({ status }: Pick<Exchange, 'status'>, outcome: Outcome, { dialect }: Endpoint): boolean {
  if (status !== 200 || outcome.failure !== null || outcome.measured !== undefined) return false;
  // A conversation without a reason to finish was cut off, or still runs in the background.
  return dialect === null || outcome.finishReason !== null;
}
