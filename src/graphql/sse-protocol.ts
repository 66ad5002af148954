import { type ExecutionResult, getOperationAST, type GraphQLError, type GraphQLFormattedError } from 'graphql';
import { isAsyncIterable } from 'graphql-yoga';
import { createHandler, type Handler, type Request } from 'graphql-sse';
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { GraphContext } from '../../schema/base/builder.ts';
import { TooLarge } from '../domain/errors.ts';
import type { Answers } from './answers.ts';
import type { Pipeline } from './engine.ts';
import type { Requester } from './requester.ts';
import { drained, type EventStreams, SERVER_SENT_EVENTS } from './event-streams.ts';
import { LargeAnswers } from './large-answers.ts';

/** A request and the response to write to. */
export interface HttpExchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
}

/** Maximum number of queued results of one stream. While the queue is full, the stream's subscriptions are not read. */
const QUEUE_LIMIT = 16;
/** Maximum time that a reserved stream waits for its reader, in ms. */
const RESERVATION_MS = 30_000;
/** Maximum number of reserved streams without a reader; the oldest is removed first. */
const MAX_RESERVATIONS = 1_000;

/** Maximum number of operations that run on one stream at the same time. */
export const MAX_OPERATIONS = 100;

const TOKEN_HEADER = 'x-graphql-event-stream-token';
const TOKEN = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;
/** Start of a message with a result. */
const RESULT = 'event: next';

/** One event stream, its queue and its running operations. */
class SseStream {
  readonly #closed = new AbortController();
  #queued = 0;
  /** Functions that resume the waiting calls of `admit`. */
  #waiting: (() => void)[] = [];
  /** Number of running operations. */
  operations = 0;
  /** Ends the connected stream; null while reserved. */
  end: (() => void) | null = null;
  readonly large = new LargeAnswers();

  get signal(): AbortSignal {
    return this.#closed.signal;
  }

  /** Waits for a free place in the queue and takes it. */
  async admit(): Promise<void> {
    while (this.#queued >= QUEUE_LIMIT && !this.signal.aborted) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    this.#queued += 1;
  }

  /** A queued result was written. */
  written(): void {
    this.#queued -= 1;
    this.#waiting.shift()?.();
  }

  close(): void {
    this.#closed.abort();
    for (const resume of this.#waiting.splice(0)) resume();
  }
}

interface StreamRequest {
  readonly requester: Requester;
  stream: SseStream;
  token: string;
  /** Distinct connections mode: the stream belongs to this request and carries one operation. */
  distinct: boolean;
  /** Results of a subscription in distinct connections mode. */
  results: AsyncIterable<object> | null;
}

/**
 * Serves the graphql-sse protocol. Replaces the Node adapter of the library, which has an unbounded queue for slow
 * readers, guessable tokens, and no expiry of reservations.
 */
export function createSseHandler({
  pipelineFor,
  mask,
  eventStreams,
  answers,
}: {
  readonly pipelineFor: (requester: Requester) => Pipeline;
  readonly mask: (error: unknown) => GraphQLError;
  readonly eventStreams: EventStreams;
  readonly answers: Answers;
}) {
  /** Streams of the single connection mode, reserved or connected. */
  const streams = new Map<string, SseStream>();
  const reserved = new Set<string>();
  const connected = new Set<SseStream>();
  const pipelines = new WeakMap<object, Pipeline>();
  let closing = false;

  const handler: Handler<IncomingMessage, StreamRequest> = createHandler<
    IncomingMessage,
    StreamRequest,
    GraphContext & Record<PropertyKey, unknown>
  >({
    authenticate(request) {
      const { context } = request;
      context.token = tokenOf(request) ?? randomUUID();
      const known = streams.get(context.token);
      if (known) context.stream = known;
      else if (request.method === 'PUT') reserve(context);
      else context.distinct = true;
      return context.token;
    },
    async onSubscribe({ context, raw }, { query, operationName, variables }) {
      const { stream } = context;
      stream.operations += 1;
      try {
        if (stream.operations > MAX_OPERATIONS)
          throw new TooLarge(`This stream already runs ${MAX_OPERATIONS} operations.`, MAX_OPERATIONS);
        const pipeline = pipelineFor({ request: raw, signal: stream.signal });
        const document = pipeline.parse(query);
        const faults = pipeline.validate(pipeline.schema, document);
        if (faults.length > 0) return { data: null, errors: faults };
        const contextValue = { ...(await pipeline.contextFactory()) };
        pipelines.set(contextValue, pipeline);
        const args = {
          schema: pipeline.schema,
          document,
          contextValue,
          ...(variables ? { variableValues: variables } : {}),
          ...(operationName ? { operationName } : {}),
        };
        if (!context.distinct || getOperationAST(document, operationName)?.operation !== 'subscription') return args;
        const result = await pipeline.subscribe(args);
        if (!isAsyncIterable(result)) return { data: null, ...result };
        // Written by the event streams, which frame an event once for all subscribers.
        context.results = result;
        return emptyStream();
      } catch (error) {
        return { data: null, errors: [mask(error)] };
      }
    },
    // `onSubscribe` has validated the document.
    validate: () => [],
    execute: (args) => pipelineOf(args).execute(args),
    subscribe: (args) => pipelineOf(args).subscribe(args),
    async onNext(_context, { context: { stream } }, result) {
      await stream.admit();
      return stream.large.replaceData(result, answers.dataTextOf(result.data));
    },
    onComplete(_context, { context: { stream } }) {
      stream.operations -= 1;
      if (closing && stream.operations <= 0) stream.end?.();
    },
  });

  function pipelineOf({ contextValue }: { readonly contextValue: object }): Pipeline {
    const pipeline = pipelines.get(contextValue);
    if (!pipeline) throw new TypeError('This operation has no pipeline.');
    return pipeline;
  }

  /** Keeps a stream until its reader connects or the reservation expires. */
  function reserve({ token, stream, requester }: StreamRequest): void {
    streams.set(token, stream);
    reserved.add(token);
    const [oldest] = reserved;
    if (reserved.size > MAX_RESERVATIONS && oldest !== undefined) void expire(oldest, requester);
    setTimeout(() => void expire(token, requester), RESERVATION_MS).unref();
  }

  /** Connects to a reserved stream and closes it: the handler of the library releases a stream only then. */
  async function expire(token: string, requester: Requester): Promise<void> {
    if (!reserved.delete(token)) return;
    const stream = streams.get(token) ?? new SseStream();
    streams.delete(token);
    const headers: Record<string, string> = { accept: 'text/event-stream', [TOKEN_HEADER]: token };
    const [answer] = await handler({
      method: 'GET',
      url: '/graphql/stream',
      headers: { get: (name) => headers[name] },
      body: null,
      raw: { headers: {} } as IncomingMessage,
      context: { requester, stream, token, distinct: false, results: null },
    });
    stream.close();
    if (answer !== null && typeof answer !== 'string') await answer.return();
  }

  return {
    /** Answers one request of either mode; `body` was read before. */
    async handle({ req, res }: HttpExchange, requester: Requester, body: Uint8Array): Promise<void> {
      const context: StreamRequest = { requester, stream: new SseStream(), token: '', distinct: false, results: null };
      const [answer, head] = await handler({
        method: req.method ?? 'GET',
        url: req.url ?? '',
        headers: { get: (name) => [req.headers[name]].flat().join('\n') || null },
        body: Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString(),
        raw: req,
        context,
      });
      if (answer === null || typeof answer === 'string') {
        res.writeHead(head.status, head.statusText, head.headers).end(withErrorCodes(answer) ?? undefined);
        return;
      }
      const { stream, token, results } = context;
      if (results !== null) {
        void answer.return();
        res.once('close', () => stream.close());
        return eventStreams.write(res, results, SERVER_SENT_EVENTS);
      }
      reserved.delete(token);
      const close = (): void => {
        streams.delete(token);
        connected.delete(stream);
        stream.close();
        void answer.return();
      };
      const end = (): void => void answer.return();
      stream.end = end;
      connected.add(stream);
      // During shutdown, a new reader receives the queued results, then the end.
      if (closing && stream.operations <= 0) stream.end();
      res.once('close', close);
      if (res.destroyed) return close();
      res.writeHead(head.status, head.statusText, { ...head.headers, 'x-accel-buffering': 'no' });
      for await (const message of answer) {
        if (!res.write(stream.large.restoreData(message))) await drained(res);
        if (message.startsWith(RESULT)) stream.written();
      }
      res.end();
    },
    /** Ends every stream when its operations have completed. */
    close(): void {
      closing = true;
      for (const stream of connected) if (stream.operations <= 0) stream.end?.();
    },
  };
}

/** A refusal of the library with a code for each error. Other texts are unchanged. */
function withErrorCodes(answer: string | null): string | null {
  if (!answer?.startsWith('{"errors":')) return answer;
  const { errors } = JSON.parse(answer) as { readonly errors: readonly GraphQLFormattedError[] };
  return JSON.stringify({
    errors: errors.map((error) => ({ ...error, extensions: { code: 'INVALID_INPUT', ...error.extensions } })),
  });
}

/** Whether a request belongs to the single connection mode: it reserves a stream or names one by its token. */
export function namesStream({ method, headers, url = '' }: IncomingMessage): boolean {
  return method === 'PUT' || TOKEN_HEADER in headers || /[?&]token=/.test(url);
}

/** The stream token of a request; null when it is absent or has another form. */
function tokenOf({ headers, url }: Request<IncomingMessage, StreamRequest>): string | null {
  const token = headers.get(TOKEN_HEADER) ?? new URL(url, 'http://localhost').searchParams.get('token');
  return token && TOKEN.test(token) ? token.toLowerCase() : null;
}

/** An empty stream for the library, in place of results that the event streams write. */
function emptyStream(): AsyncIterableIterator<ExecutionResult> {
  const ended = { done: true, value: undefined } as const;
  const none = { [Symbol.asyncIterator]: () => none, next: () => Promise.resolve(ended) };
  return none;
}
