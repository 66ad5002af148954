import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import { BodyTimeout, readBody, RequestAborted, SMALL_BODY_TIMEOUT_MS } from '../../rest-shims/helpers/http/body.ts';
import { assignedRequestId } from '../../rest-shims/helpers/http/request-id.ts';
import { statusOf } from '../../rest-shims/errors.ts';
import { rootOf } from '../../schema/base/errors.ts';
import { DomainError } from '../domain/errors.ts';
import { randomIds } from '../runtime/identifiers.ts';
import { createTurns } from '../runtime/tasks/event-loop-turns.ts';
import { createAnswers } from './answers.ts';
import { createEngine, type GraphQLOptions, wantsMultipart } from './engine.ts';
import { createPlannedAnswers } from './plans/planned-answers.ts';
import type { Requester } from './requester.ts';
import { createEventStreams, drained, MULTIPART, SERVER_SENT_EVENTS } from './event-streams.ts';
import { createGraphiQL } from './graphiql.ts';
import { assertJsonSize, assertReadable } from './request-check.ts';
import { createGraphSockets, type GraphSockets } from './socket-protocol.ts';
import { createSseHandler, type HttpExchange, namesStream } from './sse-protocol.ts';

/** Maximum size of the body of a GraphQL request, in bytes. */
export const BODY_LIMIT = 1024 * 1024;

/** The GraphQL transport. Its HTTP handlers write to `res` themselves. */
export interface GraphQLTransport {
  /**
   * `/graphql`: queries, mutations, subscriptions as server-sent events or multipart, single connection mode of
   * graphql-sse, and GraphiQL.
   */
  handle(exchange: HttpExchange): Promise<void>;
  /** `/graphql/stream`: the graphql-sse protocol, in distinct connections and single connection mode. */
  handleStream(exchange: HttpExchange): Promise<void>;
  /** WebSockets on `/graphql`, after their handshake. */
  readonly sockets: GraphSockets;
  /** Ends every subscription with an UNAVAILABLE error; later subscriptions end immediately. */
  close(): void;
}

/** Serves the schema over HTTP and WebSockets. */
export function createGraphQL(options: GraphQLOptions): GraphQLTransport {
  const turns = createTurns();
  const answers = createAnswers(turns);
  const engine = createEngine(options, { turns, answers });
  const { yoga, mask } = engine;
  const eventStreams = createEventStreams(answers.textOf);
  const sockets = createGraphSockets(engine, { ...options, answers, turns });
  const page = options.settings.graphiql ? createGraphiQL() : null;
  const streams = createSseHandler({ pipelineFor: engine.pipelineFor, mask, eventStreams, answers });

  const planned = options.settings.plans === false ? null : createPlannedAnswers(engine, turns);

  async function answer({ req, res }: HttpExchange, requester: Requester, body: Uint8Array): Promise<void> {
    const ready = await planned?.answer(requester, req, body);
    if (ready !== undefined && ready !== null) {
      const { contentType, text } = ready;
      const bytes = Buffer.byteLength(text);
      res.writeHead(200, { 'content-type': contentType, 'content-length': bytes });
      const isAscii = bytes === text.length;
      // As Latin-1, ASCII is copied and not converted.
      return void res.end(text, isAscii ? 'latin1' : 'utf8');
    }
    assertReadable(req);
    const request = new yoga.fetchAPI.Request(`http://localhost${req.url ?? '/graphql'}`, {
      method: req.method ?? 'GET',
      headers: flatHeaders(req.headers),
      body: body.length > 0 ? Buffer.from(body) : null,
      signal: requester.signal,
    });
    const answered = await yoga.handle(request, { requester });
    const results = engine.resultsOf(answered);
    if (results === undefined) return write(answered, res);
    await eventStreams.write(res, results, wantsMultipart(req.headers.accept) ? MULTIPART : SERVER_SENT_EVENTS);
  }

  /** Reads a request within the limit, runs it under a request id, and answers failures. */
  async function serve(
    { req, res }: HttpExchange,
    run: (requester: Requester, body: Uint8Array) => Promise<void>,
  ): Promise<void> {
    const requester = new HttpRequester(req, res);
    await engine.serving({ requestId: assignedRequestId(res) ?? randomIds.uuid(), requester }, async () => {
      try {
        const body = await readBody(req, BODY_LIMIT, SMALL_BODY_TIMEOUT_MS);
        assertJsonSize(req, body);
        const due = turns.due();
        if (due !== null) await due;
        await run(requester, body);
      } catch (error) {
        if (error instanceof RequestAborted || res.destroyed) return;
        if (res.headersSent) return void res.destroy();
        const root = rootOf(error);
        if (error instanceof BodyTimeout) res.shouldKeepAlive = false;
        // The statuses of this product's own REST paths, such as those of the catalog.
        res.writeHead(statusOf('catalog', root instanceof DomainError ? root : null), {
          'content-type': 'application/json; charset=utf-8',
        });
        res.end(JSON.stringify({ errors: [mask(error)] }));
      }
    });
  }

  const serveStream = (exchange: HttpExchange): Promise<void> =>
    serve(exchange, (requester, body) => streams.handle(exchange, requester, body));

  return {
    async handle(exchange) {
      if (page?.wants(exchange.req)) return page.serve(exchange.req, exchange.res);
      if (namesStream(exchange.req)) return serveStream(exchange);
      await serve(exchange, (requester, body) => answer(exchange, requester, body));
    },
    handleStream: serveStream,
    sockets,
    close() {
      engine.close();
      sockets.retire();
      streams.close();
      eventStreams.close();
    },
  };
}

/** A request with its connection. The signal is created on demand: most requests do not use it. */
class HttpRequester implements Requester {
  readonly request: IncomingMessage;
  readonly #response: ServerResponse;
  #signal: AbortSignal | null = null;

  constructor(request: IncomingMessage, response: ServerResponse) {
    this.request = request;
    this.#response = response;
  }

  /** Fires when the client disconnects before its answer is complete. */
  get signal(): AbortSignal {
    this.#signal ??= disconnected(this.#response);
    return this.#signal;
  }
}

function disconnected(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  const abortIfIncomplete = (): void => {
    if (!response.writableFinished) controller.abort();
  };
  if (response.closed) abortIfIncomplete();
  else response.once('close', abortIfIncomplete);
  return controller.signal;
}

function flatHeaders(headers: IncomingMessage['headers']): [string, string][] {
  return Object.entries(headers).map(([name, value]) => [name, [value].flat().join(', ')]);
}

/** Writes an answer of Yoga, with backpressure. A disconnect of the client cancels the source of the answer. */
async function write(answer: Response, response: ServerResponse): Promise<void> {
  const contentType = answer.headers.get('content-type');
  if (contentType === null && !answer.ok) {
    // Yoga refuses unsupported methods and media types by status alone.
    const errors = [{ message: STATUS_CODES[answer.status], extensions: { code: 'UNSUPPORTED' } }];
    response.writeHead(answer.status, { ...Object.fromEntries(answer.headers), 'content-type': 'application/json' });
    response.end(JSON.stringify({ errors }));
    return;
  }
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  if (!contentType?.startsWith('text/event-stream')) {
    response.end(await answer.text());
    return;
  }
  const chunks = answer.body?.[Symbol.asyncIterator]();
  if (!chunks) return void response.end();
  const cancelSource = (): void => void chunks.return?.();
  response.once('close', cancelSource);
  if (response.destroyed) return cancelSource();
  for (let chunk = await chunks.next(); !chunk.done; chunk = await chunks.next()) {
    if (!response.write(chunk.value)) await drained(response);
  }
  response.end();
}
