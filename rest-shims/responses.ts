import {
  cancelResponse,
  createResponse,
  deleteResponse,
  getResponse,
  listResponseItems,
  type NamedResponse,
  type ResponseAnswer,
} from '../resolvers/responses.ts';
import type { Scope } from '../resolvers/operation/scope.ts';
import { type ByteSink, type ByteStream, collect } from '../src/domain/bytes.ts';
import { DomainError, InvalidInput, UpstreamFailed } from '../src/domain/errors.ts';
import { RESPONSES, RESPONSES_COMPACT } from '../src/domain/inference/endpoint.ts';
import { isObject, parseJson } from '../src/wire/json/fields.ts';
import { asBuffer } from '../src/wire/json/members.ts';
import { renamedResponse } from '../src/wire/responses/rename.ts';
import { proxyError, statusOf } from './errors.ts';
import { pageOf } from './upstream-objects.ts';
import { callFactsOf, callThrough, headOf, type ModelDoor, openAiDoor } from './model-call/model-call.ts';
import { type HttpAnswer, type HttpRequest, json, type RouteRow } from './http/route.ts';

/** Most bytes of what is said of a response. */
const ANSWER_LIMIT = 64 * 1024 * 1024;

const compactDoor: ModelDoor = { ...openAiDoor(RESPONSES_COMPACT), call: createResponse };
const door: ModelDoor = {
  ...openAiDoor(RESPONSES),
  call: createResponse,
  lastWords: (failure) => errorEvent(failure, 0),
};

async function answer(request: HttpRequest, scope: Scope): Promise<HttpAnswer> {
  const answered = await callThrough(door, request, scope);
  const { body } = answered;
  if (body.kind !== 'stream') return answered;
  const { stream, eventsSent } = numbered(body.stream);
  return { ...answered, body: { ...body, stream, lastWords: (failure) => errorEvent(failure, eventsSent()) } };
}

const NUMBER = '"sequence_number":';

/** The same stream, and how many events of it have gone out: the next one's number. */
function numbered(source: ByteStream): { readonly stream: ByteStream; readonly eventsSent: () => number } {
  let last: Uint8Array = new Uint8Array();
  const stream: ByteStream = {
    pipe: (sink: ByteSink) =>
      source.pipe({
        chunk(bytes) {
          last = bytes;
          return sink.chunk(bytes);
        },
        done: () => sink.done(),
        fail: (error) => sink.fail(error),
      }),
    resume: () => source.resume(),
    cancel: () => source.cancel(),
  };
  return {
    stream,
    eventsSent() {
      const bytes = asBuffer(last);
      const at = bytes.lastIndexOf(NUMBER);
      const number = at === -1 ? Number.NaN : Number.parseInt(bytes.toString('latin1', at + NUMBER.length), 10);
      return Number.isNaN(number) ? 0 : number + 1;
    },
  };
}

/** The last event of a stream that failed, as OpenAI writes it; its status went out long before. */
function errorEvent(failure: Error, number: number): Uint8Array {
  const error = failure instanceof DomainError ? failure : null;
  const { message, param, code } = proxyError(statusOf('proxy', error), error);
  const data = { type: 'error', sequence_number: number, code, message, param };
  return Buffer.from(`event: error\ndata: ${JSON.stringify(data)}\n\n`);
}

const named = (request: HttpRequest): NamedResponse => {
  const query = new URLSearchParams(request.search);
  if (query.get('stream') === 'true') {
    const message = '/responses: A response is given whole here: leave stream out.';
    throw new InvalidInput(message, [{ path: ['query', 'stream'], rule: 'unsupported', message }]);
  }
  query.delete('stream');
  const text = query.toString();
  return { id: request.params['id'] ?? '', query: text === '' ? '' : `?${text}`, ...callFactsOf(request) };
};

/** Most items of a page, and how many there are where the caller does not say. */
const MOST_ITEMS = 100;
const USUAL_ITEMS = 20;

/** Shows what is kept here, or relays what an upstream says of a response, with the names its caller knows. */
async function shown(run: () => Promise<ResponseAnswer>, scope: Scope): Promise<HttpAnswer> {
  const answered = await run();
  if (answered.kind === 'kept') return json(answered.value);
  const { call, idOf } = answered;
  try {
    const bytes = (await collect(call.exchange.bytes, ANSWER_LIMIT)) ?? new Uint8Array();
    const value = parseJson(bytes);
    const { provider } = call.deployment;
    if (!isObject(value))
      throw new UpstreamFailed("The upstream's answer cannot be used: it is no JSON.", {
        provider,
        upstreamStatus: null,
      });
    // A group of many names does not say which one was asked.
    const model = call.modelGroup.includes('*') ? String(value['model']) : call.modelGroup;
    const body = renamedResponse(bytes, value, { model, idOf });
    call.settle('completed');
    return { head: headOf(call, scope), body: { kind: 'bytes', bytes: body, contentType: 'application/json' } };
  } catch (failure) {
    call.settle('failed', failure instanceof Error ? failure : undefined);
    throw failure;
  }
}

/** Where clients look for the Responses API. */
export const RESPONSE_PATHS = ['/v1/responses', '/responses', '/openai/v1/responses'] as const;
const under = (tail: string): RouteRow['paths'] => [
  `${RESPONSE_PATHS[0]}${tail}`,
  `${RESPONSE_PATHS[1]}${tail}`,
  `${RESPONSE_PATHS[2]}${tail}`,
];

function keptRow(
  facts: Pick<RouteRow, 'name' | 'method' | 'paths' | 'answers'>,
  run: (scope: Scope, request: HttpRequest) => Promise<ResponseAnswer>,
): RouteRow {
  return {
    ...facts,
    surface: 'proxy',
    category: 'llm',
    credential: 'required',
    bodyLimit: facts.method === 'POST' ? 1024 * 1024 : 0,
    handle: (request, scope) => shown(async () => await run(scope, request), scope),
  };
}

/** OpenAI's Responses API, for every model. */
export const responseRoutes: readonly RouteRow[] = [
  {
    name: 'responses.create',
    method: 'POST',
    paths: RESPONSE_PATHS,
    surface: 'proxy',
    category: 'llm',
    credential: 'required',
    answers: [200, 400, 401, 403, 422, 429, 500, 503],
    bodyLimit: 'setting',
    hot: true,
    handle: answer,
  },
  {
    name: 'responses.compact',
    method: 'POST',
    paths: under('/compact'),
    surface: 'proxy',
    category: 'llm',
    credential: 'required',
    answers: [200, 400, 401, 403, 422, 429, 500, 503],
    bodyLimit: 'setting',
    handle: (request, scope) => callThrough(compactDoor, request, scope),
  },
  keptRow(
    { name: 'responses.get', method: 'GET', paths: under('/:id'), answers: [200, 400, 401, 404, 500, 503] },
    (scope, request) => getResponse(scope, named(request)),
  ),
  keptRow(
    { name: 'responses.delete', method: 'DELETE', paths: under('/:id'), answers: [200, 401, 403, 404, 500, 503] },
    (scope, request) => deleteResponse(scope, named(request)),
  ),
  keptRow(
    {
      name: 'responses.inputItems',
      method: 'GET',
      paths: under('/:id/input_items'),
      answers: [200, 400, 401, 404, 500, 503],
    },
    (scope, request) => {
      const page = pageOf(request, '/responses', { usual: USUAL_ITEMS, most: MOST_ITEMS });
      return listResponseItems(scope, { ...named(request), page });
    },
  ),
  keptRow(
    {
      name: 'responses.cancel',
      method: 'POST',
      paths: under('/:id/cancel'),
      answers: [200, 400, 401, 403, 404, 500, 503],
    },
    (scope, request) => cancelResponse(scope, named(request)),
  ),
];
