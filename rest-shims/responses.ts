import {
  cancelResponse,
  createResponse,
  deleteResponse,
  getResponse,
  listResponseItems,
  type NamedResponse,
  type ResponseAnswer,
} from '../resolvers/responses.ts';
import { countTokens } from '../resolvers/inference.ts';
import type { Scope } from '../resolvers/operation/scope.ts';
import { type ByteSink, type ByteStream } from '../src/domain/bytes.ts';
import { DomainError, InvalidInput } from '../src/domain/errors.ts';
import { COUNT_RESPONSE_TOKENS, RESPONSES, RESPONSES_COMPACT } from '../src/domain/inference/endpoint.ts';
import { asBuffer } from '../src/wire/json/members.ts';
import { proxyError } from './helpers/http/dialect-errors.ts';
import { statusOf } from './errors.ts';
import { parsePage, pageSchema } from './helpers/model-call/upstream-objects.ts';
import { countSource } from './helpers/model-call/count-source.ts';
import { callContext, callThrough, type CallFormat, openAiFormat } from './helpers/model-call/model-call.ts';
import { type HttpAnswer, type HttpRequest, json, type RouteRow } from './helpers/http/route.ts';
import { endpointSchema } from './helpers/http/endpoint-schema.ts';
import { answerWithResponse, RESPONSE_PATHS } from './helpers/model-call/stored-responses.ts';

const compactFormat: CallFormat = { ...openAiFormat(RESPONSES_COMPACT), call: createResponse };
const countFormat = openAiFormat(COUNT_RESPONSE_TOKENS);
const format: CallFormat = {
  ...openAiFormat(RESPONSES),
  call: createResponse,
  // Replaced in `answer`, which knows the number of the next event.
  failureEvent: (failure) => errorEvent(failure, 0),
};

/** Creates a response. The failure event of a stream has the number after that of the last event. */
async function answer(request: HttpRequest, scope: Scope): Promise<HttpAnswer> {
  const httpAnswer = await callThrough(format, request, scope);
  const { body } = httpAnswer;
  if (body.kind !== 'stream') return httpAnswer;
  const { stream, nextNumber } = observeNumbers(body.stream);
  return { ...httpAnswer, body: { ...body, stream, failureEvent: (failure) => errorEvent(failure, nextNumber()) } };
}

/** Counts the input tokens of a request, without creating a response. */
async function inputTokens(request: HttpRequest, scope: Scope): Promise<HttpAnswer> {
  const { tokens, by } = await countTokens(scope, countFormat.read(request));
  return json(
    { object: 'response.input_tokens', input_tokens: tokens, litellm_count_source: countSource(by) },
    { 'x-gateway-tokens-counted-by': by },
  );
}

const NUMBER = '"sequence_number":';

/**
 * Observes a stream. `nextNumber` returns the `sequence_number` of the next event; 0 if the last chunk has no number.
 */
function observeNumbers(source: ByteStream): { readonly stream: ByteStream; readonly nextNumber: () => number } {
  let lastChunk: Uint8Array = new Uint8Array();
  const stream: ByteStream = {
    pipe: (sink: ByteSink) =>
      source.pipe({
        chunk(bytes) {
          lastChunk = bytes;
          return sink.chunk(bytes);
        },
        done: () => sink.done(),
        fail: (error) => sink.fail(error),
      }),
    resume: () => source.resume(),
    cancel: (failure) => source.cancel(failure),
  };
  return {
    stream,
    nextNumber() {
      const bytes = asBuffer(lastChunk);
      const start = bytes.lastIndexOf(NUMBER);
      const number = start === -1 ? Number.NaN : Number.parseInt(bytes.toString('latin1', start + NUMBER.length), 10);
      return Number.isNaN(number) ? 0 : number + 1;
    },
  };
}

/** Last event of a failed stream, in OpenAI's format. The status of the answer is already sent. */
function errorEvent(failure: Error, number: number): Uint8Array {
  const error = failure instanceof DomainError ? failure : null;
  const { message, param, code } = proxyError(statusOf('proxy', error), error);
  const data = { type: 'error', sequence_number: number, code, message, param };
  return Buffer.from(`event: error\ndata: ${JSON.stringify(data)}\n\n`);
}

/** The stored response in a path. The query without `stream` is sent upstream. Throws InvalidInput for a stream. */
const namedResponse = (request: HttpRequest): NamedResponse => {
  const query = new URLSearchParams(request.search);
  if (query.get('stream') === 'true') {
    const message = '/responses: A stored response is not streamed: leave out `stream`.';
    throw new InvalidInput(message, [{ path: ['query', 'stream'], rule: 'unsupported', message }]);
  }
  query.delete('stream');
  const text = query.toString();
  return { id: request.params['id'] ?? '', query: text === '' ? '' : `?${text}`, ...callContext(request) };
};

/** Maximum and default number of items on a page. */
const MAX_ITEMS = 100;
const DEFAULT_ITEMS = 20;

const pathsBelow = (tail: string): RouteRow['paths'] => [
  `${RESPONSE_PATHS[0]}${tail}`,
  `${RESPONSE_PATHS[1]}${tail}`,
  `${RESPONSE_PATHS[2]}${tail}`,
];

function storedRow(
  facts: Pick<RouteRow, 'name' | 'method' | 'paths' | 'statuses' | 'querySchema'>,
  run: (scope: Scope, request: HttpRequest) => Promise<ResponseAnswer>,
): RouteRow {
  return {
    ...facts,
    surface: 'proxy',
    relays: 'failures',
    credential: 'required',
    bodyLimit: facts.method === 'POST' ? 1024 * 1024 : 0,
    handle: (request, scope) => answerWithResponse(async () => await run(scope, request), scope),
  };
}

/** OpenAI's Responses API, for models of every provider. */
export const responseRoutes: readonly RouteRow[] = [
  {
    name: 'responses.create',
    bodySchema: endpointSchema(RESPONSES),
    method: 'POST',
    paths: RESPONSE_PATHS,
    surface: 'proxy',
    relays: 'failures',
    credential: 'required',
    statuses: [200, 400, 401, 403, 422, 429, 500, 503],
    bodyLimit: 'setting',
    hot: true,
    handle: answer,
  },
  {
    name: 'responses.compact',
    bodySchema: endpointSchema(RESPONSES_COMPACT),
    method: 'POST',
    paths: pathsBelow('/compact'),
    surface: 'proxy',
    relays: 'failures',
    credential: 'required',
    statuses: [200, 400, 401, 403, 422, 429, 500, 503],
    bodyLimit: 'setting',
    handle: (request, scope) => callThrough(compactFormat, request, scope),
  },
  {
    name: 'responses.inputTokens',
    bodySchema: endpointSchema(COUNT_RESPONSE_TOKENS),
    method: 'POST',
    paths: pathsBelow('/input_tokens'),
    surface: 'proxy',
    relays: 'failures',
    credential: 'required',
    statuses: [200, 400, 401, 403],
    bodyLimit: 'setting',
    handle: inputTokens,
  },
  storedRow(
    { name: 'responses.get', method: 'GET', paths: pathsBelow('/:id'), statuses: [200, 400, 401, 403, 404, 500, 503] },
    (scope, request) => getResponse(scope, namedResponse(request)),
  ),
  storedRow(
    {
      name: 'responses.delete',
      method: 'DELETE',
      paths: pathsBelow('/:id'),
      statuses: [200, 400, 401, 403, 404, 500, 503],
    },
    (scope, request) => deleteResponse(scope, namedResponse(request)),
  ),
  storedRow(
    {
      name: 'responses.inputItems',
      querySchema: pageSchema(MAX_ITEMS),
      method: 'GET',
      paths: pathsBelow('/:id/input_items'),
      statuses: [200, 400, 401, 403, 404, 500, 503],
    },
    (scope, request) => {
      const page = parsePage(request, '/responses', { defaultLimit: DEFAULT_ITEMS, max: MAX_ITEMS });
      return listResponseItems(scope, { ...namedResponse(request), page });
    },
  ),
  storedRow(
    {
      name: 'responses.cancel',
      method: 'POST',
      paths: pathsBelow('/:id/cancel'),
      statuses: [200, 400, 401, 403, 404, 500, 503],
    },
    (scope, request) => cancelResponse(scope, namedResponse(request)),
  ),
];
