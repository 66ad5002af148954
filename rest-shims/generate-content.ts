import { isJsonObject } from '../src/domain/json-object.ts';
import { orForwarded } from './helpers/model-call/forwarded-providers.ts';
import { countTokens } from '../resolvers/inference.ts';
import type { Scope } from '../resolvers/operation/scope.ts';
import type { ModelRequest } from '../src/domain/chat/chat.ts';
import { DomainError, NotFound } from '../src/domain/errors.ts';
import { assertValidRequest } from '../src/domain/inference/request-validation.ts';
import { COUNT_CONTENT_TOKENS, GENERATE_CONTENT } from '../src/domain/inference/endpoint.ts';
import { arrayOfEvents } from '../src/wire/generate-content/array.ts';
import { eventOf } from '../src/wire/sse/events.ts';
import { embedContent, isEmbedMethod } from './helpers/model-call/embed-content.ts';
import { countSource } from './helpers/model-call/count-source.ts';
import { callSettings } from './helpers/model-call/call-settings.ts';
import { geminiError } from './helpers/http/dialect-errors.ts';
import { statusOf } from './errors.ts';
import { callContext, callThrough, type CallFormat } from './helpers/model-call/model-call.ts';
import { type HttpAnswer, type HttpRequest, json, type RouteRow } from './helpers/http/route.ts';
import { parseBody, parseLazily } from './helpers/http/json-body.ts';
import { objectSchema, textParameters } from './helpers/http/schema.ts';

/** `gemini-2.5-flash:streamGenerateContent`: a model, whose name may contain slashes and colons, and a method. */
const CALL_PATH = /^(.+):([A-Za-z]+)$/;
const METHODS = new Set(['generateContent', 'streamGenerateContent', 'countTokens']);

/** The model and the method in a path. Throws NotFound for an unknown method. */
function parseCall({ params }: HttpRequest): { readonly model: string; readonly method: string } {
  const tail = params['call'] ?? '';
  const [, model = '', method = ''] = CALL_PATH.exec(tail) ?? [];
  if (!METHODS.has(method) && !isEmbedMethod(method))
    throw new NotFound('method', tail, `There is no method "${method}" of a model.`);
  return { model, method };
}

function readGenerate(request: HttpRequest): ModelRequest {
  const { model, method } = parseCall(request);
  const stream = method === 'streamGenerateContent';
  // `unread` has the members that are not parsed yet.
  const { fields, unread } = parseLazily(request, { model, stream });
  assertValidRequest(fields, GENERATE_CONTENT, unread);
  const call = { endpoint: GENERATE_CONTENT, model, stream, includeUsage: true, bytes: request.body, body: fields };
  return { ...call, ...callContext(request), ...callSettings(request, call) };
}

/** The request to count: `contents`, or `generateContentRequest` with system instruction and tools. */
function readCount(request: HttpRequest): ModelRequest {
  const { model } = parseCall(request);
  const input = parseBody(request.body);
  const inner = input['generateContentRequest'] ?? input['generate_content_request'];
  const body = { ...(isJsonObject(inner) ? inner : input), model };
  assertValidRequest(body, COUNT_CONTENT_TOKENS);
  const call = { endpoint: COUNT_CONTENT_TOKENS, model, stream: false, includeUsage: true };
  return { ...call, bytes: request.body, body, ...callContext(request) };
}

async function countAnswer(request: HttpRequest, scope: Scope): Promise<HttpAnswer> {
  const { tokens, by } = await countTokens(scope, readCount(request));
  return json({ totalTokens: tokens, litellm_count_source: countSource(by) }, { 'x-gateway-tokens-counted-by': by });
}

const errorJson = (failure: Error): string => {
  const error = failure instanceof DomainError ? failure : null;
  return JSON.stringify({ error: geminiError(statusOf('gemini', error), error) });
};

const FORMAT: CallFormat = { read: readGenerate, failureEvent: (failure) => eventOf(errorJson(failure)) };

async function generate(request: HttpRequest, scope: Scope): Promise<HttpAnswer> {
  const { model, method } = parseCall(request);
  if (method === 'countTokens') return await countAnswer(request, scope);
  if (isEmbedMethod(method)) return await embedContent(request, scope, { model, method });
  const answer = await callThrough(FORMAT, request, scope);
  const { body } = answer;
  if (body.kind !== 'stream' || new URLSearchParams(request.search).get('alt') === 'sse') return answer;
  // Without `alt=sse`, the stream is one JSON array with an item for each event, not an event stream.
  const { stream, close: closeArray } = arrayOfEvents(body.stream);
  const failureEvent = (failure: Error): Uint8Array => Buffer.from(closeArray(errorJson(failure)));
  return { ...answer, body: { ...body, stream, contentType: 'application/json; charset=utf-8', failureEvent } };
}

/** Google's generateContent API. The path contains the model and the method. */
export const generateContentRoutes: readonly RouteRow[] = [
  {
    name: 'content.generate',
    method: 'POST',
    paths: ['/v1beta/models/{*call}', '/v1/models/{*call}', '/models/{*call}', '/gemini/v1beta/models/{*call}'],
    surface: 'gemini',
    relays: 'answers',
    credential: 'required',
    keyParameter: 'key',
    statuses: [200, 400, 401, 403, 404, 422, 429, 500, 503],
    querySchema: textParameters('alt'),
    bodySchema: objectSchema({ contents: { type: 'array', items: { type: 'object' } } }),
    bodyLimit: 'setting',
    handle: orForwarded(generate),
  },
];
