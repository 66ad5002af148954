import { orForwarded } from './helpers/model-call/forwarded-providers.ts';
import { countTokens } from '../resolvers/inference.ts';
import type { ModelRequest } from '../src/domain/chat/chat.ts';
import { DomainError, NotFound } from '../src/domain/errors.ts';
import { assertValidRequest, invalidType, withPromptMembers } from '../src/domain/inference/request-validation.ts';
import { COUNT_TOKENS, type Endpoint, MESSAGES } from '../src/domain/inference/endpoint.ts';
import { PING } from '../src/wire/messages/write-answer.ts';
import { countSource } from './helpers/model-call/count-source.ts';
import { callSettings } from './helpers/model-call/call-settings.ts';
import { anthropicError } from './helpers/http/dialect-errors.ts';
import { statusOf } from './errors.ts';
import { callContext, callThrough, type CallFormat } from './helpers/model-call/model-call.ts';
import { type HttpRequest, json, route, type RouteRow } from './helpers/http/route.ts';
import { parseLazily } from './helpers/http/json-body.ts';
import { endpointSchema } from './helpers/http/endpoint-schema.ts';

/** Headers that select the API version and beta features. They are forwarded to upstreams of the same dialect. */
const FORWARDED_HEADERS = ['anthropic-version', 'anthropic-beta'] as const;

/** Reader and error format of Anthropic's messages. */
const FORMAT: CallFormat = {
  read: readMessage,
  failureEvent: (failure) => Buffer.from(`event: error\ndata: ${JSON.stringify(errorBody(failure))}\n\n`),
  heartbeat: Buffer.from(PING),
};

function errorBody(failure: Error): object {
  const error = failure instanceof DomainError ? failure : null;
  return anthropicError(statusOf('anthropic', error), error);
}

function readMessage(request: HttpRequest): ModelRequest {
  return readRequest(MESSAGES, request);
}

function readRequest(endpoint: Endpoint, request: HttpRequest): ModelRequest {
  const { fields: parsed, unread } = parseLazily(request, {});
  const fields = withPromptMembers(parsed, endpoint, unread);
  assertValidRequest(fields, endpoint, unread);
  const stream = (endpoint.streams ? fields['stream'] : null) ?? false;
  if (typeof stream !== 'boolean') throw invalidType('stream', 'a boolean', endpoint);
  const model = String(fields['model']);
  const call = { endpoint, model, stream, includeUsage: true, bytes: request.body, body: fields };
  return { ...call, forwarded: forwardedHeaders(request), ...callContext(request), ...callSettings(request, call) };
}

function forwardedHeaders({ headers }: HttpRequest): Readonly<Record<string, string>> {
  return Object.fromEntries(
    FORWARDED_HEADERS.flatMap((name) => {
      const value = headers[name];
      return typeof value === 'string' ? [[name, value]] : [];
    }),
  );
}

/** Message batches are not supported. The error names the alternative. */
function refuseBatches(): never {
  const message = 'Message batches are not supported. Use POST /v1/batches with a file of requests instead.';
  throw new NotFound('endpoint', '/messages/batches', message);
}

const batchRow = (name: string, method: 'GET' | 'POST' | 'DELETE', tail: string): RouteRow => ({
  name,
  method,
  paths: [`/v1/messages/batches${tail}`, `/anthropic/v1/messages/batches${tail}`],
  surface: 'anthropic',
  credential: 'required',
  statuses: [401, 404],
  bodyLimit: 'setting',
  handle: refuseBatches,
});

/** Anthropic's Messages API, for models of every provider. */
export const messagesRoutes: readonly RouteRow[] = [
  {
    name: 'messages.create',
    bodySchema: endpointSchema(MESSAGES),
    method: 'POST',
    paths: ['/v1/messages', '/anthropic/v1/messages'],
    surface: 'anthropic',
    relays: 'answers',
    credential: 'required',
    statuses: [200, 400, 401, 403, 413, 422, 429, 500, 503],
    bodyLimit: 'setting',
    hot: true,
    // Below `/anthropic`, a request for a model that is not configured may be forwarded to Anthropic.
    handle: orForwarded((request, scope) => callThrough(FORMAT, request, scope)),
  },
  route({
    name: 'messages.countTokens',
    bodySchema: endpointSchema(COUNT_TOKENS),
    method: 'POST',
    paths: ['/v1/messages/count_tokens', '/anthropic/v1/messages/count_tokens'],
    surface: 'anthropic',
    relays: 'failures',
    credential: 'required',
    statuses: [200, 400, 401, 403, 404, 413, 429],
    bodyLimit: 'setting',
    hot: true,
    parse: (request) => readRequest(COUNT_TOKENS, request),
    run: countTokens,
    render: ({ tokens, by }) =>
      json({ input_tokens: tokens, litellm_count_source: countSource(by) }, { 'x-gateway-tokens-counted-by': by }),
  }),
  batchRow('messages.createBatch', 'POST', ''),
  batchRow('messages.listBatches', 'GET', ''),
  batchRow('messages.getBatch', 'GET', '/{*batch}'),
  batchRow('messages.cancelBatch', 'POST', '/{*batch}'),
  batchRow('messages.deleteBatch', 'DELETE', '/{*batch}'),
];
