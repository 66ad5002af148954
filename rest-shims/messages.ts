import { countTokens } from '../resolvers/inference.ts';
import type { ModelRequest } from '../src/domain/chat/chat.ts';
import { DomainError } from '../src/domain/errors.ts';
import { assertAskable, mistyped } from '../src/domain/inference/askable.ts';
import { COUNT_TOKENS, type Endpoint, MESSAGES } from '../src/domain/inference/endpoint.ts';
import { PING } from '../src/wire/messages/write-answer.ts';
import { callTermsOf } from './model-call/terms.ts';
import { anthropicError } from './errors.ts';
import { callFactsOf, callThrough, type ModelDoor } from './model-call/model-call.ts';
import { type HttpRequest, json, route, type RouteRow } from './http/route.ts';
import { parseInPart } from './http/json-body.ts';

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
  return readAs(MESSAGES, request);
}

function readAs(endpoint: Endpoint, request: HttpRequest): ModelRequest {
  const { body: bytes } = request;
  const { fields: body, unread } = parseInPart(bytes, {});
  assertAskable(body, endpoint, unread);
  const stream = (endpoint.streams ? body['stream'] : null) ?? false;
  if (typeof stream !== 'boolean') throw mistyped('stream', 'a boolean', endpoint);
  const asked = { endpoint, model: String(body['model']), stream, includeUsage: true, bytes, body };
  return { ...asked, forwarded: forwardedOf(request), ...callFactsOf(request), ...callTermsOf(request, asked) };
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
  route({
    name: 'messages.countTokens',
    method: 'POST',
    paths: ['/v1/messages/count_tokens', '/anthropic/v1/messages/count_tokens'],
    surface: 'anthropic',
    category: null,
    credential: 'required',
    answers: [200, 400, 401, 403, 404, 413, 429],
    bodyLimit: 'setting',
    hot: true,
    parse: (request) => readAs(COUNT_TOKENS, request),
    run: countTokens,
    render: ({ tokens, by }) => json({ input_tokens: tokens }, { 'x-gateway-tokens-counted-by': by }),
  }),
];
