import { isJsonObject } from '../../domain/json-object.ts';
import { list, object, text } from '../json/fields.ts';

/** An error in an answer. */
export interface AnsweredError {
  readonly code: string;
  readonly message: string;
}

/** Maximum nesting of a part that is searched for texts. */
const MAX_DEPTH = 12;

/** Bytes of the texts in parts of messages and artifacts, in both versions of the protocol. */
function textBytes(value: unknown, depth = 0): number {
  if (depth > MAX_DEPTH || typeof value !== 'object' || value === null) return 0;
  if (Array.isArray(value)) return value.reduce((sum: number, item) => sum + textBytes(item, depth + 1), 0);
  let sum = 0;
  for (const [name, member] of Object.entries(value)) {
    // The history repeats messages of the client and of earlier answers.
    if (name === 'history' || name === 'metadata') continue;
    sum += name === 'text' && typeof member === 'string' ? Buffer.byteLength(member) : textBytes(member, depth + 1);
  }
  return sum;
}

/** Bytes of the texts that a request sends. */
export const requestTextBytes = (body: unknown): number => textBytes(object(object(body)['params'])['message']);

/** Bytes of the texts in one JSON-RPC answer. */
export const answerTextBytes = (answer: unknown): number => textBytes(object(answer)['result']);

const codeOf = (code: unknown): string =>
  typeof code === 'number' || typeof code === 'string' ? String(code) : 'error';

/** The error of a JSON-RPC answer; null for a result. */
export function errorIn(answer: unknown): AnsweredError | null {
  const [first] = Array.isArray(answer) ? list(answer) : [answer];
  const { error } = object(first);
  if (!isJsonObject(error)) return null;
  return { code: codeOf(error['code']), message: text(error['message']) ?? 'The agent answered an error.' };
}
