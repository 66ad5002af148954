import { countTokens } from '../resolvers/inference.ts';
import type { Scope } from '../resolvers/operation/scope.ts';
import type { ModelRequest } from '../src/domain/chat/chat.ts';
import { DomainError, NotFound } from '../src/domain/errors.ts';
import { assertAskable } from '../src/domain/inference/askable.ts';
import { COUNT_CONTENT_TOKENS, GENERATE_CONTENT } from '../src/domain/inference/endpoint.ts';
import { arrayOfEvents } from '../src/wire/generate-content/array.ts';
import { isObject } from '../src/wire/json/fields.ts';
import { eventOf } from '../src/wire/sse/events.ts';
import { callTermsOf } from './model-call/terms.ts';
import { geminiError, statusOf } from './errors.ts';
import { callFactsOf, callThrough, type ModelDoor } from './model-call/model-call.ts';
import { type HttpAnswer, type HttpRequest, json, type RouteRow } from './http/route.ts';
import { parseBody, parseInPart } from './http/json-body.ts';

/** `gemini-2.5-flash:streamGenerateContent`: a model, which may hold slashes and colons, and what is asked of it. */
const ASKED = /^(.+):([A-Za-z]+)$/;
const METHODS = new Set(['generateContent', 'streamGenerateContent', 'countTokens']);

/** The model and the method in a path. Throws NotFound for a method there is not. */
function askedOf({ params }: HttpRequest): { readonly model: string; readonly method: string } {
  const tail = params['*'] ?? '';
  const [, model = '', method = ''] = ASKED.exec(tail) ?? [];
  if (!METHODS.has(method)) throw new NotFound('method', tail, `There is no method "${method}" of a model.`);
  return { model, method };
}

function readGenerate(request: HttpRequest): ModelRequest {
  const { model, method } = askedOf(request);
  const { body: bytes } = request;
  const stream = method === 'streamGenerateContent';
  const { fields: body, unread } = parseInPart(bytes, { model, stream });
  assertAskable(body, GENERATE_CONTENT, unread);
  const asked = { endpoint: GENERATE_CONTENT, model, stream, includeUsage: true, bytes, body };
  return { ...asked, ...callFactsOf(request), ...callTermsOf(request, asked) };
}

/** What is to be counted: contents, or a whole request with its system instruction and tools. */
function readCount(request: HttpRequest): ModelRequest {
  const { model } = askedOf(request);
  const { body: bytes } = request;
  const sent = parseBody(bytes);
  const whole = sent['generateContentRequest'] ?? sent['generate_content_request'];
  const body = { ...(isObject(whole) ? whole : sent), model };
  assertAskable(body, COUNT_CONTENT_TOKENS);
  const asked = { endpoint: COUNT_CONTENT_TOKENS, model, stream: false, includeUsage: true };
  return { ...asked, bytes, body, ...callFactsOf(request) };
}

async function counted(request: HttpRequest, scope: Scope): Promise<HttpAnswer> {
  const { tokens, by } = await countTokens(scope, readCount(request));
  return json({ totalTokens: tokens }, { 'x-gateway-tokens-counted-by': by });
}

const errorOf = (failure: Error): string => {
  const error = failure instanceof DomainError ? failure : null;
  return JSON.stringify({ error: geminiError(statusOf('gemini', error), error) });
};

const DOOR: ModelDoor = { read: readGenerate, lastWords: (failure) => eventOf(errorOf(failure)) };

async function generate(request: HttpRequest, scope: Scope): Promise<HttpAnswer> {
  if (askedOf(request).method === 'countTokens') return await counted(request, scope);
  const answer = await callThrough(DOOR, request, scope);
  const { body } = answer;
  if (body.kind !== 'stream' || new URLSearchParams(request.search).get('alt') === 'sse') return answer;
  const { stream, close } = arrayOfEvents(body.stream);
  const lastWords = (failure: Error): Uint8Array => Buffer.from(close(errorOf(failure)));
  return { ...answer, body: { ...body, stream, contentType: 'application/json; charset=utf-8', lastWords } };
}

/** Google's way to call a model: its name and what is asked of it stand in the path. */
export const generateContentRoutes: readonly RouteRow[] = [
  {
    name: 'content.generate',
    method: 'POST',
    paths: ['/v1beta/models/*', '/v1/models/*', '/models/*', '/gemini/v1beta/models/*'],
    surface: 'gemini',
    category: 'llm',
    credential: 'required',
    keyParameter: 'key',
    answers: [200, 400, 401, 403, 404, 422, 429, 500, 503],
    bodyLimit: 'setting',
    handle: generate,
  },
];
