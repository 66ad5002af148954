import {
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  GraphQLError,
  type GraphQLSchema,
  NoSchemaIntrospectionCustomRule,
  type parse,
  type ParseOptions,
  type Source,
  validate as validateAll,
} from 'graphql';
import type { OperationResult } from 'graphql-sse';
import { createYoga, isAsyncIterable, type Plugin } from 'graphql-yoga';
import { AsyncLocalStorage } from 'node:async_hooks';
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Scope } from '../../resolvers/operation/scope.ts';
import { BodyTimeout, readBody, RequestAborted, SMALL_BODY_MS } from '../../rest-shims/http/body.ts';
import { statusOf } from '../../rest-shims/errors.ts';
import type { GraphContext } from '../../schema/builder.ts';
import { rootOf, toGraphQLError } from '../../schema/errors.ts';
import { assertParsable, assertValidatable } from '../../schema/document-limits.ts';
import { MAX_ERRORS, overLimit, shortened } from '../../schema/limits.ts';
import { Work } from '../../schema/work.ts';
import { DomainError, Unavailable } from '../domain/errors.ts';
import { FreeTierUsedUp } from '../domain/free-tier/free-tier.ts';
import { createAnswers, settled } from './answers.ts';
import { createDocumentCache } from './document-cache.ts';
import { createEventStreams, drained } from './event-streams.ts';
import { createIntrospectionCache } from './introspection-cache.ts';
import { LiveResults } from './live-results.ts';
import { createGraphiQL } from './graphiql.ts';
import { assertJsonSize, assertReadable } from './request-check.ts';
import { createSharedEvents } from './shared-events.ts';
import { type Asker, createStreamDoor, type HttpExchange } from './sse-protocol.ts';
import { randomIds } from '../runtime/identifiers.ts';
import { createCountedWarnings, type Log } from '../runtime/telemetry/log.ts';
import { createTurns } from '../runtime/tasks/event-loop-turns.ts';

/** Most bytes of one GraphQL request. */
export const BODY_LIMIT = 1024 * 1024;
/** In documents of more lines, errors have no locations: graphql counts lines from the start for each of them. */
const MOST_LOCATED_LINES = 2_000;

export interface GraphQLOptions {
  readonly schema: GraphQLSchema;
  /** What an operation may see. Throws Unauthenticated; the caller is null when no key came. */
  readonly scopeFor: (asker: Asker) => Scope | Promise<Scope>;
  readonly log: Log;
  readonly settings: {
    /** Whether the schema may be asked about itself. */
    readonly introspection: boolean;
    /** Whether a browser is shown GraphiQL. */
    readonly graphiql: boolean;
  };
}

/** The graph as mounted; both doors answer on `res` themselves. */
export interface GraphQLDoor {
  /** `/graphql`: queries, mutations, subscriptions as Yoga's event stream, and GraphiQL. */
  handle(exchange: HttpExchange): Promise<void>;
  /** `/graphql/stream`: the graphql-sse protocol, in distinct and single connection mode. */
  handleStream(exchange: HttpExchange): Promise<void>;
  /** Ends every live subscription with an UNAVAILABLE error, then its stream; later ones end at once. */
  close(): void;
}

/** What Yoga makes of the context and what it was asked with. */
interface FollowerContext extends GraphContext {
  readonly asker: Asker;
}

/** The request being served, for the log. */
const serving = new AsyncLocalStorage<{ readonly requestId: string; readonly signal: AbortSignal }>();

/** Mounts the schema on HTTP: limits, masking, caches and the two roads of subscriptions. */
export function createGraphQL({ schema, scopeFor, log, settings }: GraphQLOptions): GraphQLDoor {
  const live = new Set<LiveResults>();
  const turns = createTurns();
  const answers = createAnswers(turns);
  const introspections = createIntrospectionCache(answers);
  const sharedEvents = createSharedEvents(turns, answers);
  const eventStreams = createEventStreams(answers.textOf);
  /** Subscriptions by who asked, as they are before Yoga's plugins wrap each event anew. */
  const begun = new WeakMap<Asker, LiveResults>();
  /** Answers of Yoga's that we write ourselves. */
  const following = new WeakMap<Response, LiveResults>();
  let closing = false;
  const stopping = (): Unavailable => new Unavailable('The process is shutting down.');

  const refusedFeeds = createCountedWarnings(log);

  /** A failure as the caller sees it; this door is where it is logged. One key that dies may end a thousand feeds. */
  function masked(error: unknown, of: 'request' | 'feed'): GraphQLError {
    const { requestId = randomIds.uuid(), signal } = serving.getStore() ?? {};
    const root = rootOf(error);
    if (root instanceof DomainError) {
      const facts = { requestId, code: root.code, reason: root.message };
      if (root instanceof FreeTierUsedUp) log.debug(facts, 'graph request refused');
      else if (of === 'request') log.warn(facts, 'graph request refused');
      else refusedFeeds.warn(`${root.code} ${root.message}`, facts, 'live feeds refused');
    }
    return toGraphQLError(error, (bug) => {
      // What breaks because the caller left is nobody's fault.
      if (!signal?.aborted) log.error({ requestId, err: bug }, 'graph request failed');
      return requestId;
    });
  }

  const mask = (error: unknown): GraphQLError => masked(error, 'request');

  async function follow(args: ExecutionArgs): Promise<LiveResults | ExecutionResult> {
    const { asker, scope } = args.contextValue as FollowerContext;
    const followed = await sharedEvents.follow(args, scope);
    if (!('results' in followed)) return followed;
    const results = new LiveResults(followed.results, {
      ended() {
        live.delete(results);
        followed.left();
      },
      // It fails when an event comes, which is within somebody else's request.
      explain: AsyncLocalStorage.bind((error: unknown) => masked(error, 'feed')),
    });
    live.add(results);
    begun.set(asker, results);
    if (closing) results.stop(stopping());
    return results;
  }

  const guard: Plugin<GraphContext, { readonly asker: Asker }> = {
    onParse({ parseFn, setParseFn }) {
      setParseFn((source: string | Source, options?: ParseOptions): DocumentNode => {
        const text = typeof source === 'string' ? source : source.body;
        assertParsable(text);
        const noLocation = lineCount(text) > MOST_LOCATED_LINES;
        const document = (parseFn as typeof parse)(source, { ...options, noLocation });
        assertValidatable(document);
        return document;
      });
    },
    onValidate({ addValidationRule, setValidationFn }) {
      setValidationFn(validateToLimit);
      if (settings.introspection) return undefined;
      addValidationRule(NoSchemaIntrospectionCustomRule);
      // A suggestion would tell, name by name, what introspection must not.
      return ({ valid, result, setResult }) => {
        if (!valid) setResult((result as readonly GraphQLError[]).map(withoutSuggestion));
      };
    },
    onExecute({ args, setResultAndStopExecution }) {
      const refusal = overLimit(schema, args);
      if (refusal) return setResultAndStopExecution({ errors: [refusal] });
      const key = introspections.keyOf(args);
      const kept = key === null ? null : introspections.find(key);
      if (kept !== null) return setResultAndStopExecution(kept);
      const { work } = args.contextValue as GraphContext;
      return {
        onExecuteDone({ result, setResult }) {
          if (isAsyncIterable(result)) return undefined;
          const done = settled(result, work);
          if (key !== null) return introspections.keep(key, done).then(setResult);
          return done === result ? undefined : setResult(done);
        },
      };
    },
    onExecutionResult({ result, setResult }) {
      if (result === undefined || Array.isArray(result) || isAsyncIterable(result)) return undefined;
      const set = (bounded: ExecutionResult): void => {
        if (answers.dataTextOf(bounded.data) === null) return bounded === result ? undefined : setResult(bounded);
        // Yoga's own hook; not enumerable, so that it is no part of the answer.
        return setResult(Object.defineProperty({ ...bounded }, 'stringify', { value: answers.textOf }));
      };
      const bounded = answers.bounded(result);
      return bounded instanceof Promise ? bounded.then(set) : set(bounded);
    },
    onSubscribe({ args, setResultAndStopExecution, setSubscribeFn }) {
      const refusal = overLimit(schema, args);
      if (refusal) return setResultAndStopExecution({ errors: [refusal] });
      setSubscribeFn(follow);
    },
    onResultProcess({ serverContext, resultProcessor, setResultProcessor }) {
      const results = begun.get(serverContext.asker);
      // None was chosen for a client that takes no event stream; it is told so.
      if (results === undefined || resultProcessor === undefined) return;
      setResultProcessor((_result, { Response: Answer }) => {
        const empty = new Answer(null);
        following.set(empty, results);
        return empty;
      }, 'text/event-stream');
    },
  };

  const yoga = createYoga<{ readonly asker: Asker }, GraphContext>({
    schema,
    graphqlEndpoint: '/graphql',
    context: async ({ asker }) => ({ scope: await scopeFor(asker), work: new Work(turns) }),
    plugins: [guard],
    maskedErrors: { maskError: mask },
    // `mask` has said it, with the request id.
    logging: false,
    parserAndValidationCache: {
      documentCache: createDocumentCache(),
      errorCache: createDocumentCache(),
      validationCache: true,
    },
    // Both belong to the edge, and each costs more than the rest of a small request.
    maxRequestBodySize: false,
    cors: false,
    multipart: false,
    batching: false,
    graphiql: false,
    landingPage: false,
  });

  const page = settings.graphiql ? createGraphiQL() : null;
  const streams = createStreamDoor({
    pipelineFor(asker) {
      const { parse, validate, contextFactory, execute, subscribe } = yoga.getEnveloped({ asker });
      return {
        schema,
        parse,
        validate,
        contextFactory,
        async execute(args) {
          const result = (await execute(args)) as Awaited<OperationResult>;
          return isAsyncIterable(result) ? result : await answers.bounded(result);
        },
        async subscribe(args) {
          const result = (await subscribe(args)) as Awaited<OperationResult>;
          return begun.get(asker) ?? result;
        },
      };
    },
    mask,
    eventStreams,
    answers,
  });

  async function answer({ req, res }: HttpExchange, asker: Asker, body: Uint8Array): Promise<void> {
    assertReadable(req);
    const request = new yoga.fetchAPI.Request(`http://localhost${req.url ?? '/graphql'}`, {
      method: req.method ?? 'GET',
      headers: flatHeaders(req.headers),
      body: body.length > 0 ? Buffer.from(body) : null,
      signal: asker.signal,
    });
    const answered = await yoga.handle(request, { asker });
    const results = following.get(answered);
    if (results === undefined) await write(answered, res);
    else await eventStreams.write(res, results);
  }

  /** Reads a request within the limit, runs it under a request id, and answers what goes wrong on the way. */
  async function serve(
    { req, res }: HttpExchange,
    run: (asker: Asker, body: Uint8Array) => Promise<void>,
  ): Promise<void> {
    const signal = leaving(res);
    await serving.run({ requestId: randomIds.uuid(), signal }, async () => {
      try {
        const body = await readBody(req, BODY_LIMIT, SMALL_BODY_MS);
        assertJsonSize(req, body);
        const due = turns.due();
        if (due !== null) await due;
        await run({ request: req, signal }, body);
      } catch (error) {
        if (error instanceof RequestAborted || res.destroyed) return;
        if (res.headersSent) return void res.destroy();
        const root = rootOf(error);
        if (error instanceof BodyTimeout) res.shouldKeepAlive = false;
        res.writeHead(statusOf('catalog', root instanceof DomainError ? root : null), {
          'content-type': 'application/json; charset=utf-8',
        });
        res.end(JSON.stringify({ errors: [mask(error)] }));
      }
    });
  }

  return {
    async handle(exchange) {
      if (page?.wants(exchange.req)) await page.serve(exchange.req, exchange.res);
      else await serve(exchange, (asker, body) => answer(exchange, asker, body));
    },
    handleStream: (exchange) => serve(exchange, (asker, body) => streams.handle(exchange, asker, body)),
    close() {
      closing = true;
      for (const results of live) results.stop(stopping());
      refusedFeeds.flush();
      streams.close();
      eventStreams.close();
    },
  };
}

/** Fires when the client goes before its answer is complete. */
function leaving(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) controller.abort();
  });
  return controller.signal;
}

function flatHeaders(headers: IncomingMessage['headers']): [string, string][] {
  return Object.entries(headers).map(([name, value]) => [name, [value].flat().join(', ')]);
}

/** Hands an answer on as fast as the client takes it; a client that leaves ends what is behind it. */
async function write(answer: Response, response: ServerResponse): Promise<void> {
  const contentType = answer.headers.get('content-type');
  if (contentType === null && !answer.ok) {
    // A form or a wish that Yoga does not serve: it says so by the status alone.
    const errors = [{ message: STATUS_CODES[answer.status], extensions: { code: 'BAD_REQUEST' } }];
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
  const leave = (): void => void chunks.return?.();
  response.once('close', leave);
  if (response.destroyed) return leave();
  for (let chunk = await chunks.next(); !chunk.done; chunk = await chunks.next()) {
    if (!response.write(chunk.value)) await drained(response);
  }
  response.end();
}

/** Validates until there are too many errors. Yoga passes no options. */
function validateToLimit(...[schema, document, rules]: Parameters<typeof validateAll>): readonly GraphQLError[] {
  return validateAll(schema, document, rules, { maxErrors: MAX_ERRORS }).map(shortened);
}

const lineCount = (text: string): number => text.split(/\r\n|[\r\n]/, MOST_LOCATED_LINES + 1).length;

function withoutSuggestion(error: GraphQLError): GraphQLError {
  const message = error.message.replace(/ ?Did you mean [^?]*\?/, '');
  return message === error.message
    ? error
    : new GraphQLError(message, { nodes: error.nodes, source: error.source, extensions: error.extensions });
}
