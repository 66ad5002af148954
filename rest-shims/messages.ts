import type { ModelRequest } from '../src/domain/chat/chat.ts';
import { DomainError } from '../src/domain/errors.ts';
import { assertAskable, mistyped } from '../src/domain/inference/askable.ts';
import { MESSAGES } from '../src/domain/inference/endpoint.ts';
import { PING } from '../src/wire/messages/write-answer.ts';
import { anthropicError } from './errors.ts';
import { callFactsOf, callThrough, type ModelDoor, parseBody } from './model-call.ts';
import type { HttpRequest, RouteRow } from './route.ts';

/** Headers that say which words the body is in; an upstream of the same dialect has to know them. */
const FORWARDED = ['anthropic-version', 'anthropic-beta'] as const;

/** The door of Anthropic's messages. */
const DOOR: ModelDoor = {
  read: readMessage,
  lastWords: (failure) => Buffer.from(`event: error\ndata: ${JSON.stringify(errorOf(failure))}\n\n`),
  heartbeat: Buffer.from(PING),
};

const errorOf = (failure: Error): object => anthropicError(failure instanceof DomainError ? failure : null);

function readMessage(request: HttpRequest): ModelRequest {
  const { body: bytes } = request;
  const body = parseBody(bytes);
  assertAskable(body, MESSAGES);
  const stream = body['stream'] ?? false;
  if (typeof stream !== 'boolean') throw mistyped('stream', 'a boolean', MESSAGES);
  return {
    endpoint: MESSAGES,
    model: String(body['model']),
    stream,
    includeUsage: true,
    bytes,
    body,
    forwarded: forwardedOf(request),
    ...callFactsOf(request),
  };
}

function forwardedOf({ headers }: HttpRequest): Readonly<Record<string, string>> {
  return Object.fromEntries(
    FORWARDED.flatMap((name) => {
      const value = headers[name];
      return typeof value === 'string' ? [[name, value]] : [];
    }),
  );
}

/** Anthropic's way to call a model, of whatever provider. */
export const messagesRoutes: readonly RouteRow[] = [
  {
    name: 'messages.create',
    method: 'POST',
    paths: ['/v1/messages', '/anthropic/v1/messages'],
    surface: 'anthropic',
    category: 'llm',
    credential: 'required',
    answers: [200, 400, 401, 403, 413, 422, 429, 500, 503],
    bodyLimit: 'setting',
    hot: true,
    handle: (request, scope) => callThrough(DOOR, request, scope),
  },
];
