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
import { createYoga, isAsyncIterable, type Plugin, type YogaServerInstance } from 'graphql-yoga';
import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingHttpHeaders } from 'node:http';
import type { Scope } from '../../resolvers/operation/scope.ts';
import type { GraphContext } from '../../schema/base/builder.ts';
import { abortedValidation, assertParsable, assertValidatable } from '../../schema/base/document-limits.ts';
import { rootOf, toGraphQLError } from '../../schema/base/errors.ts';
import { createLimitCheck, MAX_ERRORS, validationError } from '../../schema/base/limits.ts';
import { Work } from '../../schema/base/work.ts';
import type { Caller } from '../domain/caller.ts';
import { DomainError, Unavailable } from '../domain/errors.ts';
import type { Turns } from '../domain/event-loop-turns.ts';
import { FreeTierUsedUp } from '../domain/free-tier/free-tier.ts';
import { randomIds } from '../runtime/identifiers.ts';
import { createCountedWarnings, type Log } from '../runtime/telemetry/log.ts';
import { type Answers, resultWithinLimits } from './answers.ts';
import { createDocumentCache } from './document-cache.ts';
import { createIntrospectionCache } from './introspection-cache.ts';
import { LiveResults } from './live-results.ts';
import { createSharedSubscriptions } from './shared-subscriptions/shared-subscriptions.ts';
import { assertHasDocument } from './request-check.ts';
import type { Requester } from './requester.ts';
import type { SocketLimits } from './socket-connection.ts';

/** In documents with more lines, errors have no locations: graphql counts lines from the start for each error. */
const MAX_LOCATED_LINES = 2_000;
/** Errors of longer documents, in characters, have no locations: a location is an object for each node and token. */
const MAX_LOCATED_CHARACTERS = 32 * 1024;

/** Options of the GraphQL transport. */
export interface GraphQLOptions {
  readonly schema: GraphQLSchema;
  /** The scope of an operation, by the credential and the address of the request. Throws as `Scopes.forGraph`. */
  readonly scopeFor: (requester: Requester) => Scope | Promise<Scope>;
  /** Runs an operation, so that its changes are recorded with their author; absent where no changes are recorded. */
  readonly authored?: <Result>(caller: Caller, headers: IncomingHttpHeaders, work: () => Result) => Result;
  readonly log: Log;
  /** Limits of WebSockets that differ from the default. */
  readonly socketLimits?: Partial<SocketLimits>;
  readonly settings: {
    /** Whether introspection is allowed. */
    readonly introspection: boolean;
    /** Whether browsers receive GraphiQL. */
    readonly graphiql: boolean;
    /** Whether repeated queries are compiled; true when absent. */
    readonly plans?: boolean;
    /**
     * Whether equal subscriptions share one execution per event (`shared-subscriptions/README.md`); true when absent.
     */
    readonly sharedSubscriptions?: boolean;
  };
}

/** One result, or the results of a subscription. */
type Outcome = ExecutionResult | AsyncIterable<ExecutionResult>;

/** Parses, validates and runs operations. Every transport has the same limits, error masking and caches. */
export interface Pipeline {
  readonly schema: GraphQLSchema;
  readonly parse: (text: string) => ExecutionArgs['document'];
  readonly validate: (schema: GraphQLSchema, document: ExecutionArgs['document']) => readonly GraphQLError[];
  readonly contextFactory: () => GraphContext | Promise<GraphContext>;
  readonly execute: (args: ExecutionArgs) => Promise<Outcome>;
  readonly subscribe: (args: ExecutionArgs) => Promise<Outcome>;
}

/** A request in progress. */
interface ServedRequest {
  readonly requestId: string;
  readonly requester: Pick<Requester, 'signal'>;
}

/** Runs operations for all transports. */
export interface Engine {
  readonly schema: GraphQLSchema;
  readonly yoga: YogaServerInstance<{ readonly requester: Requester }, GraphContext>;
  pipelineFor(requester: Requester): Pipeline;
  /** Whether an operation is within the limits of depth and cost. */
  isWithinLimits(operation: Pick<ExecutionArgs, 'document' | 'operationName' | 'variableValues'>): boolean;
  /** The scope of a request, which is read once. */
  scopeOf(requester: Requester): Scope | Promise<Scope>;
  /** The results of a subscription that Yoga has answered; undefined for any other answer. */
  resultsOf(answer: Response): LiveResults | undefined;
  /** A failure as the client sees it. Logs it. */
  mask(error: unknown): GraphQLError;
  /** Runs a request with its id in log lines and errors. */
  serving<Result>(request: ServedRequest, run: () => Result): Result;
  /** Ends every subscription with UNAVAILABLE; later subscriptions end immediately. */
  close(): void;
}

/** Context value of Yoga. */
interface RequesterContext extends GraphContext {
  readonly requester: Requester;
}

const EVENT_STREAM = /\btext\/event-stream\b/;
const MULTIPART_SUBSCRIPTION = /\bmultipart\/mixed\s*;[^,]*\bsubscriptionSpec\b/i;

/** Whether a client expects subscriptions as multipart HTTP. */
export function wantsMultipart(accept: string | null | undefined): boolean {
  return MULTIPART_SUBSCRIPTION.test(accept ?? '') && !EVENT_STREAM.test(accept ?? '');
}

export function createEngine(
  { schema, scopeFor, authored, log, settings }: GraphQLOptions,
  { turns, answers }: { readonly turns: Turns; readonly answers: Answers },
): Engine {
  /** Results of the running subscriptions, which `close` ends. */
  const live = new Set<LiveResults>();
  const limitErrorOf = createLimitCheck(schema);
  const introspections = createIntrospectionCache(answers);
  const sharedSubscriptions = createSharedSubscriptions(turns, answers, settings.sharedSubscriptions);
  /** Results of subscriptions, before Yoga's plugins wrap each event. */
  const liveResults = new WeakMap<Requester, LiveResults>();
  /** Answers of Yoga whose body is written by the event streams. */
  const streamed = new WeakMap<Response, LiveResults>();
  /** The request in progress, for the log. */
  const current = new AsyncLocalStorage<ServedRequest>();
  const refusedFeeds = createCountedWarnings(log);
  let closing = false;
  const shutdownError = (): Unavailable => new Unavailable('The process is shutting down.');

  /**
   * A failure as the client sees it, logged. Equal failures of feeds (live subscriptions) are logged once with their
   * number: one blocked key may end many feeds.
   */
  function maskAndLog(error: unknown, of: 'request' | 'feed'): GraphQLError {
    const { requestId = randomIds.uuid(), requester } = current.getStore() ?? {};
    const root = rootOf(error);
    if (root instanceof DomainError) {
      const facts = { requestId, code: root.code, reason: root.message };
      if (root instanceof FreeTierUsedUp) log.debug(facts, 'graph request refused');
      else if (of === 'request') log.warn(facts, 'graph request refused');
      else refusedFeeds.warn(`${root.code} ${root.message}`, facts, 'live feeds refused');
    }
    return toGraphQLError(error, (bug) => {
      // A failure after the client has disconnected is not logged.
      if (!requester?.signal.aborted) log.error({ requestId, err: bug }, 'graph request failed');
      return requestId;
    });
  }

  const mask = (error: unknown): GraphQLError => maskAndLog(error, 'request');

  async function subscribeLive(args: ExecutionArgs): Promise<LiveResults | ExecutionResult> {
    const { requester, scope } = args.contextValue as RequesterContext;
    const running = await sharedSubscriptions.subscribe(args, scope);
    if (!('results' in running)) return running;
    const results = new LiveResults(running.results, {
      ended() {
        live.delete(results);
        running.leave();
      },
      // Bound to the request of this client: `mask` may be called within the request of another client.
      mask: AsyncLocalStorage.bind((error: unknown) => maskAndLog(error, 'feed')),
    });
    live.add(results);
    liveResults.set(requester, results);
    if (closing) results.stop(shutdownError());
    return results;
  }

  const guard: Plugin<GraphContext, { readonly requester: Requester }> = {
    onParams: ({ params }) => assertHasDocument(params),
    onParse({ parseFn, setParseFn }) {
      setParseFn((source: string | Source, options?: ParseOptions): DocumentNode => {
        const text = typeof source === 'string' ? source : source.body;
        assertParsable(text);
        const noLocation = text.length > MAX_LOCATED_CHARACTERS || lineCount(text) > MAX_LOCATED_LINES;
        const document = (parseFn as typeof parse)(source, { ...options, noLocation });
        assertValidatable(document);
        return document;
      });
    },
    onValidate({ addValidationRule, setValidationFn }) {
      setValidationFn(validateToLimit);
      if (settings.introspection) return undefined;
      addValidationRule(NoSchemaIntrospectionCustomRule);
      // A suggestion would reveal names of the schema.
      return ({ valid, result, setResult }) => {
        if (!valid) setResult((result as readonly GraphQLError[]).map(withoutSuggestion));
      };
    },
    onExecute({ args, executeFn, setExecuteFn, setResultAndStopExecution }) {
      const refusal = limitErrorOf(args);
      if (refusal) return setResultAndStopExecution({ errors: [refusal] });
      const key = introspections.keyOf(args);
      const cached = key === null ? null : introspections.find(key);
      if (cached !== null) return setResultAndStopExecution(cached);
      const { work, scope, requester } = (args as ExecutionArgs).contextValue as RequesterContext;
      const { caller } = scope;
      if (authored !== undefined && caller !== null)
        setExecuteFn((executionArgs: ExecutionArgs) =>
          authored(caller, requester.request.headers, (): unknown => executeFn(executionArgs)),
        );
      return {
        onExecuteDone({ result, setResult }) {
          if (isAsyncIterable(result)) return undefined;
          const done = resultWithinLimits(result, work);
          if (key !== null) return introspections.add(key, done).then(setResult);
          return done === result ? undefined : setResult(done);
        },
      };
    },
    onExecutionResult({ result, setResult }) {
      if (result === undefined || Array.isArray(result) || isAsyncIterable(result)) return undefined;
      const set = (bounded: ExecutionResult): void => {
        if (answers.dataTextOf(bounded.data) === null) return bounded === result ? undefined : setResult(bounded);
        // Yoga calls `stringify`, which is not enumerable so that it is no member of the answer.
        return setResult(Object.defineProperty({ ...bounded }, 'stringify', { value: answers.textOf }));
      };
      const bounded = answers.bounded(result);
      return bounded instanceof Promise ? bounded.then(set) : set(bounded);
    },
    onSubscribe({ args, setResultAndStopExecution, setSubscribeFn }) {
      const refusal = limitErrorOf(args);
      if (refusal) return setResultAndStopExecution({ errors: [refusal] });
      setSubscribeFn(subscribeLive);
    },
    onResultProcess({ request, serverContext, resultProcessor, setResultProcessor }) {
      const results = liveResults.get(serverContext.requester);
      if (results === undefined) return;
      const multipart = wantsMultipart(request.headers.get('accept'));
      // Without a processor, Yoga answers 406.
      if (resultProcessor === undefined && !multipart) return;
      setResultProcessor(
        (_result, { Response: Answer }) => {
          const empty = new Answer(null);
          streamed.set(empty, results);
          return empty;
        },
        multipart ? 'multipart/mixed' : 'text/event-stream',
      );
    },
  };

  const scopes = new WeakMap<Requester, Scope | Promise<Scope>>();
  function scopeOf(requester: Requester): Scope | Promise<Scope> {
    const known = scopes.get(requester);
    if (known !== undefined) return known;
    const scope = scopeFor(requester);
    scopes.set(requester, scope);
    return scope;
  }

  const yoga = createYoga<{ readonly requester: Requester }, GraphContext>({
    schema,
    graphqlEndpoint: '/graphql',
    async context({ requester }) {
      const scope = await scopeOf(requester);
      // A large document is executed in another turn of the event loop than it is parsed and validated.
      await turns.due();
      return { scope, work: new Work(turns) };
    },
    plugins: [guard],
    maskedErrors: { maskError: mask },
    // `mask` logs, with the request id.
    logging: false,
    parserAndValidationCache: {
      documentCache: createDocumentCache(),
      errorCache: createDocumentCache(),
      validationCache: true,
    },
    // Disabled: the HTTP server has CORS and limits bodies. Each of these features costs more than the rest of a
    // request.
    maxRequestBodySize: false,
    cors: false,
    multipart: false,
    batching: false,
    graphiql: false,
    landingPage: false,
  });

  return {
    schema,
    yoga,
    mask,
    scopeOf,
    isWithinLimits: (operation) => limitErrorOf(operation) === null,
    resultsOf: (answer) => streamed.get(answer),
    serving: (request, run) => current.run(request, run),
    pipelineFor(requester) {
      const { parse, validate, contextFactory, execute, subscribe } = yoga.getEnveloped({ requester });
      return {
        schema,
        parse,
        validate,
        contextFactory,
        async execute(args) {
          const result = (await execute(args)) as Outcome;
          return isAsyncIterable(result) ? result : await answers.bounded(result);
        },
        async subscribe(args) {
          const result = (await subscribe(args)) as Outcome;
          return isAsyncIterable(result) ? (liveResults.get(requester) ?? result) : result;
        },
      };
    },
    close() {
      closing = true;
      for (const results of live) results.stop(shutdownError());
      refusedFeeds.flush();
    },
  };
}

/** Validates until there are too many errors. Yoga passes no options. */
function validateToLimit(...[schema, document, rules]: Parameters<typeof validateAll>): readonly GraphQLError[] {
  const errors = validateAll(schema, document, rules, { maxErrors: MAX_ERRORS });
  return errors.map((error) => abortedValidation(error) ?? validationError(error));
}

const lineCount = (text: string): number => text.split(/\r\n|[\r\n]/, MAX_LOCATED_LINES + 1).length;

function withoutSuggestion(error: GraphQLError): GraphQLError {
  const message = error.message.replace(/ ?Did you mean [^?]*\?/, '');
  return message === error.message
    ? error
    : new GraphQLError(message, { nodes: error.nodes, source: error.source, extensions: error.extensions });
}
