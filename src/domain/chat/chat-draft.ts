import { InvalidInput } from '../errors.ts';

/** A chat as the graph asks for it: the dialect's own words, already typed. */
export interface ChatDraft {
  readonly model: string;
  /** Messages of the chat-completions dialect, e.g. `{ role: 'user', content: 'Hello' }`. */
  readonly messages: readonly Readonly<Record<string, unknown>>[];
  /** Further parameters of the dialect, e.g. `{ temperature: 0, tools: [...] }`. */
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly callId: string | null;
  /** Where the call hangs in the caller's own trace; null starts a new one. */
  readonly parent: { readonly traceId: string; readonly spanId: string } | null;
}

/** Most characters of a model's name: it travels in headers, rows and messages, whole. */
const MOST_MODEL_CHARACTERS = 512;

/** Refuses a chat without model or messages. `route` is how its caller knows the call. */
export function assertAskable(body: Readonly<Record<string, unknown>>, route: string): void {
  for (const field of ['model', 'messages'] as const) {
    const value = body[field];
    if (value === undefined || value === null || value === '') throw missing(field, route);
  }
  if (typeof body['model'] !== 'string') throw mistyped('model', 'a string', route);
  if (body['model'].length > MOST_MODEL_CHARACTERS)
    throw mistyped('model', `a string of at most ${MOST_MODEL_CHARACTERS} characters`, route);
  if (!Array.isArray(body['messages'])) throw mistyped('messages', 'an array of messages', route);
  if (body['messages'].some((message) => typeof message !== 'object' || message === null || Array.isArray(message)))
    throw mistyped('messages', 'an array of objects', route);
}

function missing(field: string, route: string): InvalidInput {
  const message = `${route}: Missing required parameter: '${field}'.`;
  return new InvalidInput(message, [{ path: ['body', field], rule: 'missing', message }]);
}

/** A field of a wrong type; `wanted` completes "must be". */
export function mistyped(field: string, wanted: string, route: string): InvalidInput {
  const message = `${route}: Invalid type for parameter '${field}': it must be ${wanted}.`;
  return new InvalidInput(message, [{ path: ['body', field], rule: 'type', message }]);
}
