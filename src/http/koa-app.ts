import Koa, { type Context, type Middleware } from 'koa';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { renderError } from '../../rest-shims/errors.ts';
import type { RestRouter } from '../../rest-shims/helpers/http/router.ts';
import { cors } from './cors.ts';
import type { Drain } from './drain.ts';
import { REQUEST_ID_HEADER, requestIdOf } from '../../rest-shims/helpers/http/request-id.ts';

/** Headers of every answer, for browsers: no guessed content types, no frames, no referrer. */
export const SECURITY_HEADERS: readonly (readonly [name: string, value: string])[] = [
  ['x-content-type-options', 'nosniff'],
  ['x-frame-options', 'DENY'],
  ['referrer-policy', 'no-referrer'],
];

/** The GraphQL transport; it writes to `res` itself. */
export interface GraphEndpoints {
  /** Serves `/graphql`. */
  handle(exchange: HttpExchange): Promise<void>;
  /** Serves `/graphql/stream`. */
  handleStream(exchange: HttpExchange): Promise<void>;
}

interface HttpExchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
}

export interface KoaAppOptions {
  readonly rest: Pick<RestRouter, 'configured' | 'routes' | 'unrouted'>;
  /** Null serves REST only. */
  readonly graph: GraphEndpoints | null;
  /** Origins whose pages may read answers in browsers; an empty list turns CORS off. */
  readonly corsOrigins: readonly string[];
  readonly drain: Pick<Drain, 'refuseIfDraining'> | null;
  /** Called with failures of answers, as on a broken connection, and of middleware. */
  readonly failed: (error: Error) => void;
}

/**
 * The Koa application, with its middleware in order. Graph operations and rows check credentials themselves, rows in
 * their own middleware (`rest-shims/helpers/http/row-middleware.ts`).
 */
export function createKoaApp({ rest, graph, corsOrigins, drain, failed }: KoaAppOptions): Koa {
  const koa = new Koa();
  koa.on('error', failed);
  koa.use(commonHeaders);
  koa.use(answerErrors(failed));
  if (corsOrigins.length > 0) koa.use(cors(corsOrigins));
  if (drain !== null) koa.use(refuseDuringShutdown(drain));
  if (graph !== null) koa.use(serveGraph(graph));
  koa.use(rest.configured);
  koa.use(rest.routes);
  koa.use(rest.unrouted);
  return koa;
}

/** Assigns the request id and sets the security headers. */
const commonHeaders: Middleware = ({ req, res }, next) => {
  res.setHeader(REQUEST_ID_HEADER, requestIdOf(req.headers));
  for (const [name, value] of SECURITY_HEADERS) res.setHeader(name, value);
  return next();
};

/** Answers 500 for a failure that no transport has answered, with the headers set so far. */
const answerErrors =
  (failed: (error: Error) => void): Middleware =>
  async (context, next) => {
    try {
      await next();
    } catch (error) {
      failed(error instanceof Error ? error : new Error(String(error)));
      const { res } = context;
      if (res.headersSent) return void res.destroy();
      const { status, contentType, body } = renderError('catalog', null, context.headers);
      context.respond = true;
      context.status = status;
      context.set('content-type', contentType);
      context.body = Buffer.from(body);
    }
  };

/** Answers 503 during the shutdown, except to probes and unknown paths. */
const refuseDuringShutdown =
  ({ refuseIfDraining }: Pick<Drain, 'refuseIfDraining'>): Middleware =>
  (context, next) => {
    if (!refuseIfDraining(context.req, context.res)) return next();
    context.respond = false;
    return undefined;
  };

const serveGraph =
  (graph: GraphEndpoints): Middleware =>
  (context, next) => {
    const handle = graphHandlerOf(graph, context);
    if (handle === null) return next();
    context.respond = false;
    return handle({ req: context.req, res: context.res });
  };

function graphHandlerOf(graph: GraphEndpoints, { path }: Context): GraphEndpoints['handle'] | null {
  if (path === '/graphql') return graph.handle;
  return path === '/graphql/stream' ? graph.handleStream : null;
}
