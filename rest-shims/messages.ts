import { orForwarded } from './helpers/model-call/forwarded-providers.ts';
import { countTokens } from '../resolvers/inference.ts';
import type { ModelRequest } from '../src/domain/chat/chat.ts';
import { DomainError, NotFound } from '../src/domain/errors.ts';
import { assertValidRequest, mistyped } from '../src/domain/inference/request-validation.ts';
import { COUNT_TOKENS, type Endpoint, MESSAGES } from '../src/domain/inference/endpoint.ts';
import { PING } from '../src/wire/messages/write-answer.ts';
import { sourceOfCount } from './helpers/model-call/count-source.ts';
import { callTermsOf } from './helpers/model-call/terms.ts';
import { anthropicError } from './helpers/http/dialect-errors.ts';
import { statusOf } from './errors.ts';
import { callFactsOf, callThrough, type CallFormat } from './helpers/model-call/model-call.ts';
import { type HttpRequest, json, route, type RouteRow } from './helpers/http/route.ts';
import { parseInPart } from './helpers/http/json-body.ts';
import { endpointSchema } from './helpers/http/endpoint-schema.ts';

/** Headers that select the version of the dialect. An upstream of the same dialect gets them. */
const FORWARDED = ['anthropic-version', 'anthropic-beta'] as const;

/** Reader and error format of Anthropic's messages. */
const FORMAT: CallFormat = {
  read: readMessage,
  failureEvent: (failure) => Buffer.from(`event: error\ndata: ${JSON.stringify(errorOf(failure))}\n\n`),
  heartbeat: Buffer.from(PING),
};

function errorOf(failure: Error): object {
  const error = failure instanceof DomainError ? failure : null;
  return anthropicError(statusOf('anthropic', error), error);
}

function readMessage(request: HttpRequest): ModelRequest {
  return readAs(MESSAGES, request);
}

function readAs(endpoint: Endpoint, request: HttpRequest): ModelRequest {
  const { body: bytes } = request;
  const { fields: body, unread } = parseInPart(request, {});
  assertValidRequest(body, endpoint, unread);
  const stream = (endpoint.streams ? body['stream'] : null) ?? false;
  if (typeof stream !== 'boolean') throw mistyped('stream', 'a boolean', endpoint);
  const call = { endpoint, model: String(body['model']), stream, includeUsage: true, bytes, body };
  return { ...call, forwarded: forwardedOf(request), ...callFactsOf(request), ...callTermsOf(request, call) };
}

function forwardedOf({ headers }: HttpRequest): Readonly<Record<string, string>> {
  return Object.fromEntries(
    FORWARDED.flatMap((name) => {
      const value = headers[name];
      return typeof value === 'string' ? [[name, value]] : [];
    }),
  );
}

/** Message batches are not served. The error names the alternative. */
function noBatches(): never {
  const message = 'Message batches are not supported. Use POST /v1/batches with a file of requests in its place.';
  throw new NotFound('endpoint', '/messages/batches', message);
}

const batchRow = (name: string, method: 'GET' | 'POST' | 'DELETE', tail: string): RouteRow => ({
  name,
  method,
  paths: [`/v1/messages/batches${tail}`, `/anthropic/v1/messages/batches${tail}`],
  surface: 'anthropic',
  category: null,
  credential: 'required',
  answers: [401, 404],
  bodyLimit: 'setting',
  handle: noBatches,
});

/** Anthropic's Messages API, for models of every provider. */
export const messagesRoutes: readonly RouteRow[] = [
  {
    name: 'messages.create',
    request: endpointSchema(MESSAGES),
    method: 'POST',
    paths: ['/v1/messages', '/anthropic/v1/messages'],
    surface: 'anthropic',
    category: 'llm',
    relays: 'answers',
    credential: 'required',
    answers: [200, 400, 401, 403, 413, 422, 429, 500, 503],
    bodyLimit: 'setting',
    hot: true,
    handle: orForwarded((request, scope) => callThrough(FORMAT, request, scope)),
  },
  route({
    name: 'messages.countTokens',
    request: endpointSchema(COUNT_TOKENS),
    method: 'POST',
    paths: ['/v1/messages/count_tokens', '/anthropic/v1/messages/count_tokens'],
    surface: 'anthropic',
    category: null,
    relays: 'failures',
    credential: 'required',
    answers: [200, 400, 401, 403, 404, 413, 429],
    bodyLimit: 'setting',
    hot: true,
    parse: (request) => readAs(COUNT_TOKENS, request),
    run: countTokens,
    render: ({ tokens, by }) =>
      json({ input_tokens: tokens, litellm_count_source: sourceOfCount(by) }, { 'x-gateway-tokens-counted-by': by }),
  }),
  batchRow('messages.createBatch', 'POST', ''),
  batchRow('messages.listBatches', 'GET', ''),
  batchRow('messages.getBatch', 'GET', '/{*batch}'),
  batchRow('messages.cancelBatch', 'POST', '/{*batch}'),
  batchRow('messages.deleteBatch', 'DELETE', '/{*batch}'),
];
