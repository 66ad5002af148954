import { Router, type RouterContext } from '@koa/router';
import type { Middleware, ParameterizedContext } from 'koa';
import type { DomainError } from '../../../src/domain/errors.ts';
import type { PassThroughRoutes } from '../../../src/domain/pass-through/routes.ts';
import { REDIRECTED, UNROUTED } from '../../errors.ts';
import { endpointRow } from '../model-call/pass-through.ts';
import { createHotRows, type HotPaths, type Registration, REPLACEABLE } from './hot-rows.ts';
import type { ArrivingRequest, Incoming, Outgoing, WholeRequest } from './outgoing.ts';
import type { RouteRow } from './route.ts';
import { createRowMiddleware, runInOrder } from './row-middleware.ts';
import { createRowSteps, type RowServerOptions, serveRow } from './row-server.ts';

export interface RestRouterOptions extends RowServerOptions {
  readonly rows: readonly RouteRow[];
  /** Configured pass-through paths; none when absent. */
  readonly passThrough?: PassThroughRoutes;
}

/** The rows on @koa/router, and the same rows for the fast path. */
export interface RestRouter {
  /**
   * Middleware for configured pass-through paths that no row has, or only a row whose first segment is a parameter. At
   * the paths in `REPLACEABLE` the configured path is served and not the row. Calls `next` for other requests.
   */
  readonly configured: Middleware;
  /** Runs the middleware of the row that a request matches (`row-middleware.ts`). Calls `next` for other requests. */
  readonly routes: Middleware;
  /**
   * Answers every request that matches no row. A path that has a row without its last slash gets 307. A path of other
   * methods gets 405 with `Allow`. Other paths get 404.
   */
  readonly unrouted: Middleware;
  /** Paths of POST requests for `serveHot`. */
  readonly hotPaths: HotPaths;
  /** Serves a POST to one of `hotPaths` without Koa. Rejects with TypeError for another path. */
  serveHot(request: WholeRequest | ArrivingRequest, response: Outgoing): Promise<void>;
  /**
   * Answers a request with a failure in the form of its row, without running the row. Returns false when no row
   * matches. The head of the answer must not have been sent.
   */
  refuse(request: Incoming, response: Outgoing, error: DomainError): boolean;
}

/** Order of methods in `Allow`. */
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
const NO_PARAMS = {};
/** A parameter, a wildcard or an optional part in the notation of @koa/router. */
const PARAMETER = /[:*{]/;

export function createRestRouter({ rows, passThrough, ...options }: RestRouterOptions): RestRouter {
  const steps = createRowSteps(options);
  const middlewareOf = createRowMiddleware(steps);
  const router = new Router({ strict: true, sensitive: true });
  const rowsByName = new Map(rows.map((row) => [row.name, row]));

  const registered = registrations(rows);
  const hotRows = createHotRows(registered, passThrough);
  for (const { path, row } of registered) {
    const isFixed = !PARAMETER.test(path);
    const layer = router.register(path, [row.method], middlewareOf(row), { name: row.name, pathAsRegExp: isFixed });
    // The router adds HEAD to every GET. The contract answers HEAD with 405.
    Object.assign(layer, { methods: [row.method] });
    // Fixed paths are compared as text, which avoids compiling hundreds of patterns at the start.
    if (isFixed) Object.assign(layer, { match: (sent: string) => sent === path, captures: () => [] });
  }

  function rowOf({ method = 'GET', url = '/' }: Incoming): RouteRow | null {
    const [layer] = router.match(url.split('?', 1)[0] ?? '/', method).pathAndMethod;
    return rowsByName.get(layer?.name ?? '') ?? null;
  }

  /**
   * Path and query without the last slash of the path. Null unless a row takes the method at this path, or a row has
   * this path and none has the path as sent. Also null for paths that begin with two slashes or backslashes: as a
   * redirect, they would lead to another host.
   */
  function withoutLastSlash({ method = 'GET', url = '/' }: Incoming): string | null {
    const [path = '/'] = url.split('?', 1);
    if (!/^\/[^/\\].*\/$/.test(path)) return null;
    const target = path.slice(0, -1);
    const found = router.match(target, method);
    const isServed = found.pathAndMethod.length > 0;
    const isOnlyPath = found.path.length > 0 && router.match(path, method).path.length === 0;
    return isServed || isOnlyPath ? target + url.slice(path.length) : null;
  }

  const configured: Middleware = (context, next) => {
    const { method } = context;
    const { url = '/' } = context.req;
    const [path = '/'] = url.split('?', 1);
    const match = passThrough?.find(method, path) ?? { kind: 'none' };
    if (match.kind === 'none') return next();
    // `.path` of a match has the rows of this path for any method.
    const hasRow = router.match(path, method).path.some((layer) => !startsWithParameter(String(layer.path)));
    if (hasRow && !REPLACEABLE.has(path)) return next();
    if (match.kind === 'method') return answerUnrouted(context, match.allowed);
    // Only the path without its last slash is configured.
    if (match.kind === 'slash') return redirect(context, match.path + url.slice(path.length));
    return runInOrder(middlewareOf(endpointRow(method as RouteRow['method'], path, match)), context);
  };

  return {
    configured,
    routes: router.routes() as Middleware,
    unrouted(context) {
      const target = withoutLastSlash(context.req);
      if (target !== null) return redirect(context, target);
      const allowed = new Set((context as Partial<RouterContext>).matched?.flatMap(({ methods }) => methods));
      answerUnrouted(
        context,
        METHODS.filter((method) => allowed.has(method)),
      );
    },
    hotPaths: hotRows.paths,
    serveHot(request, response) {
      const row = hotRows.rowOf(request.url);
      if (row === null) return Promise.reject(new TypeError(`No hot row has the path ${request.url}.`));
      return serveRow(steps, { row, params: NO_PARAMS, request, response });
    },
    refuse(request, response, error) {
      const row = rowOf(request);
      if (row === null) return false;
      steps.refuse({ row, request, response }, error);
      return true;
    },
  };
}

const startsWithParameter = (path: string): boolean => PARAMETER.test(path.slice(1, 2));

/**
 * All paths of all rows in the order of registration. The router selects the first match. Therefore, at each segment,
 * fixed text precedes a parameter, and a parameter precedes a wildcard.
 */
function registrations(rows: readonly RouteRow[]): readonly Registration[] {
  const all = rows.flatMap((row) => row.paths.map((path) => ({ path, row, rank: rankOf(path) })));
  return all.toSorted((a, b) => compareTexts(a.rank, b.rank));
}

function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** Sort key of a path, one digit per segment: 0 fixed, 1 parameter, 2 wildcard. */
const rankOf = (path: string): string => path.split('/').map(segmentRank).join('');

function segmentRank(segment: string): string {
  if (segment.includes('*')) return '2';
  return segment.includes(':') ? '1' : '0';
}

/**
 * Redirects from a path with a last slash to `target`, the path and query without it. Clients repeat the method and the
 * body. The address is relative, so that it also stays below a path of a reverse proxy.
 */
function redirect(context: ParameterizedContext, target: string): void {
  const [path = ''] = target.split('?', 1);
  context.status = REDIRECTED.status;
  context.set('location', `..${target.slice(path.lastIndexOf('/'))}`);
  context.body = '';
}

function answerUnrouted(context: ParameterizedContext, allow: readonly string[]): void {
  const { status, body } = allow.length > 0 ? UNROUTED.methodNotAllowed : UNROUTED.notFound;
  context.status = status;
  if (allow.length > 0) context.set('allow', allow.join(', '));
  context.set('content-type', 'application/json');
  context.body = body;
}
