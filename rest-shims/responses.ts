import { createResponse } from '../resolvers/responses.ts';
import type { Scope } from '../resolvers/scope.ts';
import type { ByteSink, ByteStream } from '../src/domain/bytes.ts';
import { DomainError } from '../src/domain/errors.ts';
import { RESPONSES } from '../src/domain/inference/endpoint.ts';
import { asBuffer } from '../src/wire/json/members.ts';
import { proxyError, statusOf } from './errors.ts';
import { callThrough, type ModelDoor, openAiDoor } from './model-call.ts';
import type { HttpAnswer, HttpRequest, RouteRow } from './route.ts';

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

/** OpenAI's Responses API, for every model. */
export const responseRoutes: readonly RouteRow[] = [
  {
    name: 'responses.create',
    method: 'POST',
    paths: ['/v1/responses', '/responses', '/openai/v1/responses'],
    surface: 'proxy',
    category: 'llm',
    credential: 'required',
    answers: [200, 400, 401, 403, 422, 429, 500, 503],
    bodyLimit: 'setting',
    hot: true,
    handle: answer,
  },
];
