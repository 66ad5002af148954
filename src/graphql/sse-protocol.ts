import {
  type ExecutionArgs,
  type ExecutionResult,
  getOperationAST,
  type GraphQLError,
  type GraphQLSchema,
} from 'graphql';
import { isAsyncIterable } from 'graphql-yoga';
import { createHandler, type Handler, type OperationResult, type Request } from 'graphql-sse';
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { GraphContext } from '../../schema/builder.ts';
import { TooLarge } from '../domain/errors.ts';
import type { Answers } from './answers.ts';
import { drained, type EventStreams } from './event-streams.ts';

/** The parts of a Koa context the graph's doors use; they answer on `res` themselves. */
export interface HttpExchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
}

/** Who asks, and when they leave. */
export interface Asker {
  /** Its headers, and the connection it came by. */
  readonly request: Pick<IncomingMessage, 'headers' | 'socket'>;
  readonly signal: AbortSignal;
}

/** What of Yoga's pipeline runs an operation: the same limits, masking and caches as on `/graphql`. */
export interface Pipeline {
  readonly schema: GraphQLSchema;
  readonly parse: (text: string) => ExecutionArgs['document'];
  readonly validate: (schema: GraphQLSchema, document: ExecutionArgs['document']) => readonly GraphQLError[];
  readonly contextFactory: () => GraphContext | Promise<GraphContext>;
  readonly execute: (args: ExecutionArgs) => OperationResult;
  readonly subscribe: (args: ExecutionArgs) => OperationResult;
}

/** Results waiting for one connection before its sources are left unread. */
const QUEUE_LIMIT = 16;
/** How long a reserved stream may wait for its reader. */
const RESERVATION_MS = 30_000;
/** Most reserved streams without a reader; the oldest goes first. */
const MOST_RESERVATIONS = 1_000;

/** Most operations that run on one stream at the same time. */
export const MOST_OPERATIONS = 100;

const TOKEN_HEADER = 'x-graphql-event-stream-token';
const TOKEN = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;
const RESULT = 'event: next';
const LARGE = 'lensgate.large';
const LARGE_DATA = /\{"lensgate\.large":"([\da-f-]{36})"\}/;

/** One event stream: how much waits for it, and when it is gone. */
class Flow {
  readonly #gone = new AbortController();
  #queued = 0;
  #waiting: (() => void)[] = [];
  /** Operations that have not completed. */
  operations = 0;
  /** Ends the stream once connected. */
  end: (() => void) | null = null;
  /** JSON of large answers on their way, by what stands for it in the message. */
  readonly #large = new Map<string, string>();

  get signal(): AbortSignal {
    return this.#gone.signal;
  }

  /** Takes a place in the queue; waits for one while the reader does not keep up. */
  async admit(): Promise<void> {
    while (this.#queued >= QUEUE_LIMIT && !this.signal.aborted) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    this.#queued += 1;
  }

  /** Puts a name in the place of data whose JSON is known, since graphql-sse makes the JSON of a result in one go. */
  hold<Result extends object>(result: Result, dataText: string | null): Result {
    if (dataText === null) return result;
    const name = randomUUID();
    this.#large.set(name, dataText);
    return { ...result, data: { [LARGE]: name } };
  }

  /** Puts JSON that was held back in its place. */
  fill(message: string): string {
    const [place, name = ''] = (this.#large.size > 0 && LARGE_DATA.exec(message)) || [];
    const dataText = this.#large.get(name);
    if (place === undefined || dataText === undefined) return message;
    this.#large.delete(name);
    return message.replace(place, () => dataText);
  }

  /** A queued result went out. */
  written(): void {
    this.#queued -= 1;
    this.#waiting.shift()?.();
  }

  close(): void {
    this.#gone.abort();
    for (const resume of this.#waiting.splice(0)) resume();
  }
}

interface StreamRequest {
  readonly asker: Asker;
  flow: Flow;
  token: string;
  /** Whether the stream is of this request alone, and carries one operation. */
  distinct: boolean;
  /** The results of a subscription in a stream of its own. */
  results: AsyncIterable<object> | null;
}

/**
 * Serves the graphql-sse protocol. Its own Node adapter queues without bound for a reader that does not
 * read, draws tokens from a guessable source and keeps abandoned reservations for ever; this one does not.
 */
export function createStreamDoor({
  pipelineFor,
  mask,
  eventStreams,
  answers,
}: {
  readonly pipelineFor: (asker: Asker) => Pipeline;
  readonly mask: (error: unknown) => GraphQLError;
  readonly eventStreams: EventStreams;
  readonly answers: Answers;
}) {
  /** Streams of the single connection mode, reserved or connected. */
  const flows = new Map<string, Flow>();
  const reserved = new Set<string>();
  const connected = new Set<Flow>();
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
      const known = flows.get(context.token);
      if (known) context.flow = known;
      else if (request.method === 'PUT') reserve(context);
      else context.distinct = true;
      return context.token;
    },
    async onSubscribe({ context, raw }, { query, operationName, variables }) {
      const { flow } = context;
      flow.operations += 1;
      try {
        if (flow.operations > MOST_OPERATIONS)
          throw new TooLarge(`The stream runs ${MOST_OPERATIONS} operations already.`, MOST_OPERATIONS);
        const pipeline = pipelineFor({ request: raw, signal: flow.signal });
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
        const begun = await pipeline.subscribe(args);
        if (!isAsyncIterable(begun)) return { data: null, ...begun };
        // Written by ourselves: what is framed here is framed once for all who ask the same.
        context.results = begun;
        return nothing();
      } catch (error) {
        return { data: null, errors: [mask(error)] };
      }
    },
    // Done above, on the parsed document, by the pipeline.
    validate: () => [],
    execute: (args) => pipelineOf(args).execute(args),
    subscribe: (args) => pipelineOf(args).subscribe(args),
    async onNext(_context, { context: { flow } }, result) {
      await flow.admit();
      return flow.hold(result, answers.dataTextOf(result.data));
    },
    onComplete(_context, { context: { flow } }) {
      flow.operations -= 1;
      if (closing && flow.operations <= 0) flow.end?.();
    },
  });

  function pipelineOf({ contextValue }: { readonly contextValue: object }): Pipeline {
    const pipeline = pipelines.get(contextValue);
    if (!pipeline) throw new TypeError('This operation was not prepared here.');
    return pipeline;
  }

  /** Keeps a stream for a reader that has still to come, but not for ever. */
  function reserve({ token, flow, asker }: StreamRequest): void {
    flows.set(token, flow);
    reserved.add(token);
    const [oldest] = reserved;
    if (reserved.size > MOST_RESERVATIONS && oldest !== undefined) void giveUp(oldest, asker);
    setTimeout(() => void giveUp(token, asker), RESERVATION_MS).unref();
  }

  /** Connects to a reserved stream only to leave it, which is how the protocol's handler forgets one. */
  async function giveUp(token: string, asker: Asker): Promise<void> {
    if (!reserved.delete(token)) return;
    const flow = flows.get(token) ?? new Flow();
    flows.delete(token);
    const headers: Record<string, string> = { accept: 'text/event-stream', [TOKEN_HEADER]: token };
    const [stream] = await handler({
      method: 'GET',
      url: '/graphql/stream',
      headers: { get: (name) => headers[name] },
      body: null,
      raw: { headers: {} } as IncomingMessage,
      context: { asker, flow, token, distinct: false, results: null },
    });
    flow.close();
    if (stream !== null && typeof stream !== 'string') await stream.return();
  }

  return {
    /** Answers one request of either mode; `body` was read before. */
    async handle({ req, res }: HttpExchange, asker: Asker, body: Uint8Array): Promise<void> {
      const context: StreamRequest = { asker, flow: new Flow(), token: '', distinct: false, results: null };
      const [answer, head] = await handler({
        method: req.method ?? 'GET',
        url: req.url ?? '',
        headers: { get: (name) => [req.headers[name]].flat().join('\n') || null },
        body: Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString(),
        raw: req,
        context,
      });
      if (answer === null || typeof answer === 'string') {
        res.writeHead(head.status, head.statusText, head.headers).end(answer ?? undefined);
        return;
      }
      const { flow, token, results } = context;
      if (results !== null) {
        void answer.return();
        res.once('close', () => flow.close());
        return eventStreams.write(res, results);
      }
      reserved.delete(token);
      const leave = (): void => {
        flows.delete(token);
        connected.delete(flow);
        flow.close();
        void answer.return();
      };
      flow.end = () => void answer.return();
      connected.add(flow);
      // Who comes while the process drains still gets what was waiting, and then the end.
      if (closing && flow.operations <= 0) flow.end();
      res.once('close', leave);
      if (res.destroyed) return leave();
      res.writeHead(head.status, head.statusText, { ...head.headers, 'x-accel-buffering': 'no' });
      for await (const message of answer) {
        if (!res.write(flow.fill(message))) await drained(res);
        if (message.startsWith(RESULT)) flow.written();
      }
      res.end();
    },
    /** Ends every stream as soon as its operations are over. */
    close(): void {
      closing = true;
      for (const flow of connected) if (flow.operations <= 0) flow.end?.();
    },
  };
}

/** The token a request names its stream by; anything that is none of ours counts as absent. */
function tokenOf({ headers, url }: Request<IncomingMessage, StreamRequest>): string | null {
  const token = headers.get(TOKEN_HEADER) ?? new URL(url, 'http://localhost').searchParams.get('token');
  return token && TOKEN.test(token) ? token.toLowerCase() : null;
}

/** Of a subscription that is written elsewhere, its handler sees none. */
function nothing(): AsyncIterableIterator<ExecutionResult> {
  const ended = { done: true, value: undefined } as const;
  const none = { [Symbol.asyncIterator]: () => none, next: () => Promise.resolve(ended) };
  return none;
}
